package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// rig is two agents in relay-pty, one in tmux, and what they tell.
type rig struct {
	ctx   context.Context
	dir   string
	env   []string
	self  string
	relay string
	tmux  string // "": there is none

	told     net.Listener
	notes    chan note
	wrappers []*exec.Cmd
	times    map[measure][]time.Duration
}

// note is what an agent tells: that it got or said some words, and when.
type note struct {
	what, words string
	at          time.Duration
}

// patience bounds each wait.
const patience = 20 * time.Second

// rest is between two measurements: an agent that has just spoken is not ready at once.
const rest = 400 * time.Millisecond

func setUp(ctx context.Context) (r *rig, err error) {
	r = &rig{ctx: ctx, notes: make(chan note, 16), times: map[measure][]time.Duration{}}
	if r.self, err = os.Executable(); err != nil {
		return nil, err
	}
	r.relay = filepath.Join(filepath.Dir(r.self), "relay")
	if _, err := exec.LookPath(r.relay); err != nil {
		return nil, fmt.Errorf("find relay beside this program: %w: build both with make build", err)
	}
	r.tmux, _ = exec.LookPath("tmux") // without it there is nothing to compare with
	if r.dir, err = os.MkdirTemp("", "relay-bench"); err != nil {
		return nil, err
	}
	r.env = append(os.Environ(), "XDG_RUNTIME_DIR="+r.dir, "XDG_STATE_HOME="+r.place("state"), "XDG_CONFIG_HOME="+r.place("config"),
		"RELAY_TOKEN=", "RELAY_AGENT=", "TMUX=")
	if err := r.begin(); err != nil {
		return nil, errors.Join(err, r.tearDown())
	}
	return r, nil
}

func (r *rig) place(name string) string { return filepath.Join(r.dir, name) }

// begin starts the agents.
func (r *rig) begin() (err error) {
	if r.told, err = net.Listen("unix", r.place("told")); err != nil {
		return err
	}
	go r.listen()
	for _, name := range []string{"a", "b"} {
		cmd := r.command(r.relay, "run", name, "--headless", "--socket", r.place(name), "--idle-timeout", "50", "--", r.self, "agent", r.place("told"))
		if err := cmd.Start(); err != nil {
			return err
		}
		r.wrappers = append(r.wrappers, cmd)
		if err := r.do(r.relay, "events", "--wait", "--after", "0", "--event", "agent_up", "--target", name); err != nil {
			return err
		}
	}
	if r.tmux == "" {
		return nil
	}
	return r.keys("new-session", "-d", "-s", "c", r.self, "agent", r.place("told"))
}

// tearDown ends all that runs, and removes all that was written.
func (r *rig) tearDown() error {
	r.ctx = context.WithoutCancel(r.ctx)
	for _, cmd := range r.wrappers {
		cmd.Process.Signal(syscall.SIGTERM) // it has ended already: well
		cmd.Wait()                          // by that signal
	}
	if r.tmux != "" {
		r.keys("kill-server") // none runs: well
	}
	err := r.endRouter()
	if r.told != nil {
		r.told.Close()
	}
	return errors.Join(err, os.RemoveAll(r.dir))
}

func (r *rig) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(r.ctx, name, args...)
	cmd.Env, cmd.Dir = r.env, r.dir
	return cmd
}

// do runs a command that must succeed within patience.
func (r *rig) do(name string, args ...string) error {
	ctx, cancel := context.WithTimeoutCause(r.ctx, patience, fmt.Errorf("not within %v", patience))
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Dir = r.env, r.dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %q: %w: %s", filepath.Base(name), args, errors.Join(err, context.Cause(ctx)), bytes.TrimSpace(errs.Bytes()))
	}
	return nil
}

func (r *rig) keys(args ...string) error {
	return r.do(r.tmux, append([]string{"-S", r.place("tmux"), "-f", "/dev/null"}, args...)...)
}

// listen reads what the agents tell until the listener is closed.
func (r *rig) listen() {
	for {
		conn, err := r.told.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			for lines := bufio.NewScanner(conn); lines.Scan(); {
				var n note
				if _, err := fmt.Sscan(lines.Text(), &n.what, &n.words, &n.at); err == nil {
					r.notes <- n
				}
			}
		}()
	}
}

// await returns when an agent got or said those words. Other notes are of rounds that are over.
func (r *rig) await(what, words string) (at time.Duration, err error) {
	late := time.After(patience)
	for {
		select {
		case n := <-r.notes:
			if n.what == what && n.words == words {
				return n.at, nil
			}
		case <-late:
			return 0, fmt.Errorf("no agent has %s %q within %v", what, words, patience)
		case <-r.ctx.Done():
			return 0, context.Cause(r.ctx)
		}
	}
}

// endRouter ends the router, and waits until nobody listens.
func (r *rig) endRouter() error {
	pid, err := r.router()
	if err != nil {
		return nil // none runs
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return fmt.Errorf("end the router: %w", err)
	}
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for late := time.After(patience); ; {
		if _, err := r.router(); err != nil {
			return nil
		}
		select {
		case <-again.C:
		case <-late:
			return fmt.Errorf("the router, process %d, does not end within %v", pid, patience)
		}
	}
}

// router asks the router which process it is.
func (r *rig) router() (pid int, err error) {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", r.place("relay/router.sock"))
	}
	c := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}
	answer, err := c.Get("http://router/healthz")
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	var health struct{ PID int }
	err = json.NewDecoder(answer.Body).Decode(&health)
	return health.PID, err
}
