// Package anthropic is a fake Anthropic Messages API on loopback, so that the
// real Claude Code can run offline and a test can read what its model received.
//
// It speaks as much of the API as Claude Code 2.1.x uses: POST /v1/messages as
// server-sent events or, without "stream", as one JSON object; count_tokens;
// and 200 for any HEAD or GET. Requests that offer few tools are side questions
// (session titles, topics): they get a small JSON title and stay out of the log.
//
// Everything else is a Turn. Turns are logged in order of arrival with what is
// new in them; WaitTurn blocks until the log shows what a test waits for. The
// reply comes from a Responder; the default one, Script, obeys words in the new
// user text:
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
