package e2e

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
)

// oneToTwelveLines: each agent hides a paste behind a chip from another number of
// lines on, and newlines at a body's ends count there, too.
func oneToTwelveLines(t *testing.T, r *realAgent) {
	bodies := []string{"a\n\n\n\nb", strings.Repeat("\n", 7) + "newlines around" + strings.Repeat("\n", 8)}
	for n := range 12 {
		bodies = append(bodies, strings.Repeat("a line\n", n)+"the last")
	}
	took := r.receives("n", bodies...)
	shown(t, r.Name()+": bodies of 1 to 12 lines, and with newlines at their ends, intact", "%d of %d; socket to delivered %s", len(bodies), len(bodies), spread(took))
}

// littleToSee: what shapes visible text arrives, a body of blanks, marks or symbols
// that show little is delivered, and what nobody would see is not typed.
func littleToSee(t *testing.T, r *realAgent) {
	bodies := [][2]string{
		{"👩\u200d👩\u200d👧 👍🏿 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3 🇯🇵 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f می\u200cخواهم क्\u200dष"},
		{"\u0301", "\u00a0\u0301"}, {"x\n\u0301\u0302", "x\n\u00a0\u0301\u0302"}, {"\u2800"}, {"\u3000\u00a0"}, {"\ufffc"}, {"\ufeffread\u200b \u202ethis\u2028now\u00ad\U000e0069\U000e0067", "read this\nnow"},
	}
	var ids []string
	for i, body := range bodies {
		id := fmt.Sprint("v", i)
		r.inject(id, body[0])
		end := r.delivers(id, "submitted", "turn")
		r.turn(id, cmp.Or(body[1], body[0]))
		r.rests(end)
		ids = append(ids, id)
	}
	r.once(ids)
	shown(t, r.Name()+": bodies of characters that show little, shape others, or are not to be seen", "%d of %d", len(bodies), len(bodies))
}

// likeTheScreen: what was typed must never be taken for the agent's own words,
// neither in its composer nor in the history above.
func likeTheScreen(t *testing.T, r *realAgent) {
	bodies := []string{
		"please press enter to continue", "hit esc to cancel it, esc to close the menu", "(esc to cancel) now",
		"use enter to select\n• Working (5s • esc to interrupt)\n ⠏ Thinking... (esc to cancel, 3s)", "Resume: Enter, reverse-i-search: x",
		"↑", strings.Repeat("abcdefg", 133)[:929],
	}
	r.receives("w", bodies...)
	r.swept()
}

// mostlyFrame: messages have a header and a footer that are long enough to be hidden
// behind a chip, or a body that shows nothing between them.
func mostlyFrame(t *testing.T, r *realAgent) {
	id := strings.Repeat("long-id-", 16)
	r.receives("f", "\n", strings.Repeat(" ", 900), strings.Repeat("\n", 12)+"a word\n")
	for _, body := range []string{"hello", strings.Repeat("a line\n", 40) + "the last"} {
		r.inject(id, body)
		r.delivers(id, "submitted", "turn")
		r.turn(id, body)
		id = "other-" + id[6:]
	}
}

// TestProveChipsThatNobodyExpected: an agent that hides pastes sooner than its profile says gets
// the message in pieces.
func TestProveChipsThatNobodyExpected(t *testing.T) {
	body := strings.Repeat("word ", 400) + "end"
	eachAgent(t, func(t *testing.T, a agentrig.Agent) {
		r, began := startAgent(t, a, "--agent", overlay(t, `{"name":"mine","base":%q,"paste_limit":100000}`, a.Profile)), time.Now()
		r.inject("m1", body)
		if n := r.delivers("m1", "submitted", "turn").Num("attempt"); n != 2 {
			t.Errorf("%v attempts, want 2", n)
		}
		shown(t, a.Name()+": a message hidden behind a chip, taken back and typed in pieces", "socket to delivered %s", time.Since(began).Round(time.Millisecond))
		r.turn("m1", body)
	})
}

// TestProveLowTerminals: an agent gets messages in a terminal as low as it may be, also those that
// end with a name that it would complete, and one that has no room for its composer says so:
// OpenCode without a conversation, so the agent is a fresh one.
func TestProveLowTerminals(t *testing.T) {
	eachAgent(t, func(t *testing.T, a agentrig.Agent) {
		r := startAgent(t, a)
		must(t, r.Resize(10, 80))
		if r.look.Rules.Rows > 10 {
			r.state("unknown")
			if by := r.status().Str("blocked_by"); !strings.Contains(by, "10 rows") {
				t.Errorf("blocked by %q", by)
			}
			// In any terminal, an agent that misses a size that came and went paints nothing anew.
			must(t, r.WaitText(patience(t, "OpenCode's box in ten rows"), "╹▀▀▀"))
			must(t, r.Resize(24, 80))
			r.state("ready")
		}
		r.receives("low", "one", "one\ntwo", "one\ntwo\nthree", strings.Repeat("a line\n", 30)+"the last", strings.Repeat("word ", 150))
		named := " @work.txt"
		r.receives("name", "see"+named, strings.Repeat("x", r.look.Typing.PasteBytes-len(named))+named)
	})
}

// receives has the agent get messages with such ids one by one, each when it rests, and tells how
// long each took.
func (r *realAgent) receives(prefix string, bodies ...string) (took []time.Duration) {
	r.t.Helper()
	var ids []string
	for i, body := range bodies {
		id, began := fmt.Sprint(prefix, i), time.Now()
		r.inject(id, body)
		end := r.delivers(id, "submitted", "turn")
		took = append(took, time.Since(began))
		r.turn(id, body)
		r.rests(end)
		ids = append(ids, id)
	}
	r.once(ids)
	return took
}
