package inject

import (
	"testing"
	"time"
)

// TestWhatWasLeftBehindIsRemoved: a text of ours that could not be taken back is in nobody's way
// for ever, as long as nobody else has touched the composer.
func TestWhatWasLeftBehindIsRemoved(t *testing.T) {
	for name, c := range map[string]struct {
		then func(r *rig)
		gone bool
	}{
		"and stands there":          {func(*rig) {}, true},
		"and the human typed":       {func(r *rig) { r.human(" more") }, false},
		"and the human typed a bit": {func(r *rig) { r.human("x"); r.human("\x7f") }, false},
		"and another text does":     {func(r *rig) { r.do(func(f *fakeTerm) { f.box = "something else" }) }, false},
		"and cannot be removed yet": {func(r *rig) { r.do(func(f *fakeTerm) { f.noClear = true }) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, r *rig) {
				r.wedged, r.noClear = true, true
				r.mail.add("m1", "hello")
				wantResult(t, r.ends(t, "m1"), Doubtful, "stranded")
				r.do(func(f *fakeTerm) { f.wedged, f.noClear = false, false })
				c.then(r)
				r.mail.add("m2", "there")
				pass(30 * time.Second)
				if c.gone {
					wantResult(t, r.mail.result("m2"), Delivered, "submitted")
					wantTurns(t, r, "[relay m2 from bob] there\n[end m2]")
				} else if r.mail.result("m2").Status != "" || r.shows() == "" || len(r.submitted()) > 0 {
					t.Errorf("m2 is %+v, the composer holds %q, submitted were %q", r.mail.result("m2"), r.shows(), r.submitted())
				}
			})
		})
	}
}

// TestWhatWasLeftBehindInABusyAgentStays: keys that clear may interrupt it.
func TestWhatWasLeftBehindInABusyAgentStays(t *testing.T) {
	run(t, func(t *testing.T, r *rig) {
		r.wedged, r.noClear = true, true
		r.mail.add("m1", "hello")
		wantResult(t, r.ends(t, "m1"), Doubtful, "stranded")
		r.do(func(f *fakeTerm) { f.wedged, f.noClear, f.busy = false, false, true })
		typed := r.bytes()
		r.mail.add("m2", "there")
		pass(30 * time.Second)
		if r.bytes() != typed {
			t.Errorf("typed was %q", r.bytes()[len(typed):])
		}
		r.do(func(f *fakeTerm) { f.busy = false })
		wantResult(t, r.ends(t, "m2"), Delivered, "submitted")
	})
}
