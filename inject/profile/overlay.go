package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	keyname "relay-pty/inject/profile/keys"
	"relay-pty/inject/ready"
	"relay-pty/protocol/regular"
)

// MaxOverlay is the largest overlay in bytes.
const MaxOverlay = 64 << 10

// Bounds of what an overlay may say.
const (
	maxPatterns   = 64
	maxPattern    = 1024 // bytes
	maxRows       = 1000
	maxPasteLimit = 1 << 20
	maxEnterDelay = 10_000 // ms
	maxHold       = 60_000 // ms
	maxComment    = 16     // bytes
)

// FieldError is what is wrong with a field of an overlay, and in which line, from 1. Field is ""
// where the whole of the overlay is wrong.
type FieldError struct {
	Field string
	Line  int
	Err   error
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Err.Error()
	}
	return e.Field + ": " + e.Err.Error()
}

func (e *FieldError) Unwrap() error { return e.Err }

// OverlayFile reads an overlay and returns its text, too. Errors in it begin with FILE:LINE.
func OverlayFile(path string, bases []*Profile) (*Profile, []byte, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxOverlay+1))
	if err != nil {
		return nil, nil, err
	}
	p, err := Overlay(data, bases)
	var wrong *FieldError
	if errors.As(err, &wrong) {
		return nil, nil, fmt.Errorf("%s:%d: %w", path, wrong.Line, err)
	}
	return p, data, err
}

// Overlay reads a profile from JSON: what it changes of a base profile, or the
// whole of one for a composer that no profile knows.
//
//	{"name":"composer","base":"generic","composer":"ruled","prompt":"^❯ ","busy":["esc to interrupt"],"dialog":["Do you want to "],
//	 "placeholder":"dim","stash":"C-s","stash_shown":"stashed","clear":["C-u"],"interrupt":["Esc"],
//	 "submit":"Enter","newline":"C-j","paste_limit":800,"enter_delay_ms":200,"hold_ms":1000,"quote":"none"}
//
// All keys but name are optional; what is left out is the base's, which is generic unless named,
// and the patterns of busy and dialog add to the base's. Patterns are Go regular expressions that
// do not match the empty string; prompt matches at the start of a row. For keys see
// [keyname.Parse]. Bases are those to choose from. Reading is strict: an error is a *FieldError.
func Overlay(data []byte, bases []*Profile) (*Profile, error) {
	members, err := scan(data)
	if err != nil {
		return nil, err
	}
	o, err := newOverlay(members, bases)
	if err != nil {
		return nil, err
	}
	fields, known := o.fields(), []string{}
	for _, f := range fields {
		known = append(known, f.name)
	}
	for _, m := range members {
		if !slices.Contains(known, m.name) {
			return nil, m.wrong(errors.New("is no key of a profile; known are " + strings.Join(known, ", ")))
		}
	}
	for _, f := range fields {
		if m, there := find(members, f.name); there {
			if err := o.read(f, m.value); err != nil {
				return nil, m.wrong(err)
			}
		}
	}
	if err := o.box(); err != nil {
		m, _ := find(members, "composer")
		return nil, m.wrong(err)
	}
	return o.p, nil
}

// member is a key of the object, with the line in which its value begins.
type member struct {
	name  string
	value jsontext.Value
	line  int
}

// wrong is an error in the member. That of an item in a list names the item and its line there.
func (m member) wrong(err error) *FieldError {
	var item *FieldError
	if errors.As(err, &item) {
		return &FieldError{m.name + item.Field, m.line + item.Line, item.Err}
	}
	return &FieldError{clip(m.name), m.line, err}
}

func find(members []member, name string) (member, bool) {
	at := slices.IndexFunc(members, func(m member) bool { return m.name == name })
	if at < 0 {
		return member{}, false
	}
	return members[at], true
}

// scan takes the object apart.
func scan(data []byte) (members []member, err error) {
	line := func(at int64) int { return 1 + strings.Count(string(data[:min(at, int64(len(data)))]), "\n") }
	whole := func(line int, err error) ([]member, error) { return nil, &FieldError{Line: line, Err: err} }
	if len(data) > MaxOverlay {
		return whole(1, fmt.Errorf("has over %d bytes", MaxOverlay))
	}
	// Duplicates are found here, where they can be named.
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true))
	broken := func(err error) ([]member, error) { return nil, grammar(err, line, len(data)) }
	open, err := dec.ReadToken()
	if err != nil {
		return broken(err)
	}
	if open.Kind() != '{' {
		return whole(line(dec.InputOffset()), errors.New("want one JSON object"))
	}
	for dec.PeekKind() != '}' {
		key, err := dec.ReadToken()
		if err != nil {
			return broken(err)
		}
		name := key.String()
		value, err := dec.ReadValue()
		if err != nil {
			return broken(err)
		}
		m := member{name, value.Clone(), line(dec.InputOffset() - int64(len(value)))}
		if _, twice := find(members, name); twice {
			return nil, m.wrong(errors.New("stands there twice"))
		}
		if value.Kind() == 'n' {
			return nil, m.wrong(errors.New("null is no value; leave the key out"))
		}
		members = append(members, m)
	}
	if _, err := dec.ReadToken(); err != nil {
		return broken(err)
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return whole(line(dec.InputOffset()), errors.New("want nothing behind the JSON object"))
	}
	return members, nil
}

// grammar tells where a file of so many bytes stops being JSON.
func grammar(err error, line func(int64) int, size int) *FieldError {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &FieldError{"", line(int64(size)), errors.New("ends before its JSON object does")}
	}
	var syn *jsontext.SyntacticError
	if !errors.As(err, &syn) {
		return &FieldError{"", 1, err}
	}
	field := ""
	for tok := range syn.JSONPointer.Tokens() {
		field = clip(tok)
		break
	}
	return &FieldError{field, line(syn.ByteOffset), fmt.Errorf("not valid JSON at byte %d", syn.ByteOffset)}
}

func clip(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, s)
}

// overlay is one being read.
type overlay struct {
	p       *Profile // a copy of the base; nothing in it that is changed is shared
	kind    string   // of its composer: ruled, floored or bare
	ruled   Ruled
	floored Floored
}

// newOverlay begins with what the overlay's base has.
func newOverlay(members []member, bases []*Profile) (*overlay, error) {
	if _, there := find(members, "name"); !there {
		return nil, &FieldError{"name", 1, errors.New("is missing: want what status shall show as the agent's profile")}
	}
	name := "generic"
	m, there := find(members, "base")
	if there {
		var err error
		if name, err = text(m.value); err != nil {
			return nil, m.wrong(err)
		}
	}
	at := slices.IndexFunc(bases, func(p *Profile) bool { return p.Name == name })
	if at < 0 {
		var known []string
		for _, p := range bases {
			known = append(known, p.Name)
		}
		return nil, m.wrong(fmt.Errorf("%.60q is no profile: want one of %s", name, strings.Join(known, ", ")))
	}
	p := *bases[at]
	o := &overlay{p: &p, kind: "bare", ruled: Ruled{Corners: true}}
	if p.Composer == nil {
		return o, nil
	}
	c := *p.Composer
	p.Composer = &c
	switch box := c.Box.(type) {
	case Ruled:
		o.kind, o.ruled = "ruled", box
	case Floored:
		o.kind, o.floored = "floored", box
	}
	return o, nil
}

// box puts what was read of the composer's box into the profile.
func (o *overlay) box() error {
	switch c := o.p.Composer; {
	case c == nil:
	case o.kind == "ruled":
		c.Box = o.ruled
	case o.kind == "floored" && o.floored.Floor == nil:
		return errors.New("needs floor, a pattern of the row below the composer")
	case o.kind == "floored":
		c.Box = o.floored
	default:
		if _, is := c.Box.(Bare); !is {
			c.Box = Bare{}
		}
	}
	return nil
}

// field is a key of overlays.
type field struct {
	name string
	into any    // a pattern, keys, lists of them, a number, a duration in ms, or what takes a string
	most int    // of a number
	of   string // what must be there: a composer, one of a kind, or stash; "": nothing
}

// fields are the keys in the order in which they are read: prompt first, for others need a
// composer.
func (o *overlay) fields() []field {
	p, t := o.p, &o.p.Typing
	return []field{
		{name: "name", into: o.setName},
		{name: "base", into: func(string) error { return nil }}, // read before all others
		{name: "prompt", into: o.setPrompt},
		{name: "composer", into: o.setKind, of: "composer"},
		{name: "more", into: &o.ruled.More, of: "ruled"},
		{name: "floor", into: &o.floored.Floor, of: "floored"},
		{name: "under", into: &o.floored.Under, most: maxRows, of: "floored"},
		{name: "tall", into: &o.floored.Tall, most: maxRows, of: "floored"},
		{name: "busy", into: &p.Busy},
		{name: "dialog", into: &p.Dialogs},
		{name: "placeholder", into: o.setPlaceholder, of: "composer"},
		{name: "stash", into: &t.Stash, of: "composer"},
		{name: "stash_shown", into: &t.StashShown, of: "stash"},
		{name: "clear", into: &t.Clear, of: "composer"},
		{name: "interrupt", into: &t.Interrupt},
		{name: "submit", into: &t.Submit},
		{name: "newline", into: &t.Newline},
		{name: "paste_limit", into: &t.PasteBytes, most: maxPasteLimit},
		{name: "enter_delay_ms", into: &t.EnterDelay, most: maxEnterDelay},
		{name: "hold_ms", into: &t.KeyWait, most: maxHold},
		{name: "quote", into: o.setQuote},
	}
}

// read reads a field's value.
func (o *overlay) read(f field, v jsontext.Value) error {
	switch {
	case f.of == "", f.of == "stash" && o.p.Typing.Stash != "":
	case f.of == "stash":
		return errors.New("needs stash, the key that makes it show")
	case o.p.Composer == nil:
		return errors.New("needs a composer: give its prompt, too")
	case f.of != "composer" && f.of != o.kind:
		return fmt.Errorf("needs composer, which must be %q", f.of)
	}
	switch into := f.into.(type) {
	case *[]pattern:
		if *into = slices.Clip(*into); into == &o.p.Dialogs && o.p.Elsewhere != nil {
			*into = nil
		}
		return list(v, func(s string) error {
			rx, err := compile(s)
			*into = append(*into, rx)
			return err
		})
	case *[]string:
		*into = nil // never the base's own
		return list(v, func(s string) error {
			k, err := keyname.Parse(s)
			*into = append(*into, k)
			return err
		})
	case *int:
		return number(v, f.most, into)
	case *time.Duration:
		var ms int
		err := number(v, f.most, &ms)
		*into = time.Duration(ms) * time.Millisecond
		return err
	}
	s, err := text(v)
	if err != nil {
		return err
	}
	switch into := f.into.(type) {
	case *pattern:
		*into, err = compile(s)
	case *string:
		*into, err = keyname.Parse(s)
	case func(string) error:
		err = into(s)
	}
	return err
}

func (o *overlay) setName(name string) error {
	if !NewPattern(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`).Match(name) {
		return fmt.Errorf("%.80q: want 1 to 64 letters, digits, _ . or -, a letter or digit first", name)
	}
	o.p.Name = name
	return nil
}

// setPrompt gives the profile a composer, or changes the look of the one that it has.
func (o *overlay) setPrompt(source string) error {
	if _, err := compile(source); err != nil {
		return err
	}
	prompt, err := compile("^(?:" + source + ")") // a row's start: what stands before it would belong to the text
	if err != nil {
		return err
	}
	if o.p.Composer != nil {
		o.p.Composer.Prompt = prompt
		return nil
	}
	o.p.Composer = &Composer{Prompt: prompt, Above: 2, Chips: Pasted}
	o.p.Prompt, o.p.Questions, o.p.Continued, o.p.Elsewhere = "", nil, nil, o.p.Dialogs
	o.p.Rules = ready.Rules{HasComposer: true, Settle: 150 * time.Millisecond, TakeUp: time.Second}
	o.p.Typing = Typing{
		Newline: "\n", Submit: "\r",
		EnterDelay: 200 * time.Millisecond, // many composers take an Enter close behind a paste for a newline
		Echo:       10 * time.Second, KeyWait: time.Second,
		Confirm: 10 * time.Second, Again: 500 * time.Millisecond,
	}
	return nil
}

func (o *overlay) setKind(kind string) error {
	if !Words("ruled floored bare").Has(kind) {
		return fmt.Errorf("%.60q: want ruled (between rules, or in a box), floored (down to a floor) or bare (nothing encloses it)", kind)
	}
	o.kind = kind
	return nil
}

func (o *overlay) setPlaceholder(source string) (err error) {
	if o.p.Composer.Placeholder = nil; source != "dim" {
		o.p.Composer.Placeholder, err = compile(source)
	}
	return err
}

// setQuote takes a comment prefix only if it looks like one: a misspelt word
// must not make messages run.
func (o *overlay) setQuote(s string) error {
	switch s {
	case "none":
		o.p.Quote = Quote{}
		return nil
	case "posix":
		o.p.Quote = Quote{Posix: true}
		return nil
	}
	word := strings.ContainsFunc(s, unicode.IsLetter) && !strings.HasSuffix(s, " ")
	odd := strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
	if strings.TrimSpace(s) == "" || len(s) > maxComment || word || odd {
		return fmt.Errorf("%.60q: want none, posix, or what begins a comment to the end of the line, as in # or --", s)
	}
	o.p.Quote = Quote{Comment: s}
	return nil
}

func text(v jsontext.Value) (string, error) {
	if v.Kind() != '"' {
		return "", errors.New("want a string")
	}
	s, err := jsontext.AppendUnquote(nil, v)
	return string(s), err
}

// list reads a list of strings; an error names the item that is bad.
func list(v jsontext.Value, each func(string) error) error {
	if v.Kind() != '[' {
		return errors.New("want a list of strings")
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(v))
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for i := 0; dec.PeekKind() != ']'; i++ {
		if i == maxPatterns {
			return fmt.Errorf("want at most %d", maxPatterns)
		}
		item, err := dec.ReadValue()
		if err != nil {
			return err
		}
		s, err := text(item)
		if err == nil {
			err = each(s)
		}
		if err != nil {
			return &FieldError{fmt.Sprintf("[%d]", i), strings.Count(string(v[:dec.InputOffset()]), "\n"), err}
		}
	}
	return nil
}

// compile takes only what Go's regular expressions can do, and what does not
// match everywhere.
func compile(source string) (pattern, error) {
	if source == "" || len(source) > maxPattern {
		return nil, fmt.Errorf("want a pattern of 1 to %d bytes", maxPattern)
	}
	re, err := regexp.Compile(source)
	var syn *syntax.Error
	switch {
	case errors.As(err, &syn) && (strings.HasPrefix(syn.Expr, "(?") || syn.Code == syntax.ErrInvalidEscape):
		return nil, fmt.Errorf("%.60q: %s: want a Go regular expression (RE2), which has no lookaround and no back-references", source, syn.Code)
	case err != nil:
		return nil, fmt.Errorf("%.60q is no regular expression of Go (RE2): %w", source, err)
	case re.MatchString(""):
		return nil, fmt.Errorf("%.60q matches the empty string, and so every row", source)
	}
	return NewPattern(source), nil
}

// number reads a whole number from 0.
func number(v jsontext.Value, most int, into *int) error {
	n, err := strconv.ParseInt(string(v), 10, 64) // 1.5 and 1e3 are refused
	if v.Kind() != '0' || err != nil || n < 0 || n > int64(most) {
		return fmt.Errorf("%.60s: want a whole number from 0 to %d", v, most)
	}
	*into = int(n)
	return nil
}
