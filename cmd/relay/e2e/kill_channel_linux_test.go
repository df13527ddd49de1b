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
	"testing"

	"relay-pty/cmd/internal/testrig"
)

// TestRouterIsKilledAmidFanOut kills the router while messages go to a channel: each of its members
// reads each message once, and those of one sender in order.
func TestRouterIsKilledAmidFanOut(t *testing.T) {
	t.Parallel()
	const senders = 2
	each, kills := testrig.Runs(4, 15), testrig.Runs(2, 20)
	members := []string{"ann", "ben", "cat"}
	rnd := rand.New(rand.NewPCG(testrig.Seed(t), 0))
	u := newUser(t)
	why := fmt.Errorf("not all members have all messages after %v", patience)
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, why)
	defer cancel()
	for _, name := range members {
		u.wraps(ctx, name, "sh", "-c", `while read -r x; do case "$x" in
			"[relay "*) set -- $x; from=${4%]}; shift 4; echo "$from $*" >>$RELAY_AGENT.got ;;
			esac; done`)
		u.does(ctx, "join", "#x", "--as", name)
	}
	done := make(chan struct{})
	var all sync.WaitGroup
	for s := range senders {
		all.Go(func() {
			for i := range each {
				u.does(ctx, "send", "#x", strconv.Itoa(i), "--from", fmt.Sprintf("s%d", s), "--until", "delivered")
			}
		})
	}
	go func() { all.Wait(); close(done) }()
	killed := u.killsRouters(rnd, kills, done)
	<-done
	if t.Logf("%d kills", killed); killed == 0 {
		t.Error("the router was never killed")
	}
	for _, name := range members {
		b, err := os.ReadFile(filepath.Join(u.dir, name+".got"))
		if err != nil {
			t.Error(err)
		}
		next := map[string]int{}
		for line := range strings.Lines(string(b)) {
			from, body, _ := strings.Cut(strings.TrimSpace(line), " ")
			if body != strconv.Itoa(next[from]) {
				t.Errorf("%s: got %s of %s, want %d", name, body, from, next[from])
			}
			next[from]++
		}
		if n := strings.Count(string(b), "\n"); n != senders*each {
			t.Errorf("%s got %d messages, want %d\n%s", name, n, senders*each, b)
		}
	}
}
