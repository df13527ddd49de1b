package inject

import (
	"strings"
	"testing"

	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
)

// The keys that lead to the beginning of a composer's text, and to its end.
const toStart, toEnd = "\x1b[H", "\x1b[F"

// scans is a composer that may be lower than is known.
func scans() *profile.Profile {
	claude, _ := agents.Named("claude")
	p := *claude
	p.Typing.Start, p.Typing.End = toStart, toEnd
	return &p
}

// TestComposerLowerThanTheMessage: its beginning and its end are seen one behind the other.
func TestComposerLowerThanTheMessage(t *testing.T) {
	for low := 1; low <= 3; low++ {
		runAs(t, scans(), func(t *testing.T, r *rig) {
			r.low = low
			r.mail.add("m1", "one\n\ntwo")
			wantResult(t, r.ends(t, "m1"), Delivered, "submitted")
			wantInOrder(t, r, "[relay m1 from bob] one\n\ntwo\n[end m1]")
			if typed := r.bytes(); strings.Count(typed, toStart) != 1 || strings.Count(typed, toEnd) != 1 || strings.Count(typed, "\r") != 1 {
				t.Errorf("typed %q", typed)
			}
			r.do(func(f *fakeTerm) { f.low = 0 })
			r.mail.add("m2", "there")
			wantResult(t, r.ends(t, "m2"), Delivered, "submitted")
			if n := strings.Count(r.bytes(), toStart); n != 1 {
				t.Errorf("the keys were pressed %d times, want once", n)
			}
		})
	}
}

// TestComposerLowerThanTheMessageAfterEnter: where Enter did nothing, or chose what was offered,
// the message is not taken for submitted, though little of it is in view.
func TestComposerLowerThanTheMessageAfterEnter(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fakeTerm)
		enters int
	}{
		"nothing": {func(f *fakeTerm) { f.low, f.wedged = 2, true }, 2},
		"chosen":  {func(f *fakeTerm) { f.low, f.offers = 1, "work.txt" }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			runAs(t, scans(), func(t *testing.T, r *rig) {
				r.do(c.change)
				r.mail.add("m1", "one\ntwo\nthree")
				wantResult(t, r.ends(t, "m1"), Failed, "stranded")
				wantTurns(t, r)
				if n := strings.Count(r.bytes(), "\r"); n != c.enters || r.shows() != "" {
					t.Errorf("Enter pressed %d times, want %d; composer holds %q", n, c.enters, r.shows())
				}
			})
		})
	}
}

// TestEndOfAMessageWithoutItsBeginning: it is not submitted where its beginning was lost, nor where
// that cannot be brought into view.
func TestEndOfAMessageWithoutItsBeginning(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fakeTerm)
		status Status
	}{
		"lost": {func(f *fakeTerm) {
			f.onPaste = func(f *fakeTerm) {
				if strings.Contains(f.box, "[end m1]") {
					f.box = strings.TrimPrefix(f.box, "[relay m1 from bob] ")
				}
			}
		}, Failed},
		"out of view": {func(f *fakeTerm) { f.low, f.stays = 2, true }, Failed},
	} {
		t.Run(name, func(t *testing.T) {
			runAs(t, scans(), func(t *testing.T, r *rig) {
				r.do(c.change)
				r.mail.add("m1", "one\ntwo\nthree")
				wantResult(t, r.ends(t, "m1"), c.status, "stranded")
				wantTurns(t, r)
				typed := r.bytes()
				first, last := strings.Count(typed, toStart), strings.Count(typed, toEnd)
				if strings.Contains(typed, "\r") || first == 0 || first != last || (r.shows() == "") != (c.status == Failed) {
					t.Errorf("typed %q, composer holds %q", typed, r.shows())
				}
			})
		})
	}
}
