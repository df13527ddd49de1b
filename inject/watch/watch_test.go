package watch

import (
	"testing"
	"time"

	"relay-pty/inject/agents"
	"relay-pty/inject/draft"
	"relay-pty/inject/ready"
	"relay-pty/inject/sight"
)

// line is a look at a line editor whose row up to the cursor is row.
func line(row string, keys draft.State) Look {
	return Look{
		Sight: sight.Sight{Line: row, Before: row}, Draft: keys,
		Facts: ready.Facts{Raw: true, Foreground: true, AtPrompt: true},
	}
}

func TestPromptsAreToldFromOtherLines(t *testing.T) {
	bash := agents.For("bash")
	typed := draft.State{Begun: true, LastKey: time.Unix(2, 0), Enter: time.Unix(1, 0), Boundary: true}
	entered := draft.State{LastKey: time.Unix(3, 0), Enter: time.Unix(3, 0), Boundary: true}
	for _, c := range []struct {
		name   string
		look   Look
		prompt bool
		draft  bool
	}{
		{"the first prompt", line("$ ", draft.State{}), true, false},
		{"the same, after keys that left nothing", line("$ ", typed), true, false},
		{"one in another directory", line("~/src $ ", entered), true, false},
		{"another row after keys", line("$ cat > ", typed), true, true},
		{"a continuation", line("> ", entered), false, false},
		{"a continuation by the user's own sign", line(">> ", entered), false, false},
	} {
		w := &Watch{Profile: bash}
		w.atPrompt(line("$ ", draft.State{}))
		got := w.atPrompt(c.look)
		if drafted := w.Drafted(c.look); got != c.prompt || got && drafted != c.draft {
			t.Errorf("%s: prompt %v, draft %v, want %v, %v", c.name, got, drafted, c.prompt, c.draft)
		}
	}
}

// TestPromptThatIsYetToRead: what looks like the prompt, of a program that does not wait in a read
// yet, is no prompt until it does, and is looked at again soon.
func TestPromptThatIsYetToRead(t *testing.T) {
	w := &Watch{Profile: agents.For("bash")}
	see := func(place string, ever bool) Look {
		l := line("$ ", draft.State{Boundary: true})
		if l.Facts.Raw, l.ReadPlace = false, place; ever {
			l.Draft.LastKey, l.Draft.Enter = time.Unix(1, 0), time.Unix(1, 0)
		}
		w.See(&l, Ours{})
		return l
	}
	for _, c := range []struct {
		place string
		ever  bool
		want  bool
		again time.Duration
	}{{"8192", false, true, 0}, {"", true, false, UnreadRest}, {"8192", true, true, 0}, {"1", true, false, 0}} {
		if l := see(c.place, c.ever); l.Facts.AtPrompt != c.want || l.Settles != c.again {
			t.Errorf("in %q: prompt %v, again in %v; want %v, %v", c.place, l.Facts.AtPrompt, l.Settles, c.want, c.again)
		}
	}
}
