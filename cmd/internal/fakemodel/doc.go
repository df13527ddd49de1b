// Package fakemodel is a fake model: it serves model APIs on loopback, so that real agents can
// run offline and others can read what their model received. The check, the tests and the demo
// use it. One server speaks one wire:
//
//	Messages   Anthropic's Messages API                            Claude Code
//	Responses  OpenAI's Responses API                              Codex
//	Chat       OpenAI's chat completions                           OpenCode, Qwen Code
//	Gemini     Google's generateContent and its stream             Gemini CLI
//
// Every request of an agent's main conversation is a Turn. Turns are logged in order of arrival
// with what is new in them; WaitTurn blocks until the log shows what somebody waits for. The
// reply to a turn comes from a Responder. The default one, Script, obeys words in the new user
// text:
//
//	LONG n      n lines at once
//	SLOW n      n seconds of lines, four a second
//	THINK n     n seconds of silence, then the usual answer
//	TOUCH path  asks for the agent's shell tool with "touch path", which needs permission
//	TOOL n      asks for the agent's shell tool with "sleep n"
//	MARK name   the text registered with SetMark, verbatim
//
// and answers "ACK n bytes" to anything else. Where one request brings several
// texts the last one decides. Requests beside the conversation (titles,
// routing, who speaks next) are side questions: answered, and no turns.
//
// In a turn, Text is what users said: what an agent adds on its own account goes
// to System, and what it wraps around a user's text is taken off where that is
// its API's own form.
//
// A Server owns one goroutine a request, each ending with its connection; Close
// ends them all.
package fakemodel
