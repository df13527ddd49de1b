package main

import (
	"bufio"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/testrig"
)

// attempts are those of somebody else on a user's router: argv[1] is the directory of its socket,
// argv[2] its store, argv[3] its address.
const attempts = `
import os, socket, sys, urllib.error, urllib.request
run, store, at = sys.argv[1:]
def unix():
    s = socket.socket(socket.AF_UNIX)
    s.connect(run + "/router.sock")
def asks(token):
    q = urllib.request.Request("http://" + at + "/v1/agents", headers={"Authorization": "Bearer " + token} if token else {})
    urllib.request.urlopen(q).read()
for name, f in {
    "connect": unix,
    "token": lambda: open(run + "/http.token").read(),
    "list agents": lambda: os.listdir(run + "/agents"),
    "announce": lambda: open(run + "/agents/eve.json", "w"),
    "unlink": lambda: os.unlink(run + "/router.sock"),
    "read log": lambda: os.listdir(store + "/jetstream"),
    "read version": lambda: open(store + "/version").read(),
    "ask": lambda: asks(""),
    "guess": lambda: asks("0" * 64),
}.items():
    try:
        f()
        print(name, "SUCCEEDED")
    except (PermissionError, urllib.error.HTTPError) as e:
        print(name, "refused" if getattr(e, "code", 401) == 401 else e)
`

// TestStranger: somebody else's attempts on the router are refused, and each once more when the
// directories around are open to him.
func TestStranger(t *testing.T) {
	t.Parallel()
	var no error
	if os.Geteuid() != 0 {
		no = fs.ErrPermission
	}
	testrig.Require(t, "another user, which needs root", no)
	python, err := exec.LookPath("/usr/bin/python3") // one in a home is not for others
	testrig.Require(t, "python3", err)
	u := newUser(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	serve := u.command(ctx, "serve", "--http", "0")
	errs, err := serve.StderrPipe()
	if err == nil {
		err = serve.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		serve.Process.Signal(syscall.SIGTERM) // or else endAll ends it
		serve.Wait()                          // however it ended
	}()
	var at string
	for lines := bufio.NewScanner(errs); lines.Scan(); {
		if m := regexp.MustCompile(`http://(\S+),`).FindStringSubmatch(lines.Text()); m != nil {
			at = m[1]
		}
		if strings.Contains(lines.Text(), "router at") {
			break
		}
	}
	u.does(ctx, "send", "human", "secret", "--from", "ci")
	run, store := filepath.Join(u.dir, "relay"), filepath.Join(u.dir, "state", "relay")
	for _, around := range []fs.FileMode{0o700, 0o755} {
		for _, dir := range []string{u.dir, filepath.Dir(store), run} {
			if err := os.Chmod(dir, around); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(ctx, python, "-c", attempts, run, store, at)
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Count(string(out), " refused\n") != 9 {
			t.Errorf("with directories of mode %v: %v\n%s", around, err, out)
		}
	}
}
