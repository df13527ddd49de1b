package ready

import (
	"strings"
	"testing"
	"time"

	"relay-pty/protocol"
)

// everyRules are rules of all kinds.
var everyRules = map[string]Rules{
	"composer":                composer,
	"composer, with a prompt": {HasComposer: true, NeedPrompt: true, Rows: 12, First: time.Second, Settle: 150 * ms, TakeUp: 2000 * ms},
	"line":                    line,
	"line, with a prompt":     {NeedPrompt: true, Quiet: 500 * ms, RawQuiet: 2000 * ms, PromptRest: 40 * ms},
	"undescribed":             reserved,
}

// everyWord is what an agent may have said of itself, and how.
func everyWord() (list []Word) {
	list = append(list, Word{})
	for _, s := range []State{Ready, Busy, Blocked} {
		for _, from := range []string{"", protocol.SignSession, protocol.SignOSC} {
			list = append(list, Word{State: s, At: at(40_000), Said: from == "", From: from})
		}
	}
	return list
}

// switches are facts that hold or do not.
var switches = []fact{
	func(f *Facts) { f.Foreground = false },
	func(f *Facts) { f.Dialog = "Proceed?" },
	func(f *Facts) { f.Working = true },
	func(f *Facts) { f.Composer, f.Lost = false, at(10_000) },
	func(f *Facts) { f.AtPrompt = true },
	func(f *Facts) { f.WasReady, f.Stood, f.Mute = false, at(59_900), true },
	func(f *Facts) { f.Raw, f.Rows = false, 10 },
	func(f *Facts) { f.LastOutput, f.Submitted = at(59_990), at(59_900) },
	func(f *Facts) { f.Now = at(1000) },
	func(f *Facts) { f.Host = "ssh" },
	func(f *Facts) { f.Own.Job = "j1" },
	func(f *Facts) { f.Stranger = "mksh" },
}

// TestEveryVerdictNamesTheSignThatDecidedIt: over all combinations of facts exactly one sign wins,
// and it is the one that the verdict names.
func TestEveryVerdictNamesTheSignThatDecidedIt(t *testing.T) {
	won, n := map[string]int{}, 0
	for name, rules := range everyRules {
		for _, w := range everyWord() {
			for set := range 1<<len(switches) + 2 {
				f := idle(func(f *Facts) { f.Own, f.Heard[0] = w, w })
				f.Exited, f.Stopped = set == 1<<len(switches), set > 1<<len(switches)
				for i, on := range switches {
					if set>>i&1 == 1 {
						on(&f)
					}
				}
				v, _ := rules.Judge(f)
				n++
				var wins []string
				for _, s := range rules.Signs(f, v) {
					if s.Wins {
						wins = append(wins, s.Name)
					}
					if s.Says == "" {
						t.Fatalf("%s: %s says nothing: %+v", name, s.Name, f)
					}
				}
				if len(wins) != 1 || wins[0] != v.By {
					t.Fatalf("%s: %s was decided by %q, and %q won: %+v", name, v.State, v.By, wins, f)
				}
				won[v.By]++
			}
		}
	}
	for _, name := range []string{
		protocol.SignProcess, protocol.SignTerminal, protocol.SignDialog, protocol.SignBusyRow, protocol.SignSession, protocol.SignHook,
		protocol.SignOSC, protocol.SignComposer, protocol.SignPrompt, protocol.SignTurn, protocol.SignSilence, protocol.SignProfile,
	} {
		if won[name] == 0 {
			t.Errorf("in %d combinations %s never decided", n, name)
		}
	}
	t.Logf("%d combinations: %v", n, won)
}

// TestAgentThatRestsWithoutAComposerIsTold: nothing will be typed into it, and without a reason
// nobody would learn of it.
func TestAgentThatRestsWithoutAComposerIsTold(t *testing.T) {
	rules := composer
	rules.Unfound, rules.Alone = "no row begins with X", "start it alone"
	lost := func(since int, more ...fact) Facts {
		return idle(append([]fact{func(f *Facts) { f.Composer, f.Lost, f.WasReady = false, at(since), false }}, more...)...)
	}
	out := func(when int) fact { return func(f *Facts) { f.LastOutput = at(when) } }
	for _, c := range []struct {
		name  string
		rules Rules
		facts Facts
		want  State
		told  string
		left  time.Duration
	}{
		{"for 20 s, never ready", rules, lost(40_000), Unknown, "no row begins with X", 0},
		{"for 20 s, and was ready", rules, lost(40_000, func(f *Facts) { f.WasReady = true }), Unknown, "no row begins with X", 0},
		{"a moment less", rules, lost(40_001), Starting, "", ms},
		{"it printed something since", rules, lost(1000, out(50_000)), Starting, "", 10 * time.Second},
		{"it prints, and says that it rests", rules, lost(1000, out(59_999), own(Ready, 2000)), Unknown, "no row begins with X", 0},
		{"the human typed since", rules, lost(1000, func(f *Facts) { f.LastInput = at(50_000) }), Starting, "", 10 * time.Second},
		{"it was at work until then", rules, lost(1000, func(f *Facts) { f.LastBusy = at(50_000) }), Starting, "", 10 * time.Second},
		{"busy marks", rules, lost(1000, func(f *Facts) { f.Working = true }), Busy, "", 0},
		{"its file says busy, in silence", rules, lost(1000, own(Busy, 2000)), Starting, "", 0},
		{"it said once that it is busy, and is silent", rules, lost(1000, said(Busy, 2000)), Starting, "", 30*time.Minute - 58*time.Second},
		{"it said so long ago", rules, lost(1000, said(Busy, -1_740_000)), Unknown, "no row begins with X", 0},
		{"a dialog", rules, lost(1000, func(f *Facts) { f.Dialog = "Proceed?" }), Blocked, "Proceed?", 0},
		{"its session went on in another process", rules, idle(own(Ready, 2000), func(f *Facts) { f.Own.Job = "j1" }), Unknown,
			"its session goes on as background session j1, and another one may be in front: start it alone", 0},
		{"a dialog there", rules, idle(func(f *Facts) { f.Own.Job, f.Dialog = "j1", "Proceed?" }), Blocked, "Proceed?", 0},
		{"another program in front", rules, lost(1000, func(f *Facts) { f.Foreground = false }), Unknown, protocol.BlockedByForeground, 0},
		{"no composer is known", line, lost(1000), Ready, "", 0},
		{"nobody has described it", reserved, lost(1000, func(f *Facts) { f.Raw = false }), Ready, "", 0},
		{"no words for it", composer, lost(1000), Unknown, "its composer is not found on the screen", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, left := c.rules.Judge(c.facts)
			if v.State != c.want || v.BlockedBy != c.told || left != c.left {
				t.Errorf("got %s, blocked by %q, again in %v; want %s, %q, %v", v.State, v.BlockedBy, left, c.want, c.told, c.left)
			}
		})
	}
}

// TestWordThroughTheTerminalIsNoLeaveToType: what stands behind an undescribed program may have
// said it, and be gone.
func TestWordThroughTheTerminalIsNoLeaveToType(t *testing.T) {
	osc := func(s State) fact {
		return func(f *Facts) { f.Own = Word{State: s, At: at(59_000), Said: true, From: protocol.SignOSC} }
	}
	if v, _ := reserved.Judge(idle(osc(Ready))); v.State != Unknown || !strings.Contains(v.BlockedBy, "no profile knows it") {
		t.Errorf("an undescribed program that says it is idle: got %+v, want unknown", v)
	}
	if v, _ := reserved.Judge(idle(osc(Busy))); v.State != Busy || v.By != protocol.SignOSC {
		t.Errorf("an undescribed program that says it works: got %+v, want busy", v)
	}
	if v, _ := line.Judge(idle(osc(Ready))); v.State != Ready || v.By != protocol.SignOSC {
		t.Errorf("a generic one that says it is idle: got %+v, want ready by its word", v)
	}
}

func TestSignsSay(t *testing.T) {
	f := idle(own(Ready, 1000), func(f *Facts) {
		f.Mark, f.Working, f.Worked, f.MaybeDialog = "• Working (esc to interrupt)", true, at(59_000), "Allow it?"
	})
	v, _ := composer.Judge(f)
	says := map[string]Sign{}
	for _, s := range composer.Signs(f, v) {
		says[s.Name] = s
	}
	for name, want := range map[string]Sign{
		protocol.SignBusyRow: {Name: protocol.SignBusyRow, Says: "• Working (esc to interrupt)", Since: at(59_000), Wins: true},
		protocol.SignHook:    {Name: protocol.SignHook, Says: "ready: permission prompt", Since: at(1000)},
		protocol.SignDialog:  {Name: protocol.SignDialog, Says: "none; this row alone would be one: Allow it?"},
		protocol.SignProcess: {Name: protocol.SignProcess, Says: "it runs", Since: t0},
	} {
		if says[name] != want {
			t.Errorf("got %+v, want %+v", says[name], want)
		}
	}
}
