package sock

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

var record = Record{Name: "alice", Socket: "/tmp/relay-pty-alice.sock", PID: 7, StartedAt: 1705350000000, Agent: "claude", TokenSHA256: "ab"}

func TestAgentsDir(t *testing.T) {
	run := dir(t)
	t.Setenv("XDG_RUNTIME_DIR", run)
	for range 2 {
		got, err := AgentsDir()
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
	for _, useless := range []string{"", "relative", run + "/missing", "/etc/passwd"} {
		want := fmt.Sprintf("%s/relay-%d/agents", tmp, os.Geteuid())
		if got, err := agentsDir(useless, tmp); err != nil || got != want {
			t.Errorf("%q: got %s, %v; want %s", useless, got, err, want)
		}
	}
}

func TestAgentsDirRefuses(t *testing.T) {
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
		"foreign base": func(base string) error { return os.Chown(base, 65534, 65534) },
	}
	for what, put := range plant {
		t.Run(what, func(t *testing.T) {
			if strings.Contains(what, "foreign") && os.Geteuid() != 0 {
				t.Log("NOT RUN: only root can plant a directory of another uid")
				return
			}
			base := dir(t)
			t.Setenv("XDG_RUNTIME_DIR", base)
			if err := put(base); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(base + "/relay")
			got, err := AgentsDir()
			var bad *PathError
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
	remove, err := Announce(d, "alice", record)
	if err != nil {
		t.Fatal(err)
	}
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
	var held *HeldError
	if _, err := Announce(d, "alice", record); !errors.As(err, &held) || held.PID != os.Getpid() || !strings.HasPrefix(err.Error(), "name alice: held by relay-pty pid ") {
		t.Errorf("same name again: %v", err)
	}
	remove()
	if got := names(t, d); got != "" {
		t.Errorf("left behind: %s", got)
	}
}

func TestAnnounceRemovesOnlyItsOwn(t *testing.T) {
	d := dir(t)
	remove, err := Announce(d, "alice", record)
	if err != nil {
		t.Fatal(err)
	}
	other, err := place(in(d, "alice.json"), record)
	if err != nil {
		t.Fatal(err)
	}
	remove()
	if now, err := os.Lstat(in(d, "alice.json")); err != nil || !os.SameFile(now, other) {
		t.Errorf("another's record is gone: %v", err)
	}
}

func TestAnnounceFollowsNothing(t *testing.T) {
	d := dir(t)
	victim := in(d, "victim")
	os.WriteFile(victim, []byte("precious"), 0o600)
	os.Symlink(victim, in(d, "alice.json"))
	remove, err := Announce(d, "alice", record)
	if err != nil {
		t.Fatal(err)
	}
	remove()
	if text, _ := os.ReadFile(victim); string(text) != "precious" {
		t.Errorf("victim holds %q", text)
	}
	os.Mkdir(in(d, "alice.json"), 0o700)
	if _, err := Announce(d, "alice", record); err == nil {
		t.Error("a directory was replaced")
	}
	if got := names(t, d); got != "alice.json victim" {
		t.Errorf("left: %s", got)
	}
	for _, bad := range []string{"", "../x", "relay", ".x"} {
		if _, err := Announce(d, bad, record); err == nil {
			t.Errorf("%q announced", bad)
		}
	}
}
