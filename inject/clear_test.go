package inject

import (
	"strings"
	"testing"
	"time"

	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
)

// overlaid is a profile of a composer that no profile of ours knows.
func overlaid(t *testing.T, more string) *profile.Profile {
	t.Helper()
	p, err := agents.Overlay([]byte(`{"name":"mine","prompt":"❯ ","stash":"C-s","clear":["C-u"]` + more + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// withDraft has a draft that is old enough to be set aside, and then a message.
func withDraft(r *rig, body string) {
	pass(2 * time.Second)
	r.human("half a draft")
	pass(draftTimeout)
	r.mail.add("m1", body)
}

func TestEnterDoesNotLandInThePasteWindow(t *testing.T) {
	runAs(t, overlaid(t, ""), func(t *testing.T, r *rig) {
		r.pasting = 150 * time.Millisecond
		withDraft(r, "hello")
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantTurns(t, r, "hello")
		if n := strings.Count(r.bytes(), "\r"); n != 1 || r.shows() != "half a draft" {
			t.Errorf("Enter pressed %d times, want once; the composer holds %q", n, r.shows())
		}
	})
}

// TestComposerThatIsPaintedAnewBeforeEnter: an agent that paints the whole screen for each key
// shows no composer for moments, one of them when Enter is due. It is awaited, and nothing typed
// again.
func TestComposerThatIsPaintedAnewBeforeEnter(t *testing.T) {
	runAs(t, overlaid(t, ""), func(t *testing.T, r *rig) {
		r.onPaste = func(f *fakeTerm) {
			for at, away := range map[time.Duration]bool{100 * time.Millisecond: true, 900 * time.Millisecond: false} {
				time.AfterFunc(at, func() { f.do(func(f *fakeTerm) { f.away = away }) })
			}
		}
		r.mail.add("m1", "hello")
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantTurns(t, r, "hello")
		if n := r.mail.tries("m1"); n != 1 {
			t.Errorf("tried %d times, want once", n)
		}
	})
}

// An Enter that is seen to have become a newline submits nothing any more: the second one
// cannot meet the draft that the first brings back.
func TestEnterThatBecameANewlineIsPressedAgainBesideADraft(t *testing.T) {
	runAs(t, overlaid(t, `,"enter_delay_ms":0`), func(t *testing.T, r *rig) {
		r.pasting = 400 * time.Millisecond
		began := time.Now()
		withDraft(r, "hello")
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		wantTurns(t, r, "hello")
		if took := time.Since(began) - draftTimeout; r.shows() != "half a draft" || took > 5*time.Second {
			t.Errorf("after %v, the composer holds %q", took, r.shows())
		}
	})
}

// Keys that clear one line are pressed for each, whatever they do on an empty one, and the
// draft that was set aside comes back.
func TestTextOfManyLinesIsTakenBack(t *testing.T) {
	for name, joins := range map[string]bool{"nothing on an empty line": false, "the newline before an empty line": true} {
		t.Run(name, func(t *testing.T) {
			runAs(t, overlaid(t, ""), func(t *testing.T, r *rig) {
				r.wedged, r.joins = true, joins
				withDraft(r, "one\n\ntwo\nthree\nfour\nfive")
				wantResult(t, r.ends(t, "m1"), Failed, "stranded")
				if r.shows() != "half a draft" {
					t.Errorf("the composer holds %q", r.shows())
				}
			})
		})
	}
}

// TestTextIsTakenBackFromAComposerThatIsPaintedAnew: while the terminal changes its size, no
// composer shows for moments, and what is left in it is cleared when it shows again.
func TestTextIsTakenBackFromAComposerThatIsPaintedAnew(t *testing.T) {
	for _, blinks := range []time.Duration{30 * time.Millisecond, 60 * time.Millisecond, 90 * time.Millisecond} {
		runAs(t, overlaid(t, ""), func(t *testing.T, r *rig) {
			r.wedged, r.joins, r.blinks = true, true, blinks
			r.mail.add("m1", "one\ntwo")
			wantResult(t, r.ends(t, "m1"), Failed, "stranded")
			if r.shows() != "" {
				t.Errorf("with %v each, the composer holds %q", blinks, r.shows())
			}
		})
	}
}

// Whatever the agent makes of the keys, the attempt ends, and the human's keys come through.
func TestTextThatCannotBeTakenBackEndsInDoubt(t *testing.T) {
	runAs(t, overlaid(t, ""), func(t *testing.T, r *rig) {
		r.wedged, r.grows = true, true
		withDraft(r, "hello")
		began := time.Now()
		wantResult(t, r.ends(t, "m1"), Doubtful, "stranded")
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("it took %v", took)
		}
		r.human("keys")
		pass(time.Second)
		if !strings.HasSuffix(r.shows(), "keys") {
			t.Errorf("the composer holds %q", r.shows())
		}
	})
}

// TestNoFurtherKeyClearsWhatIsNotOurs: what an agent left on the screen may read like a text in an
// empty composer, where Claude Code's second key opens a dialog.
func TestNoFurtherKeyClearsWhatIsNotOurs(t *testing.T) {
	for left, doubled := range map[string]int{"effort": 0, "[relay m1 from bob] hello": 1} {
		run(t, func(t *testing.T, r *rig) {
			r.wedged, r.leaves = true, left
			r.mail.add("m1", "hello")
			wantResult(t, r.ends(t, "m1"), Doubtful, "stranded")
			if n := strings.Count(r.bytes(), "\x1b\x1b"); n != doubled {
				t.Errorf("Esc pressed twice %d times on %q, want %d", n, left, doubled)
			}
		})
	}
}
