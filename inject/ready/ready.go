package ready

import (
	"cmp"
	"fmt"
	"time"

	"relay-pty/protocol"
)

// State is what the agent is doing, in the words of the wire protocol.
type State string

const (
	Starting State = protocol.StateStarting // it has not been ready yet
	Ready    State = protocol.StateReady
	Busy     State = protocol.StateBusy
	Blocked  State = protocol.StateBlocked // a question stands on its screen
	Unknown  State = protocol.StateUnknown // nothing we know; never counts as ready
	Stopped  State = protocol.StateStopped // by a job-control signal
	Exited   State = protocol.StateExited
)

// Confidence tells what a verdict stands on, strongest first.
type Confidence string

const (
	BySignal Confidence = protocol.BySignal // the agent's own word: status file, title, ->pty:ready
	ByScreen Confidence = protocol.ByScreen // what it shows: composer, prompt, dialog
	ByGuess  Confidence = protocol.ByGuess  // silence
)

// Word is what the agent itself says of its state; the zero Word is silence.
type Word struct {
	State  State
	Detail string // what it waits for, when Blocked
	At     time.Time
	Said   bool   // told once, by a signal or a marker; a file goes on saying what it says
	From   string // the name of the sign that it is, of package protocol
	Job    string // the background session that its own has become, in another process; "": none
}

// from is the name of the sign that a word is.
func (w Word) from() string { return cmp.Or(w.From, protocol.SignHook) }

// Facts is everything a verdict may stand on, gathered at Now.
type Facts struct {
	Now        time.Time
	Started    time.Time
	LastOutput time.Time // zero: it has printed nothing
	LastInput  time.Time // the last Enter, the human's or ours; zero: none

	Exited     bool
	Stopped    bool
	Foreground bool   // its process group has the terminal
	Raw        bool   // its terminal is not in canonical mode
	Draws      bool   // it is on the alternate screen
	Host       string // the program in front, if that hands on what it reads; "" is none
	Stranger   string // the program that reads in place of the shell whose language we know; "" is none

	Own         Word      // the agent's own word, newest
	Heard       [3]Word   // the newest of each kind of source, to be explained
	Dialog      string    // the row that shows a dialog; "" is none
	MaybeDialog string    // a row that shows one, or merely talks of one; "" is none
	Working     bool      // busy marks on the screen or in the title, or it holds prompts back
	Mark        string    // the row or title that shows so; "": none does
	Composer    bool      // the composer is on the screen
	Mode        string    // its prompt in a mode in which text is none for the model; "": it is in none
	Rows        int       // of the terminal; 0: not known
	Stood       time.Time // since when it has been there without a dialog; zero: not known
	Lost        time.Time // since when it has not been; zero: it is there, or not known
	Asked       time.Time // since when there has been a dialog; zero: there is none, or not known
	Worked      time.Time // since when it has been Working; zero: it is not, or not known
	AtPrompt    bool      // the row up to the cursor matches the prompt pattern
	WaitsInRead bool      // a line program has read all and waits in a read for more
	Mute        bool      // it has printed nothing yet, and is not seen to read its terminal
	Took        bool      // a message of ours is the last that it was given

	WasReady  bool      // it has been ready before
	LastBusy  time.Time // newest evidence of busy or blocked
	Submitted time.Time // the last Enter that sent text, the human's or ours, or when the agent sent what it had held back; zero: none
}

// Rules are a profile's measures of time, and which evidence it has.
type Rules struct {
	HasComposer bool          // the profile knows the agent's composer
	Unfound     string        // what to tell people when no rule finds it
	Rows        int           // the fewest rows in which it shows whole; 0: not known
	NeedPrompt  bool          // the user gave a prompt pattern: without a match it is not ready
	Reserved    bool          // nobody has described it: without a word of its own it gets nothing that could act as keys or commands
	Quiet       time.Duration // silence that counts as ready where nothing better is known
	RawQuiet    time.Duration // the same for programs in raw mode
	Settle      time.Duration // how long ready evidence must follow busy evidence
	PromptRest  time.Duration // quiet after which a prompt at the cursor counts
	Grace       time.Duration // from the start, how long an agent's own word is waited for
	First       time.Duration // how long the first composer must stand: dialogs of the start may come after it
	TakeUp      time.Duration // after an Enter that sent text, how long a turn may take to show
	StaleBusy   time.Duration // silence after which its own word "busy" no longer counts
	Alone       string        // how the agent is started so that its session stays in its own process
}

// Verdict is the judgement; Settling says that it rests on older evidence which
// has merely not aged enough, so it is no evidence itself.
type Verdict struct {
	State      State
	Confidence Confidence
	BlockedBy  string
	Settling   bool
	By         string // the name of the sign that decided it, of package protocol
}

// Judge says what the agent is doing and, when time alone would change that,
// after how long to ask again; zero means that only an event can change it.
// Busy and blocked evidence beats ready evidence.
func (r Rules) Judge(f Facts) (Verdict, time.Duration) {
	switch {
	case f.Exited:
		return Verdict{State: Exited, Confidence: BySignal, By: protocol.SignProcess}, 0
	case f.Stopped:
		return Verdict{State: Stopped, Confidence: BySignal, By: protocol.SignProcess}, 0
	case f.Dialog != "":
		return Verdict{State: Blocked, Confidence: ByScreen, BlockedBy: f.Dialog, By: protocol.SignDialog}, 0
	case f.Own.State == Blocked && !f.answered():
		return Verdict{State: Blocked, Confidence: BySignal, BlockedBy: cmp.Or(f.Own.Detail, f.MaybeDialog), By: f.Own.from()}, 0
	case !f.Foreground:
		return Verdict{State: Unknown, Confidence: BySignal, BlockedBy: protocol.BlockedByForeground, By: protocol.SignTerminal}, 0
	case f.Own.Job != "":
		return Verdict{State: Unknown, Confidence: BySignal, BlockedBy: r.moved(f.Own.Job), By: protocol.SignSession}, 0
	case f.Stranger != "":
		return Verdict{State: Unknown, Confidence: BySignal, BlockedBy: f.Stranger + strange, By: protocol.SignTerminal}, 0
	case f.Working:
		return Verdict{State: Busy, Confidence: ByScreen, By: protocol.SignBusyRow}, 0
	}
	if r.HasComposer {
		return r.judgeComposer(f)
	}
	return r.judgeLine(f)
}

// moved says why a composer may be another session's, and the way out.
func (r Rules) moved(job string) string {
	return fmt.Sprintf("its session goes on as background session %s, and another one may be in front: %s", job, r.Alone)
}

const strange = " reads in the shell's place, and might run what is typed: messages wait until a shell is back"

// answered reports whether what the agent said once, that it is blocked, does not hold any more: an
// Enter came since, or it is seen to work.
func (f Facts) answered() bool {
	return f.Own.Said && (f.Working || f.LastInput.After(f.Own.At))
}

// judgeComposer judges an agent whose composer we can find on the screen.
func (r Rules) judgeComposer(f Facts) (Verdict, time.Duration) {
	if left := r.busyWord(f); left > 0 {
		return Verdict{State: Busy, Confidence: BySignal, By: f.Own.from()}, left
	}
	if !f.Composer {
		return r.judgeLost(f)
	}
	if r.NeedPrompt && !f.AtPrompt {
		return r.unproven(f, Unknown, protocol.SignPrompt), 0
	}
	if left := r.unsettled(f); left > 0 {
		return r.unproven(f, Busy, protocol.SignTurn), left
	}
	if left := r.First - f.Now.Sub(f.Stood); left > 0 && !f.WasReady {
		return r.unproven(f, Unknown, protocol.SignComposer), left
	}
	if f.Mode != "" {
		return Verdict{State: Unknown, Confidence: ByScreen, BlockedBy: f.inMode(), By: protocol.SignComposer}, 0
	}
	if f.Own.State == Ready {
		return Verdict{State: Ready, Confidence: BySignal, By: f.Own.from()}, 0
	}
	if left := r.Grace - f.Now.Sub(f.Started); left > 0 && !f.WasReady {
		return r.unproven(f, Unknown, protocol.SignComposer), left
	}
	return Verdict{State: Ready, Confidence: ByScreen, By: protocol.SignComposer}, 0
}

// inMode says why a composer gets nothing though it is there.
func (f Facts) inMode() string {
	return "its composer is in its mode " + f.Mode + ", in which text is no prompt for the model: messages wait until that is left"
}

// lostAfter is how long an agent must rest without a composer to be one that we do not understand.
const lostAfter = 20 * time.Second

// judgeLost judges an agent whose composer is not on the screen. One that rests so is told, for
// nothing will be typed into it: it may show its composer in a way that no rule finds. Output says
// that it may be at work, unless its own word says that it rests.
func (r Rules) judgeLost(f Facts) (Verdict, time.Duration) {
	if f.Rows > 0 && f.Rows < r.Rows {
		small := fmt.Sprintf("the terminal has %d rows, and the agent shows its composer from %d on: make it taller", f.Rows, r.Rows)
		return Verdict{State: Unknown, Confidence: ByScreen, BlockedBy: small, By: protocol.SignTerminal}, 0
	}
	if f.Lost.IsZero() || f.Own.State == Busy && !f.Own.Said {
		return r.unproven(f, Unknown, protocol.SignComposer), 0
	}
	if left := staleSaid - f.Now.Sub(f.Own.At); f.Own.State == Busy && left > 0 { // it works in silence
		return r.unproven(f, Unknown, protocol.SignComposer), left
	}
	rests := Later(Later(f.Lost, f.LastInput), f.LastBusy)
	if f.Own.State != Ready {
		rests = Later(rests, f.LastOutput)
	}
	if left := lostAfter - f.Now.Sub(rests); left > 0 {
		return r.unproven(f, Unknown, protocol.SignComposer), left
	}
	why := cmp.Or(r.Unfound, "its composer is not found on the screen")
	return Verdict{State: Unknown, Confidence: ByScreen, BlockedBy: why, By: protocol.SignComposer}, 0
}

// judgeLine judges a program that is known by its prompt or by its silence.
func (r Rules) judgeLine(f Facts) (Verdict, time.Duration) {
	active := Later(Later(f.LastOutput, f.LastInput), f.Started)
	silent := f.Now.Sub(active)
	prompted := f.AtPrompt && f.LastOutput.After(f.Own.At) // painted since: fresher than its word
	if left := r.busyWord(f); left > 0 && !prompted {
		return Verdict{State: Busy, Confidence: BySignal, By: f.Own.from()}, left
	}
	why := r.reserve(f)
	if f.Own.State == Ready && !f.Own.At.Before(f.LastInput) && (why == "" || f.Own.from() == protocol.SignHook) {
		return Verdict{State: Ready, Confidence: BySignal, By: f.Own.from()}, 0
	}
	if why != "" {
		return Verdict{State: Unknown, Confidence: ByScreen, BlockedBy: why, By: protocol.SignProfile}, max(0, jobSwitch-silent)
	}
	if left := startUp - f.Now.Sub(f.Started); f.Mute && left > 0 {
		return r.unproven(f, Busy, protocol.SignSilence), min(left, muteLook)
	}
	if f.AtPrompt && !f.LastOutput.Before(f.LastInput) {
		if left := f.rest(r.PromptRest) - silent; left > 0 {
			return r.unproven(f, Busy, protocol.SignPrompt), left
		}
		return Verdict{State: Ready, Confidence: ByScreen, By: protocol.SignPrompt}, 0
	}
	if r.NeedPrompt {
		return r.unproven(f, Busy, protocol.SignPrompt), max(0, jobSwitch-silent)
	}
	quiet := r.Quiet
	if f.Raw {
		quiet = r.RawQuiet
	}
	if left := f.rest(quiet) - silent; left > 0 {
		return r.unproven(f, Busy, protocol.SignSilence), left
	}
	return Verdict{State: Ready, Confidence: ByGuess, By: protocol.SignSilence}, 0
}

// reserve says why a program that nobody has described gets nothing, and the way out; "" where it
// may: it reads lines, and is not known to hand them on. What it says through the terminal is no
// leave: a program behind it may have said so, and be gone.
func (r Rules) reserve(f Facts) string {
	const out = "; nothing is typed there unless --agent or --prompt-pattern describes it, or --agent generic allows it"
	switch {
	case !r.Reserved:
		return ""
	case f.Host != "":
		return f.Host + " hands on what it reads, and what is behind it may run that" + out
	case f.Raw || f.Draws:
		return "the program draws its own screen or takes single keys, and no profile knows it" + out
	}
	return ""
}

// An undescribed program that says nothing and reads nothing is about to draw, for all we know:
// what is typed now it would find then. It has startUp for that, and no event tells that it reads.
const (
	startUp  = 30 * time.Second
	muteLook = 100 * time.Millisecond
)

// rest is the silence that counts as ready, where usual is without better evidence: a
// line program that has taken a message prints its answer before it reads again.
func (f Facts) rest(usual time.Duration) time.Duration {
	if f.WaitsInRead && f.Took {
		return 0
	}
	return usual
}

// How long its own word "busy" counts where the profile has no measure of its own:
// in silence, and at most when it was told once and nothing else shows work.
const (
	staleWord = time.Minute
	staleSaid = 30 * time.Minute
)

// busyWord says how much longer the agent's own word that it is busy counts.
func (r Rules) busyWord(f Facts) time.Duration {
	if f.Own.State != Busy {
		return 0
	}
	left := cmp.Or(r.StaleBusy, staleWord) - f.Now.Sub(Later(f.LastOutput, f.Own.At))
	if f.Own.Said {
		left = min(left, staleSaid-f.Now.Sub(f.Own.At))
	}
	return left
}

// jobSwitch is how long after its last output a shell may take to hand the
// terminal to a job; nothing tells of that.
const jobSwitch = 200 * time.Millisecond

// unsettled says how long ready evidence must still hold: after busy evidence,
// because a turn and its queued successor are a few milliseconds of "idle"
// apart, and after an Enter that sent text until the turn that it began has shown.
func (r Rules) unsettled(f Facts) time.Duration {
	var left time.Duration
	if !f.LastBusy.IsZero() {
		left = r.Settle - f.Now.Sub(f.LastBusy)
	}
	shown := f.Own.State == Ready && f.Own.At.After(f.Submitted) // a short turn may be over before we look
	if !f.Submitted.IsZero() && f.LastBusy.Before(f.Submitted) && !shown {
		left = max(left, r.TakeUp-f.Now.Sub(f.Submitted))
	}
	return left
}

// unproven is a state that lacks evidence of ready, as a sign shows: an agent that was never
// ready is still starting.
func (r Rules) unproven(f Facts, s State, by string) Verdict {
	if !f.WasReady {
		s = Starting
	}
	return Verdict{State: s, Confidence: ByGuess, Settling: true, By: by}
}

// Later is the later of two times.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Since keeps the moment from which something has held without a break.
func Since(start time.Time, holds bool, now time.Time) time.Time {
	switch {
	case !holds:
		return time.Time{}
	case start.IsZero():
		return now
	}
	return start
}
