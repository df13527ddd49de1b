package e2e

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/api"
)

// consumer runs a program that consumes messages to ci, and returns what it wrote and said, and how
// it ended.
func (u *user) consumer(ctx context.Context, argv ...string) (out, errs string, err error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = append(slices.Clone(u.env), "RECEIVE_CURSOR="+filepath.Join(u.dir, "cursor")), u.dir
	var said strings.Builder
	cmd.Stderr = &said
	b, err := cmd.Output()
	return string(b), said.String(), err
}

// sends sends texts to ci, who is known.
func (u *user) sends(ctx context.Context, from string, texts ...string) {
	u.t.Helper()
	for _, text := range texts {
		must(u.t, u.asks(ctx, func(c *api.Client) error {
			_, err := c.Send(ctx, api.Send{To: "ci", Body: text, From: from, ID: "id-" + text})
			return err
		}))
	}
}

// TestTheReceivingScript is the one that help shows: it gives each message to its command at least
// once, in order, and goes on where it was; what is old comes as a count, and a cursor that is lost
// is told.
func TestTheReceivingScript(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	script := filepath.Join(u.dir, "receive.sh")
	// The command notes each message, and fails once at "two" and for good at "stop".
	handler := `sed 's/.*"body":"\([^"]*\)".*/\1/' >>done; case $(tail -n 1 done) in
		two) [ -e failed ] || { : >failed; exit 1; } ;; stop*) exit 1 ;; esac`
	text, err := os.ReadFile("../examples/receive.sh")
	must(t, err)
	must(t, os.WriteFile(script, text, 0o700))
	run := func() string {
		t.Helper()
		_, said, err := u.consumer(ctx, script, "ci", "sh", "-c", handler)
		if ended := (*exec.ExitError)(nil); !errors.As(err, &ended) || ended.ExitCode() != 1 {
			t.Errorf("it ended with %v: %s", err, said)
		}
		return said
	}
	u.does(ctx, "send", "human", "hello", "--from", "ci")
	u.sends(ctx, "bob", "one", "two")
	u.does(ctx, "send", "ci", `x "seq":999999 y`, "--from", "bob")
	u.sends(ctx, "bob", "three", "stop1")
	run() // it ends at two …
	run() // … and does two again
	for i := range 25 {
		u.sends(ctx, "b"+strconv.Itoa(i), "more"+strconv.Itoa(i))
	}
	u.sends(ctx, "bob", "stop2")
	if said := run(); !strings.Contains(said, `left out for being old: {"older":7,`) {
		t.Errorf("it says %q", said)
	}
	b, err := os.ReadFile(filepath.Join(u.dir, "done"))
	want := `one two two x \ three stop1 `
	for i := 6; i < 25; i++ {
		want += "more" + strconv.Itoa(i) + " "
	}
	if got := strings.ReplaceAll(string(b), "\n", " "); err != nil || got != want+"stop2 " {
		t.Errorf("it did %q, %v, want %q", got, err, want+"stop2 ")
	}
}

// TestTheReceivingProgram is the example in Go.
func TestTheReceivingProgram(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	program := filepath.Join(u.dir, "receive")
	build := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", program, "../examples/receive")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	u.does(ctx, "send", "human", "hello", "--from", "ci")
	u.sends(ctx, "bob", "one", "two")
	for _, want := range [][]string{{"one", "two"}, {"three"}} { // killed and begun again in between
		if want[0] == "three" {
			u.sends(ctx, "bob", "three")
		}
		run, end := context.WithCancel(ctx)
		cmd := exec.CommandContext(run, program, "ci", filepath.Join(u.dir, "cursor"))
		cmd.Env = u.env
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		must(t, err)
		lines := bufio.NewScanner(out)
		for _, text := range want {
			if got := "id-" + text + " bob: " + text; !lines.Scan() || lines.Text() != got {
				t.Errorf("it prints %q, want %q: %v", lines.Text(), got, context.Cause(ctx))
			}
		}
		u.cursorMoves(ctx, want[len(want)-1])
		end()
		cmd.Wait() // it was killed
	}
}

// cursorMoves waits until the cursor is behind the message with that text.
func (u *user) cursorMoves(ctx context.Context, text string) {
	u.t.Helper()
	behind := ""
	for _, e := range u.log(ctx) {
		if e.ID == "id-"+text {
			behind = strconv.FormatInt(e.Seq, 10)
		}
	}
	u.becomes(ctx, "the cursor behind "+text, func() bool {
		b, _ := os.ReadFile(filepath.Join(u.dir, "cursor")) // it is not there yet
		return strings.TrimSpace(string(b)) == behind
	})
}
