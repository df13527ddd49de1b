package anthropic

import "relay-pty/cmd/internal/testrig/fakeapi"

// The words of fakeapi, so that tests need one package.
type (
	Server = fakeapi.Server
	Turn   = fakeapi.Turn
	Reply  = fakeapi.Reply
	Tool   = fakeapi.Tool
)

// ErrClosed is what WaitTurn returns once the server is closed.
var ErrClosed = fakeapi.ErrClosed

// Say replies with text in small pieces.
func Say(text string) Reply { return fakeapi.Say(text) }

// Start serves on a free port of 127.0.0.1.
func Start() (*Server, error) { return fakeapi.Start(fakeapi.Messages) }

// Received is the user text of t as the user meant it; see fakeapi.Received.
func Received(t Turn) string { return fakeapi.Received(t) }
