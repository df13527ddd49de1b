package agentlog

import (
	"testing"
	"testing/synctest"
	"time"

	"relay-pty/inject/profile"
	"relay-pty/parser"
	"relay-pty/parser/transcript"
)

// TestWhatMayHaveBeenTypedHere: a prompt that the log tells of may be what was typed here, unless
// the log has told of that, or the agent has rested for long since.
func TestWhatMayHaveBeenTypedHere(t *testing.T) {
	prompt := func(text string) transcript.Entry {
		return transcript.Entry{Kind: transcript.User, Text: text, Typed: true, Time: time.Now().Truncate(time.Millisecond)}
	}
	synctest.Test(t, func(t *testing.T) {
		var key time.Time
		l := New(Agent{Profile: profile.Log{Format: "claude"}, Started: time.Now(), LastKey: func() time.Time { return key }, Shown: func() {}})
		step := func(what string, want bool, do func()) {
			t.Helper()
			time.Sleep(time.Minute)
			if do(); want != func() bool { is, _ := l.terminal(time.Now()); return is }() {
				t.Errorf("%s: a prompt may be of here: %v, want %v", what, !want, want)
			}
		}
		step("at the start", true, func() {})
		step("once a message has shown, though it has ended by then", false, func() {
			l.Expect("m1")
			l.Forget("m1")
			l.take(prompt(parser.Opening("m1") + " from bob] hello"))
		})
		step("a key", true, func() { key = time.Now() })
		step("its prompt, of a turn that runs", true, func() { l.take(prompt("hello")) })
		step("the rest behind that", false, func() { l.settle(time.Now()) })
		step("a key, and a rest at once", true, func() { key = time.Now(); l.settle(key.Add(time.Second)) })
		step("a rest that is long", false, func() { l.settle(time.Now()) })
		step("a command", true, func() { l.Typing(true) })
		step("a message in its turn", true, func() {
			l.Expect("m2")
			l.take(prompt(parser.Opening("m2") + " from bob] hello"))
		})
	})
}

// TestWhenTheTerminalWasSilent: it is known of a time between two that it spoke in.
func TestWhenTheTerminalWasSilent(t *testing.T) {
	start := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	var h here
	if h.silent(at(0)) {
		t.Error("it is known before it spoke at all")
	}
	for _, s := range []float64{10, 10.2, 10.4, 20} {
		h.hears(at(s))
	}
	h.given = at(20.1)
	h.hears(at(20.2)) // of a message, though the terminal speaks all the time
	for s, want := range map[float64]bool{
		5: false, 8.9: false, 9.1: false, 10.3: false, 10.45: false, 10.6: true, 18.9: true, 19.1: false, 20.05: false, 20.15: false,
		20.25: false, 22: true,
	} {
		if h.silent(at(s)) != want {
			t.Errorf("at %v s: silent is %v, want %v", s, !want, want)
		}
	}
	h = here{}
	h.hears(at(1))
	h.given = at(20.1)
	h.hears(at(20.2))
	if !h.silent(at(20.05)) || h.silent(at(20.15)) {
		t.Error("a message that is typed behind a prompt, or before one, makes the terminal speak of it")
	}
	for n := range 2 * burstsMost {
		h.hears(at(30 + 3*float64(n)))
	}
	if len(h.spoke) != burstsMost || h.silent(at(15)) {
		t.Errorf("of %d times it remembers one that is long ago", len(h.spoke))
	}
}
