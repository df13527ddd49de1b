package doctor

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"relay-pty/protocol"
	"relay-pty/protocol/own"
	"relay-pty/protocol/registry"
)

// killed leaves what a killed wrapper leaves: a record, a socket on which nobody listens, and locks
// that nobody holds.
func (p *patient) killed(name string) (left []string) {
	p.t.Helper()
	socket := p.dir + "/" + name + ".sock"
	p.write(p.agents+"/"+name+".json", fmt.Sprintf(`{"name":%q,"socket":%q,"pid":1}`, name, socket), 0o600)
	p.write(p.agents+"/"+name+".lock", "1 "+name, 0o600)
	p.write(socket+".lock", "1 "+name, 0o600)
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	p.must(err)
	p.must(unix.Bind(fd, &unix.SockaddrUnix{Name: socket}))
	p.must(unix.Close(fd))
	return []string{p.agents + "/" + name + ".json", p.agents + "/" + name + ".lock", socket, socket + ".lock"}
}

func (p *patient) there(files ...string) (n int) {
	for _, file := range files {
		if _, err := os.Lstat(file); err == nil {
			n++
		}
	}
	return n
}

// TestAHeapOfKilledWrappers is one line, and --fix removes all that they left, and nothing of those
// that run.
func TestAHeapOfKilledWrappers(t *testing.T) {
	p := newPatient(t)
	p.wraps(func(*protocol.StatusAnswer) {})
	var left []string
	for i := range 21 {
		left = append(left, p.killed(fmt.Sprintf("w%02d", i))...)
	}
	found := p.Look(t.Context())
	want := "21 wrappers were killed and have left their records, and perhaps their sockets: w00, w01, w02, w03, w04, w05, w06, w07 and 13 more"
	if len(found) != 1 || found[0].Broken || found[0].Problem != want || !strings.Contains(found[0].Fix, "relay doctor --fix") {
		t.Errorf("got %+v", found)
	}
	if n := p.there(left...); n != len(left) {
		t.Fatalf("to look removed %d of %d files", len(left)-n, len(left))
	}
	p.Mends = true
	if found := p.Look(t.Context()); len(found) > 0 || len(p.Removed) != 21 {
		t.Errorf("got %+v, removed %v", found, p.Removed)
	}
	if n := p.there(left...); n > 0 {
		t.Errorf("%d files are left", n)
	}
	if n := p.there(p.agents+"/bob.json", p.dir+"/bob.sock"); n != 2 {
		t.Errorf("of the wrapper that runs %d of 2 files are there", n)
	}
}

// TestWhatIsNotOfAKilledWrapperStays: that of a wrapper that begins to run, of somebody who listens
// there, of a newer one of the name, and what is no socket.
func TestWhatIsNotOfAKilledWrapperStays(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *patient)
		stay   int // of its four files
	}{
		"the name is being taken": {func(p *patient) { p.holds(p.agents + "/ann.lock") }, 4},
		"its socket is":           {func(p *patient) { p.holds(p.dir + "/ann.sock.lock") }, 4},
		"a file in its place": {func(p *patient) {
			p.must(os.Remove(p.dir + "/ann.sock"))
			p.write(p.dir+"/ann.sock", "mine", 0o600)
		}, 1},
		"no socket": {func(p *patient) { p.must(os.Remove(p.dir + "/ann.sock")) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPatient(t)
			left := p.killed("ann")
			c.change(p)
			p.Mends = true
			if found := p.Look(t.Context()); len(found) > 0 {
				t.Errorf("got %+v", found)
			}
			locks := 0
			if c.stay == 4 {
				locks = 4 - p.there(left...)
			}
			if n := p.there(left...) + locks; n != c.stay || locks > 1 || p.there(left[0]) != c.stay/4 {
				t.Errorf("%d files are there, want %d", n, c.stay)
			}
		})
	}
	p := newPatient(t)
	p.killed("ann")
	r := registry.Record{Name: "ann", Socket: p.dir + "/ann.sock", PID: 2} // another one than is recorded by now
	if removed, err := tidy(p.agents, r); removed || err != nil || p.there(p.agents+"/ann.json") != 1 {
		t.Errorf("another's record: removed %v, %v", removed, err)
	}
}

// holds holds a lock until the test ends.
func (p *patient) holds(path string) {
	p.t.Helper()
	lock, err := own.Hold(path, "ann", "name", "ann")
	p.must(err)
	p.t.Cleanup(lock.Release)
}

// TestOneFaultIsOneLine: what two directories lack above them is told once.
func TestOneFaultIsOneLine(t *testing.T) {
	p := newPatient(t)
	p.write(p.dir+"/state", "", 0o600)
	if found := p.Look(t.Context()); len(found) != 1 || !strings.HasSuffix(found[0].Problem, "state is a file, not a directory") {
		t.Errorf("got %+v", found)
	}
}
