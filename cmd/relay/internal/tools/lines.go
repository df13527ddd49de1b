package tools

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"relay-pty/protocol"
)

// Codes of JSON-RPC for what is no message.
const (
	parseError     = -32700
	invalidRequest = -32600
)

// lines passes on to the SDK what is a message, and answers the rest: to the SDK one line that is
// none is the end of the session.
type lines struct {
	to  io.Writer // the SDK
	out io.Writer // the client; for many goroutines
}

// copy reads until in ends.
func (l lines) copy(in io.Reader) error {
	r := bufio.NewReader(in)
	for {
		line, long, err := readLine(r, mcp.DefaultMaxLineLength)
		switch {
		case long:
			l.refuse(nil, invalidRequest, fmt.Sprintf("a line has %d bytes at most", mcp.DefaultMaxLineLength))
		case len(bytes.TrimSpace(line)) == 0:
		case !json.Valid(line) || !utf8.Valid(line): // what is no UTF-8 would be changed silently
			l.refuse(nil, parseError, "the line is no JSON value")
		default:
			if err := l.pass(line); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// pass hands a message on, and those of a batch one by one, which newer versions of the protocol
// do not know.
func (l lines) pass(value []byte) error {
	var batch []json.RawMessage
	if json.Unmarshal(value, &batch) == nil && len(batch) > 0 {
		var err error
		for _, one := range batch {
			err = errors.Join(err, l.pass(one))
		}
		return err
	}
	if _, err := jsonrpc.DecodeMessage(value); err != nil {
		var from struct{ ID json.RawMessage }
		json.Unmarshal(value, &from) // else nobody knows its id
		l.refuse(from.ID, invalidRequest, "the line is no JSON-RPC message")
		return nil
	}
	_, err := l.to.Write(append(bytes.TrimSpace(value), '\n'))
	return err
}

func (l lines) refuse(id json.RawMessage, code int, why string) {
	if len(id) == 0 || id[0] == '{' || id[0] == '[' {
		id = json.RawMessage("null")
	}
	failed := map[string]any{"code": code, "message": why}
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": failed})
	if err == nil {
		l.out.Write(append(answer, '\n')) // fails only when the client has gone
	}
}

// readLine returns the next line, or says that it is longer than most and was passed over. With the
// error comes what stands before the end of the input.
func readLine(r *bufio.Reader, most int) (line []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > most; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// shared is an output for many goroutines that the end of a session leaves open. Each line is one
// write.
type shared struct {
	mu sync.Mutex
	to io.Writer
}

func (s *shared) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return protocol.Escaping{Writer: s.to}.Write(line)
}

func (*shared) Close() error { return nil }
