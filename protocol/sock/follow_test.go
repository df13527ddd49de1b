package sock

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"relay-pty/protocol"
	"relay-pty/protocol/own"
)

// history is a wrapper's log: exit events, for their numbers alone.
type history struct {
	epoch       string
	first, last int64     // kept
	lagAt       int64     // one connection ends behind this event with a lagged line; 0: none
	refusals    int       // how often it is degraded
	heard       chan bool // receives when a subscription was answered; may be nil

	mu    sync.Mutex
	asked []protocol.Subscribe
}

// handle answers a subscribe as a wrapper does, and then waits for the client to leave.
func (h *history) handle(ctx context.Context, c *Conn) {
	for {
		var in Incoming
		var open bool
		select {
		case in, open = <-c.Incoming():
		case <-ctx.Done():
		}
		if !open {
			return
		}
		if in.Error != nil {
			c.Refuse(in.Error)
			continue
		}
		r := in.Request.(*protocol.Subscribe)
		h.mu.Lock()
		h.asked = append(h.asked, *r)
		lag, refuse := h.lagAt, h.refusals > 0
		h.lagAt = 0
		h.refusals--
		h.mu.Unlock()
		after := h.last
		if r.After != nil {
			after = *r.After
		}
		switch {
		case refuse:
			c.Refuse(&protocol.Error{Code: protocol.Degraded, Req: r.Req, Message: "ask again"})
			continue
		case after > h.last, after > 0 && after < h.first-1:
			c.Refuse(&protocol.Error{Code: protocol.CursorGone, Req: r.Req, Message: "gone"})
			continue
		}
		c.Answer(&protocol.Subscribed{Head: r.Head, Seq: after, Epoch: h.epoch})
		if h.heard != nil {
			h.heard <- true
		}
		for seq := max(after+1, h.first); seq <= h.last; seq++ {
			c.Answer(&protocol.Exit{Stamp: protocol.Stamp{Seq: seq}})
			if seq == lag {
				c.Answer(&protocol.Lagged{Stamp: protocol.Stamp{Seq: seq}, Dropped: 7})
				return
			}
		}
	}
}

// run serves the history until the test, or the returned function, ends it; the path is given up.
func (h *history) run(t *testing.T, path string) (stop func()) {
	l := listen(t, path)
	end := serve(t, l, h.handle)
	return func() { end(); l.Close() }
}

func follow(t *testing.T, path string, after int64, epoch string, types ...string) *Follower {
	f := Follow(path, after, epoch, types...)
	t.Cleanup(f.Close)
	return f
}

// gets reads n frames: numbers of events, and reasons of gaps.
func gets(t *testing.T, f *Follower, n int) (got []any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for range n {
		frame, err := f.Next(ctx)
		if err != nil {
			t.Fatalf("after %v: %v", got, err)
		}
		switch frame := frame.(type) {
		case *Gap:
			got = append(got, frame.Reason)
		case protocol.Event:
			got = append(got, int(frame.Stamped().Seq))
		}
	}
	return got
}

func wants(t *testing.T, f *Follower, want ...any) {
	t.Helper()
	if got := gets(t, f, len(want)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFollowGoesOnWithTheNextWrapper(t *testing.T) {
	path := in(dir(t), "s")
	f := follow(t, path, 0, "")
	first := make(chan []any, 1)
	go func() { first <- gets(t, f, 3) }() // nobody listens yet
	stop := (&history{epoch: "e", first: 1, last: 3}).run(t, path)
	if got := soon(t, "the first events", first); !slices.Equal(got, []any{1, 2, 3}) {
		t.Errorf("got %v", got)
	}
	stop()
	go func() { first <- gets(t, f, 2) }()
	(&history{epoch: "e", first: 1, last: 5}).run(t, path)
	if got := soon(t, "the next wrapper's events", first); !slices.Equal(got, []any{4, 5}) {
		t.Errorf("got %v", got)
	}
	if after, epoch := f.Cursor(); after != 5 || epoch != "e" {
		t.Errorf("cursor %d of %s", after, epoch)
	}
}

func TestFollowTellsWhatIsMissing(t *testing.T) {
	tests := map[string]struct {
		kept  *history
		after int64
		epoch string
		want  []any
	}{
		"a new epoch":                {&history{epoch: "new", first: 1, last: 2}, 9, "old", []any{NewEpoch, 1, 2}},
		"a new epoch, same number":   {&history{epoch: "new", first: 1, last: 12}, 11, "old", []any{NewEpoch, 1}},
		"a new epoch, nothing seen":  {&history{epoch: "new", first: 1, last: 2}, 0, "old", []any{NewEpoch, 1, 2}},
		"a cursor of long ago":       {&history{epoch: "e", first: 20, last: 21}, 5, "e", []any{CursorGone, 20, 21}},
		"a cursor of any epoch":      {&history{epoch: "e", first: 20, last: 21}, 5, "", []any{CursorGone, 20, 21}},
		"the cursor before the kept": {&history{epoch: "e", first: 20, last: 21}, 19, "e", []any{20, 21}},
		"nothing":                    {&history{epoch: "e", first: 1, last: 9}, 7, "e", []any{8, 9}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := in(dir(t), "s")
			tt.kept.run(t, path)
			wants(t, follow(t, path, tt.after, tt.epoch), tt.want...)
		})
	}
}

func TestFollowFromNow(t *testing.T) {
	path := in(dir(t), "s")
	h := &history{epoch: "e", first: 1, last: 3, heard: make(chan bool, 1)}
	stop, f := h.run(t, path), follow(t, path, FromNow, "")
	got := make(chan []any, 1)
	go func() { got <- gets(t, f, 1) }()
	soon(t, "the subscription", h.heard)
	stop()
	(&history{epoch: "e", first: 1, last: 4}).run(t, path)
	if got := soon(t, "the next wrapper's event", got); !slices.Equal(got, []any{4}) {
		t.Errorf("got %v", got)
	}
}

func TestFollowReadsOnBehindALaggedLine(t *testing.T) {
	path := in(dir(t), "s")
	h := &history{epoch: "e", first: 1, last: 6, lagAt: 2}
	h.run(t, path)
	wants(t, follow(t, path, 0, "", "exit", "state"), 1, 2, 3, 4, 5, 6)
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.asked) != 2 || *h.asked[1].After != 2 || !reflect.DeepEqual(h.asked[1].Events, []string{"exit", "state"}) {
		t.Errorf("asked for %+v", h.asked)
	}
}

func TestFollowEnds(t *testing.T) {
	path := in(dir(t), "s")
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	f, ended := follow(t, path, 0, ""), make(chan error, 1)
	go func() { _, err := f.Next(ctx); ended <- err }()
	cancel(why)
	if err := soon(t, "the end of Next", ended); err != why {
		t.Errorf("got %v, want %v", err, why)
	}
	soonEnough, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	_, err := follow(t, "@abstract", 0, "").Next(soonEnough)
	var bad *own.PathError
	if !errors.As(err, &bad) {
		t.Errorf("got %v, want a PathError", err)
	}
	(&history{epoch: "e"}).run(t, path)
	_, err = follow(t, path, 0, "", "no such type").Next(soonEnough)
	var refused *protocol.Error
	if !errors.As(err, &refused) || refused.Code != protocol.BadField {
		t.Errorf("got %v, want bad_field", err)
	}
}

// TestFollowUntilGone: all that the wrapper told comes first, over ends of connections, too.
func TestFollowUntilGone(t *testing.T) {
	path := in(dir(t), "s")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	early := follow(t, path, 0, "")
	early.UntilGone()
	if _, err := early.Next(ctx); err != ErrNoWrapper {
		t.Errorf("where nobody ever listened: got %v, want %v", err, ErrNoWrapper)
	}
	stop := (&history{epoch: "e", first: 1, last: 4, lagAt: 2}).run(t, path)
	f := follow(t, path, 0, "")
	f.UntilGone()
	wants(t, f, 1, 2, 3)
	stop()
	wants(t, f, 4)
	if _, err := f.Next(ctx); err != ErrNoWrapper {
		t.Errorf("got %v, want %v", err, ErrNoWrapper)
	}
}

// TestFollowTriesAgain: a wrapper that cannot read its journal now may do so later.
func TestFollowTriesAgain(t *testing.T) {
	path := in(dir(t), "s")
	h := &history{epoch: "e", first: 1, last: 2, refusals: 3}
	h.run(t, path)
	wants(t, follow(t, path, 0, ""), 1, 2)
}

// TestAskOfTheDeaf: a wrapper that does not read holds nobody longer than the context.
func TestAskOfTheDeaf(t *testing.T) {
	path := in(dir(t), "s")
	serve(t, listen(t, path), func(ctx context.Context, _ *Conn) { <-ctx.Done() })
	c := dial(t, path)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	c.nc.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)) // a slow machine only fills less
	for line := make([]byte, 64<<10); c.SendLine(line) == nil; {
	}
	c.nc.SetWriteDeadline(time.Time{})
	done := make(chan error, 1)
	go func() {
		_, err := c.Ask(ctx, &protocol.Inject{ID: "m", From: "human", Body: strings.Repeat("x", protocol.MaxBody)})
		done <- err
	}()
	go cancel(why)
	if err := soon(t, "the end of Ask", done); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}

// TestAskIsAnsweredByItsOwnAnswer: not by one that came too late for the Ask before.
func TestAskIsAnsweredByItsOwnAnswer(t *testing.T) {
	path := in(dir(t), "s")
	slow := make(chan struct{})
	serve(t, listen(t, path), func(_ context.Context, c *Conn) {
		for in := range c.Incoming() {
			c.Answer(&protocol.State{State: protocol.StateReady}) // comes in between
			switch r := in.Request.(type) {
			case *protocol.Status:
				<-slow
				c.Answer(&protocol.StatusAnswer{Head: r.Head, Name: "alice"})
			case *protocol.Screen:
				c.Answer(&protocol.ScreenAnswer{Head: r.Head})
			case *protocol.Query:
				c.Refuse(&protocol.Error{Code: protocol.UnknownID, Req: r.Req})
			default:
				c.Refuse(&protocol.Error{Code: protocol.ShuttingDown})
				return
			}
		}
	})
	c := dial(t, path)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	go cancel(why)
	if f, err := c.Ask(ctx, &protocol.Status{}); !errors.Is(err, why) {
		t.Fatalf("got %v, %v", f, err)
	}
	close(slow)
	if f, err := c.Ask(t.Context(), &protocol.Screen{}); err != nil || f.Type() != "screen" {
		t.Errorf("got %v, %v", f, err)
	}
	var refused *protocol.Error
	if f, err := c.Ask(t.Context(), &protocol.Query{ID: "m"}); !errors.As(err, &refused) || refused.Code != protocol.UnknownID {
		t.Errorf("got %v, %v", f, err)
	}
	if f, err := c.Ask(t.Context(), &protocol.Queue{}); !errors.As(err, &refused) || refused.Code != protocol.ShuttingDown {
		t.Errorf("got %v, %v; want why the other side hung up", f, err)
	}
}
