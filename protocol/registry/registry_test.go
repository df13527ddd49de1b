package registry

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"relay-pty/protocol/own"
	"relay-pty/protocol/sock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dir is a directory with a short name, for the sockets in it.
func dir(t *testing.T) string {
	t.Helper()
	d, err := os.MkdirTemp("/tmp", "reg")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(d) })
	return d
}

func in(dir, name string) string { return filepath.Join(dir, name) }

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var s []string
	for _, e := range entries {
		s = append(s, e.Name())
	}
	return strings.Join(s, " ")
}

var record = Record{Name: "alice", Socket: "/tmp/relay-pty-alice.sock", PID: 7, StartedAt: 1705350000000, Agent: "claude", TokenSHA256: "ab"}

func TestDir(t *testing.T) {
	run := dir(t)
	t.Setenv("XDG_RUNTIME_DIR", run)
	for range 2 {
		got, err := Dir()
		if err != nil || got != run+"/relay/agents" {
			t.Fatalf("got %s, %v", got, err)
		}
	}
	for _, d := range []string{"/relay", "/relay/agents"} {
		if info, err := os.Lstat(run + d); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", d, info.Mode(), err)
		}
	}
	tmp := dir(t)
	useless := []string{"", "relative", run + "/missing", "/etc/passwd"}
	if os.Geteuid() == 0 { // as su without a dash leaves it
		useless = append(useless, tmp+"/foreign")
		must(t, os.Mkdir(tmp+"/foreign", 0o700))
		must(t, os.Chown(tmp+"/foreign", 65534, 65534))
	}
	at := bases{user: tmp + "/user", tmp: tmp + "/relay"}
	expect := func(want string) {
		t.Helper()
		for _, run := range useless {
			if got, err := at.dir(run); err != nil || got != want {
				t.Errorf("%q: got %s, %v; want %s", run, got, err, want)
			}
		}
	}
	expect(tmp + "/relay/agents")
	must(t, os.Symlink(run, at.user)) // anybody's link
	expect(tmp + "/relay/agents")
	must(t, os.Remove(at.user))
	must(t, os.Mkdir(at.user, 0o755))
	expect(tmp + "/relay/agents")
	must(t, os.Chmod(at.user, 0o700)) // as the system makes it at a login
	expect(at.user + "/relay/agents")
	if os.Geteuid() == 0 {
		must(t, os.Chown(at.user, 65534, 65534))
		expect(tmp + "/relay/agents")
	}
	uid := strconv.Itoa(os.Geteuid())
	if got, want := Usual(), []string{"/run/user/" + uid + "/relay/agents", "/tmp/relay-" + uid + "/agents"}; !slices.Equal(got, want) {
		t.Errorf("usual are %v, want %v", got, want)
	}
}

func TestDirRefuses(t *testing.T) {
	plant := map[string]func(base string) error{
		"open base": func(base string) error { return os.Chmod(base, 0o777) },
		"open level": func(base string) error {
			return errors.Join(os.Mkdir(base+"/relay", 0o700), os.Chmod(base+"/relay", 0o750))
		},
		"link": func(base string) error { return os.Symlink("/tmp", base+"/relay") },
		"link below": func(base string) error {
			return errors.Join(os.Mkdir(base+"/relay", 0o700), os.Symlink("/tmp", base+"/relay/agents"))
		},
		"file": func(base string) error { return os.WriteFile(base+"/relay", nil, 0o600) },
		"foreign level": func(base string) error {
			return errors.Join(os.Mkdir(base+"/relay", 0o700), os.Chown(base+"/relay", 65534, 65534))
		},
	}
	for what, put := range plant {
		t.Run(what, func(t *testing.T) {
			if strings.Contains(what, "foreign") && os.Geteuid() != 0 {
				t.Log("NOT RUN: only root can plant a directory of another uid")
				return
			}
			base := dir(t)
			t.Setenv("XDG_RUNTIME_DIR", base)
			must(t, put(base))
			before, _ := os.Lstat(base + "/relay")
			got, err := Dir()
			var bad *own.PathError
			if !errors.As(err, &bad) || bad.Hint() == "" {
				t.Errorf("got %q, %v; want a PathError", got, err)
			}
			if after, _ := os.Lstat(base + "/relay"); before != nil && (after == nil || after.Mode() != before.Mode()) {
				t.Error("it was changed")
			}
		})
	}
}

func TestAnnounce(t *testing.T) {
	d := dir(t)
	os.WriteFile(in(d, "alice.json"), []byte("of a dead wrapper"), 0o644)
	listed, err := Announce(d, record)
	must(t, err)
	if got := names(t, d); got != "alice.json alice.lock" {
		t.Errorf("directory holds %s", got)
	}
	text, _ := os.ReadFile(in(d, "alice.json"))
	const want = `{"name":"alice","socket":"/tmp/relay-pty-alice.sock","pid":7,"started_at":1705350000000,"agent":"claude","token_sha256":"ab"}` + "\n"
	var got Record
	if err := json.Unmarshal(text, &got); err != nil || got != record || string(text) != want {
		t.Errorf("got %s (%v), want %s", text, err, want)
	}
	if info, _ := os.Lstat(in(d, "alice.json")); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	var held *own.HeldError
	if _, err := Announce(d, record); !errors.As(err, &held) || held.PID != os.Getpid() || !strings.HasPrefix(err.Error(), "name alice: held by relay-pty pid ") {
		t.Errorf("same name again: %v", err)
	}
	listed.Retire()
	if got := names(t, d); got != "" {
		t.Errorf("left behind: %s", got)
	}
}

// TestAnnouncementIsKept over the removal of its files and of the directories, unless another has
// taken the name since; one that was retired stays away.
func TestAnnouncementIsKept(t *testing.T) {
	base := dir(t)
	d := filepath.Join(base, "relay", "agents")
	must(t, os.MkdirAll(d, 0o700))
	a, err := Announce(d, record)
	must(t, err)
	for what, remove := range map[string]func() error{
		"record":    func() error { return os.Remove(in(d, "alice.json")) },
		"lock":      func() error { return os.Remove(in(d, "alice.lock")) },
		"directory": func() error { return os.RemoveAll(d) },
		"all":       func() error { return os.RemoveAll(filepath.Dir(d)) },
	} {
		must(t, remove())
		if anew, err := a.Keep(); !anew || err != nil {
			t.Errorf("%s: anew %v, %v", what, anew, err)
		}
		if anew, err := a.Keep(); anew || err != nil {
			t.Errorf("%s again: anew %v, %v", what, anew, err)
		}
		if got := names(t, d); got != "alice.json alice.lock" {
			t.Errorf("%s: directory holds %s", what, got)
		}
	}
	must(t, os.RemoveAll(d))
	must(t, os.MkdirAll(d, 0o700))
	other, err := Announce(d, record)
	must(t, err)
	var held *own.HeldError
	if _, err := a.Keep(); !errors.As(err, &held) {
		t.Errorf("another has the name: %v", err)
	}
	a.Retire()
	if got := names(t, d); got != "alice.json alice.lock" {
		t.Errorf("the other's are gone: %s", got)
	}
	other.Retire()
	if anew, err := a.Keep(); anew || err != nil || names(t, d) != "" {
		t.Errorf("retired: anew %v, %v, %s", anew, err, names(t, d))
	}
}

func TestAnnounceRemovesOnlyItsOwn(t *testing.T) {
	d := dir(t)
	listed, err := Announce(d, record)
	must(t, err)
	other, err := place(in(d, "alice.json"), record)
	must(t, err)
	listed.Retire()
	if now, err := os.Lstat(in(d, "alice.json")); err != nil || !os.SameFile(now, other) {
		t.Errorf("another's record is gone: %v", err)
	}
}

func TestAnnounceFollowsNothing(t *testing.T) {
	d := dir(t)
	victim := in(d, "victim")
	os.WriteFile(victim, []byte("precious"), 0o600)
	os.Symlink(victim, in(d, "alice.json"))
	listed, err := Announce(d, record)
	must(t, err)
	listed.Retire()
	if text, _ := os.ReadFile(victim); string(text) != "precious" {
		t.Errorf("victim holds %q", text)
	}
	os.Mkdir(in(d, "alice.json"), 0o700)
	if _, err := Announce(d, record); err == nil {
		t.Error("a directory was replaced")
	}
	if got := names(t, d); got != "alice.json victim" {
		t.Errorf("left: %s", got)
	}
	for _, bad := range []string{"", "../x", "relay", ".x"} {
		if _, err := Announce(d, Record{Name: bad}); err == nil {
			t.Errorf("%q announced", bad)
		}
	}
}

// runs has somebody listen on a socket and announces it.
func runs(t *testing.T, d, name string) (end func()) {
	t.Helper()
	l, err := sock.Listen(in(d, name+".sock"), name)
	must(t, err)
	listed, err := Announce(d, Record{Name: name, Socket: l.Path(), PID: os.Getpid(), Agent: "shell"})
	must(t, err)
	var once sync.Once
	end = func() { once.Do(func() { listed.Retire(); l.Close() }) }
	t.Cleanup(end)
	return end
}

func named(records []Record) (names string) {
	for _, r := range records {
		names += r.Name + " "
	}
	return names
}

func TestListWhoRuns(t *testing.T) {
	d := dir(t)
	runs(t, d, "bob")
	runs(t, d, "alice")
	os.WriteFile(in(d, "killed.json"), []byte(`{"name":"killed","socket":"`+in(d, "gone.sock")+`"}`), 0o600)
	os.WriteFile(in(d, "newer.json"), []byte(`{"name":"newer","socket":"`+in(d, "bob.sock")+`","hooks":{"a":1}}`), 0o600)
	os.WriteFile(in(d, ".x.json.TEMP"), []byte(`{`), 0o600)
	got, err := List(d)
	if err != nil || named(got) != "alice bob newer " {
		t.Errorf("got %q, %v", named(got), err)
	}
	os.WriteFile(in(d, "torn.json"), []byte(`{"name":"to`), 0o600)
	os.WriteFile(in(d, "false.json"), []byte(`{"name":"alice","socket":"x"}`), 0o600)
	got, err = List(d)
	if err == nil || !strings.Contains(err.Error(), "torn.json") || !strings.Contains(err.Error(), `record of "alice"`) || named(got) != "alice bob newer " {
		t.Errorf("got %q, %v", named(got), err)
	}
	for name, want := range map[string]bool{"alice": true, "killed": false, "nobody": false} {
		if r, running, err := At(d).Find(name); err != nil || running != want || running && r.Socket != in(d, name+".sock") {
			t.Errorf("%s: got %+v, %v, %v", name, r, running, err)
		}
	}
	for _, bad := range []string{"../alice", "torn", ""} {
		if _, running, err := At(d).Find(bad); err == nil || running {
			t.Errorf("%q: got %v, %v", bad, running, err)
		}
	}
	if got, err := List(in(d, "none")); err == nil {
		t.Errorf("got %v of no directory", got)
	}
}

// TestWatchWhoRuns: every coming and going is told, and nothing else.
func TestWatchWhoRuns(t *testing.T) {
	d := dir(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var got []string
	var ends []func()
	for records := range At(d).Watch(ctx) {
		if got = append(got, named(records)); len(got) == 5 {
			break
		}
		switch len(got) {
		case 1:
			ends = append(ends, runs(t, d, "alice"))
		case 2:
			ends = append(ends, runs(t, d, "bob"))
		case 3:
			ends[0]()
		case 4:
			os.RemoveAll(d)
		}
	}
	if want := []string{"", "alice ", "alice bob ", "bob ", ""}; !slices.Equal(got, want) || ctx.Err() != nil {
		t.Errorf("got %q, want %q (%v)", got, want, ctx.Err())
	}
}

func TestWatchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range At(dir(t)).Watch(ctx) {
		if err != nil {
			t.Error(err)
		}
		cancel()
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestChange: readers see the new kind, also where the file had been removed, and a name that was
// given up stays so.
func TestChange(t *testing.T) {
	d := dir(t)
	kinds := func() (list []string) {
		all, err := All(d)
		must(t, err)
		for _, r := range all {
			list = append(list, r.Agent)
		}
		return list
	}
	a, err := Announce(d, record)
	must(t, err)
	must(t, a.Change(func(r *Record) { r.Agent = "codex" }))
	if got := kinds(); !slices.Equal(got, []string{"codex"}) {
		t.Errorf("got %q", got)
	}
	must(t, os.Remove(in(d, "alice.json")))
	must(t, a.Change(func(r *Record) { r.Agent = "gemini" }))
	_, err = a.Keep()
	must(t, err)
	if got := kinds(); !slices.Equal(got, []string{"gemini"}) {
		t.Errorf("kept: got %q", got)
	}
	a.Retire()
	must(t, a.Change(func(r *Record) { r.Agent = "claude" }))
	if got := kinds(); len(got) > 0 {
		t.Errorf("retired: got %q", got)
	}
}
