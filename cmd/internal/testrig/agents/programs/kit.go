package programs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"relay-pty/cmd/internal/testrig/agents"
)

// tty is the terminal's descriptor.
const tty = 0

// kit is what all agents are built on: their script and logs, the terminal as the script lets it
// be read, and the commands that mean the same to all. The agent's loop alone touches it.
type kit struct {
	conf          agents.Config
	bytes, events *os.File // the logs; nil: none
	found         *term.State
	done          bool // the loop is to end
	stalled       bool // the terminal is not read
	taken         int  // bytes read since the last flush

	ready chan struct{} // something can be read
	again chan struct{} // it was; wait for more
	calls chan call
	buf   [64 << 10]byte
}

// call is a command and who waits for its answer.
type call struct {
	agents.Command
	from net.Conn
}

// program is what an agent does in its loop. What is nil does nothing.
type program struct {
	take    func([]byte) // what was read; valid until it returns
	obey    func(agents.Command) error
	report  func(*agents.State)
	due     func() time.Time // when act is to be called; zero: never
	act     func()
	resized func()
}

func noCommand(c agents.Command) error { return fmt.Errorf("no command %q", c.Cmd) }

// loop runs p until it is done, or until its input ends or the terminal hangs up.
func (k *kit) loop(p program) error {
	winch := make(chan os.Signal, 1)
	signal.Notify(winch, syscall.SIGWINCH)
	k.event(agents.KindStart, "")
	var pause <-chan time.Time
	for !k.done {
		ready := k.ready
		if k.stalled || pause != nil {
			ready = nil
		}
		var timer <-chan time.Time
		if p.due != nil {
			if at := p.due(); !at.IsZero() {
				timer = time.After(time.Until(at))
			}
		}
		select {
		case <-ready:
			b, err := k.read()
			if err != nil {
				return nil // the end
			}
			if p.take != nil {
				p.take(b)
			}
			if ms := k.conf.ReadMS; ms > 0 {
				pause = time.After(time.Duration(ms) * time.Millisecond)
			}
		case <-pause:
			pause = nil
		case <-timer:
			p.act()
		case <-winch:
			if p.resized != nil {
				p.resized()
			}
		case c := <-k.calls:
			k.serve(c, p)
		}
	}
	return nil
}

// await waits for input in a goroutine of its own; the loop reads. So a stalled agent leaves
// everything in the kernel, where what came apart joins, as with a program whose event loop stalls.
func (k *kit) await() {
	for {
		if k.readable(-1) {
			k.ready <- struct{}{}
			<-k.again
		}
	}
}

// readable reports whether a read would not block, after at most ms milliseconds.
func (k *kit) readable(ms int) bool {
	fds := []unix.PollFd{{Fd: tty, Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, ms)
		if !errors.Is(err, unix.EINTR) {
			return n > 0
		}
	}
}

// read takes what the script lets it take, and logs it; nothing, if a flush or another program took
// it first. An error is the end of the input. The bytes are valid until the next call.
func (k *kit) read() ([]byte, error) {
	defer func() { k.again <- struct{}{} }()
	limit := len(k.buf)
	if n := k.conf.ReadBytes; n > 0 {
		limit = min(limit, n)
	}
	if n := k.conf.FlushBytes; n > 0 {
		limit = min(limit, n-k.taken)
	}
	if !k.readable(0) {
		return nil, nil
	}
	n, err := unix.Read(tty, k.buf[:limit])
	if errors.Is(err, unix.EINTR) {
		return nil, nil
	}
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return nil, err
	}
	k.bytes.Write(k.buf[:n]) // without a log, the test that reads it fails
	if k.taken += n; k.taken == k.conf.FlushBytes {
		k.taken = 0
		err = flush(tty)
	}
	return k.buf[:n], err
}

// listen takes commands until the process ends.
func (k *kit) listen(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				c := call{from: conn}
				if json.NewDecoder(conn).Decode(&c.Command) == nil {
					k.calls <- c
				}
			}()
		}
	}()
	return nil
}

// serve carries out a command, answers it, and does what must follow the answer.
func (k *kit) serve(c call, p program) {
	err := k.carry(c.Command, p)
	st := agents.State{Pid: os.Getpid(), Token: os.Getenv("RELAY_TOKEN"), Unread: unread(tty)}
	if p.report != nil {
		p.report(&st)
	}
	if err != nil {
		st.Error = err.Error()
	}
	json.NewEncoder(c.from).Encode(st) // who asked may be gone
	c.from.Close()                     // as above
	if c.Cmd == "stop" && err == nil {
		stop()
	}
}

func (k *kit) carry(c agents.Command, p program) error {
	switch c.Cmd {
	case "state", "stop":
	case "set":
		b, err := json.Marshal(c.Set)
		if err != nil {
			return err
		}
		return k.conf.Change(b)
	case "stall", "resume":
		k.stalled = c.Cmd == "stall"
	case "quit":
		k.done = true
	default:
		if p.obey == nil {
			return noCommand(c)
		}
		return p.obey(c)
	}
	return nil
}

// stop stops the process, as SIGSTOP from anybody does, until a SIGCONT.
func stop() {
	cont := make(chan os.Signal, 1)
	signal.Notify(cont, syscall.SIGCONT)
	defer signal.Stop(cont)
	if syscall.Kill(os.Getpid(), syscall.SIGSTOP) == nil { // else the test waits in vain
		<-cont
	}
}
