// Package home knows where the router has its socket and its store, and starts a router when none
// runs.
//
// There is one router a user: the lock of the store decides, and its file says where the router
// listens. So a command finds it whatever its environment is: cron, su and a service manager leave
// out, or change, what says where sockets are. Of all clients that find none, one starts it: after
// a crash each more would be a process that only finds the lock taken, and a hundred of them keep
// the one from its work. Its socket appears when it listens. A client whose router dies asks the
// next one the same thing again, under the same id.
package home

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/store"
	"relay-pty/protocol/dirwatch"
	"relay-pty/protocol/own"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/sock"
)

// Home is the places of one user's router.
type Home struct {
	Agents string // directory in which wrappers announce themselves
	Socket string // of the router
	Store  string // its log
	State  string // what is in it belongs together: [own.StateDir]
	Moved  int    // the router's number, if it is not where the environment says
}

// Find returns the places of the router that runs; where none does, those that the environment
// says, whose first two directories it makes. An empty store is the usual one:
// $XDG_STATE_HOME/relay, else ~/.local/state/relay.
func Find(store string) (Home, error) {
	h, err := Here(store)
	if err != nil {
		return h, err
	}
	return h.where(), nil
}

// Here returns the places that the environment says, whether or not a router runs elsewhere. Where
// this process may not use them, a *[sock.SandboxError] says so before anything is made.
func Here(store string) (Home, error) {
	if err := sock.Allowed(); err != nil {
		return Home{}, err
	}
	agents, err := registry.Dir()
	if err != nil {
		return Home{}, err
	}
	return at(agents, store)
}

// Look returns the same places as Find, and makes nothing.
func Look(store string) (Home, error) {
	agents, err := registry.Where()
	if err != nil {
		return Home{}, err
	}
	h, err := at(agents, store)
	return h.where(), err
}

func at(agents, store string) (Home, error) {
	h := Home{Agents: agents, Socket: filepath.Join(filepath.Dir(agents), "router.sock"), Store: store}
	var err error
	if h.State, err = own.StateDir(); err == nil {
		h.Store = cmp.Or(store, filepath.Join(h.State, "relay"))
	}
	if err != nil && store == "" {
		return h, fmt.Errorf("no place for the store: %w: set XDG_STATE_HOME, or use --store", err)
	}
	return h, nil
}

// Places are all directories in which the router looks for wrappers.
func (h Home) Places() registry.Places {
	others := slices.DeleteFunc(registry.Usual(), func(dir string) bool { return dir == h.Agents })
	return registry.Places{Main: h.Agents, Others: others, State: h.State}
}

// where returns the places of the router that has the store and answers elsewhere. Nothing is
// believed but what stands in a file of ours, and nothing is asked but what listens in a directory
// of ours that is closed to others.
func (h Home) where() Home {
	if _, listens := sock.Listening(h.Socket); listens {
		return h
	}
	by, ok := own.Signed(store.LockFile(h.Store))
	if !ok || by.Socket == "" || by.Socket == h.Socket || own.Private(filepath.Dir(by.Socket)) != nil {
		return h
	}
	if _, listens := sock.Listening(by.Socket); !listens {
		return h
	}
	h.Socket, h.Agents, h.Moved = by.Socket, filepath.Join(filepath.Dir(by.Socket), "agents"), by.PID
	return h
}

// Beyond is a *BeyondError where the router that has the store runs and cannot be reached from
// here.
func (h Home) Beyond() error {
	by, ok := own.Signed(store.LockFile(h.Store))
	if !ok || by.Socket == "" || !OtherMounts(by.PID) {
		return nil
	}
	if _, listens := sock.Listening(by.Socket); listens {
		return nil
	}
	return &BeyondError{Socket: by.Socket, PID: by.PID}
}

// OtherMounts reports whether a process certainly has other mounts than we.
func OtherMounts(pid int) bool {
	ours, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return false
	}
	theirs, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/mnt")
	return err == nil && theirs != ours
}

// BeyondError is that the router runs where we cannot reach it.
type BeyondError struct {
	Socket string
	PID    int
}

func (e *BeyondError) Error() string {
	return fmt.Sprintf("the router that runs (pid %d) listens at %s, which cannot be reached from here: it has other mounts (a sandbox, a container, or PrivateTmp)", e.PID, e.Socket)
}

// Hint says what to do about it.
func (e *BeyondError) Hint() string {
	return "give both the same XDG_RUNTIME_DIR, in a directory that both see, or end process " + strconv.Itoa(e.PID)
}

const (
	// startWait is how long a router may take to answer, one that has to be started first included.
	startWait = 30 * time.Second
	// A router that was killed before it answered is followed by the next after startAgain, and so
	// many may be; what one dies of by itself the next would die of, too. One that finds the store
	// taken, by another that is about to answer or to end, is followed by the next after lostAgain,
	// then twice that, and startAgain at most.
	startAgain = 100 * time.Millisecond
	lostAgain  = 10 * time.Millisecond
	starts     = 20
)

// Client returns a client of the router that runs, or else of one that it starts: this program,
// with those arguments. Of all that wait for a router one starts it.
func (h Home) Client(ctx context.Context, token string, args ...string) (*api.Client, error) {
	c := api.NewClient(h.Socket, token)
	ctx, cancel := context.WithTimeoutCause(ctx, startWait, fmt.Errorf("the router does not answer at %s after %v: see %s", h.Socket, startWait, h.Log()))
	defer cancel()
	if _, err := c.Health(ctx); !absent(err) {
		return c, err
	}
	dir, err := dirwatch.Watch(filepath.Dir(h.Socket), func(name string) bool { return name == filepath.Base(h.Socket) })
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	turn, err := own.Open(h.Socket+".starting", os.O_CREATE|os.O_RDWR, "remove it")
	if err != nil {
		return nil, err
	}
	defer turn.Close() // which gives the turn up
	var ended <-chan error
	var died error
	var from int64 // where the router's log had its end before
	lost := lostAgain
	for killed := 0; killed < starts; {
		if there := h.where(); there.Moved != h.Moved { // one was started in another place
			h, c = there, api.NewClient(there.Socket, token)
		}
		ours := ended == nil && own.Control(turn, func(fd int) error { return syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB) }) == nil
		if _, err := c.Health(ctx); !absent(err) {
			return c, err
		}
		if ours {
			if ended, from, err = h.start(args, lost); err != nil {
				return nil, fmt.Errorf("start the router: %w", err)
			}
		}
		var later <-chan time.Time
		if ended == nil { // somebody else starts it, or ends in between
			later = time.After(startAgain)
		}
		select {
		case <-dir.Changed():
		case err := <-ended:
			ended, died = nil, err
			switch {
			case err == nil:
				if err := h.Beyond(); err != nil {
					return nil, err
				}
				lost = min(2*lost, startAgain)
			case wasKilled(err):
				killed++
			default:
				killed = starts
			}
		case <-later:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	said, hint := h.lastWords(from)
	return nil, &endsError{fmt.Sprintf("the router ends as soon as it is started (%v): see %s%s", died, h.Log(), said), hint}
}

// wasKilled reports whether a signal ended the process of which err tells.
func wasKilled(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && !exit.Exited()
}

// endsError is that no router stays, and what the last one advised.
type endsError struct{ text, hint string }

func (e *endsError) Error() string { return e.text }

// Hint says what to do about it.
func (e *endsError) Hint() string { return cmp.Or(e.hint, "relay doctor tells more") }

// lastWords is what the last router told before it ended, behind that place of its log, and the way
// out that it told: no note, and of a crash how it begins.
func (h Home) lastWords(from int64) (words, hint string) {
	text, err := h.Told()
	info, failed := os.Stat(h.Log())
	if err != nil || failed != nil {
		return "", ""
	}
	text = text[max(0, len(text)-int(max(0, info.Size()-from))):]
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range slices.Backward(lines) {
		said, ok := strings.CutPrefix(line, "relay: ")
		switch way, is := strings.CutPrefix(said, "hint: "); {
		case is:
			hint = way
		case ok && !strings.HasPrefix(said, "note: "):
			return ": " + said, hint
		}
	}
	if lines[0] == "" {
		return "", hint
	}
	return ": " + lines[0], hint
}

// Running returns a client of the router that runs, or an error; it starts none.
func (h Home) Running(ctx context.Context, token string) (*api.Client, error) {
	c := api.NewClient(h.Socket, token)
	_, err := c.Health(ctx)
	return c, err
}

// absent reports whether nobody listens, or whoever did has ended before it answered.
func absent(err error) bool {
	var dial *net.OpError
	var hint interface{ Hint() string } // a socket of somebody else's, or that we may not connect to
	switch {
	case !errors.Is(err, api.ErrLost) || errors.As(err, &hint):
		return false
	case errors.As(err, &dial) && dial.Op == "dial":
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
	}
	return true // somebody took the question, or not even the directory is there
}

// start starts a router that outlives us and our terminal. ended tells why it did not: at once what
// it died of, a moment later that it was killed, and nil, so much later, where another one has the
// store. What the router tells stands in its log behind from.
func (h Home) start(args []string, lost time.Duration) (ended <-chan error, from int64, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, 0, err
	}
	out, err := h.openLog()
	if err != nil {
		return nil, 0, err
	}
	defer out.Close() // the router has its own
	if from, err = out.Seek(0, io.SeekEnd); err != nil {
		return nil, 0, err
	}
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	done := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		switch {
		case err == nil:
			<-time.After(lost)
		case wasKilled(err):
			<-time.After(startAgain)
		}
		done <- err
	}()
	return done, from, nil
}
