package ready

import (
	"strings"
	"testing"
	"time"
)

var t0 = time.Unix(1_700_000_000, 0)

func at(ms int) time.Time { return t0.Add(time.Duration(ms) * time.Millisecond) }

const ms = time.Millisecond

var composer = Rules{
	HasComposer: true, Settle: 150 * ms, Grace: 2000 * ms, TakeUp: 2000 * ms, StaleBusy: 10000 * ms,
}

var reserved = Rules{Reserved: true, Quiet: 500 * ms, RawQuiet: 2000 * ms, PromptRest: 40 * ms}

var line = Rules{Quiet: 500 * ms, RawQuiet: 2000 * ms, PromptRest: 40 * ms}

// fact changes one fact of an agent that sits idle since long.
type fact func(*Facts)

func idle(changes ...fact) Facts {
	f := Facts{Now: at(60_000), Started: t0, LastOutput: at(1000), Foreground: true, Raw: true, WasReady: true, Composer: true}
	for _, c := range changes {
		c(&f)
	}
	return f
}

func own(s State, when int) fact {
	return func(f *Facts) { f.Own = Word{State: s, Detail: "permission prompt", At: at(when)} }
}

func said(s State, when int) fact {
	return func(f *Facts) { f.Own = Word{State: s, Detail: "may I?", At: at(when), Said: true} }
}

func TestJudgeComposer(t *testing.T) {
	for _, c := range []struct {
		name  string
		facts Facts
		want  State
		conf  Confidence
		again time.Duration
	}{
		{"its own word and the screen agree", idle(own(Ready, 1000)), Ready, BySignal, 0},
		{"the screen alone, long after the start", idle(), Ready, ByScreen, 0},
		{"the screen alone, just started", idle(func(f *Facts) { f.Now, f.WasReady = at(1500), false }), Starting, ByGuess, 500 * ms},
		{"no composer, never ready", idle(func(f *Facts) { f.Composer, f.WasReady = false, false }), Starting, ByGuess, 0},
		{"no composer and no dialog we know", idle(func(f *Facts) { f.Composer = false }), Unknown, ByGuess, 0},
		{"dialog on the screen beats its own word", idle(own(Ready, 1000), func(f *Facts) { f.Dialog = "Do you want to proceed?" }), Blocked, ByScreen, 0},
		{"its own word waiting beats the composer", idle(own(Blocked, 1000)), Blocked, BySignal, 0},
		{"busy marks beat its own word", idle(own(Ready, 1000), func(f *Facts) { f.Working = true }), Busy, ByScreen, 0},
		{"its own word busy beats the screen", idle(own(Busy, 55_000)), Busy, BySignal, 5000 * ms},
		{"its own word busy in long silence expires", idle(own(Busy, 49_000)), Ready, ByScreen, 0},
		{"signalled busy", idle(said(Busy, 59_000)), Busy, BySignal, 9000 * ms},
		{"signalled busy, in long silence", idle(said(Busy, 50_000)), Ready, ByScreen, 0},
		{"signalled busy long ago, and never silent", idle(said(Busy, 0), func(f *Facts) { f.Now, f.LastOutput = at(1_799_000), at(1_798_999) }), Busy, BySignal, 1000 * ms},
		{"signalled busy too long ago, though never silent", idle(said(Busy, 0), func(f *Facts) { f.Now, f.LastOutput = at(1_800_000), at(1_799_999) }), Ready, ByScreen, 0},
		{"its file still says busy, and never silent", idle(own(Busy, 0), func(f *Facts) { f.Now, f.LastOutput = at(1_900_000), at(1_899_999) }), Busy, BySignal, 9999 * ms},
		{"signalled ready, dialog on the screen", idle(said(Ready, 59_999), func(f *Facts) { f.Dialog = "Do you want to proceed?" }), Blocked, ByScreen, 0},
		{"signalled ready, busy marks", idle(said(Ready, 59_999), func(f *Facts) { f.Working = true }), Busy, ByScreen, 0},
		{"signalled ready, no composer", idle(said(Ready, 59_999), func(f *Facts) { f.Composer = false }), Unknown, ByGuess, 0},
		{"signalled blocked", idle(said(Blocked, 1000)), Blocked, BySignal, 0},
		{"signalled blocked, and a human's Enter since", idle(said(Blocked, 1000), func(f *Facts) { f.LastInput = at(2000) }), Ready, ByScreen, 0},
		{"signalled blocked, and work shows", idle(said(Blocked, 1000), func(f *Facts) { f.Working = true }), Busy, ByScreen, 0},
		{"its file says blocked, and work shows", idle(own(Blocked, 1000), func(f *Facts) { f.Working = true }), Blocked, BySignal, 0},
		{"its file still says blocked after Enter", idle(own(Blocked, 1000), func(f *Facts) { f.LastInput = at(2000) }), Blocked, BySignal, 0},
		{"idle for 7 ms between two turns", idle(own(Ready, 59_993), func(f *Facts) { f.LastBusy = at(59_993) }), Busy, ByGuess, 143 * ms},
		{"idle long enough", idle(own(Ready, 59_800), func(f *Facts) { f.LastBusy = at(59_850) }), Ready, BySignal, 0},
		{"our Enter, no turn yet", idle(own(Ready, 1000), func(f *Facts) { f.Submitted = at(59_900) }), Busy, ByGuess, 1900 * ms},
		{"our Enter, its turn over before we looked", idle(own(Ready, 59_950), func(f *Facts) { f.Submitted = at(59_900) }), Ready, BySignal, 0},
		{"our Enter, its turn over", idle(own(Ready, 1000), func(f *Facts) { f.Submitted, f.LastBusy = at(50_000), at(59_000) }), Ready, BySignal, 0},
		{"a mode in which text is a command", idle(own(Ready, 1000), func(f *Facts) { f.Mode = "!" }), Unknown, ByScreen, 0},
		{"such a mode, and it works", idle(func(f *Facts) { f.Mode, f.Working = "!", true }), Busy, ByScreen, 0},
		{"another program has the terminal", idle(func(f *Facts) { f.Foreground = false }), Unknown, BySignal, 0},
		{"another program is in the shell's place", idle(func(f *Facts) { f.Stranger = "perl" }), Unknown, BySignal, 0},
		{"stopped", idle(func(f *Facts) { f.Stopped = true }), Stopped, BySignal, 0},
		{"exited beats all", idle(func(f *Facts) { f.Exited, f.Stopped = true, true }), Exited, BySignal, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, again := composer.Judge(c.facts)
			if v.State != c.want || v.Confidence != c.conf || again != c.again {
				t.Errorf("got %s by %s, again in %v; want %s by %s, again in %v", v.State, v.Confidence, again, c.want, c.conf, c.again)
			}
		})
	}
}

func TestJudgeLine(t *testing.T) {
	cooked := func(f *Facts) { f.Raw = false }
	prompt := func(f *Facts) { f.AtPrompt = true }
	for _, c := range []struct {
		name  string
		rules Rules
		facts Facts
		want  State
		conf  Confidence
		again time.Duration
	}{
		{"took our message and waits in a read", line, idle(cooked, func(f *Facts) { f.LastInput, f.LastOutput, f.WaitsInRead, f.Took = at(59_970), at(60_000), true, true }), Ready, ByGuess, 0},
		{"waits in a read, not after a message", line, idle(cooked, func(f *Facts) { f.LastInput, f.LastOutput, f.WaitsInRead = at(59_970), at(59_995), true }), Busy, ByGuess, 495 * ms},
		{"took our message, and works on it", line, idle(cooked, func(f *Facts) { f.LastInput, f.LastOutput, f.Took = at(59_970), at(59_995), true }), Busy, ByGuess, 495 * ms},
		{"waits in a read, its prompt shown", line, idle(cooked, prompt, func(f *Facts) { f.LastInput, f.LastOutput, f.WaitsInRead, f.Took = at(59_970), at(60_000), true, true }), Ready, ByScreen, 0},
		{"silent line program", line, idle(cooked), Ready, ByGuess, 0},
		{"spoke just now", line, idle(cooked, func(f *Facts) { f.LastOutput = at(59_900) }), Busy, ByGuess, 400 * ms},
		{"raw programs wait longer", line, idle(func(f *Facts) { f.LastOutput = at(59_000) }), Busy, ByGuess, 1000 * ms},
		{"never printed: silence since the start", line, idle(cooked, func(f *Facts) { f.LastOutput, f.Now, f.WasReady = time.Time{}, at(200), false }), Starting, ByGuess, 300 * ms},
		{"prompt at the cursor", line, idle(prompt, func(f *Facts) { f.LastOutput = at(59_950) }), Ready, ByScreen, 0},
		{"prompt just painted", line, idle(prompt, func(f *Facts) { f.LastOutput = at(59_990) }), Busy, ByGuess, 30 * ms},
		{"the prompt from before our Enter", line, idle(prompt, func(f *Facts) { f.LastInput = at(59_900) }), Busy, ByGuess, 1900 * ms},
		{"said ready", line, idle(own(Ready, 59_990), func(f *Facts) { f.LastOutput = at(59_990) }), Ready, BySignal, 0},
		{"said ready before our Enter", line, idle(own(Ready, 100), func(f *Facts) { f.LastInput = at(59_900) }), Busy, ByGuess, 1900 * ms},
		{"signalled busy and silent", line, idle(said(Busy, 30_000)), Busy, BySignal, 30_000 * ms},
		{"signalled busy, silent for a minute", line, idle(said(Busy, 0), func(f *Facts) { f.LastOutput = t0 }), Ready, ByGuess, 0},
		{"signalled busy, a prompt from before", line, idle(prompt, said(Busy, 30_000)), Busy, BySignal, 30_000 * ms},
		{"signalled busy, a prompt since", line, idle(prompt, said(Busy, 30_000), func(f *Facts) { f.LastOutput = at(40_000) }), Ready, ByScreen, 0},
		{"signalled busy, then Enter", line, idle(said(Busy, 30_000), func(f *Facts) { f.LastInput = at(40_000) }), Busy, BySignal, 30_000 * ms},
		{"signalled ready, a password is asked for", line, idle(cooked, said(Ready, 59_999), func(f *Facts) { f.Dialog = "Password:" }), Blocked, ByScreen, 0},
		{"signalled blocked and answered", line, idle(cooked, said(Blocked, 1000), func(f *Facts) { f.LastInput = at(2000) }), Ready, ByGuess, 0},
		{"the user's pattern does not match", Rules{NeedPrompt: true, Quiet: 500 * ms}, idle(cooked), Busy, ByGuess, 0},
		{"a password is asked for", line, idle(cooked, func(f *Facts) { f.Dialog = "Password:" }), Blocked, ByScreen, 0},
		{"undescribed, reads lines", reserved, idle(cooked), Ready, ByGuess, 0},
		{"undescribed, mute", reserved, idle(cooked, func(f *Facts) { f.LastOutput, f.Now, f.WasReady, f.Mute = time.Time{}, at(20_000), false, true }), Starting, ByGuess, 100 * ms},
		{"undescribed, mute for long", reserved, idle(cooked, func(f *Facts) { f.LastOutput, f.Now, f.WasReady, f.Mute = time.Time{}, at(30_000), false, true }), Ready, ByGuess, 0},
		{"undescribed, in raw mode", reserved, idle(), Unknown, ByScreen, 0},
		{"undescribed, in raw mode at a prompt", reserved, idle(prompt), Unknown, ByScreen, 0},
		{"undescribed, in raw mode just now", reserved, idle(func(f *Facts) { f.LastOutput = at(59_900) }), Unknown, ByScreen, 100 * ms},
		{"undescribed, in raw mode, never ready", reserved, idle(func(f *Facts) { f.WasReady = false }), Unknown, ByScreen, 0},
		{"undescribed, on the alternate screen", reserved, idle(cooked, func(f *Facts) { f.Draws = true }), Unknown, ByScreen, 0},
		{"undescribed, hands on what it reads", reserved, idle(cooked, func(f *Facts) { f.Host = "ssh" }), Unknown, ByScreen, 0},
		{"undescribed, in raw mode, and says it is ready", reserved, idle(said(Ready, 59_000)), Ready, BySignal, 0},
		{"the same before our Enter", reserved, idle(said(Ready, 100), func(f *Facts) { f.LastInput = at(59_900) }), Unknown, ByScreen, 100 * ms},
		{"undescribed, in raw mode, and says it is busy", reserved, idle(said(Busy, 30_000)), Busy, BySignal, 30_000 * ms},
		{"described, on the alternate screen, a host", line, idle(func(f *Facts) { f.Draws, f.Host = true, "tmux" }), Ready, ByGuess, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, again := c.rules.Judge(c.facts)
			if v.State != c.want || v.Confidence != c.conf || again != c.again {
				t.Errorf("got %s by %s, again in %v; want %s by %s, again in %v", v.State, v.Confidence, again, c.want, c.conf, c.again)
			}
		})
	}
}

func TestFirstComposerMustStand(t *testing.T) {
	r := composer
	r.First = 1500 * ms
	first := func(since int) fact {
		return func(f *Facts) { f.WasReady, f.Stood = false, at(since) }
	}
	for _, c := range []struct {
		name string
		in   Facts
		want State
		left time.Duration
	}{
		{"it says ready, and its composer just came", idle(own(Ready, 59_000), first(59_900)), Starting, 1400 * ms},
		{"it says nothing, and its composer just came", idle(first(59_900)), Starting, 1400 * ms},
		{"its composer has stood", idle(own(Ready, 1000), first(58_500)), Ready, 0},
		{"a later composer need not", idle(own(Ready, 1000), func(f *Facts) { f.Stood = at(59_900) }), Ready, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, left := r.Judge(c.in)
			if v.State != c.want || left != c.left {
				t.Errorf("got %s, %v; want %s, %v", v.State, left, c.want, c.left)
			}
		})
	}
}

// An agent that is given too few rows shows no composer: that ends by itself only when it gets
// more.
func TestTooLowTerminalIsTold(t *testing.T) {
	rules := Rules{HasComposer: true, Rows: 12}
	low := func(f *Facts) { f.Rows, f.Composer, f.WasReady = 10, false, false }
	for _, c := range []struct {
		name  string
		facts Facts
		want  State
		told  bool
	}{
		{"no composer", idle(low), Unknown, true},
		{"no composer, enough rows", idle(low, func(f *Facts) { f.Rows = 12 }), Starting, false},
		{"the composer shows all the same", idle(func(f *Facts) { f.Rows = 10 }), Ready, false},
		{"a dialog", idle(low, func(f *Facts) { f.Dialog = "Proceed?" }), Blocked, false},
	} {
		v, _ := rules.Judge(c.facts)
		if told := strings.Contains(v.BlockedBy, "10 rows") && strings.Contains(v.BlockedBy, "from 12 on"); v.State != c.want || told != c.told {
			t.Errorf("%s: got %+v, want %s, told %v", c.name, v, c.want, c.told)
		}
	}
}

func TestBlockedByWhatTheScreenAsksWhenTheSignalDoesNotSay(t *testing.T) {
	asks := func(f *Facts) { f.MaybeDialog = "Do you want to run ls?" }
	mute := func(f *Facts) { f.Own.Detail = "" }
	for _, c := range []struct {
		name  string
		facts Facts
		want  string
	}{
		{"a signal that does not say", idle(said(Blocked, 1000), mute, asks), "Do you want to run ls?"},
		{"one that does", idle(said(Blocked, 1000), asks), "may I?"},
		{"no signal: it may be mere talk", idle(asks), ""},
	} {
		if got, _ := (Rules{HasComposer: true}).Judge(c.facts); got.BlockedBy != c.want {
			t.Errorf("%s: blocked by %q, want %q", c.name, got.BlockedBy, c.want)
		}
	}
}
