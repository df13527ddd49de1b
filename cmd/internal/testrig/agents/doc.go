// Package agents is how a test scripts a fake agent, commands it, and reads what it logged. Fake
// agents are small programs that stand in for agent CLIs, with the habits that were measured on
// real ones; package programs runs them, each on the process's own terminal:
//
//	composer  a raw-mode chat composer in the image of Claude Code's
//	slow      a composer that reads a byte at a time and paints late
//	liar      a composer, or with Canonical a line program, that never reads its terminal and on
//	          the command "lie" shows any text as if it had been typed
//	deaf      never reads its terminal, but prints a line now and then
//	line      a canonical-mode program: a prompt, a line, an answer
//	echo      raw mode, every byte comes straight back, until C-d
//
// Environment variables set an agent up, so any binary that calls programs.Run can become one:
// RELAY_FAKE_AGENT names the program, RELAY_FAKE_CONF holds a Config as JSON, RELAY_FAKE_LOG names
// a file to which every byte read is appended, RELAY_FAKE_EVENTS a file for Event lines, and
// RELAY_FAKE_CONTROL the Unix socket on which the agent takes Commands.
package agents

// The names of the environment variables.
const (
	EnvAgent   = "RELAY_FAKE_AGENT"
	EnvConf    = "RELAY_FAKE_CONF"
	EnvLog     = "RELAY_FAKE_LOG"
	EnvEvents  = "RELAY_FAKE_EVENTS"
	EnvControl = "RELAY_FAKE_CONTROL"
)

// EditSuffix is what the byte log of the child that the command "edit" starts has behind the
// agent's.
const EditSuffix = ".edit"
