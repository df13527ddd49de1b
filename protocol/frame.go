package protocol

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Frame is anything that travels as one line.
type Frame interface{ Type() string }

// Encode returns f as one line with its newline. It is deterministic, does not
// escape < > &, and holds no other newline. Invalid UTF-8 becomes U+FFFD: an event
// about what an agent printed must not be lost over a byte of it.
func Encode(f Frame) ([]byte, error) {
	fields, err := json.Marshal(f, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", f.Type(), err)
	}
	line := append(make([]byte, 0, len(fields)+32), `{"type":"`...)
	line = append(append(line, f.Type()...), '"')
	if len(fields) > len("{}") {
		line = append(line, ',')
	}
	return append(append(line, fields[1:]...), '\n'), nil
}

// Tag returns an encoded frame with the req of the request that it answers. The frame
// itself, which others may share, is left alone; with an empty req it is returned.
func Tag(frame []byte, req string) []byte {
	if req == "" {
		return frame
	}
	quoted, err := jsontext.AppendQuote(nil, req)
	if err != nil {
		return frame // a decoded req is valid UTF-8, so this is no answer to anything
	}
	end := len(frame) - len("}\n")
	out := make([]byte, 0, len(frame)+len(quoted)+len(`,"req":`))
	out = append(append(out, frame[:end]...), `,"req":`...)
	return append(append(out, quoted...), "}\n"...)
}

// OrNull is a string that travels as null when it is empty.
type OrNull string

// MarshalJSONTo writes the string, or null.
func (s OrNull) MarshalJSONTo(enc *jsontext.Encoder) error {
	if s == "" {
		return enc.WriteToken(jsontext.Null)
	}
	return enc.WriteToken(jsontext.String(string(s)))
}
