package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/protocol"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/sock"
)

// patient is one user's machine, in which all is well until a test breaks something.
type patient struct {
	*Doctor
	t                  *testing.T
	dir, agents, store string
	explains           func(*protocol.ExplainAnswer) protocol.Frame // changes an answer of wraps; nil: it is as status has it
}

func newPatient(t *testing.T) *patient {
	t.Helper()
	dir := testrig.Dir(t)
	for name, value := range map[string]string{"XDG_RUNTIME_DIR": dir, "XDG_STATE_HOME": dir + "/state", "XDG_CONFIG_HOME": dir + "/config", "HOME": dir} {
		t.Setenv(name, value)
	}
	p := &patient{t: t, dir: dir, agents: dir + "/relay/agents", store: dir + "/state/relay"}
	p.Doctor = &Doctor{Version: "1.2.3", Layout: 1, Wrapper: p.program("relay-pty 1.2.3"), Watches: func() error { return nil }}
	return p
}

func (p *patient) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// program is one that prints a line.
func (p *patient) program(says string) func() (string, error) {
	path := filepath.Join(p.dir, "relay-pty")
	p.must(os.WriteFile(path, []byte("#!/bin/sh\necho '"+says+"'\n"), 0o700))
	return func() (string, error) { return path, nil }
}

// write makes a file, and the directories above it.
func (p *patient) write(path, text string, mode fs.FileMode) {
	p.t.Helper()
	p.must(os.MkdirAll(filepath.Dir(path), 0o700))
	p.must(os.WriteFile(path, []byte(text), mode))
	p.must(os.Chmod(path, mode))
}

// listens is somebody at a socket who does that with each connection, until the test ends.
func (p *patient) listens(path string, do func(net.Conn)) {
	p.t.Helper()
	p.must(os.MkdirAll(filepath.Dir(path), 0o700))
	l, err := net.Listen("unix", path)
	p.must(err)
	p.must(os.Chmod(path, 0o600))
	p.t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			do(c)
			c.Close()
		}
	}()
}

// routes is a router of a version, perhaps with a problem.
func (p *patient) routes(version string, problem ...string) {
	p.t.Helper()
	p.must(os.MkdirAll(filepath.Dir(p.socket()), 0o700))
	l, err := net.Listen("unix", p.socket())
	p.must(err)
	p.must(os.Chmod(p.socket(), 0o600))
	srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{
			"ok": true, "pid": 17, "version": version, "degraded": len(problem) > 0, "problem": strings.Join(problem, ""),
		})
	})}
	go srv.Serve(l)
	p.t.Cleanup(func() { srv.Close() })
}

func (p *patient) socket() string { return p.dir + "/relay/router.sock" }

// wraps is a wrapper that answers a status so.
func (p *patient) wraps(change func(*protocol.StatusAnswer)) {
	p.t.Helper()
	p.must(os.MkdirAll(p.agents, 0o700))
	path := filepath.Join(p.dir, "bob.sock")
	l, err := sock.Listen(path, "bob")
	p.must(err)
	ctx, cancel := context.WithCancel(p.t.Context())
	served := make(chan error, 1)
	go func() {
		served <- l.Serve(ctx, func(ctx context.Context, c *sock.Conn) {
			for {
				select {
				case in, open := <-c.Incoming():
					if !open {
						return
					}
					s := &protocol.StatusAnswer{Name: "bob", Agent: "claude", State: "ready", Protocol: protocol.Version, Features: protocol.Features(), UptimeMS: 3_600_000}
					change(s)
					c.Answer(p.answer(in.Request, s))
				case <-ctx.Done():
					return
				}
			}
		})
	}()
	listed, err := registry.Announce(p.agents, registry.Record{Name: "bob", Socket: path, PID: os.Getpid(), Agent: "claude"})
	p.must(err)
	p.t.Cleanup(func() {
		listed.Retire()
		cancel()
		<-served
		l.Close()
	})
}

// answer answers a request by a status, or by an explain that says the same.
func (p *patient) answer(r protocol.Request, s *protocol.StatusAnswer) (f protocol.Frame) {
	f = s
	if r.Type() == explains {
		e := &protocol.ExplainAnswer{State: s.State, BlockedBy: s.BlockedBy, Signs: []protocol.Sign{
			{Name: protocol.SignComposer, Says: "x"}, {Name: protocol.SignSilence, Wins: true}, {Name: protocol.SignLog}}}
		if f = e; p.explains != nil {
			f = p.explains(e)
		}
	}
	switch f := f.(type) {
	case *protocol.Error:
		f.Req = r.Tag()
	case interface{ SetTag(string) }:
		f.SetTag(r.Tag())
	}
	return f
}

// wrapsFor is wraps of an agent that runs for so long, and that explains itself so.
func (p *patient) wrapsFor(uptime time.Duration, state string, explains func(*protocol.ExplainAnswer) protocol.Frame) {
	p.t.Helper()
	p.explains = explains
	p.wraps(func(s *protocol.StatusAnswer) { s.State, s.UptimeMS = state, uptime.Milliseconds() })
}

// TestEachThingIsFound, with what is broken really broken, and nothing else is told.
func TestEachThingIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		breaks  func(p *patient)
		problem string // "": nothing is to be found
		fix     string
		note    bool
	}{
		"nothing ran yet": {breaks: func(*patient) {}},
		"all runs": {breaks: func(p *patient) {
			p.wraps(func(*protocol.StatusAnswer) {})
			p.routes("1.2.3")
			p.write(p.store+"/router.log", "relay: router at here, log in there\n", 0o600)
			p.write(p.store+"/version", "1\n", 0o600)
		}},
		"a second router lost": {breaks: func(p *patient) {
			p.write(p.store+"/router.log", "relay: router at here, log in there\nrelay: store x: held by the router that runs (pid 7)\nrelay: hint: use that one\n", 0o600)
		}},
		"no wrapper": {func(p *patient) { p.Wrapper = func() (string, error) { return "", errors.New("find relay-pty: none") } },
			"find relay-pty: none", "install relay-pty", false},
		"no watcher of files is left": {func(p *patient) { p.Watches = func() error { return syscall.EMFILE } },
			"no watcher of files is left for you (too many open files)", "fs.inotify.max_user_instances", true},
		"a wrapper of another version": {func(p *patient) { p.Wrapper = p.program("relay-pty 1.0.0") }, "is version 1.0.0, and relay is 1.2.3", "of one version", false},
		"a wrapper that is none":       {func(p *patient) { p.Wrapper = p.program("oops") }, "does not tell its version", "install it anew", false},
		"a setting that is none": {func(p *patient) { p.write(p.dir+"/config/relay/config.toml", "retain = \"soon\"\n", 0o600) },
			`config.toml: retain: "soon" is neither`, "mend it there", false},
		"a runtime directory that others write": {func(p *patient) { p.must(os.Chmod(p.dir, 0o777)) }, "is not ours alone to write", "set XDG_RUNTIME_DIR", false},
		"a directory that is open": {func(p *patient) { p.must(os.Mkdir(p.dir+"/relay", 0o755)) },
			"relay: is open to others (mode 0755)", "chmod 700 ", false},
		"a file in the place of a directory": {func(p *patient) { p.write(p.dir+"/relay", "", 0o600) }, "relay: is a file, not a directory", "remove it", false},
		"too long a path": {func(p *patient) {
			long := p.dir + "/" + strings.Repeat("long", 25)
			p.must(os.Mkdir(long, 0o700))
			p.t.Setenv("XDG_RUNTIME_DIR", long)
		}, "and 107 are the most that other programs", "a shorter name", true},
		"an agent that cannot be reached": {func(p *patient) {
			text, err := json.Marshal(registry.Record{Name: "bob", Socket: p.dir + "/elsewhere"}.Itself())
			p.must(err)
			p.write(p.agents+"/bob.json", string(text), 0o600)
		}, "elsewhere cannot be reached from here (another mount namespace?)", "by relay run", false},
		"a file in the store's place": {func(p *patient) { p.write(p.store, "", 0o600) }, "state/relay is a file, not a directory", "move it away", false},
		"a store that is open": {func(p *patient) { p.must(os.MkdirAll(p.store, 0o755)) },
			"state/relay is open to others (mode 0755)", "chmod 700 ", false},
		"a store that others write": {func(p *patient) { p.must(os.MkdirAll(p.store, 0o700)); p.must(os.Chmod(p.store, 0o777)) },
			"state/relay: can be written by anybody (mode 0777)", "then chmod 700 ", false},
		"a fifo as the version": {func(p *patient) { p.must(os.MkdirAll(p.store, 0o700)); p.must(unix.Mkfifo(p.store+"/version", 0o600)) },
			"version: there is a fifo in the way", "move it away", false},
		"a fifo as the router's log": {func(p *patient) {
			p.must(os.MkdirAll(p.store, 0o700))
			p.must(unix.Mkfifo(p.store+"/router.log", 0o600))
		},
			"router.log: there is a fifo in the way", "move it away", false},
		"a link as a journal": {func(p *patient) {
			p.must(os.MkdirAll(p.dir+"/state/relay-pty", 0o700))
			p.must(os.Symlink("/dev/zero", p.dir+"/state/relay-pty/bob.journal"))
		}, "bob.journal: there is a symbolic link in the way", "move it away", false},
		"a store that is damaged": {func(p *patient) {
			p.Store.Inspect = func(context.Context, string) ([]string, error) { return []string{"2 events are missing: 3 to 4"}, nil }
		}, "2 events are missing: 3 to 4 (in ", "then relay doctor --fix", false},
		"a store that cannot be looked at": {func(p *patient) {
			p.Store.Inspect = func(context.Context, string) ([]string, error) { return nil, syscall.EIO }
		}, "look at the store: input/output error", "relay doctor again", false},
		"a store that was damaged": {breaks: func(p *patient) {
			p.Mends = true
			p.write(p.store+"/router.log", "relay: store x: relay.db is damaged: it is empty\n", 0o600)
			p.Store.Inspect = func(context.Context, string) ([]string, error) {
				return []string{"relay.db is damaged: it is empty"}, nil
			}
			p.Store.Mend = func(context.Context, string) ([]string, error) { return []string{"all is kept"}, nil }
		}},
		"a store that a router has": {func(p *patient) {
			p.Mends = true
			p.Store.Inspect = func(context.Context, string) ([]string, error) { return []string{"2 events are missing: 3 to 4"}, nil }
			p.Store.Mend = func(context.Context, string) ([]string, error) { return nil, errors.New("the router has it") }
		}, "2 events are missing: 3 to 4; not mended: the router has it", "then relay doctor --fix", false},
		"a store on a weak file system": {func(p *patient) {
			p.must(os.MkdirAll(p.store, 0o700))
			p.Store.Weak = func(dir string) string { return dir + " is on NFS" }
		}, "state/relay is on NFS", "set XDG_STATE_HOME to a directory on a disk of this machine", true},
		"notes of a router that ended": {breaks: func(p *patient) {
			p.write(p.store+"/router.log", "relay: router at here, log in there\nrelay: note: the socket is there again\n", 0o600)
		}},
		"a store of a newer version": {func(p *patient) { p.write(p.store+"/version", "9\n", 0o600) }, "says 9, and this relay knows 1", "use the newer relay", false},
		"a clock that went back": {func(p *patient) {
			p.write(p.store+"/LOG/1.blk", "", 0o600)
			ahead := time.Now().Add(3 * time.Hour)
			p.must(os.Chtimes(p.store+"/LOG/1.blk", ahead, ahead))
		}, "after what the clock says now", "set the clock", false},
		"a router that cannot start": {func(p *patient) {
			p.write(p.store+"/router.log", "relay: router at here, log in there\nrelay: open store there: no space left on device\n", 0o600)
		}, "relay: open store there: no space left on device", "mend what it says", false},
		"a router that does not answer": {func(p *patient) { p.listens(p.socket(), func(net.Conn) {}) }, "does not answer", "; the next command starts another one", false},
		"a router of another version":   {func(p *patient) { p.routes("1.0.0") }, "the router that runs is version 1.0.0", "end process 17", false},
		"a router that lost its log": {func(p *patient) { p.routes("1.2.3", "the log is gone: it was removed") },
			"the router refuses messages: the log is gone: it was removed", "end process 17", false},
		"a router's socket that is open": {func(p *patient) { p.routes("1.2.3"); p.must(os.Chmod(p.socket(), 0o666)) },
			"router.sock is open to others (mode 0666)", "chmod 600 ", false},
		"a killed wrapper": {func(p *patient) {
			p.write(p.agents+"/bob.json", `{"name":"bob","socket":"`+p.dir+`/gone","pid":1}`, 0o600)
		}, "the wrapper of bob was killed", "relay run bob takes its place", true},
		"a record that is none": {func(p *patient) { p.write(p.agents+"/bob.json", "{", 0o600) }, "agents/bob.json: unexpected end", "remove that file", false},
		"a record that is open": {func(p *patient) {
			p.wraps(func(*protocol.StatusAnswer) {})
			p.must(os.Chmod(p.agents+"/bob.json", 0o644))
		}, "bob.json is not closed to others (mode 0644", "chmod 600 ", false},
		"a wrapper that does not answer": {func(p *patient) {
			p.write(p.agents+"/bob.json", `{"name":"bob","socket":"`+p.dir+`/deaf","pid":17}`, 0o600)
			p.listens(p.dir+"/deaf", func(net.Conn) {})
		}, "the wrapper of bob does not answer", "look at process 17", false},
		"an older wrapper": {func(p *patient) {
			p.wraps(func(s *protocol.StatusAnswer) {
				s.Features = []string{"hello", "inject", "query", "cancel", "queue", "status", "subscribe", "screen", "signal", "emit"}
			})
		}, "it lacks pull, pull_ack, pause, resume", "end bob", false},
		"an older wrapper that does not explain": {func(p *patient) {
			p.wrapsFor(time.Hour, "ready", func(*protocol.ExplainAnswer) protocol.Frame {
				return &protocol.Error{Code: protocol.UnknownType, Message: "no"}
			})
		}, "bob is older than relay, and cannot explain", "end bob", true},
		"a wrapper that explains by something else": {func(p *patient) {
			p.wrapsFor(time.Hour, "ready", func(*protocol.ExplainAnswer) protocol.Frame { return &protocol.OK{} })
		}, "bob does not explain how its agent is: it answers explain by ok", "look at process", false},
		"a deaf agent, just started": {func(p *patient) {
			p.wrapsFor(25*time.Second, "unknown", func(e *protocol.ExplainAnswer) protocol.Frame {
				e.BlockedBy, e.Signs = "its composer is not found; leave out --reader", []protocol.Sign{{Name: protocol.SignComposer, Wins: true}}
				return e
			})
		}, "bob gets no messages: its composer is not found; leave out --reader", "do what that says", false},
		"an agent whose log does not show what it was given": {func(p *patient) {
			p.wrapsFor(time.Hour, "ready", func(e *protocol.ExplainAnswer) protocol.Frame {
				e.Signs[2].Fault, e.Signs[2].Says = true, "no log of this session is found"
				return e
			})
		}, "the sign log of bob: no log of this session is found", "relay explain bob", false},
		"an agent that nobody described, just started": {breaks: func(p *patient) {
			p.wrapsFor(25*time.Second, "unknown", func(e *protocol.ExplainAnswer) protocol.Frame { e.BlockedBy = "it draws"; return e })
		}},
		"another protocol": {func(p *patient) { p.wraps(func(s *protocol.StatusAnswer) { s.Protocol = 2 }) }, "speaks protocol 2", "end bob", false},
		"a journal that fails": {func(p *patient) { p.wraps(func(s *protocol.StatusAnswer) { s.Degraded = true }) },
			"bob refuses messages: its journal cannot be written", "make room", false},
		"a profile that no longer holds": {func(p *patient) { p.wraps(func(s *protocol.StatusAnswer) { s.State = "unknown" }) },
			"for 1h0m0s it has shown nothing by which profile claude knows", "relay-pty --check-profile claude", false},
		"one that starts": {breaks: func(p *patient) {
			p.wraps(func(s *protocol.StatusAnswer) { s.State, s.UptimeMS = "starting", 2000 })
		}},
		"a shell that has an editor open": {func(p *patient) {
			p.wraps(func(s *protocol.StatusAnswer) { s.State, s.BlockedBy = "unknown", protocol.BlockedByForeground })
		}, "messages to bob wait: another program has the terminal", "they are typed when it ends", true},
		"an agent that nobody described": {func(p *patient) {
			p.wraps(func(s *protocol.StatusAnswer) { s.State, s.BlockedBy = "unknown", "it draws; say --agent generic" })
		}, "bob gets no messages: it draws; say --agent generic", "do what that says", false},
		"messages that wait for each other": {func(p *patient) {
			p.wraps(func(s *protocol.StatusAnswer) { s.State, s.BlockedBy = "ready", "m1 (behind) waits for m2 (queued)" })
		}, "messages to bob wait for what cannot come: m1 (behind) waits for m2", "start it again", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPatient(t)
			c.breaks(p)
			found := p.Look(t.Context())
			if c.problem == "" && len(found) == 0 {
				return
			}
			if len(found) != 1 || c.problem == "" || !strings.Contains(found[0].Problem, c.problem) || !strings.Contains(found[0].Fix, c.fix) || found[0].Broken == c.note {
				t.Errorf("got %+v, want %q, %q", found, c.problem, c.fix)
			}
		})
	}
}

// TestNothingIsMade: to look changes nothing.
func TestNothingIsMade(t *testing.T) {
	p := newPatient(t)
	tree := func() (list []string) {
		p.must(filepath.WalkDir(p.dir, func(path string, _ fs.DirEntry, err error) error {
			list = append(list, path)
			return err
		}))
		return list
	}
	before := tree()
	p.Look(t.Context())
	if after := tree(); len(after) != len(before) {
		t.Errorf("there is %v, was %v", after, before)
	}
}
