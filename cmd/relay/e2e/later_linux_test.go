package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/router"
)

// TestRemindersOverKills kills routers at random moments while reminders are set and come. Each
// comes, once, and not before its time.
func TestRemindersOverKills(t *testing.T) {
	t.Parallel()
	names, each := testrig.Runs(2, 4), 5
	kills := testrig.Runs(3, 60)
	rnd := rand.New(rand.NewPCG(testrig.Seed(t), 0))
	u := newUser(t)
	ctx := testrig.Within(t, 2*patience)
	var all sync.WaitGroup
	for i := range names {
		as := "s" + strconv.Itoa(i)
		all.Go(func() {
			for n := range each {
				id, delay := fmt.Sprintf("%s-%d", as, n), strconv.Itoa(50+150*n)+"ms"
				u.does(ctx, "remind", delay, "look", "--as", as, "--id", id)
			}
		})
	}
	for range kills {
		select {
		case <-time.After(time.Duration(rnd.IntN(150)) * time.Millisecond):
		case <-ctx.Done():
			t.Fatal(context.Cause(ctx))
		}
		u.does(ctx, "ls") // starts a router
		u.killsRouter()
	}
	all.Wait()
	left := names * each
	u.sees(ctx, "all reminders", func(e router.Event) bool {
		if e.Type == router.TypeMessage {
			left--
		}
		return left == 0
	})
	due, came := map[string]int64{}, map[string]int{}
	for _, e := range u.log(ctx) {
		switch e.Type {
		case router.TypeReminder:
			due[e.ID] = e.DueAt
		case router.TypeMessage:
			if came[e.ID]++; e.Timestamp < due[e.ID] {
				t.Errorf("%s came at %d, and was due at %d", e.ID, e.Timestamp, due[e.ID])
			}
		}
	}
	if len(came) != names*each || len(due) != names*each {
		t.Errorf("%d reminders were set, and %d came; want %d", len(due), len(came), names*each)
	}
	for id, n := range came {
		if n != 1 {
			t.Errorf("%s came %d times", id, n)
		}
	}
}
