package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// maxFields bounds the members of a request; the largest has 12.
const maxFields = 64

const (
	may  = false
	must = true
)

// fields are the members of one request. The first thing that is wrong stays in err;
// every reader does nothing once it is set.
type fields struct {
	names  []string // in the order of the line, for a steady choice of which to name
	values map[string]jsontext.Value
	read   map[string]bool
	err    *Error
}

// scan takes a line apart. An error of the grammar wins over a field that is null or
// doubled, and what was read before it stays readable for the echo of id and req.
// jsontext refuses invalid UTF-8 and lone surrogates and bounds the nesting at 10,000.
func scan(line []byte) *fields {
	f := &fields{values: map[string]jsontext.Value{}, read: map[string]bool{}}
	// Duplicates are found here, not by jsontext, so that the scan can go on behind them.
	dec := jsontext.NewDecoder(bytes.NewBuffer(line), jsontext.AllowDuplicateNames(true))
	if err := f.scanObject(dec); err != nil {
		f.err = grammarError(err)
	}
	return f
}

func (f *fields) scanObject(dec *jsontext.Decoder) error {
	open, err := dec.ReadToken()
	if err != nil {
		return err
	}
	if open.Kind() != '{' {
		return errors.New("a line must hold one JSON object")
	}
	for dec.PeekKind() != '}' {
		if err := f.scanMember(dec); err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return errors.New("a line may hold nothing but one JSON object")
	}
	return nil
}

func (f *fields) scanMember(dec *jsontext.Decoder) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	name := tok.String()
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	_, twice := f.values[name]
	switch {
	case twice:
		f.fail(BadField, name, "the field stands there twice")
		return nil
	case len(f.names) == maxFields:
		return fmt.Errorf("an object may have at most %d fields", maxFields)
	case value.Kind() == 'n':
		f.fail(BadField, name, "null is no value; leave the field out")
	}
	f.names = append(f.names, name)
	f.values[name] = value.Clone()
	return nil
}

func grammarError(err error) *Error {
	var syn *jsontext.SyntacticError
	if !errors.As(err, &syn) {
		return &Error{Code: BadJSON, Message: err.Error()}
	}
	e := fieldError(BadJSON, string(firstToken(syn.JSONPointer)), "not valid JSON at byte %d", syn.ByteOffset)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		e.Message = "the line ends before its JSON object does"
	}
	return e
}

func firstToken(p jsontext.Pointer) string {
	for tok := range p.Tokens() {
		return tok
	}
	return ""
}

func (f *fields) fail(code Code, field, format string, args ...any) {
	if f.err == nil {
		f.err = fieldError(code, field, format, args...)
	}
}

func (f *fields) has(name string) bool { return f.values[name] != nil }

// value is a field's, nil when it is absent, and that is an error when it must be there.
func (f *fields) value(name string, need bool) jsontext.Value {
	f.read[name] = true
	v := f.values[name]
	if v == nil && need {
		f.fail(MissingField, name, "the field is required")
	}
	return v
}

// text reads a string; an absent one is "" and an error when it must be there.
func (f *fields) text(name string, need bool) string {
	v := f.value(name, need)
	if v == nil {
		return ""
	}
	if v.Kind() != '"' {
		f.fail(BadField, name, "must be a string")
		return ""
	}
	return unquote(v)
}

func (f *fields) checked(name string, need bool, valid func(string) error) string {
	s := f.text(name, need)
	if f.err != nil || !f.has(name) {
		return s
	}
	if err := valid(s); err != nil {
		f.fail(BadField, name, "%v", err)
	}
	return s
}

// integer reads an int64 of at least least, 0 when absent. Fractions and exponents
// are refused even where their value is whole: 1e3 is seldom what was meant.
func (f *fields) integer(name string, least int64) int64 {
	v := f.value(name, may)
	if v == nil {
		return 0
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	switch {
	case v.Kind() != '0' || err != nil:
		f.fail(BadField, name, "must be an integer of at most 64 bits")
	case n < least:
		f.fail(BadField, name, "must be at least %d", least)
	}
	return n
}

// listMost is how many texts a list may hold.
const listMost = 64

// list reads a list of texts, each of them valid; an absent one is nil, and an error when it must
// be there. what names the texts.
func (f *fields) list(name string, need bool, what string, valid func(string) bool) []string {
	v := f.value(name, need)
	if v == nil {
		return nil
	}
	var words []string
	dec := jsontext.NewDecoder(bytes.NewBuffer(v))
	dec.ReadToken() // the bracket: scan has seen all of this value to be well formed
	for v.Kind() == '[' && dec.PeekKind() == '"' && len(words) < listMost {
		tok, _ := dec.ReadToken() // as above
		words = append(words, tok.String())
	}
	invalid := func(w string) bool { return !valid(w) }
	if len(words) == 0 || dec.PeekKind() != ']' || slices.ContainsFunc(words, invalid) {
		f.fail(BadField, name, "must be a list of 1 to %d %s", listMost, what)
	}
	return words
}

func (f *fields) noneLeft() {
	for _, name := range f.names {
		if !f.read[name] {
			f.fail(BadField, name, "unknown field")
			return
		}
	}
}

// peek returns a string that was read and is valid, for an error's echo.
func (f *fields) peek(name string, valid func(string) error) string {
	v := f.values[name]
	if v.Kind() != '"' {
		return ""
	}
	if s := unquote(v); valid(s) == nil {
		return s
	}
	return ""
}

func unquote(v jsontext.Value) string {
	b, _ := jsontext.AppendUnquote(nil, v) // scan has checked the value
	return string(b)
}

func validReq(s string) error { return atMost(MaxReq)(s) }

func atMost(n int) func(string) error {
	return func(s string) error {
		if s == "" || len(s) > n {
			return fmt.Errorf("must have 1 to %d bytes", n)
		}
		return nil
	}
}
