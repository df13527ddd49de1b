package sock

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"relay-pty/protocol/own"
)

func TestModesUnderUmaskZero(t *testing.T) {
	d := dir(t)
	startHolder(t, in(d, "s")) // it sets umask 0, for itself alone
	for _, name := range []string{"s", "s.lock"} {
		info, err := os.Lstat(in(d, name))
		must(t, err)
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("%s: mode %04o, want 0600", name, got)
		}
	}
}

func TestSecondOwnerIsToldWho(t *testing.T) {
	path := in(dir(t), "s")
	holder := startHolder(t, path)
	_, err := Listen(path, "bob")
	var held *own.HeldError
	if !errors.As(err, &held) {
		t.Fatalf("got %v, want a HeldError", err)
	}
	if held.PID != holder.Process.Pid || held.Name != "alice" || held.Hint() == "" {
		t.Errorf("got %+v, want pid %d", held, holder.Process.Pid)
	}
	if !strings.HasPrefix(err.Error(), "socket "+path+": held by relay-pty pid ") || !strings.HasSuffix(err.Error(), " (name alice)") {
		t.Errorf("got %q", err)
	}
	dial(t, path) // the owner is unharmed
}

func TestKilledOwnersSocketIsReclaimed(t *testing.T) {
	d := dir(t)
	path := in(d, "s")
	holder := startHolder(t, path)
	must(t, holder.Process.Kill())
	holder.Wait()
	if got := names(t, d); got != "s s.lock" {
		t.Fatalf("left behind: %s", got)
	}
	l := listen(t, path)
	serve(t, l, answer)
	c := dial(t, path)
	c.SendLine([]byte(`{"type":"hello"}` + "\n"))
	expect(t, c, `"hello"`)
}

// TestLockFileRemoved: without its lock file a live owner is still recognised.
func TestLockFileRemoved(t *testing.T) {
	path := in(dir(t), "s")
	holder := startHolder(t, path)
	os.Remove(path + ".lock")
	_, err := Listen(path, "bob")
	var held *own.HeldError
	if !errors.As(err, &held) || held.PID != holder.Process.Pid {
		t.Fatalf("got %v, want held by %d", err, holder.Process.Pid)
	}
	dial(t, path)
}

// TestRemovedSocketIsMadeAnew: a new one has its place, connections go on, and nothing is left.
func TestRemovedSocketIsMadeAnew(t *testing.T) {
	for _, gone := range [][]string{{"s"}, {"s.lock"}, {"s", "s.lock"}} {
		t.Run(strings.Join(gone, " and "), func(t *testing.T) {
			d := dir(t)
			l := listen(t, in(d, "s"))
			serve(t, l, answer)
			old := dial(t, l.path)
			for range 2 {
				for _, name := range gone {
					os.Remove(in(d, name))
				}
				if anew, err := l.Keep(); !anew || err != nil {
					t.Fatalf("kept: anew %v, %v", anew, err)
				}
				if anew, err := l.Keep(); anew || err != nil {
					t.Fatalf("kept again: anew %v, %v", anew, err)
				}
				for _, c := range []*Client{old, dial(t, l.path)} {
					c.SendLine([]byte(`{"type":"hello"}` + "\n"))
					expect(t, c, `"hello"`)
				}
			}
			var held *own.HeldError
			if _, err := Listen(l.path, "bob"); !errors.As(err, &held) || held.Name != "alice" {
				t.Errorf("another one gets it: %v", err)
			}
		})
	}
}

// TestSocketThatAnotherTook: we leave it to the other one as long as that lives.
func TestSocketThatAnotherTook(t *testing.T) {
	d := dir(t)
	l := listen(t, in(d, "s"))
	serve(t, l, answer)
	os.Remove(in(d, "s"))
	os.Remove(in(d, "s.lock"))
	holder := startHolder(t, l.path)
	var held *own.HeldError
	if _, err := l.Keep(); !errors.As(err, &held) || held.PID != holder.Process.Pid {
		t.Errorf("kept: %v, want held by %d", err, holder.Process.Pid)
	}
	dial(t, l.path)
	holder.Process.Kill()
	holder.Wait()
	if anew, err := l.Keep(); !anew || err != nil {
		t.Errorf("the other one is gone: anew %v, %v", anew, err)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	d := dir(t)
	l := listen(t, in(d, "s"))
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Error(err)
	}
	if got := names(t, d); got != "" {
		t.Errorf("left behind: %s", got)
	}
}

// TestCloseLeavesOthers: what took our names meanwhile is not ours to remove.
func TestCloseLeavesOthers(t *testing.T) {
	d := dir(t)
	l := listen(t, in(d, "s"))
	for _, name := range []string{"s", "s.lock"} {
		os.Remove(in(d, name))
		os.WriteFile(in(d, name), []byte("other"), 0o600)
	}
	l.Close()
	if got := names(t, d); got != "s s.lock" {
		t.Errorf("left: %s", got)
	}
}

func TestInTheWay(t *testing.T) {
	const precious = "precious"
	plant := map[string]func(t *testing.T, d, at string){
		"a file":      func(t *testing.T, d, at string) { must(t, os.WriteFile(at, []byte(precious), 0o644)) },
		"a directory": func(t *testing.T, d, at string) { must(t, os.Mkdir(at, 0o755)) },
		"a link":      func(t *testing.T, d, at string) { must(t, os.Symlink(in(d, "victim"), at)) },
		"a dead link": func(t *testing.T, d, at string) { must(t, os.Symlink(in(d, "nowhere"), at)) },
		"a fifo":      func(t *testing.T, d, at string) { must(t, unix.Mkfifo(at, 0o666)) },
		"a hard link": func(t *testing.T, d, at string) { must(t, os.Link(in(d, "victim"), at)) },
		"a foreign file": func(t *testing.T, d, at string) {
			must(t, os.WriteFile(at, []byte(precious), 0o644))
			must(t, os.Chown(at, 65534, 65534))
		},
		"a foreign socket": func(t *testing.T, d, at string) {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			must(t, err)
			must(t, unix.Bind(fd, &unix.SockaddrUnix{Name: at}))
			unix.Close(fd)
			must(t, os.Chown(at, 65534, 65534))
		},
	}
	for what, put := range plant {
		for _, name := range []string{"s", "s.lock"} {
			t.Run(what+" as "+name, func(t *testing.T) {
				if strings.Contains(what, "foreign") && os.Geteuid() != 0 {
					t.Log("NOT RUN: only root can plant a file of another uid")
					return
				}
				if what == "a file" && name == "s.lock" {
					return // that is what a lock file is
				}
				d := dir(t)
				must(t, os.WriteFile(in(d, "victim"), []byte(precious), 0o644))
				put(t, d, in(d, name))
				before, err := os.Lstat(in(d, name))
				must(t, err)
				_, err = Listen(in(d, "s"), "alice")
				var bad *own.PathError
				if !errors.As(err, &bad) || bad.Path != in(d, name) || bad.Hint() == "" {
					t.Errorf("got %v, want a PathError about %s", err, name)
				}
				after, err := os.Lstat(in(d, name))
				if err != nil || !os.SameFile(before, after) || after.Mode() != before.Mode() {
					t.Errorf("it was changed: %v", err)
				}
				if text, _ := os.ReadFile(in(d, "victim")); string(text) != precious {
					t.Errorf("the victim now holds %q", text)
				}
				if _, err := os.Lstat(in(d, "nowhere")); err == nil {
					t.Error("a link was followed")
				}
			})
		}
	}
}

func TestPaths(t *testing.T) {
	d := dir(t)
	fill := func(n int) string { return d + "/" + strings.Repeat("x", n-len(d)-1) }
	for _, path := range []string{"", "@abstract", d + "/a\x00b", fill(MaxPath + 50), fill(200)} {
		_, err := Listen(path, "alice")
		var bad *own.PathError
		if !errors.As(err, &bad) || bad.Hint() == "" {
			t.Errorf("Listen(%q) = %v, want a PathError", path, err)
		}
		if _, err := Dial(t.Context(), path); !errors.As(err, &bad) {
			t.Errorf("Dial(%q) = %v, want a PathError", path, err)
		}
	}
	if _, err := Listen(fill(MaxPath+50), "alice"); !strings.Contains(err.Error(), "107") || !strings.Contains(err.Error(), "157") {
		t.Errorf("got %q, want both lengths", err)
	}
	listen(t, fill(MaxPath))
	if got := names(t, d); strings.Count(got, " ") != 1 {
		t.Errorf("left: %s", got)
	}
}

// TestLongDirectories: below a directory of any length a socket is made, found, kept and given up,
// whatever its length is with the name under which it is made. Programs that have its path alone
// are told the limit.
func TestLongDirectories(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // nothing there leads around the limit
	}
	for n := MaxPath - 12; n <= MaxPath+12; n++ {
		d := dir(t)
		d += "/" + strings.Repeat("d", n-len(d)-len("/")-len("/alice.sock"))
		must(t, os.Mkdir(d, 0o700))
		path := d + "/alice.sock"
		for _, begin := range []func(path, name string) (*Listener, error){Listen, claimed} {
			l, err := begin(path, "alice")
			if err != nil {
				t.Fatalf("%d bytes: %v", len(path), err)
			}
			stop := serve(t, l, answer)
			must(t, os.Remove(path))
			if anew, err := l.Keep(); !anew || err != nil {
				t.Errorf("%d bytes: kept: anew %v, %v", len(path), anew, err)
			}
			c := dial(t, path)
			must(t, c.SendLine([]byte(`{"type":"hello"}`+"\n")))
			expect(t, c, `"hello"`)
			if pid, alive := Listening(path); !alive || pid != os.Getpid() {
				t.Errorf("%d bytes: listening: %d, %v", len(path), pid, alive)
			}
			c.Close() // its handler ends with it
			stop()
			must(t, l.Close())
			if _, alive := Listening(path); alive {
				t.Errorf("%d bytes: alive", len(path))
			}
		}
		if err := CheckPath(path); (err != nil) != (len(path) > MaxPath) || err != nil && !strings.Contains(err.Error(), "107") {
			t.Errorf("%d bytes: %v", len(path), err)
		}
	}
	if _, alive := Listening(in(dir(t), strings.Repeat("none/", 30))); alive {
		t.Error("somebody listens in no directory")
	}
}

// claimed claims a path, and makes the socket.
func claimed(path, name string) (*Listener, error) {
	l, err := Claim(path, name, "--path")
	if err != nil {
		return nil, err
	}
	return l, l.Open()
}

// TestClaim: who claims a path has it before there is a socket. What an owner that was killed left
// beside it is in nobody's way.
func TestClaim(t *testing.T) {
	d := dir(t)
	l, err := Claim(in(d, "s"), "alice", "--path")
	must(t, err)
	defer l.Close()
	var held *own.HeldError
	if _, err := Claim(in(d, "s"), "bob", "--path"); !errors.As(err, &held) || held.Flag != "--path" {
		t.Errorf("claimed twice: %v", err)
	}
	if got := names(t, d); got != "s.lock" {
		t.Errorf("there is %s", got)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	must(t, err)
	must(t, unix.Bind(fd, &unix.SockaddrUnix{Name: in(d, "s.new")}))
	unix.Close(fd)
	must(t, l.Open())
	if got := names(t, d); got != "s s.lock" {
		t.Errorf("there is %s", got)
	}
	if info, err := os.Lstat(in(d, "s")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestRacers: of all who want a path at once, one gets it.
func TestRacers(t *testing.T) {
	path := in(dir(t), "s")
	const rounds, racers = 200, 100
	for round := range rounds {
		var won, held atomic.Int32
		var winner atomic.Pointer[Listener]
		var wg sync.WaitGroup
		start := make(chan struct{})
		for range racers {
			wg.Go(func() {
				<-start
				l, err := Listen(path, "alice")
				var h *own.HeldError
				switch {
				case err == nil:
					won.Add(1)
					winner.Store(l)
				case errors.As(err, &h):
					held.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		close(start)
		wg.Wait()
		if won.Load() != 1 || held.Load() != racers-1 {
			t.Fatalf("round %d: %d won, %d held off", round, won.Load(), held.Load())
		}
		winner.Load().Close()
	}
}

// TestNeverTwoOwners: also while owners give the path up and others want it.
func TestNeverTwoOwners(t *testing.T) {
	d := dir(t)
	path := in(d, "s")
	var owners, turns atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 200 {
				l, err := Listen(path, "alice")
				if err != nil {
					continue
				}
				turns.Add(1)
				if n := owners.Add(1); n != 1 {
					t.Errorf("%d owners", n)
				}
				if info, err := os.Lstat(path); err != nil || !os.SameFile(info, l.inode) {
					t.Errorf("the path is not the owner's: %v", err)
				}
				owners.Add(-1)
				l.Close()
			}
		})
	}
	wg.Wait()
	if turns.Load() == 0 || names(t, d) != "" {
		t.Errorf("%d turns, left %q", turns.Load(), names(t, d))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
