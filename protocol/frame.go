package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Frame is anything that travels as one line.
type Frame interface{ Type() string }

// types lists the types of frames.
func types[F Frame](frames []F) []string {
	names := make([]string, len(frames))
	for i, f := range frames {
		names[i] = f.Type()
	}
	return names
}

// made is a new frame of that type, if it is among frames.
func made[F Frame](frames []F, typ string) (f F, known bool) {
	for _, f := range frames {
		if f.Type() == typ {
			return reflect.New(reflect.TypeOf(f).Elem()).Interface().(F), true
		}
	}
	return f, false
}

// Encode returns f as one line with its newline. It is deterministic, does not
// escape < > &, and holds nothing that is [Obeyed], so that a line may be shown on a
// terminal as it is. Invalid UTF-8 becomes
// U+FFFD: an event about what an agent printed must not be lost over a byte of it.
func Encode(f Frame) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"type":"` + f.Type() + `"`)
	head := b.Len()
	// The standard library's encoder is linked in any case, by the log; its decoder would be too
	// lenient for the wire.
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f); err != nil {
		return nil, fmt.Errorf("encode %s: %w", f.Type(), err)
	}
	line := b.Bytes()
	if line[head] = ','; line[head+1] == '}' {
		line = slices.Delete(line, head, head+1)
	}
	return Escape(line), nil
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
	quoted = Escape(quoted)
	end := len(frame) - len("}\n")
	out := make([]byte, 0, len(frame)+len(quoted)+len(`,"req":`))
	out = append(append(out, frame[:end]...), `,"req":`...)
	return append(append(out, quoted...), "}\n"...)
}

// OrNull is a string that travels as null when it is empty.
type OrNull string

// MarshalJSON writes the string, or null.
func (s OrNull) MarshalJSON() ([]byte, error) {
	if s == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(s))
}
