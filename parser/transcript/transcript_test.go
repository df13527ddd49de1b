package transcript_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	claude "relay-pty/inject/agents/claude/log"
	"relay-pty/parser"
	"relay-pty/parser/transcript"
)

// Rows as Claude Code 2.1.329 wrote them when it talked to a fake model; paths
// and the rows of no interest were taken out.
const recorded = markersDir + "/claude/testdata/markers/2.1.329"

var epoch = time.UnixMilli(0)

func rows(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(recorded, name))
	must(t, err)
	return b
}

// entries reads a recording from since on.
func entries(t testing.TB, name string, since time.Time) []transcript.Entry {
	t.Helper()
	r := transcript.NewReader(claude.Format, since)
	got, err := r.Poll(filepath.Join(recorded, name))
	if err != nil || r.Bad != 0 {
		t.Fatalf("%s: %v, %d bad rows", name, err, r.Bad)
	}
	return got
}

// commands describes the items in entries, one a line.
func commands(all []transcript.Entry) []string {
	var out []string
	for _, e := range all {
		for _, f := range transcript.Commands(e) {
			switch item := f.Item.(type) {
			case parser.Command:
				out = append(out, fmt.Sprintf("%s|%s%s%s|%s", item.To, item.ReplyTo, item.Thread, item.Mode, item.Body))
			default:
				out = append(out, fmt.Sprintf("%T", item))
			}
		}
	}
	return out
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\ngot  %q\nwant %q", what, got, want)
	}
}

// markers is what the scripted model says in a turn, without its decoys.
var markers = []string{
	"bob||Hello Bob, multi word\nsecond line",
	"#team|authimportant|one line for **the** team",
	"carol@host2||code:\n```go\nfmt.Println(\">>>\", 1)\n```\n->relay:bob inner decoy",
}

func TestRecordedCommands(t *testing.T) {
	before, after := "bob||before the tool", "bob|m2|after the tool"
	want := append([]string{}, markers...)
	want = append(want, before, after, after)
	want = append(append(want, markers...), markers...)
	same(t, "session", commands(entries(t, "session.jsonl", epoch)), want)
	same(t, "sub-agent", commands(entries(t, "subagent.jsonl", epoch)), []string(nil))
	same(t, "API errors", commands(entries(t, "error.jsonl", epoch)), []string(nil))
	same(t, "interrupted", commands(entries(t, "interrupted.jsonl", epoch)), []string{before, after})
}

func TestRecordedAcceptance(t *testing.T) {
	for name, want := range map[string]string{
		"session.jsonl":     "m1 m2 m3 m4 m5 m6 m7 m8", // m3 was attached in the turn, m7 is a marked paste
		"interrupted.jsonl": "k2 k3 k4 k5",             // k9 was printed by a shell command, k5 is header, paste, footer
		"error.jsonl":       "n1 n2",
		"forked.jsonl":      "n3 n4 n5",
		"subagent.jsonl":    "",
	} {
		all := entries(t, name, epoch)
		var got []string
		for _, id := range []string{"m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m", "k2", "k3", "k4", "k5", "k9", "n1", "n2", "n3", "n4", "n5", ""} {
			n := 0
			for _, e := range all {
				if transcript.Accepted(e, id) {
					n++
				}
			}
			if n == 1 {
				got = append(got, id)
			} else if n > 1 {
				t.Errorf("%s: %s accepted %d times", name, id, n)
			}
		}
		same(t, name, strings.Join(got, " "), want)
	}
}

func TestQueuedIsNotAccepted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.jsonl")
	r := transcript.NewReader(claude.Format, epoch)
	var proof []string
	for row := range strings.Lines(string(rows(t, "session.jsonl"))) {
		appendTo(t, file, row)
		got, err := r.Poll(file)
		must(t, err)
		for _, e := range got {
			if transcript.Accepted(e, "m3") || transcript.Accepted(e, "m5") {
				proof = append(proof, row[strings.Index(row, `"type":"`):][:16])
			}
		}
	}
	same(t, "rows that prove", proof, []string{`"type":"queued_c`, `"type":"user","m`})
}

func TestRecordedTurnEnds(t *testing.T) {
	for name, want := range map[string]int{"session.jsonl": 9, "interrupted.jsonl": 5, "error.jsonl": 2} {
		n := 0
		for _, e := range entries(t, name, epoch) {
			if e.Kind == transcript.TurnEnd {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: %d turn ends, want %d", name, n, want)
		}
	}
}

func TestResumedRowsAreOld(t *testing.T) {
	start := time.Date(2026, 11, 21, 5, 40, 57, 0, time.UTC) // before `claude --resume`
	got := entries(t, "session.jsonl", start)
	same(t, "commands", commands(got), markers)
	if !transcript.Accepted(got[0], "m8") {
		t.Errorf("first entry %+v, want m8", got[0])
	}
}

// A fork copies the rows of its source, uuids and times included.
func TestForkedRowsAreKnown(t *testing.T) {
	r := transcript.NewReader(claude.Format, epoch)
	first, err := r.Poll(filepath.Join(recorded, "forked.jsonl"))
	must(t, err)
	fork, err := r.Poll(filepath.Join(recorded, "fork.jsonl"))
	must(t, err)
	same(t, "source", commands(first), []string{"bob||before the tool", "bob|m2|after the tool"})
	same(t, "fork", commands(fork), markers)
}

// stable is what routers have stored for a command that was read before.
const stable = "1c21da0701a551982edbf34ef54423b1"

func TestIDsAreStableAndDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range entries(t, "session.jsonl", epoch) {
		again := transcript.Commands(e)
		for i, f := range transcript.Commands(e) {
			if f.ID != again[i].ID || len(f.ID) != 32 || seen[f.ID] {
				t.Errorf("id %q of %v", f.ID, f.Item)
			}
			seen[f.ID] = true
		}
	}
	e := transcript.Entry{Kind: transcript.Assistant, UUID: "5b77a020-0000-4000-8000-000000000000", Text: "->relay:a b"}
	if got, want := transcript.Commands(e)[0].ID, stable; got != want {
		t.Errorf("id %s, want %s: it must never change", got, want)
	}
	second := e
	second.Index = 1
	if transcript.Commands(e)[0].ID == transcript.Commands(second)[0].ID {
		t.Error("blocks share an id")
	}
}

func TestACutReplyEndsInNoCommand(t *testing.T) {
	for text, want := range map[string][]string{
		"->relay:bob one\n->relay:bob tw":         {"bob||one", "parser.Invalid"},
		"->relay:bob one\n":                       {"bob||one"},
		"->relay:bob one\nand":                    {"bob||one"},
		"->relay:bob <<<a\nb>>>":                  {"parser.Invalid"},
		"->relay:bob <<<a\nb>>> ":                 {"parser.Invalid"},
		"->relay:bob <<<a\nb>>>\n":                {"bob||a\nb"},
		"->relay:bob <<<a\nb":                     {"parser.Invalid"},
		"->relay:bob " + strings.Repeat("ä", 999): {"parser.Invalid"},
	} {
		same(t, text, commands([]transcript.Entry{{Kind: transcript.Assistant, UUID: "u", Text: text, Cut: true}}), want)
	}
}

// Rows made by hand after recorded ones, for what could not be recorded.
func TestRows(t *testing.T) {
	const stamp = `"uuid":"u","timestamp":"2026-11-21T05:40:30.420Z"`
	for _, c := range []struct{ name, row, want string }{
		{"an older version's user row", `{"type":"user","message":{"role":"user","content":"hi"},` + stamp + `}`, "user 0 hi"},
		{"its attachment", `{"type":"attachment","attachment":{"type":"queued_command","prompt":"hi"},` + stamp + `}`, "user 0 hi"},
		{"blocks", `{"type":"user","message":{"content":[{"type":"text","text":"a"},{"type":"image","source":{}},{"type":"text","text":"b"}]},` + stamp + `}`, "user 0 a;user 2 b"},
		{"an attachment of blocks", `{"type":"attachment","attachment":{"type":"queued_command","prompt":[{"type":"text","text":"hi"}]},` + stamp + `}`, "user 0 hi"},
		{"the inbox", `{"type":"user","isMeta":true,"origin":{"kind":"peer"},"message":{"content":"hi"},` + stamp + `}`, "user 0 hi"},
		{"other meta rows", `{"type":"user","isMeta":true,"message":{"content":"hi"},` + stamp + `}`, ""},
		{"a finished task", `{"type":"user","origin":{"kind":"task-notification"},"message":{"content":"[relay m1 from x]"},` + stamp + `}`, ""},
		{"one that was queued", `{"type":"attachment","attachment":{"type":"queued_command","commandMode":"task-notification","prompt":"hi"},` + stamp + `}`, ""},
		{"a tool's result", `{"type":"user","message":{"content":[{"type":"tool_result","content":"hi"}]},` + stamp + `}`, ""},
		{"thinking", `{"type":"assistant","message":{"model":"m","content":[{"type":"thinking","thinking":"->relay:bob x"},{"type":"text","text":"y"}]},` + stamp + `}`, "assistant 1 y"},
		{"a side chain", `{"type":"assistant","isSidechain":true,"message":{"content":"x"},` + stamp + `}`, ""},
		{"Claude Code's own words", `{"type":"assistant","message":{"model":"<synthetic>","content":"No response requested."},` + stamp + `}`, ""},
		{"an unknown type", `{"type":"new","message":5,` + stamp + `}`, ""},
		{"a summary", `{"type":"user","isCompactSummary":true,"message":{"content":"[relay m1 from x]"},` + stamp + `}`, ""},
		{"a hook's words in a person's row", `{"type":"user","message":{"content":"<system-reminder>x"},` + stamp + `}`, ""},
	} {
		got, err := claude.Format.Row([]byte(c.row))
		var text []string
		for _, e := range got {
			text = append(text, fmt.Sprintf("%s %d %s", e.Kind, e.Index, e.Text))
		}
		if strings.Join(text, ";") != c.want || err != nil {
			t.Errorf("%s: %q, %v, want %q", c.name, text, err, c.want)
		}
	}
	for _, row := range []string{``, `{`, `[]`, `{"type":"user","message":{"content":"hi"}}`, `{"type":"assistant",` + stamp + `}`,
		`{"type":"user","message":{"content":"hi"},"timestamp":"2026-11-21T05:40:30.420Z"}`, `{"type":"user","message":{"content":5},` + stamp + `}`} {
		if got, err := claude.Format.Row([]byte(row)); err == nil {
			t.Errorf("row %s: %v, want an error", row, got)
		}
	}
}

func FuzzClaudeRows(f *testing.F) {
	for row := range strings.Lines(string(rows(f, "session.jsonl"))) {
		f.Add([]byte(row))
	}
	f.Fuzz(func(t *testing.T, row []byte) {
		got, err := claude.Format.Row(row)
		again, err2 := claude.Format.Row(row)
		if !reflect.DeepEqual(got, again) || (err == nil) != (err2 == nil) || err != nil && got != nil {
			t.Fatalf("%v, %v; then %v, %v", got, err, again, err2)
		}
		for _, e := range got {
			if e.UUID == "" || e.Time.IsZero() && !strings.Contains(string(row), "0001-01-01") {
				t.Errorf("entry %+v", e)
			}
			transcript.Commands(e)
			transcript.Accepted(e, "m1")
		}
	})
}
