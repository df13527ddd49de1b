// Package anthropic serves the fake Anthropic Messages API of package modelapi on
// loopback by net/http, so that the real Claude Code can run offline and a test
// can read what its model received: the same protocol as the wrapper's own check,
// another HTTP.
//
// The reply to a turn comes from a Responder; the default one, Script, obeys words
// in the new user text:
//
//	LONG n      n lines at once
//	SLOW n      n seconds of lines, four a second
//	THINK n     n seconds of silence with pings, then the usual answer
//	TOUCH path  asks for the Bash tool with "touch path", which needs permission
//	TOOL n      asks for the Bash tool with "sleep n"
//	MARK name   the text registered with SetMark, verbatim
//
// and answers "ACK n bytes" to anything else. A Server owns one goroutine a
// request, each ending with its connection; Close ends them all.
package anthropic
