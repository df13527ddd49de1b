package queue

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"relay-pty/protocol"
)

func statusIn(frame []byte) string {
	var r protocol.InjectResult
	if json.Unmarshal(frame, &r) != nil {
		return ""
	}
	return r.Status
}

func appendN(t *testing.T, o *Outbox, n int, raw string) {
	t.Helper()
	for range n {
		must(t, o.Append(t0, Proposal{Event: &protocol.MarkerInvalid{Raw: raw}}))
	}
}

func TestOutboxStampsEvents(t *testing.T) {
	o := NewOutbox()
	f, err := o.Follow(FromNow)
	must(t, err)
	ev := &protocol.Waiting{ID: "m1"}
	must(t, o.Append(t0, Proposal{Event: ev}))
	o.Append(t0, Proposal{Event: &protocol.RelayCommand{ID: "c1"}})
	<-f.Wake()
	got, err := f.Next(10)
	if err != nil || len(got) != 2 {
		t.Fatalf("got %v, %v", got, err)
	}
	if ev.Seq != 1 || ev.Timestamp != t0.UnixMilli() || got[0].Seq != 1 || got[0].About != "m1" || got[0].Type != "waiting" {
		t.Errorf("got %+v with %+v", got[0], ev)
	}
	if want, _ := protocol.Encode(ev); !bytes.Equal(got[0].Frame, want) {
		t.Errorf("got %s, want %s", got[0].Frame, want)
	}
	if got[1].About != "" {
		t.Errorf("a command's own id passes for a message's: %+v", got[1])
	}
}

func TestFollowFrom(t *testing.T) {
	young, old := NewOutbox(), NewOutbox()
	appendN(t, young, 10, "")
	appendN(t, old, keepEvents+10, "") // keeps 11 …
	tests := []struct {
		name  string
		o     *Outbox
		after int64
		first int64 // 0: nothing yet
		err   error
	}{
		{"an empty log", NewOutbox(), 0, 0, nil},
		{"all", young, 0, 1, nil},
		{"from now", young, FromNow, 0, nil},
		{"after some", young, 4, 5, nil},
		{"after the last", young, 10, 0, nil},
		{"after one to come", young, 11, 0, ErrCursorAhead},
		{"nonsense", young, -2, 0, ErrCursorGone},
		{"a number in an empty log", NewOutbox(), 1, 0, ErrCursorAhead},
		{"all that are kept", old, 0, 11, nil},
		{"the oldest cursor", old, 10, 11, nil},
		{"one too old", old, 9, 0, ErrCursorGone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := tt.o.Follow(tt.after)
			if err != tt.err {
				t.Fatalf("got %v, want %v", err, tt.err)
			}
			if err != nil {
				return
			}
			defer f.Close()
			got, err := f.Next(1)
			if err != nil || len(got) != min(1, int(tt.first)) || len(got) > 0 && (got[0].Seq != tt.first || f.Seq() != tt.first) {
				t.Errorf("got %+v, %v; want %d", got, err, tt.first)
			}
			if wake := len(f.Wake()) == 1; wake != (tt.first > 0) {
				t.Errorf("woken %v with first %d", wake, tt.first)
			}
		})
	}
}

func TestSlowFollowerLearnsIt(t *testing.T) {
	o := NewOutbox()
	f, _ := o.Follow(0)
	appendN(t, o, keepEvents, "")
	if got, err := f.Next(3); err != nil || len(got) != 3 {
		t.Fatalf("got %d, %v", len(got), err)
	}
	appendN(t, o, 3, "")
	if got, err := f.Next(1); err != nil || got[0].Seq != 4 {
		t.Fatalf("got %+v, %v", got, err)
	}
	appendN(t, o, 2, "")
	if got, err := f.Next(1); err != ErrLagged {
		t.Errorf("got %+v, %v; want %v", got, err, ErrLagged)
	}
}

func TestOutboxBoundsBytes(t *testing.T) {
	o := NewOutbox()
	big := strings.Repeat("x", 256<<10)
	appendN(t, o, 100, big)
	if o.bytes > keepBytes || o.bytes < keepBytes*3/4 {
		t.Errorf("keeps %d bytes of %d", o.bytes, keepBytes)
	}
	sum := 0
	for _, e := range o.entries {
		sum += len(e.Frame) + perEvent
	}
	if sum != o.bytes {
		t.Errorf("counts %d bytes, has %d", o.bytes, sum)
	}
	appendN(t, o, 1, strings.Repeat("x", keepBytes+1))
	if len(o.entries) != 1 || o.entries[0].Seq != 101 {
		t.Errorf("one event over the bound: keeps %d", len(o.entries))
	}
}

func TestNextBoundsBytes(t *testing.T) {
	o := NewOutbox()
	f, _ := o.Follow(0)
	appendN(t, o, 3, strings.Repeat("x", BatchBytes/2-200))
	appendN(t, o, 1, strings.Repeat("x", 5*BatchBytes))
	appendN(t, o, 2, "")
	for _, want := range []int{2, 1, 1, 2, 0} {
		if got, err := f.Next(10); err != nil || len(got) != want {
			t.Errorf("got %d events, %v; want %d", len(got), err, want)
		}
	}
}

func TestClosedFollowerIsForgotten(t *testing.T) {
	o := NewOutbox()
	f, _ := o.Follow(0)
	f.Close()
	f.Close()
	appendN(t, o, 1, "")
	if len(f.Wake()) != 0 || len(o.followers) != 0 {
		t.Error("still woken")
	}
}

func TestEpochsDiffer(t *testing.T) {
	if a, b := NewOutbox().Epoch(), NewOutbox().Epoch(); a == b || len(a) != 16 {
		t.Errorf("got %s and %s", a, b)
	}
}

// TestFollowersSeeEverything: each at its own pace, in order, without gaps.
func TestFollowersSeeEverything(t *testing.T) {
	o := NewOutbox()
	const writers, each = 4, 500
	var wg sync.WaitGroup
	for i := range 6 {
		f, err := o.Follow(0)
		must(t, err)
		wg.Go(func() {
			defer f.Close()
			for want := int64(1); want <= writers*each; {
				got, err := f.Next(i + 1)
				if err != nil {
					t.Error(err)
					return
				}
				for _, e := range got {
					if e.Seq != want {
						t.Errorf("got %d, want %d", e.Seq, want)
						return
					}
					want++
				}
				if len(got) == 0 {
					<-f.Wake()
				}
			}
		})
	}
	for range writers {
		wg.Go(func() {
			for range each {
				if err := o.Append(t0, Proposal{Event: &protocol.Exit{}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
