package inject

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"relay-pty/inject/agents"
	"relay-pty/inject/turn"
	"relay-pty/protocol"
	"relay-pty/protocol/counts"
)

func TestMain(m *testing.M) {
	counts.Rapid(60)
	os.Exit(m.Run())
}

// act is what happens to an agent, or what its human does, and how much time passes behind it.
type act struct {
	what string
	mode turn.Mode
	rest time.Duration
}

// story is one life of an agent with a queue of its own.
type story struct {
	habit habit
	late  time.Duration // until its log shows a turn; negative: never
	turns time.Duration // how long one takes
	gives bool          // an interrupted turn gives its prompt back
	batch int           // most messages of one turn
	acts  []act
}

func stories() *rapid.Generator[story] {
	return rapid.Custom(func(t *rapid.T) story {
		s := story{
			habit: habit(rapid.IntRange(int(takesUp), int(dropsIt)).Draw(t, "habit")),
			late:  rapid.SampledFrom([]time.Duration{0, 0, time.Second, 8 * time.Second, -1}).Draw(t, "late"),
			turns: rapid.SampledFrom([]time.Duration{time.Hour, 20 * time.Second, 3 * time.Second}).Draw(t, "turns"),
			gives: rapid.Bool().Draw(t, "gives"),
			batch: rapid.IntRange(1, 3).Draw(t, "batch"),
		}
		for range rapid.IntRange(2, 10).Draw(t, "acts") {
			s.acts = append(s.acts, act{
				what: rapid.SampledFrom([]string{"message", "message", "message", "message", "Escape", "Escape", "end", "draft", "Enter", "Up", "dialog", "answer"}).Draw(t, "what"),
				mode: rapid.SampledFrom([]turn.Mode{protocol.ModeImportant, protocol.ModeImportant, protocol.ModeUrgent, protocol.ModeSequential}).Draw(t, "mode"),
				rest: rapid.SampledFrom([]time.Duration{0, 200 * time.Millisecond, 1500 * time.Millisecond, 6 * time.Second}).Draw(t, "rest"),
			})
		}
		return s
	})
}

// do does one of the acts.
func (r *rig) does(a act, id string) {
	switch a.what {
	case "message":
		r.mail.rank(a.mode, id)
	case "Escape":
		r.human("\x1b")
	case "draft":
		r.human("half a draft")
	case "Enter":
		r.human("\r")
	case "Up":
		r.human(keyUp)
	case "dialog":
		r.do(func(f *fakeTerm) { f.dialog = "Do you want to?" })
	case "answer":
		r.do(func(f *fakeTerm) { f.dialog = "" })
	case "end":
		r.do(func(f *fakeTerm) {
			if f.busy {
				f.end()
			}
		})
	}
	if pass(a.rest); a.what != "message" {
		pass(300 * time.Millisecond) // no key is one with the Escape before it
	}
}

// rank adds a message where the queue would: behind those that are as pressing.
func (m *fakeMail) rank(mode turn.Mode, id string) {
	order := []turn.Mode{protocol.ModeUrgent, protocol.ModeImportant, protocol.ModeSequential}
	m.mu.Lock()
	m.modes[id] = mode
	m.wait = append(m.wait, framed(id, "about "+id))
	slices.SortStableFunc(m.wait, func(a, b turn.Message) int {
		return slices.Index(order, m.modes[a.ID]) - slices.Index(order, m.modes[b.ID])
	})
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// theirs reports whether something of the human's may stand in the composer in the end.
func (s story) theirs() bool {
	return slices.ContainsFunc(s.acts, func(a act) bool {
		return a.what == "draft" || a.what == "Up" || a.what == "Escape" && s.gives
	})
}

// lives runs the story, and then has the human answer what is asked and send what of theirs stands
// in the composer. It returns what is wrong then.
func (s story) lives(t *testing.T, r *rig) (wrong string) {
	r.turnTime, r.habit, r.thinking = s.turns, s.habit, s.gives
	r.mail.modes, r.mail.batch = map[string]turn.Mode{}, s.batch
	r.onSubmit = func(f *fakeTerm) {
		for _, text := range f.turns {
			for _, id := range idsIn(text) {
				if s.late == 0 {
					r.log.Store(id, true)
				} else if s.late > 0 {
					time.AfterFunc(s.late, func() { r.log.Store(id, true); r.wake() })
				}
			}
		}
	}
	r.humanTurn("work")
	var ids []string
	for i, a := range s.acts {
		id := fmt.Sprint("m", i)
		if a.what == "message" {
			ids = append(ids, id)
		}
		r.does(a, id)
	}
	for range len(ids) + 3 {
		r.does(act{"answer", "", time.Minute}, "")
		if r.shows() != "" && s.theirs() {
			r.does(act{"Enter", "", time.Minute}, "")
		}
		r.does(act{"end", "", 30 * time.Second}, "")
	}
	all := strings.Join(r.submitted(), "\n")
	for _, id := range ids {
		header := "[relay " + id + " from bob]"
		got, came := r.mail.result(id), strings.Count(all, header)
		switch typed := strings.Count(r.bytes(), header); {
		case typed > r.mail.tries(id): // a dialog may swallow one
			wrong += fmt.Sprintf("%s was typed %d times; ", id, typed)
		case came > 1 && !s.gives:
			wrong += fmt.Sprintf("%s came %d times; ", id, came)
		case got.Status == "":
			wrong += fmt.Sprintf("%s has not ended, waits for %q; the watchdog says %q; ", id, r.hold(), r.last.Load().Verdict.BlockedBy)
		case got.Status == Delivered && came == 0:
			wrong += fmt.Sprintf("%s ended as %+v and never came; ", id, got)
		}
	}
	if wrong != "" {
		wrong += fmt.Sprintf("the agent got %q, the composer holds %q", r.submitted(), r.shows())
	}
	return wrong
}

// TestNothingWaitsForEver: whatever an agent does with its queue and its human with the keys, each
// message comes to an end, and none is typed twice.
func TestNothingWaitsForEver(t *testing.T) {
	claude, _ := agents.Named("claude")
	rapid.Check(t, func(rt *rapid.T) {
		for range 30 {
			s, wrong := stories().Draw(rt, "story"), ""
			runAs(t, claude, func(t *testing.T, r *rig) { wrong = s.lives(t, r) })
			if wrong != "" {
				rt.Fatalf("%+v: %s", s, wrong)
			}
		}
	})
}
