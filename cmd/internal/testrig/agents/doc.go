// Package agents holds small programs that stand in for agent CLIs, in tests
// and in the demo, with the habits that were measured on real ones. It
// has what a test says to them and hears from them; package programs runs them,
// each on the process's own terminal:
//
//	composer  a raw-mode chat composer in the image of Claude Code's, or, by
//	          the knob Look, of Gemini's or Codex's; most knobs are its
//	slow      a composer that reads a byte at a time and paints late
//	liar      shows a composer (Canonical: a prompt), never reads its terminal,
//	          and on the command "lie" shows any text as if it had been typed
//	deaf      raw mode, never reads its terminal but prints a line now and then
//	line      a canonical-mode program: a prompt, a line, an answer
//	flusher   line that drops what was typed ahead, at start and by the Flush knobs
//	editor    line that on the word "edit", too, hands the terminal to a child,
//	          as a shell does to vim
//	ask       line; it is for the command "ask", which all line programs take
//	echo      raw mode, every byte comes straight back
//
// Config has their knobs, Command what they do on demand, State what they
// tell, and the Kind constants what they log.
//
// They are set up by environment variables, so that they can be re-execs of
// any binary that calls programs.Run: RELAY_FAKE_AGENT names the program,
// RELAY_FAKE_CONF holds a Config as JSON, RELAY_FAKE_LOG names a file to which
// every byte read is appended, RELAY_FAKE_EVENTS one for Event lines, and
// RELAY_FAKE_CONTROL the Unix socket on which the agent takes Commands. The
// child of "edit" has logs and a socket of the same names with EditSuffix.
package agents

// The names of the environment variables.
const (
	EnvAgent   = "RELAY_FAKE_AGENT"
	EnvConf    = "RELAY_FAKE_CONF"
	EnvLog     = "RELAY_FAKE_LOG"
	EnvEvents  = "RELAY_FAKE_EVENTS"
	EnvControl = "RELAY_FAKE_CONTROL"
)

// EditSuffix ends the names of the logs and the socket of the child of "edit";
// they begin as the agent's own.
const EditSuffix = ".edit"

// The groups of Config.EditorGroup.
const (
	OwnGroup  = "own"
	SameGroup = "same"
)
