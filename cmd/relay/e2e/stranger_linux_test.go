package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/testrig"
)

// attempts are those of somebody else on a user's router, each again and again: argv[1] is the
// directory of its socket, argv[2] its store, argv[3] its address, argv[4] how often. Names in a
// web page's requests are those of a page whose own name was bent to 127.0.0.1, and of one
// elsewhere.
const attempts = `
import collections, http.client, os, socket, sys
run, store, at, rounds = sys.argv[1:]
def unix():
    s = socket.socket(socket.AF_UNIX)
    s.connect(run + "/router.sock")
door = http.client.HTTPConnection(at)
def asks(method="GET", path="/v1/agents", **headers):
    door.request(method, path, headers=headers)
    answer = door.getresponse()
    answer.read()
    if answer.status in (401, 403):
        raise PermissionError
    raise Exception(answer.status)
wrong = "Bearer " + "0" * 64
got = collections.Counter()
for name, f in {
    "connect": unix,
    "token": lambda: open(run + "/http.token").read(),
    "list agents": lambda: os.listdir(run + "/agents"),
    "announce": lambda: open(run + "/agents/eve.json", "w"),
    "unlink": lambda: os.unlink(run + "/router.sock"),
    "move": lambda: os.rename(run + "/router.sock", run + "/mine.sock"),
    "read log": lambda: os.listdir(store),
    "read version": lambda: open(store + "/version").read(),
    "read state": lambda: open(store + "/relay.db", "rb").read(),
    "ask": lambda: asks(),
    "guess": lambda: asks(Authorization=wrong),
    "rebind": lambda: asks(Host="evil.example", Authorization=wrong),
    "from a page": lambda: asks(Origin="http://evil.example", Authorization=wrong),
    "send": lambda: asks("POST", "/v1/messages", Authorization=wrong),
    "health": lambda: asks(path="/healthz"),
    "metrics": lambda: asks(path="/metrics"),
}.items():
    for _ in range(int(rounds)):
        try:
            f()
            print(name, "SUCCEEDED")
        except PermissionError:
            got["refused"] += 1
        except Exception as e:
            print(name, repr(e))
print(got["refused"], "refused")
`

// TestStranger: a thousand attempts of somebody else on the router are refused, half of them when
// the directories around are open to him.
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
	must(t, err)
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
			must(t, os.Chmod(dir, around))
		}
		const kinds, rounds = 16, 32 // with both modes over a thousand attempts
		cmd := exec.CommandContext(ctx, python, "-c", attempts, run, store, at, strconv.Itoa(rounds))
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if want := fmt.Sprintln(kinds*rounds, "refused"); err != nil || string(out) != want {
			t.Errorf("with directories of mode %v: %v\n%s", around, err, out)
		}
	}
}
