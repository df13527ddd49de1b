package profile_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/inject/agents"
	"relay-pty/inject/agents/claude"
	"relay-pty/inject/agents/codex"
	"relay-pty/inject/agents/generic"
	"relay-pty/inject/agents/opencode"
	. "relay-pty/inject/profile"
)

func overlaid(t *testing.T, format string, args ...any) *Profile {
	t.Helper()
	p, err := agents.Overlay(fmt.Appendf(nil, format, args...))
	if err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return p
}

// plain is a profile with its patterns as text, so that two can be compared.
func plain(p Profile) map[string]any {
	source := func(list ...*Pattern) (out []string) {
		for _, rx := range list {
			if rx != nil {
				out = append(out, rx.String())
			}
		}
		return out
	}
	t := p.Typing
	t.StashShown, t.Armed = nil, nil
	m := map[string]any{
		"name": p.Name, "commands": p.Commands, "title": p.BusyTitle, "asktitle": source(p.AskTitle), "busy": source(p.Busy...), "dialogs": source(p.Dialogs...),
		"overlays": source(p.Overlays...), "questions": source(p.Questions...), "ready": p.Prompt, "continued": source(p.Continued), "quote": p.Quote, "rules": p.Rules,
		"typing": t, "stash_shown": source(p.Typing.StashShown), "armed": source(p.Typing.Armed), "log": p.Log,
	}
	if c := p.Composer; c != nil {
		m["prompt"], m["modes"], m["edge"] = source(c.Prompt), source(c.Modes...), source(c.Edge)
		m["placeholder"], m["above"], m["chips"] = source(c.Placeholder), c.Above, c.Chips
		m["kind"], m["found"] = fmt.Sprintf("%T", c.Box), source(patternsOf(c.Box)...)
		switch box := c.Box.(type) {
		case Floored:
			m["under"], m["tall"] = box.Under, box.Tall
		case Bare:
			if f := box.Footed; f != nil {
				m["hang"], m["tall"] = f.Hang, f.Tall
			}
		}
	}
	return m
}

// patternsOf are those by which a composer is found.
func patternsOf(box Box) []*Pattern {
	switch box := box.(type) {
	case Ruled:
		return []*Pattern{box.More}
	case Floored:
		return []*Pattern{box.Floor, box.Shell, box.Question}
	case Bare:
		if box.Footed != nil {
			return []*Pattern{box.Footed.More}
		}
	}
	return nil
}

// differ checks that got and base differ in the wanted things only.
func differ(t *testing.T, got, base *Profile, want map[string]any) {
	t.Helper()
	a, b := plain(*got), plain(*base)
	for k := range a {
		expect, changed := want[k]
		if !changed {
			expect = b[k]
		}
		if !reflect.DeepEqual(a[k], expect) {
			t.Errorf("%s is %#v, want %#v", k, a[k], expect)
		}
	}
}

const everyKey = `{"name":"every-Key.1","base":"claude","prompt":"» ","busy":["working","still (at|on) it"],"dialog":["Really\\?"],
	"placeholder":"^Type here","stash":"C-t","stash_shown":"put aside","clear":["C-u","Esc Esc"],"interrupt":["Esc","M-x"],
	"submit":"M-Enter","newline":"C-o","paste_limit":1234,"enter_delay_ms":56,"hold_ms":789,"quote":"// "}`

func TestOverlayOfEveryKeyArrives(t *testing.T) {
	before := plain(claude.Profile)
	got := overlaid(t, "%s", everyKey)
	typing := claude.Profile.Typing
	typing.Stash, typing.Clear, typing.Interrupt = "\x14", []string{"\x15", "\x1b\x1b"}, []string{"\x1b", "\x1bx"}
	typing.Submit, typing.Newline, typing.PasteBytes = "\x1b\r", "\x0f", 1234
	typing.EnterDelay, typing.KeyWait, typing.StashShown = 56*time.Millisecond, 789*time.Millisecond, nil
	differ(t, got, &claude.Profile, map[string]any{
		"name": "every-Key.1", "prompt": []string{"^(?:» )"}, "busy": append(before["busy"].([]string), "working", "still (at|on) it"), "dialogs": append(before["dialogs"].([]string), `Really\?`),
		"placeholder": []string{"^Type here"}, "typing": typing, "stash_shown": []string{"put aside"}, "quote": Quote{Comment: "// "},
	})
	if !reflect.DeepEqual(plain(claude.Profile), before) {
		t.Error("the base itself has changed")
	}
}

func TestOverlayKeepsWhatItDoesNotName(t *testing.T) {
	for _, name := range agents.Names() {
		base, _ := agents.Named(name)
		got := overlaid(t, `{"name":"x","base":%q}`, base.Name)
		differ(t, got, base, map[string]any{"name": "x"})
		if got == base || got.Composer != nil && got.Composer == base.Composer {
			t.Errorf("%s: shares what an overlay changes", base.Name)
		}
	}
	differ(t, overlaid(t, `{"name":"x"}`), &generic.Profile, map[string]any{"name": "x"})
	differ(t, overlaid(t, `{"name":"x","base":"claude","placeholder":"dim","quote":"none"}`), &claude.Profile, map[string]any{"name": "x"})
	got := overlaid(t, `{"name":"x","base":"claude","busy":[],"clear":[]}`)
	if len(got.Busy) != len(claude.Profile.Busy) || len(got.Typing.Clear) != 0 {
		t.Errorf("busy %d, clear %q: patterns add to the base's, and an empty list of keys takes those away", len(got.Busy), got.Typing.Clear)
	}
}

func TestOverlayErrorsNameTheField(t *testing.T) {
	long := strings.Repeat("x", 1024+1)
	for _, c := range []struct{ in, field, says string }{
		{``, "", "ends before"},
		{`{"name":"x"`, "", "ends before"},
		{`{"name":"x","busy":["a"`, "", "ends before"},
		{`[]`, "", "want one JSON object"},
		{`"x"`, "", "want one JSON object"},
		{`{"name":"x"} {}`, "", "nothing behind"},
		{`{"name":"x"}]`, "", "nothing behind"},
		{`{"name":x}`, "name", "not valid JSON at byte 8"},
		{`{"name":"x","busy":["\ud800"]}`, "busy", "not valid JSON"},
		{`{"name":"` + strings.Repeat("x", MaxOverlay) + `"}`, "", "has over 65536 bytes"},
		{`{}`, "name", "is missing"},
		{`{"base":"claude"}`, "name", "is missing"},
		{`{"name":""}`, "name", "letters, digits"},
		{`{"name":"a b"}`, "name", `"a b": want 1 to 64`},
		{`{"name":"-a"}`, "name", "letter or digit first"},
		{`{"name":"` + strings.Repeat("x", 65) + `"}`, "name", "want 1 to 64"},
		{`{"name":7}`, "name", "want a string"},
		{`{"name":null}`, "name", "null is no value"},
		{`{"name":"x","name":"y"}`, "name", "twice"},
		{`{"name":"x","Busy":[]}`, "Busy", "is no key of a profile; known are name, base, prompt"},
		{`{"name":"x","promt":"a\u0007"}`, "promt", "is no key"},
		{`{"name":"x","base":"nosuch"}`, "base", `"nosuch" is no profile: want one of claude`},
		{`{"name":"x","base":[]}`, "base", "want a string"},
		{`{"name":"x","prompt":"("}`, "prompt", "missing closing )"},
		{`{"name":"x","prompt":"a)(b"}`, "prompt", "unexpected )"},
		{`{"name":"x","prompt":"(?=a)b"}`, "prompt", "RE2), which has no lookaround"},
		{`{"name":"x","prompt":"(?<!a)b"}`, "prompt", "no lookaround"},
		{`{"name":"x","prompt":"(a)\\1"}`, "prompt", "no back-references"},
		{`{"name":"x","prompt":""}`, "prompt", "1 to 1024 bytes"},
		{`{"name":"x","prompt":"` + long + `"}`, "prompt", "1 to 1024 bytes"},
		{`{"name":"x","prompt":"(> )?"}`, "prompt", "matches the empty string"},
		{`{"name":"x","busy":"esc"}`, "busy", "want a list of strings"},
		{`{"name":"x","busy":["a","["]}`, "busy[1]", "missing closing ]"},
		{`{"name":"x","busy":["a",".*"]}`, "busy[1]", "every row"},
		{`{"name":"x","dialog":[{}]}`, "dialog[0]", "want a string"},
		{`{"name":"x","dialog":[` + strings.TrimSuffix(strings.Repeat(`"a",`, 65), ",") + `]}`, "dialog", "at most 64"},
		{`{"name":"x","placeholder":"dim"}`, "placeholder", "needs a composer"},
		{`{"name":"x","prompt":"> ","placeholder":"+"}`, "placeholder", "missing argument"},
		{`{"name":"x","stash":"C-s"}`, "stash", "needs a composer"},
		{`{"name":"x","prompt":"> ","stash_shown":"s"}`, "stash_shown", "needs stash"},
		{`{"name":"x","composer":"ruled"}`, "composer", "needs a composer: give its prompt, too"},
		{`{"name":"x","prompt":"> ","composer":"box"}`, "composer", `"box": want ruled (between rules, or in a box), floored`},
		{`{"name":"x","prompt":"> ","composer":"floored"}`, "composer", "needs floor, a pattern of the row below"},
		{`{"name":"x","prompt":"> ","floor":"▀"}`, "floor", `needs composer, which must be "floored"`},
		{`{"name":"x","prompt":"> ","composer":"ruled","tall":3}`, "tall", `needs composer, which must be "floored"`},
		{`{"name":"x","base":"opencode","more":"↑"}`, "more", `needs composer, which must be "ruled"`},
		{`{"name":"x","prompt":"> ","composer":"floored","floor":"▀","under":1001}`, "under", "from 0 to 1000"},
		{`{"name":"x","clear":["C-u"]}`, "clear", "needs a composer"},
		{`{"name":"x","base":"claude","clear":["C-u","C-U"]}`, "clear[1]", `"C-U" is no key`},
		{`{"name":"x","interrupt":["Escape"]}`, "interrupt[0]", `"Escape" is no key: want Enter, Esc, Tab`},
		{`{"name":"x","interrupt":"Esc"}`, "interrupt", "want a list"},
		{`{"name":"x","submit":""}`, "submit", "is no key"},
		{`{"name":"x","submit":"Enter  Enter"}`, "submit", "is no key"},
		{`{"name":"x","newline":"Esc Esc Esc Esc Esc Esc Esc Esc Esc"}`, "newline", "at most 8 keys"},
		{`{"name":"x","paste_limit":-1}`, "paste_limit", "-1: want a whole number from 0 to 1048576"},
		{`{"name":"x","paste_limit":1.5}`, "paste_limit", "whole number"},
		{`{"name":"x","paste_limit":1e3}`, "paste_limit", "whole number"},
		{`{"name":"x","paste_limit":99999999999999999999}`, "paste_limit", "whole number"},
		{`{"name":"x","paste_limit":"800"}`, "paste_limit", "whole number"},
		{`{"name":"x","enter_delay_ms":10001}`, "enter_delay_ms", "from 0 to 10000"},
		{`{"name":"x","hold_ms":60001}`, "hold_ms", "from 0 to 60000"},
		{`{"name":"x","hold_ms":true}`, "hold_ms", "whole number"},
		{`{"name":"x","quote":"Posix"}`, "quote", `"Posix": want none, posix`},
		{`{"name":"x","quote":"REM"}`, "quote", "want none, posix"},
		{`{"name":"x","quote":""}`, "quote", "want none, posix"},
		{`{"name":"x","quote":"#\n"}`, "quote", "want none, posix"},
		{`{"name":"x","quote":true}`, "quote", "want a string"},
	} {
		p, err := agents.Overlay([]byte(c.in))
		var f *FieldError
		if p != nil || !errors.As(err, &f) {
			t.Errorf("%.80s: %v, %v; want a FieldError", c.in, p, err)
			continue
		}
		if f.Field != c.field || !strings.Contains(f.Error(), c.says) {
			t.Errorf("%.80s: field %q, %q; want %q and %q", c.in, f.Field, f, c.field, c.says)
		}
		if s := f.Error(); strings.ContainsAny(s, "\n\x07") || len(s) > 400 {
			t.Errorf("%.80s: %q is not one short line", c.in, s)
		}
	}
}

// TestOverlayErrorsNameTheLine: that of the value which is wrong.
func TestOverlayErrorsNameTheLine(t *testing.T) {
	for in, want := range map[string]int{
		"{}":                                    1,
		"[1,\n2]":                               1,
		"{\n\"name\":\"x\",\n\"hold_ms\":\n-1}": 4,
		"{\"name\":\"x\",\n\"busy\":[\"a\",\n\n\"(\"]}":                   4,
		"{\n\"name\":\"x\",\n\"promt\":\"> \"}":                           3,
		"{\n\"name\":\"x\",\n\"name\":\"x\"}":                             3,
		"{\"name\":\n\n\"x\",\n\"base\":null}":                            4,
		"{\"name\":\"x\",\n\"base\":\"nosuch\"}":                          2,
		"{\"name\":\"x\",\n\"hold_ms\":x}":                                2,
		"{\"name\":\"x\"\n\n":                                             3,
		"{\"name\":\"x\"\n}\n{}":                                          3,
		"{\"name\":\"x\",\"prompt\":\"> \",\n\"composer\":\"floored\"\n}": 2,
	} {
		_, err := agents.Overlay([]byte(in))
		var f *FieldError
		if !errors.As(err, &f) || f.Line != want {
			t.Errorf("%q: %v in line %+v, want %d", in, err, f, want)
		}
	}
}

// TestOverlayNamesAKindOfComposer: what the base has of that kind stays.
func TestOverlayNamesAKindOfComposer(t *testing.T) {
	for in, want := range map[string]Box{
		`"prompt":"> "`:                    Bare{},
		`"prompt":"> ","composer":"bare"`:  Bare{},
		`"prompt":"> ","composer":"ruled"`: Ruled{Corners: true},
		`"prompt":"> ","composer":"floored","floor":"^▀","under":2,"tall":6`: Floored{Floor: NewPattern("^▀"), Under: 2, Tall: 6},
		`"base":"claude","composer":"ruled"`:                                 claude.Profile.Composer.Box,
		`"base":"claude","more":"above"`:                                     Ruled{More: NewPattern("above")},
		`"base":"claude","composer":"bare"`:                                  Bare{},
		`"base":"claude","composer":"floored","floor":"^▀"`:                  Floored{Floor: NewPattern("^▀")},
		`"base":"codex","composer":"bare","prompt":"› ","dialog":["a"]`:      codex.Profile.Composer.Box,
		`"base":"opencode","tall":9`:                                         func() Box { b := opencode.Profile.Composer.Box.(Floored); b.Tall = 9; return b }(),
	} {
		c := overlaid(t, `{"name":"x",%s}`, in).Composer
		if got := fmt.Sprintf("%T %v", c.Box, c.Box); got != fmt.Sprintf("%T %v", want, want) {
			t.Errorf("%s: %s, want %T %v", in, got, want, want)
		}
	}
}

var goodName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// FuzzOverlay: whatever is in the file, it is a usable profile or an error that
// names a field that stands in it or is missing, on one line.
func FuzzOverlay(f *testing.F) {
	f.Add([]byte(everyKey))
	f.Add([]byte(`{"name":"x","prompt":"^> ","busy":["a"],"clear":["C-u"],"hold_ms":1}`))
	f.Add([]byte(`{"name":"x","name":1}`))
	f.Add([]byte(`{"name":"x","base":"generic","quote":"#"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := agents.Overlay(data)
		if err == nil {
			if !goodName.MatchString(p.Name) || p.Typing.Submit == "" || p.Typing.KeyWait < 0 || p.Typing.PasteBytes < 0 {
				t.Fatalf("took %q as %+v", data, p)
			}
			return
		}
		var named *FieldError
		if !errors.As(err, &named) || p != nil {
			t.Fatalf("%q: %T %v and %v, want a FieldError alone", data, err, err, p)
		}
		if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' }) {
			t.Fatalf("%q: %q is not one line", data, err)
		}
	})
}

// TestOverlayThatIsNoFile: a fifo is told, and not waited for.
func TestOverlayThatIsNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	told := make(chan error, 1)
	go func() {
		_, _, err := OverlayFile(path, nil)
		told <- err
	}()
	select {
	case err := <-told:
		if want := path + " is a fifo, not a file"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	case <-time.After(time.Minute):
		t.Fatal("the profile is not read, nor refused, within a minute")
	}
}
