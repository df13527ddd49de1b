package router

import (
	"strings"
	"testing"

	"relay-pty/protocol"
)

// at is a time of the tests, in milliseconds after their beginning.
func at(ms int64) int64 { return 1_000_000 + ms }

// presenceRun tells events at times, and has those about presence told as the hub does.
type presenceRun struct {
	*State
	told []string
}

func (r *presenceRun) tell(ms int64, e Event) {
	r.settle(ms)
	e.Seq, e.Timestamp = r.Last+1, at(ms)
	r.Apply(e)
	r.settle(ms)
}

func (r *presenceRun) settle(ms int64) {
	due, _ := r.Presence(at(ms))
	for _, e := range due {
		e.Seq, e.Timestamp = r.Last+1, at(ms)
		r.told = append(r.told, strings.TrimSpace(e.Type+" "+e.Reason))
		r.Apply(e)
	}
}

func (r *presenceRun) down(ms int64) {
	e := Event{Type: TypeDown, Agent: "bob"}
	e.Reason = r.Ending("bob", false)
	r.tell(ms, e)
}

const day = 24 * 60 * 60 * 1000

func TestPresence(t *testing.T) {
	up := func(r *presenceRun, ms int64) { r.tell(ms, Event{Type: TypeUp, Agent: "bob"}) }
	exit := func(r *presenceRun, ms int64) {
		r.tell(ms, Event{Type: protocol.TypeExit, Agent: "bob", Origin: &Origin{"e", ms + 1}})
	}
	state := func(r *presenceRun, ms int64) {
		r.tell(ms, Event{Type: protocol.TypeState, Agent: "bob", Origin: &Origin{"f", ms + 1}})
	}
	for name, c := range map[string]struct {
		does  func(r *presenceRun)
		want  string // joined and left, as they are told
		known bool   // at the end
	}{
		"one that runs": {func(r *presenceRun) { up(r, 0); r.settle(90 * day) }, "member_joined", true},
		"one that ends": {func(r *presenceRun) { up(r, 0); exit(r, 10); r.down(10); r.settle(5010) },
			"member_joined, member_left left", true},
		"one that is killed": {func(r *presenceRun) { up(r, 0); state(r, 5); r.down(10); r.settle(5010) },
			"member_joined, member_left inactive", true},
		"a moment before it has left": {func(r *presenceRun) { up(r, 0); r.down(10); r.settle(5009) }, "member_joined", true},
		"one that is started anew": {func(r *presenceRun) { up(r, 0); exit(r, 10); r.down(10); up(r, 5009); r.settle(90 * day) },
			"member_joined", true},
		"one that is started anew too late": {func(r *presenceRun) { up(r, 0); r.down(10); up(r, 5010) },
			"member_joined, member_left inactive, member_joined", true},
		"a new run that is killed": {func(r *presenceRun) {
			up(r, 0)
			exit(r, 10)
			r.down(10)
			up(r, 20)
			r.down(30)
			r.settle(6000)
		},
			"member_joined, member_left inactive", true},
		"the old run's end behind the new one's beginning": {
			func(r *presenceRun) {
				up(r, 0)
				up(r, 10)
				exit(r, 20)
				state(r, 30)
				r.down(40)
				r.settle(6000)
			},
			"member_joined, member_left inactive", true},
		"one that is away for a month": {func(r *presenceRun) { up(r, 0); r.down(10); r.settle(6000); r.settle(30*day + 10) },
			"member_joined, member_left inactive, member_left gc", false},
		"a moment before it is forgotten": {func(r *presenceRun) { up(r, 0); r.down(10); r.settle(6000); r.settle(30*day + 9) },
			"member_joined, member_left inactive", true},
		"one whose messages wait": {func(r *presenceRun) {
			up(r, 0)
			r.down(10)
			r.tell(20, Event{Type: TypeMessage, Message: Message{ID: "m", From: Human, To: "bob", Body: "hi"}})
			r.settle(6000)
			r.settle(40 * day)
		}, "member_joined, member_left inactive", true},
		"a clock that goes back": {func(r *presenceRun) { up(r, 0); r.down(10); r.settle(-day) },
			"member_joined, member_left inactive", true},
		"a script": {func(r *presenceRun) {
			r.tell(0, Event{Type: TypeMessage, Message: Message{ID: "m", From: "bob", To: Human, Body: "hi"}})
			r.settle(90 * day)
		}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := &presenceRun{State: NewState()}
			c.does(r)
			if got := strings.Join(r.told, ", "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if _, known := r.Agent("bob"); known != c.known {
				t.Errorf("known: %v", known)
			}
		})
	}
}

// TestPresenceSaysWhenToAskAgain: no timer is needed but for what time alone decides.
func TestPresenceSaysWhenToAskAgain(t *testing.T) {
	r := &presenceRun{State: NewState()}
	next := func(ms, want int64) {
		t.Helper()
		if due, got := r.Presence(at(ms)); len(due) > 0 || got != want {
			t.Errorf("%d due, then at %d, want %d", len(due), got, want)
		}
	}
	r.tell(0, Event{Type: TypeUp, Agent: "bob"})
	next(1, 0)
	r.down(10)
	next(11, at(5010))
	if !r.Settling() {
		t.Error("it has left already")
	}
	r.settle(5010)
	next(5011, at(30*day+10))
	if r.Settling() {
		t.Error("it has not left yet")
	}
}

// TestWhoHasLeftWasSeenBefore: that it is told later is no sign of life.
func TestWhoHasLeftWasSeenBefore(t *testing.T) {
	r := &presenceRun{State: NewState()}
	r.tell(0, Event{Type: TypeUp, Agent: "bob"})
	r.down(10)
	r.settle(6000)
	if a, _ := r.Agent("bob"); a.Seen != at(10) || a.Reason != ReasonInactive {
		t.Errorf("got %+v", a)
	}
}
