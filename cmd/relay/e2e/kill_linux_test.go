package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
)

// TestRouterIsKilled kills the router at random moments while messages are sent and answered. Each
// is there once, in its sender's order, and each wait ends with the answer.
func TestRouterIsKilled(t *testing.T) {
	t.Parallel()
	const senders = 3
	each := testrig.Runs(4, 20)
	u, ctx := newUser(t), testrig.Within(t, 3*patience)
	u.wraps(ctx, "bob", "sh", "-c", `while read -r x; do case "$x" in
		"[relay "*) set -- $x; id=$2 from=${4%]}; echo "$from ${x#*] }" >>got ;;
		"[end "*) echo "->relay:$from [re=$id] <<<pong $id>>>" ;;
		esac; done`)
	u.overKills(senders, each, testrig.Runs(3, 20), func(from string, i int) {
		id := fmt.Sprintf("m-%s-%d", from, i)
		out := u.does(ctx, "send", "bob", strconv.Itoa(i), "--from", from, "--id", id, "--wait")
		if want := "pong " + id + "\n"; out != want {
			t.Errorf("got %q, want %q", out, want)
		}
	})
	u.noted("got", senders, each)
}

// TestRouterIsKilledAmidFanOut kills the router while messages go to a channel: each of its members
// reads each message once, and those of one sender in order.
func TestRouterIsKilledAmidFanOut(t *testing.T) {
	t.Parallel()
	const senders = 2
	each := testrig.Runs(4, 15)
	members := []string{"ann", "ben", "cat"}
	u, ctx := newUser(t), testrig.Within(t, patience)
	for _, name := range members {
		u.wraps(ctx, name, "sh", "-c", `while read -r x; do case "$x" in
			"[relay "*) set -- $x; from=${4%]}; echo "$from ${x#*] }" >>$RELAY_AGENT.got ;;
			esac; done`)
		u.does(ctx, "join", "#x", "--as", name)
	}
	u.overKills(senders, each, testrig.Runs(2, 20), func(from string, i int) {
		u.does(ctx, "send", "#x", strconv.Itoa(i), "--from", from, "--until", "delivered")
	})
	for _, name := range members {
		u.noted(name+".got", senders, each)
	}
}

// overKills has senders send each so many messages, while the router is killed at random moments,
// so many times at most.
func (u *user) overKills(senders, each, kills int, send func(from string, i int)) {
	u.t.Helper()
	rnd := rand.New(rand.NewPCG(testrig.Seed(u.t), 0))
	var all sync.WaitGroup
	for s := range senders {
		all.Go(func() {
			for i := range each {
				send(fmt.Sprintf("s%d", s), i)
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	killed := 0
	for sending := true; sending; {
		pause := time.After(time.Duration(rnd.IntN(80)) * time.Millisecond)
		if killed >= kills {
			pause = nil
		}
		select {
		case <-done:
			sending = false
		case <-pause:
			killed += u.killsRouter()
		}
	}
	if u.t.Logf("%d kills", killed); killed == 0 {
		u.t.Error("the router was never killed")
	}
}

// noted checks that an agent has noted each message of each sender once, in the sender's order.
func (u *user) noted(file string, senders, each int) {
	u.t.Helper()
	got, err := os.ReadFile(filepath.Join(u.dir, file))
	must(u.t, err)
	next := map[string]int{}
	for line := range strings.Lines(string(got)) {
		from, body, _ := strings.Cut(strings.TrimSpace(line), " ")
		if body != strconv.Itoa(next[from]) {
			u.t.Errorf("%s: got %s of %s, want %d", file, body, from, next[from])
		}
		next[from]++
	}
	if n := strings.Count(string(got), "\n"); len(next) != senders || n != senders*each {
		u.t.Errorf("%s: %d messages of %d senders, want %d of %d\n%s", file, n, len(next), senders*each, senders, got)
	}
}
