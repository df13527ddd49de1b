package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
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
)

// MaxOverlay is the largest overlay in bytes.
const MaxOverlay = 64 << 10

// Bounds of what an overlay may say.
const (
	maxPatterns   = 64
	maxPattern    = 1024 // bytes
	maxPasteLimit = 1 << 20
	maxEnterDelay = 10 * time.Second
	maxHold       = time.Minute
	maxComment    = 16 // bytes
)

// FieldError says what is wrong with which field of an overlay; "" is the whole
// of it.
type FieldError struct {
	Field string
	Err   error
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Err.Error()
	}
	return e.Field + ": " + e.Err.Error()
}

func (e *FieldError) Unwrap() error { return e.Err }

// Overlay reads a profile from JSON: what it changes of a base profile, or the
// whole of one for a composer that no profile knows.
//
//	{"name":"composer","base":"generic","prompt":"^❯ ","busy":["esc to interrupt"],"dialog":["Do you want to "],
//	 "placeholder":"dim","stash":"C-s","stash_shown":"stashed","clear":["C-u"],"interrupt":["Esc"],
//	 "submit":"Enter","newline":"C-j","paste_limit":800,"enter_delay_ms":200,"hold_ms":1000,"quote":"none"}
//
// All keys but name are optional; what is left out is the base's, which is
// generic unless named. Patterns are Go regular expressions that do not match
// the empty string; prompt matches at the start of a row. For keys see [keyname.Parse].
// Bases are those to choose from. Reading is strict: an error is a *FieldError.
func Overlay(data []byte, bases []*Profile) (*Profile, error) {
	o := overlay{fields: map[string]jsontext.Value{}}
	if err := o.scan(data); err != nil {
		return nil, err
	}
	p, err := o.base(bases)
	if err != nil {
		return nil, err
	}
	o.p = p
	for _, f := range overlayFields {
		v, there := o.fields[f.name]
		if !there {
			continue
		}
		if err := f.read(&o, v); err != nil {
			var named *FieldError
			if errors.As(err, &named) {
				return nil, named
			}
			return nil, &FieldError{f.name, err}
		}
	}
	return p, nil
}

// OverlayFile reads an overlay and returns its text, too.
func OverlayFile(path string, bases []*Profile) (*Profile, []byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data := make([]byte, MaxOverlay+1)
	n, err := io.ReadFull(f, data)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF { // that it is shorter is well
		return nil, nil, err
	}
	p, err := Overlay(data[:n], bases)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, data[:n], nil
}

// overlay is one being read.
type overlay struct {
	fields map[string]jsontext.Value
	p      *Profile // a copy of the base; nothing in it that is changed is shared
}

// overlayFields are the keys in the order in which they are read: prompt first,
// for others need a composer.
var overlayFields = []struct {
	name string
	read func(*overlay, jsontext.Value) error
}{
	{"name", (*overlay).readName},
	{"base", func(*overlay, jsontext.Value) error { return nil }}, // read before all others
	{"prompt", (*overlay).readPrompt},
	{"busy", func(o *overlay, v jsontext.Value) error { return patternList(v, "busy", &o.p.Busy) }},
	{"dialog", func(o *overlay, v jsontext.Value) error { return patternList(v, "dialog", &o.p.Dialogs) }},
	{"placeholder", (*overlay).readPlaceholder},
	{"stash", (*overlay).readStash},
	{"stash_shown", (*overlay).readStashShown},
	{"clear", (*overlay).readClear},
	{"interrupt", func(o *overlay, v jsontext.Value) error { return keyList(v, "interrupt", &o.p.Typing.Interrupt) }},
	{"submit", func(o *overlay, v jsontext.Value) error { return keys(v, &o.p.Typing.Submit) }},
	{"newline", func(o *overlay, v jsontext.Value) error { return keys(v, &o.p.Typing.Newline) }},
	{"paste_limit", func(o *overlay, v jsontext.Value) error { return number(v, maxPasteLimit, &o.p.Typing.PasteBytes) }},
	{"enter_delay_ms", func(o *overlay, v jsontext.Value) error { return duration(v, maxEnterDelay, &o.p.Typing.EnterDelay) }},
	{"hold_ms", func(o *overlay, v jsontext.Value) error { return duration(v, maxHold, &o.p.Typing.KeyWait) }},
	{"quote", (*overlay).readQuote},
}

// scan takes the object apart.
func (o *overlay) scan(data []byte) error {
	if len(data) > MaxOverlay {
		return &FieldError{"", fmt.Errorf("has over %d bytes", MaxOverlay)}
	}
	// Duplicates are found here, where they can be named.
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true))
	open, err := dec.ReadToken()
	if err != nil {
		return grammar(err)
	}
	if open.Kind() != '{' {
		return &FieldError{"", errors.New("want one JSON object")}
	}
	for dec.PeekKind() != '}' {
		if err := o.scanMember(dec); err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return grammar(err)
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return &FieldError{"", errors.New("want nothing behind the JSON object")}
	}
	return nil
}

func (o *overlay) scanMember(dec *jsontext.Decoder) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return grammar(err)
	}
	name := tok.String()
	value, err := dec.ReadValue()
	if err != nil {
		return grammar(err)
	}
	if _, twice := o.fields[name]; twice {
		return &FieldError{name, errors.New("stands there twice")}
	}
	if !isOverlayField(name) {
		return &FieldError{clip(name), errors.New("is no key of a profile; known are " + overlayFieldNames())}
	}
	if value.Kind() == 'n' {
		return &FieldError{name, errors.New("null is no value; leave the key out")}
	}
	o.fields[name] = value.Clone()
	return nil
}

func isOverlayField(name string) bool {
	for _, f := range overlayFields {
		if f.name == name {
			return true
		}
	}
	return false
}

func overlayFieldNames() string {
	var names []string
	for _, f := range overlayFields {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// grammar tells where a file stops being JSON.
func grammar(err error) error {
	var syn *jsontext.SyntacticError
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &FieldError{"", errors.New("ends before its JSON object does")}
	}
	if errors.As(err, &syn) {
		field := ""
		for tok := range syn.JSONPointer.Tokens() {
			field = clip(tok)
			break
		}
		return &FieldError{field, fmt.Errorf("not valid JSON at byte %d", syn.ByteOffset)}
	}
	return &FieldError{"", err}
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

// base is a copy of the profile that the overlay changes.
func (o *overlay) base(bases []*Profile) (*Profile, error) {
	name := "generic"
	if _, there := o.fields["name"]; !there {
		return nil, &FieldError{"name", errors.New("is missing: want what status shall show as the agent's profile")}
	}
	if v, there := o.fields["base"]; there {
		var err error
		if name, err = text(v); err != nil {
			return nil, &FieldError{"base", err}
		}
	}
	at := slices.IndexFunc(bases, func(p *Profile) bool { return p.Name == name })
	if at < 0 {
		var names []string
		for _, p := range bases {
			names = append(names, p.Name)
		}
		return nil, &FieldError{"base", fmt.Errorf("%.60q is no profile: want one of %s", name, strings.Join(names, ", "))}
	}
	p := *bases[at]
	if p.Composer != nil {
		c := *p.Composer
		p.Composer = &c
	}
	return &p, nil
}

func (o *overlay) readName(v jsontext.Value) error {
	name, err := text(v)
	if err != nil {
		return err
	}
	if !validName(name) {
		return fmt.Errorf("%.80q: want 1 to 64 letters, digits, _ . or -, a letter or digit first", name)
	}
	o.p.Name = name
	return nil
}

func validName(name string) bool {
	for i := range len(name) {
		c := name[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || c != '_' && c != '.' && c != '-') {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

// readPrompt gives the profile a composer, or changes the look of the one that
// it has.
func (o *overlay) readPrompt(v jsontext.Value) error {
	source, err := text(v)
	if err != nil {
		return err
	}
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
	o.p.Prompt, o.p.Questions, o.p.Continued = "", nil, nil
	o.p.Rules = ready.Rules{
		HasComposer: true,
		Settle:      150 * time.Millisecond,
		TakeUp:      time.Second,
	}
	o.p.Typing = Typing{
		Newline: "\n", Submit: "\r",
		EnterDelay: 200 * time.Millisecond, // many composers take an Enter close behind a paste for a newline
		Echo:       10 * time.Second, KeyWait: time.Second,
		Confirm: 10 * time.Second, Again: 500 * time.Millisecond,
	}
	return nil
}

// composed says which field a key needs that only composers have.
func (o *overlay) composed() error {
	if o.p.Composer == nil {
		return errors.New("needs a composer: give its prompt, too")
	}
	return nil
}

func (o *overlay) readPlaceholder(v jsontext.Value) error {
	source, err := text(v)
	if err != nil {
		return err
	}
	if err := o.composed(); err != nil {
		return err
	}
	if source == "dim" {
		o.p.Composer.Placeholder = nil
		return nil
	}
	o.p.Composer.Placeholder, err = compile(source)
	return err
}

func (o *overlay) readStash(v jsontext.Value) error {
	if err := o.composed(); err != nil {
		return err
	}
	return keys(v, &o.p.Typing.Stash)
}

func (o *overlay) readStashShown(v jsontext.Value) error {
	source, err := text(v)
	if err != nil {
		return err
	}
	if o.p.Typing.Stash == "" {
		return errors.New("needs stash, the key that makes it show")
	}
	o.p.Typing.StashShown, err = compile(source)
	return err
}

func (o *overlay) readClear(v jsontext.Value) error {
	if err := o.composed(); err != nil {
		return err
	}
	return keyList(v, "clear", &o.p.Typing.Clear)
}

// readQuote takes a comment prefix only if it looks like one: a misspelt word
// must not make messages run.
func (o *overlay) readQuote(v jsontext.Value) error {
	s, err := text(v)
	if err != nil {
		return err
	}
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
	b, err := jsontext.AppendUnquote(nil, v)
	return string(b), err
}

// list reads a list of strings; each names the one that is bad.
func list(v jsontext.Value, field string, each func(string) error) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(v))
	if v.Kind() != '[' {
		return errors.New("want a list of strings")
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for i := 0; dec.PeekKind() != ']'; i++ {
		at := fmt.Sprintf("%s[%d]", field, i)
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
			return &FieldError{at, err}
		}
	}
	return nil
}

func patternList(v jsontext.Value, field string, into *[]pattern) error {
	*into = nil // never the base's own
	return list(v, field, func(s string) error {
		p, err := compile(s)
		*into = append(*into, p)
		return err
	})
}

func keyList(v jsontext.Value, field string, into *[]string) error {
	*into = nil // never the base's own
	return list(v, field, func(s string) error {
		k, err := keyname.Parse(s)
		*into = append(*into, k)
		return err
	})
}

func keys(v jsontext.Value, into *string) error {
	s, err := text(v)
	if err != nil {
		return err
	}
	*into, err = keyname.Parse(s)
	return err
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

func duration(v jsontext.Value, most time.Duration, into *time.Duration) error {
	var ms int
	err := number(v, int(most.Milliseconds()), &ms)
	*into = time.Duration(ms) * time.Millisecond
	return err
}
