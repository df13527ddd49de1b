package draft

import (
	"testing"
	"time"
)

// TestLineThatCtrlZThrewAway: the terminal forgets a half-typed line when it makes a signal of
// Ctrl-Z. What was typed behind that key is of a line that nobody knows, so all of it stays a
// draft.
func TestLineThatCtrlZThrewAway(t *testing.T) {
	for _, c := range []struct{ name, keys, want string }{
		{"the last key", "half\x1a", ""},
		{"keys behind it", "half\x1acd", "halfcd"},
		{"no such key", "half", "half"},
	} {
		s := Shadow{Lines: true}
		s.Keys([]byte(c.keys), start)
		if s.Flushed(start.Add(-time.Second)); s.State().Text == "" {
			t.Errorf("%s: thrown away before it was typed", c.name)
		}
		if s.Flushed(start.Add(time.Millisecond)); s.State().Text != c.want {
			t.Errorf("%s: the shadow has %q, want %q", c.name, s.State().Text, c.want)
		}
		if s.Keys([]byte("xy"), start.Add(time.Second)); s.State().Text != c.want+"xy" {
			t.Errorf("%s: then it has %q, want %q", c.name, s.State().Text, c.want+"xy")
		}
	}
}

// TestSeenLate: a draft that shows after an empty composer was believed is known as a draft all the
// same.
func TestSeenLate(t *testing.T) {
	long := pasteOf("one\ntwo\nthree")
	for _, c := range []struct{ name, keys, since, shown, want string }{
		{"all of it", "half a draft", "", "half a draft", "half a draft"},
		{"and what was typed since", "half a draft", " more", "half a draft more", "half a draft more"},
		{"a paste that shows as a chip", "see " + long, " more", "see [Pasted text #1 +2 lines] more", "see one\ntwo\nthree more"},
		{"a newline that was typed since", "half", "\ndraft", "half\ndraft", "half\ndraft"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Shadow{Chips: chips}
			s.Keys([]byte(c.keys), start)
			s.Seen("", true, start.Add(screenRest))
			if got := s.State(); got.MayHold() {
				t.Fatalf("an empty composer is not believed: %q, known %v", got.Text, got.Known)
			}
			s.Keys([]byte(c.since), start.Add(4*time.Second))
			s.Seen(c.shown, true, start.Add(5*time.Second))
			got := s.State()
			if got.Text != c.want || !got.AtEnd || got.Against(c.shown, true) != Agreed {
				t.Errorf("got %q, known %v, at the end %v; want %q", got.Text, got.Known, got.AtEnd, c.want)
			}
		})
	}
}

// TestSeenAgainAfterItWasSetAside, for however long; until then nothing holds but the time in
// which the composer may be between two parts of a frame.
func TestSeenAgainAfterItWasSetAside(t *testing.T) {
	s := Shadow{Chips: chips}
	s.Keys([]byte("half a draft"), start)
	s.Seen("half a draft", true, start.Add(time.Second))
	s.SetAside()
	hour := start.Add(time.Hour)
	if again := s.Seen("", true, hour); again != screenRest || !s.State().MayHold() {
		t.Errorf("as soon as it is gone: again in %v, may hold %v", again, s.State().MayHold())
	}
	if again := s.Seen("", true, hour.Add(screenRest)); again != 0 || s.State().MayHold() {
		t.Errorf("later: again in %v, may hold %v", again, s.State().MayHold())
	}
	s.Seen("[relay m1 from bob] hello", true, hour.Add(4*time.Second))
	s.Seen("", true, hour.Add(5*time.Second))
	s.Seen("half a draft", true, hour.Add(6*time.Second))
	if got := s.State(); got.Text != "half a draft" || got.Against("half a draft", true) != Agreed {
		t.Errorf("back again: %q, known %v", got.Text, got.Known)
	}
}

// TestWhatIsSentDoesNotShowLate: keys that empty a composer empty it of what did not show, too.
func TestWhatIsSentDoesNotShowLate(t *testing.T) {
	for _, keys := range []string{"\r", "\x03"} {
		s := Shadow{Chips: chips}
		s.Keys([]byte("half a draft"), start)
		s.Seen("", true, start.Add(screenRest))
		s.Keys([]byte(keys), start.Add(4*time.Second))
		s.Seen("half a draft", true, start.Add(5*time.Second))
		if got := s.State(); got.Text != "" {
			t.Errorf("after %q the draft is %q", keys, got.Text)
		}
	}
}
