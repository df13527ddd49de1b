package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
)

// TestProveQuickRates: how many messages a second the router puts on disk, from many senders and
// from one. The bounds are a third below what two processors do, of which the senders have one.
func TestProveQuickRates(t *testing.T) {
	const span = 15 * time.Second
	for senders, least := range map[int]float64{64: 2700, 1: 600} {
		u, ctx := newUser(t), testrig.Within(t, 5*time.Minute)
		u.env = append(u.env, "RELAY_PAIR_LIMIT=0")
		end := u.serves(t)
		rate := float64(u.load(ctx, senders, span, 0, func(int) string { return router.Human })) / span.Seconds()
		shows(t, "messages a second that the router took from %d senders, each on disk when it was answered => %.0f", senders, rate)
		if rate < least {
			t.Errorf("%.0f messages a second from %d senders, want %.0f at least", rate, senders, least)
		}
		end()
	}
}

// TestProveQuickLoad: ten minutes of work behind a million events leave the router's memory as it
// was.
func TestProveQuickLoad(t *testing.T) {
	u, ctx := newUser(t), testrig.Within(t, 20*time.Minute)
	u.env = append(u.env, "RELAY_PAIR_LIMIT=0")
	longLog(t, filepath.Join(u.dir, "state", "relay"), 1_000_000)
	defer u.serves(t)()
	for n := range sinks {
		reader := u.command(ctx, "recv", "--as", sink(n), "--consume", "--follow", "--json")
		must(t, reader.Start())
		defer func() {
			reader.Process.Kill()
			reader.Wait() // by the kill
		}()
	}
	const minutes, senders, most = 10, 64, 60 << 10
	var kib []int
	sent := 0
	for range minutes {
		sent += u.load(ctx, senders, time.Minute, 128*time.Millisecond, sink)
		kib = append(kib, testrig.Memory(t, running(u.dir, aRouter)[0]))
	}
	t.Logf("KiB, minute by minute: %v", kib)
	half := minutes / 2
	early, late := slices.Max(kib[:half]), slices.Max(kib[half:])
	shows(t, "a router behind a million events, in ten minutes at %d messages a second, each read "+
		"=> at most %d KiB in the first five, %d in the last five",
		sent/minutes/60, early, late)
	if late > most || late > early+early/10 {
		t.Errorf("the router has %d KiB, then %d, want %d at most, and no more than a tenth more in the second half", early, late, most)
	}
}

// sinks are how many there are who read what the senders write.
const sinks = 4

func sink(n int) string { return fmt.Sprint("sink", n%sinks) }

// load has senders write for so long, each as fast as it goes or once a pace, and returns how many
// messages were accepted.
func (u *user) load(ctx context.Context, senders int, span, pace time.Duration, to func(sender int) string) int {
	u.t.Helper()
	var all sync.WaitGroup
	var n atomic.Int64
	over := time.Now().Add(span)
	for s := range senders {
		all.Go(func() {
			c := api.NewClient(filepath.Join(u.dir, "relay", "router.sock"), "") // with a connection of its own
			var tick <-chan time.Time
			if pace > 0 {
				tick = time.Tick(pace)
			}
			for time.Now().Before(over) {
				m := api.Send{From: fmt.Sprint("s", s), To: to(s), Body: "Words of some length, as they are usual.", Ahead: true}
				if _, err := c.Send(ctx, m); err != nil {
					u.t.Errorf("sender %d: %v", s, err)
					return
				}
				n.Add(1)
				if tick != nil {
					<-tick
				}
			}
		})
	}
	all.Wait()
	return int(n.Load())
}
