package inject

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
	"relay-pty/inject/turn"
	"relay-pty/inject/watch"
	"relay-pty/protocol"
)

var errStop = errors.New("stop")

// rig runs an injector with the claude profile's timing in a bubble.
type rig struct {
	*fakeTerm
	mail *fakeMail
	last atomic.Pointer[Report]
	then atomic.Pointer[Report] // at the latest end of a message
	asks atomic.Bool            // a report said that a dialog is open
	log  sync.Map               // ids that the agent's log shows
	told chan string            // drafts set aside, and back
}

// draftTimeout is how old a draft must be to be set aside.
const draftTimeout = 2 * time.Hour

// asides are what was told of drafts so far.
func (r *rig) asides() (told []string) {
	for len(r.told) > 0 {
		told = append(told, <-r.told)
	}
	return told
}

func (r *rig) stashed(id string, set bool) {
	if set {
		r.told <- "set " + id
		return
	}
	r.told <- "back " + id
}

func (r *rig) Took(id string) bool {
	_, took := r.log.Load(id)
	return took
}

// logs has the agent's log show the messages of all turns so far.
func (r *rig) logs(f *fakeTerm) {
	for _, turn := range f.turns {
		for _, id := range idsIn(turn) {
			r.log.Store(id, true)
		}
	}
}

// idsIn lists the messages whose headers stand in a text.
func idsIn(text string) (ids []string) {
	for part := range strings.SplitSeq(text, "[relay ") {
		if id, _, is := strings.Cut(part, " from bob]"); is {
			ids = append(ids, id)
		}
	}
	return ids
}

func (r *rig) hold() Hold { return r.last.Load().Hold }

func run(t *testing.T, test func(t *testing.T, r *rig)) {
	p, _ := agents.Named("claude")
	runAs(t, p, test)
}

// runAs is run with another profile.
func runAs(t *testing.T, p *profile.Profile, test func(t *testing.T, r *rig)) {
	runWith(t, p, draftTimeout, test)
}

// runWith is runAs with another age at which a draft may be set aside.
func runWith(t *testing.T, p *profile.Profile, age time.Duration, test func(t *testing.T, r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{fakeTerm: newFake(), mail: newMail(), told: make(chan string, 100)}
		r.discreet = p.Typing.StashShown == nil
		in := &Injector{
			Profile: p, Agent: r.fakeTerm, Mailbox: r.mail, Mail: r.mail.wake, Log: r,
			Report: func(rep Report) {
				r.last.Store(&rep)
				if rep.Verdict.By == "" {
					t.Errorf("no sign decided %+v", rep.Verdict)
				}
				r.asks.Store(r.asks.Load() || rep.Verdict.State == ready.Blocked)
			},
			DraftTimeout: age, Stashed: r.stashed,
			Staged: func(ids []string, from, to string) {
				if !follows(from, to) {
					t.Errorf("of %v: from %s to %s, which the table of stages does not know", ids, from, to)
				}
			},
		}
		r.mail.onEnd = func() { r.then.Store(r.last.Load()) }
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() { done <- in.Run(ctx) }()
		synctest.Wait()
		test(t, r)
		cancel(errStop)
		if err := <-done; !errors.Is(err, errStop) && !(r.hasExited() && errors.Is(err, ErrExited)) {
			t.Errorf("Run = %v, want %v", err, errStop)
		}
		pass(time.Minute) // lets the agent's own timers end
	})
}

// follows reports whether the table of stages lets one come behind another.
func follows(from, to string) bool {
	for _, r := range table {
		if r.name == from {
			return to == ended.String() || slices.ContainsFunc(r.next, func(n stage) bool { return n.String() == to })
		}
	}
	return false
}

// allEnd waits for the ends of so many messages, and lists them.
func (r *rig) allEnd(t *testing.T, n int, while time.Duration) (ids []string) {
	t.Helper()
	over := time.After(while)
	for len(ids) < n {
		select {
		case id := <-r.mail.ended:
			ids = append(ids, id)
		case <-over:
			t.Fatalf("not within %v: the ends of %d messages; %q have ended, the next waits for %q", while, n, ids, r.hold())
		}
	}
	return ids
}

// ends waits for the message's end.
func (r *rig) ends(t *testing.T, id string) Result {
	t.Helper()
	if got := <-r.mail.ended; got != id {
		t.Fatalf("%s ended, want %s", got, id)
	}
	return r.mail.result(id)
}

func wantResult(t *testing.T, got Result, status Status, detail string) {
	t.Helper()
	if got.Status != status || string(got.Evidence)+got.Code != detail {
		t.Errorf("got %+v, want %s %s", got, status, detail)
	}
}

func wantTurns(t *testing.T, r *rig, want ...string) {
	t.Helper()
	got := r.fakeTerm.submitted()
	if len(got) != len(want) {
		t.Fatalf("submitted %q, want %d turns", got, len(want))
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) || strings.Count(strings.Join(got, "\n"), want[i]) != 1 {
			t.Errorf("turn %d is %q, want %q once", i, got[i], want[i])
		}
	}
}

func TestMessageIsSubmittedOnceAndProved(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.mail.add("m1", "hello")
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantTurns(t, r, "[relay m1 from bob] hello\n[end m1]")
	})
}

func TestBusyIsToldBeforeTheDelivery(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.turnTime = 0 // over before anybody looks
		r.mail.add("m1", "hello")
		r.ends(t, "m1")
		if got := r.then.Load().Verdict.State; got != ready.Busy {
			t.Errorf("the state at the delivery is %s, want busy", got)
		}
		pass(time.Minute)
		if got := r.last.Load().Verdict.State; got != ready.Ready {
			t.Errorf("the state afterwards is %s, want ready", got)
		}
	})
}

func TestNextMessageWaitsForTheTurnsEnd(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.mail.add("m1", "one")
		r.mail.add("m2", "two")
		r.ends(t, "m1")
		start := time.Now()
		r.ends(t, "m2")
		if took := time.Since(start); took < r.turnTime {
			t.Errorf("second message after %v, within the first one's turn of %v", took, r.turnTime)
		}
		wantTurns(t, r, "one", "two")
	})
}

func TestTurnThatShowsLateStillHoldsTheNext(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.onSubmit = func(f *fakeTerm) { // idle on the screen for a while, then busy
			f.busy = false
			time.AfterFunc(800*time.Millisecond, func() { f.do(func(f *fakeTerm) { f.busy = true }) })
		}
		r.mail.add("m1", "one")
		r.mail.add("m2", "two")
		r.ends(t, "m1")
		start := time.Now()
		r.ends(t, "m2")
		if took := time.Since(start); took < 2*time.Second {
			t.Errorf("second message after %v, into the turn of the first", took)
		}
	})
}

func TestDialogHoldsUntilAnswered(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.dialog = "Do you want to proceed?" })
		r.mail.add("m1", "hello")
		pass(time.Hour)
		if got := r.bytes(); got != "" {
			t.Fatalf("typed %q into a dialog", got)
		}
		if r.hold() != protocol.WaitsForDialog {
			t.Errorf("holds for %q, want dialog", r.hold())
		}
		r.human("\r")
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantTurns(t, r, "ANSWERED", "hello")
	})
}

func TestDraftHoldsUntilSent(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.human("half a dr")
		r.mail.add("m1", "hello")
		pass(time.Hour)
		if got := r.bytes(); got != "half a dr" {
			t.Fatalf("typed %q beside a draft", got)
		}
		if r.hold() != protocol.WaitsForDraft {
			t.Errorf("holds for %q, want draft", r.hold())
		}
		r.human("aft")
		r.human("\r")
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantTurns(t, r, "half a draft", "hello")
	})
}

func TestRecentKeyHoldsASecond(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		pass(10 * time.Second)
		r.human("\x1b[A") // leaves no text
		r.do(func(f *fakeTerm) { f.box = "" })
		start := time.Now()
		r.mail.add("m1", "hello")
		synctest.Wait()
		if r.hold() != protocol.WaitsForHuman {
			t.Errorf("holds for %q, want human", r.hold())
		}
		r.ends(t, "m1")
		if took := time.Since(start); took < time.Second {
			t.Errorf("typed %v after a key, want a second of rest", took)
		}
	})
}

func TestUnfinishedSequenceHolds(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.do(func(f *fakeTerm) { f.shadow.Keys([]byte("\x1b[200~pas"), time.Now()) })
		r.mail.add("m1", "hello")
		pass(time.Hour)
		if got := r.bytes(); got != "" {
			t.Fatalf("typed %q into the human's open paste", got)
		}
		r.do(func(f *fakeTerm) { f.shadow.Keys([]byte("te\x1b[201~"), time.Now()) })
		r.ends(t, "m1")
	})
}

func TestSwallowedEnterIsPressedOnceMore(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.swallow = 1
		r.mail.add("m1", "hello")
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantTurns(t, r, "hello")
	})
}

func TestWedgedComposerIsClearedAndFails(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.wedged = true
		r.mail.add("m1", "hello")
		wantResult(t, r.ends(t, "m1"), Failed, "stranded")
		if n := strings.Count(r.bytes(), "hello"); n != 1 || r.shows() != "" {
			t.Errorf("body typed %d times, composer holds %q", n, r.shows())
		}
		if n := strings.Count(r.bytes(), "\r"); n != 2 {
			t.Errorf("Enter pressed %d times, want 2", n)
		}
	})
}

// TestEnterThatChoosesWhatIsOffered: what an Enter made of the message is no turn, also where the
// composer shows too little of it to tell that it is the message.
func TestEnterThatChoosesWhatIsOffered(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.inView, r.offers = 1, "work.txt"
		r.mail.add("m1", "see @work.txt")
		wantResult(t, r.ends(t, "m1"), Failed, "stranded")
		wantTurns(t, r)
		if r.shows() != "" {
			t.Errorf("composer holds %q", r.shows())
		}
	})
}

func TestWedgedComposerThatKeepsTheTextIsDoubt(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.wedged, r.noClear = true, true
		r.mail.add("m1", "hello")
		wantResult(t, r.ends(t, "m1"), Doubtful, "stranded")
	})
}

func TestDialogBetweenPasteAndEnter(t *testing.T) {
	for _, c := range []struct {
		name, after string // what the composer holds when the dialog is gone
		status      Status
		detail      string
		turns       []string
	}{
		{"text survived", "[relay m1 from bob] hello\n[end m1]", Delivered, "submitted", []string{"ANSWERED", "hello"}},
		{"text mixed with the human's", "[relay m1 from bob] hello\n[end m1] and me", Doubtful, "draft_uncertain", []string{"ANSWERED"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			run(t, func(t *testing.T, r *rig) {
				r.onPaste = func(f *fakeTerm) { f.box, f.dialog = c.after, "Do you want to proceed?" }
				r.mail.add("m1", "hello")
				pass(time.Hour)
				if strings.Contains(r.bytes(), "\r") {
					t.Fatal("Enter pressed into a dialog")
				}
				r.human("\r")
				wantResult(t, r.ends(t, "m1"), c.status, c.detail)
				wantTurns(t, r, c.turns...)
			})
		})
	}
}

func TestDialogThatSwallowsTheMessageCostsNothing(t *testing.T) {
	for _, left := range []string{"", "[relay m1 from bob] hel", "\n\n\n"} {
		run(t, func(t *testing.T, r *rig) {
			r.onPaste = func(f *fakeTerm) { f.box, f.dialog, f.onPaste = left, "Do you want to proceed?", nil }
			r.mail.add("m1", "hello")
			pass(time.Hour)
			r.human("\r")
			wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
			wantTurns(t, r, "ANSWERED", "hello")
			if r.mail.tries("m1") != 2 {
				t.Errorf("taken %d times, want 2 attempts", r.mail.tries("m1"))
			}
		})
	}
}

func TestKeysOfTheTransactionFollowIt(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.onPaste = func(f *fakeTerm) {
			f.held, f.since = []byte("typed meanwhile"), time.Now()
			f.onPaste = nil
		}
		r.mail.add("m1", "hello")
		r.ends(t, "m1")
		synctest.Wait()
		wantTurns(t, r, "hello")
		if r.shows() != "typed meanwhile" {
			t.Errorf("composer holds %q, want the human's keys", r.shows())
		}
	})
}

func TestHumanDoesNotWaitForADeafComposer(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.deaf = true
		r.mail.add("m1", "hello")
		synctest.Wait()
		r.human("x")
		start := time.Now()
		for r.mail.result("m1") == (Result{}) {
			pass(10 * time.Millisecond)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("the human's key was kept for %v", took)
		}
		if strings.Contains(r.bytes(), "\r") {
			t.Error("Enter pressed on a composer that did not show the message")
		}
		wantResult(t, r.mail.result("m1"), Doubtful, "stranded")
	})
}

func TestMessageThatTheComposerMangles(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.onPaste = func(f *fakeTerm) { f.box = strings.TrimSuffix(f.box, "]") }
		r.mail.add("m1", "hello")
		wantResult(t, r.ends(t, "m1"), Failed, "stranded")
		if n := r.mail.tries("m1"); n != maxWithdrawn || r.shows() != "" {
			t.Errorf("%d attempts, composer holds %q; want %d and nothing", n, r.shows(), maxWithdrawn)
		}
		if strings.Contains(r.bytes(), "\r") {
			t.Error("Enter pressed on text that is not the message")
		}
	})
}

func TestHumanWhoWaitsGetsTheComposerBack(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.onPaste = func(f *fakeTerm) { f.box, f.onPaste = "[relay m1", nil } // slow: only the start shows
		r.mail.add("m1", "hello")
		synctest.Wait()
		r.human("x")
		pass(3 * time.Second)
		if r.shows() != "x" {
			t.Fatalf("composer holds %q, want the human's key alone", r.shows())
		}
		r.human("\r")
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantTurns(t, r, "x", "hello")
	})
}

func TestAgentThatExitsFailsBeforeEnterAndIsDoubtAfter(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.onPaste = func(f *fakeTerm) { f.exited = true }
		r.mail.add("m1", "hello")
		wantResult(t, r.ends(t, "m1"), Failed, "agent_exited")
	})
	run(t, func(t *testing.T, r *rig) {
		r.onSubmit = func(f *fakeTerm) { f.exited = true }
		r.mail.add("m1", "hello")
		wantResult(t, r.ends(t, "m1"), Doubtful, "agent_exited")
	})
}

func TestTheAgentsLogProvesATurn(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.onSubmit = func(f *fakeTerm) { f.exited = true; r.log.Store("m1", true) }
		r.mail.add("m1", "hello")
		wantResult(t, r.ends(t, "m1"), Delivered, "turn")
	})
}

// TestNothingTypedIsNoInput: an agent that was given nothing has nothing to answer, so it is as
// ready as before.
func TestNothingTypedIsNoInput(t *testing.T) {
	for sent, want := range map[int]bool{0: false, 5: true} {
		in := &Injector{Mailbox: newMail()}
		a := &attempt{in: in, Turn: turn.Turn{{ID: "m1"}}, term: terminal{sent: sent}, result: &Result{Withdrawn, "", byRequest, "cancelled"}}
		in.end(a, clearing)
		if got := !in.seen.Input.IsZero(); got != want {
			t.Errorf("after %d bytes: input %v, want %v", sent, got, want)
		}
	}
}

// TestAgentThatTurnsOutToBeAnother: between attempts the loop takes over what the command has come
// to run, which has not been ready yet; during one it does not ask.
func TestAgentThatTurnsOutToBeAnother(t *testing.T) {
	was, _ := agents.Named("generic")
	is, _ := agents.Named("claude")
	var found *profile.Profile
	asked := 0
	in := &Injector{Profile: was, seen: watch.Watch{Ready: time.Now()}, Become: func() (*profile.Profile, Log) {
		asked++
		return found, &rig{}
	}}
	if in.become(); in.Profile != was || in.seen.Ready.IsZero() || in.Log != nil {
		t.Error("it became what it is not")
	}
	found = is
	for _, s := range []stage{typing, behind, queued} {
		in.attempts = []*attempt{{in: in, stage: s}}
		if in.become(); in.Profile != was || asked != 1 {
			t.Errorf("it became another one within an attempt that is %s", s)
		}
	}
	in.attempts = nil
	if in.become(); in.Profile != is || !in.seen.Ready.IsZero() || in.Log == nil {
		t.Errorf("it did not become %s", is.Name)
	}
}
