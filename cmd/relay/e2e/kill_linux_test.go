package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
)

// TestRouterIsKilled kills the router at random moments while messages are sent and answered. Each
// is there once, in its sender's order, and each wait ends with the answer.
func TestRouterIsKilled(t *testing.T) {
	t.Parallel()
	const senders = 3
	each, kills := testrig.Runs(4, 20), testrig.Runs(3, 20)
	rnd := rand.New(rand.NewPCG(testrig.Seed(t), 0))
	u := newUser(t)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 3*patience, fmt.Errorf("the messages are not all answered after %v", 3*patience))
	defer cancel()
	u.wraps(ctx, "bob", "sh", "-c", `while read -r x; do case "$x" in
		"[relay "*) set -- $x; id=$2 from=${4%]}; shift 4; echo "$from $*" >>got ;;
		"[end "*) echo "->relay:$from [re=$id] <<<pong $id>>>" ;;
		esac; done`)
	var all sync.WaitGroup
	for s := range senders {
		all.Go(func() {
			for i := range each {
				id := fmt.Sprintf("m-%d-%d", s, i)
				out := u.does(ctx, "send", "bob", strconv.Itoa(i), "--from", fmt.Sprintf("s%d", s), "--id", id, "--wait")
				if want := "pong " + id + "\n"; out != want {
					t.Errorf("got %q, want %q", out, want)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	killed := u.killsRouters(rnd, kills, done)
	<-done
	if t.Logf("%d kills", killed); killed == 0 {
		t.Error("the router was never killed")
	}
	got, err := os.ReadFile(filepath.Join(u.dir, "got"))
	must(t, err)
	next := map[string]int{}
	for line := range strings.Lines(string(got)) {
		from, body, _ := strings.Cut(strings.TrimSpace(line), " ")
		if body != strconv.Itoa(next[from]) {
			t.Errorf("%s: got %s, want %d", from, body, next[from])
		}
		next[from]++
	}
	if len(next) != senders {
		t.Errorf("messages of %d senders arrived, want %d\n%s", len(next), senders, got)
	}
}

// killsRouters kills the router at random moments, so many times, unless done is closed before.
func (u *user) killsRouters(rnd *rand.Rand, kills int, done <-chan struct{}) (killed int) {
	for killed < kills {
		select {
		case <-done:
			return killed
		case <-time.After(time.Duration(rnd.IntN(80)) * time.Millisecond):
			for _, pid := range running(u.dir, aRouter) {
				syscall.Kill(pid, syscall.SIGKILL) // gone: it was killed before
				killed++
			}
		}
	}
	return killed
}
