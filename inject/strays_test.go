package inject

import (
	"strings"
	"testing"
	"time"
)

// TestStraysAreNoDraft: what an agent leaves of a message in its emptied composer, for it draws
// some characters in fewer columns than the terminal, holds nobody for ever.
func TestStraysAreNoDraft(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		leave := func(f *fakeTerm) { f.box = "\u0e07\n     \u0e07" }
		r.do(leave)
		r.mail.add("m1", "hello")
		pass(time.Minute)
		if status := r.mail.result("m1").Status; status != "" {
			t.Fatalf("the message was %s beside a text that nobody typed for us", status)
		}
		r.do(func(f *fakeTerm) { f.box = "" })
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")

		r.mail.add("m2", "\u0e01\u0e33\u0e25\u0e31\u0e07")
		wantResult(t, r.ends(t, "m2"), Delivered, "submitted")
		r.do(leave)
		r.mail.add("m3", "hello again")
		wantResult(t, r.ends(t, "m3"), Delivered, "submitted")
	})
}

// TestADraftOfTheSameCharactersHolds: the human's text is theirs, whatever was sent before.
func TestADraftOfTheSameCharactersHolds(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.mail.add("m1", "\u0e07")
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		r.human("\u0e07")
		r.mail.add("m2", "hello")
		pass(time.Minute)
		if status := r.mail.result("m2").Status; status != "" {
			t.Errorf("the message was %s beside a draft", status)
		}
	})
}

// TestStraysOfWhatWasTakenBack: a message is out of the composer when strays of it alone are left.
func TestStraysOfWhatWasTakenBack(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.leaves = "\u0e07\n  \u0e07\ufffd"
		r.onPaste = func(f *fakeTerm) {
			f.box += " and more"
			f.onPaste = func(f *fakeTerm) { f.box = strings.TrimPrefix(f.box, f.leaves) }
		}
		r.mail.add("m1", "\u0e07")
		wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
		if n := r.mail.tries("m1"); n != 2 {
			t.Errorf("tried %d times, want twice", n)
		}
	})
}
