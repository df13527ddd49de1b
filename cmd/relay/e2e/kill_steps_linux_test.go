package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// TestRouterIsKilledWithinSteps kills the router while eight senders write to it as fast as it
// goes, and take back each third message. Whatever was answered is there, once and in order, and
// the tables say what the log says.
func TestRouterIsKilledWithinSteps(t *testing.T) {
	t.Parallel()
	const senders = 8
	kills := testrig.Runs(5, 1000)
	u, ctx := newUser(t), testrig.Within(t, 10*patience)
	u.env = append(u.env, "RELAY_PAIR_LIMIT=0")
	rnd := rand.New(rand.NewPCG(testrig.Seed(t), 0))
	over := make(chan struct{})
	var all sync.WaitGroup
	sent := make([]int, senders)
	for s := range senders {
		all.Go(func() { sent[s] = u.sendsUntil(ctx, fmt.Sprint("s", s), over) })
	}
	for range kills {
		cmd := u.command(ctx, "serve")
		errs, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		must(t, err)
		if line, err := bufio.NewReader(errs).ReadString('\n'); err != nil {
			t.Fatalf("the router says %q, %v", line, err)
		}
		select {
		case <-time.After(time.Duration(rnd.IntN(40)) * time.Millisecond):
		case <-ctx.Done():
		}
		must(t, cmd.Process.Kill())
		cmd.Wait() // by the kill
	}
	close(over)
	end := u.serves(t)
	defer end()
	all.Wait()
	n := 0
	for s := range senders {
		n += u.hasAll(ctx, fmt.Sprint("s", s), sent[s])
	}
	shows(t, "kill -9 of the router, %d times, while 8 senders write => %d messages, each once, in order, as told", kills, n)
}

// sendsUntil sends messages to the human, one after the other, and returns how many. A request that
// got no answer is made again.
func (u *user) sendsUntil(ctx context.Context, from string, over chan struct{}) (n int) {
	c := u.client()
	again := func(do func() error) {
		for {
			err := do()
			var refused *router.ErrorValue
			if err == nil || errors.As(err, &refused) && refused.Code == string(protocol.TooLate) {
				return
			}
			select {
			case <-ctx.Done():
				u.t.Errorf("%s: %v: not within the test's time: %v", from, context.Cause(ctx), err)
				return
			case <-time.After(time.Millisecond): // there is no router
			}
		}
	}
	for ; ctx.Err() == nil; n++ {
		select {
		case <-over:
			return n
		default:
		}
		m := api.Send{ID: from + "-" + strconv.Itoa(n), From: from, To: router.Human, Body: strconv.Itoa(n)}
		again(func() error { _, err := c.Send(ctx, m); return err })
		if n%3 == 2 {
			again(func() error { _, err := c.Cancel(ctx, m.ID); return err })
		}
	}
	return n
}

// hasAll checks what the router has of a sender's messages.
func (u *user) hasAll(ctx context.Context, from string, n int) int {
	list, err := u.client().Newest(ctx, api.Query{From: from}, 0)
	must(u.t, err)
	for i, m := range list.Messages {
		want := router.StatusAccepted
		if i%3 == 2 {
			want = protocol.StatusCancelled
		}
		if m.Body != strconv.Itoa(i) || m.Status != want {
			u.t.Fatalf("%s: message %d is %s, %s; want %s", from, i, m.Body, m.Status, want)
		}
	}
	told := map[string][]string{}
	for _, e := range u.log(ctx) {
		told[e.ID] = append(told[e.ID], e.Type+e.Status)
	}
	for i := range n {
		id := from + "-" + strconv.Itoa(i)
		if got, want := fmt.Sprint(told[id]), []string{"[message]", "[message]", "[message inject_resultcancelled]"}[i%3]; got != want {
			u.t.Fatalf("the log tells of %s %s, want %s", id, got, want)
		}
	}
	if len(list.Messages) != n {
		u.t.Errorf("%s: %d messages, want %d", from, len(list.Messages), n)
	}
	return n
}
