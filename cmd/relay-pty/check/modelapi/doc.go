// Package modelapi is a fake Anthropic Messages API without its transport, so
// that the real Claude Code can run offline and others can read what its model
// received. It is pure protocol: requests come in as method, path and body, the
// response goes to an Answer. Package loopback serves it without net/http, for
// the wrapper; the test rig serves it with.
//
// It speaks as much of the API as Claude Code 2.1.x uses: POST /v1/messages as
// server-sent events or, without "stream", as one JSON object; count_tokens;
// and 200 for any HEAD or GET. Requests that offer few tools are side questions
// (session titles, topics): they get a small JSON title and stay out of the log.
//
// Everything else is a Turn. Turns are logged in order of arrival with what is
// new in them; WaitTurn blocks until the log shows what somebody waits for. The
// reply comes from a Responder. The package starts no goroutine.
package modelapi
