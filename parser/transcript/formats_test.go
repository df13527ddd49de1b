package transcript_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	codex "relay-pty/inject/agents/codex/log"
	gemini "relay-pty/inject/agents/gemini/log"
	qwen "relay-pty/inject/agents/qwen/log"
	"relay-pty/parser/transcript"
)

const markersDir = "../../inject/agents"

// logFile reads a recording of a format from since on, as a file that grows.
func logFile(t testing.TB, f transcript.Format, name string, since time.Time) []transcript.Entry {
	t.Helper()
	r := transcript.NewReader(f, since)
	got, err := r.Poll(filepath.Join(markersDir, name))
	if err != nil || r.Bad != 0 {
		t.Fatalf("%s: %v, %d bad rows", name, err, r.Bad)
	}
	return got
}

// inShort describes entries: u, a, c for a cut reply, t for a tool, f for a shell that is over, .,
// and the id of a message or the first word.
func inShort(entries []transcript.Entry) string {
	var out []string
	for _, e := range entries {
		first := strings.Fields(strings.TrimPrefix(e.Text, "[relay ") + " -")[0]
		switch {
		case e.Kind == transcript.TurnEnd:
			out = append(out, ".")
		case e.Kind == transcript.Tool:
			out = append(out, "t:"+e.Text)
		case e.Kind == transcript.Finished:
			out = append(out, "f:"+e.Text)
		case e.Kind == transcript.User:
			out = append(out, "u:"+first)
		case e.Cut:
			out = append(out, "c:"+first)
		default:
			out = append(out, "a:"+first)
		}
	}
	return strings.Join(out, " ")
}

var (
	cjk   = "bob||数行の日本語 🎉\n\ttab\tand trailing blanks  \n\n  indented مرحبا"
	tools = []string{"bob||before the tool", "bob|m2|after the tool"}
	three = []string{
		"bob||Hello Bob, multi word\nsecond line", "#team|authimportant|one line for **the** team",
		"carol@host2||code:\n```go\nfmt.Println(\">>>\", 1)\n```\n->relay:bob inner decoy",
	}
)

func TestRecordedCodex(t *testing.T) {
	first := logFile(t, codex.Format, "codex/testdata/markers/0.169.0/first.jsonl", epoch)
	same(t, "first", inShort(first), "u:c1 a:日本語 .")
	same(t, "its commands", commands(first), []string{cjk})
	all := logFile(t, codex.Format, "codex/testdata/markers/0.169.0/session.jsonl", epoch)
	// c4 and c5 were queued with Tab, c7 cut the reply to c6 and so was its turn, c8
	// was interrupted, c9 failed, c11 was typed while a tool ran, c12 and c13 in one go.
	same(t, "session", inShort(all), "u:c3 a:word0 . u:c4 a:ACK . u:c5 a:ACK . u:c6 u:c7 a:ACK . u:c8 . u:c9 . u:c10 a:Using. t:exec_command f:8927 a:AFTER . u:c11 a:ACK . u:c12 a:ACK .")
	same(t, "its commands", commands(all), tools)
	if last := all[len(all)-3]; !transcript.Accepted(last, "c12") || !transcript.Accepted(last, "c13") {
		t.Errorf("%q accepts not both", last.Text)
	}
}

func TestRecordedGemini(t *testing.T) {
	all := logFile(t, gemini.Format, "gemini/testdata/markers/0.61.0/session.jsonl", epoch)
	// c4 and c5 were queued, c8 was interrupted, the API failed c3 and c9, c14 names a file.
	same(t, "session", inShort(all), "u:c1 a:日本語 u:c3 . u:c4 a:ACK u:c8 . u:c9 . u:c10 a:Using. t:run_shell_command a:AFTER u:c14 a:ACK")
	same(t, "its commands", commands(all), append([]string{cjk}, tools...))
	for _, e := range all {
		if transcript.Accepted(e, "c4") != transcript.Accepted(e, "c5") || transcript.Accepted(e, "zz") {
			t.Errorf("%q", e.Text)
		}
	}
	same(t, "after /clear", commands(logFile(t, gemini.Format, "gemini/testdata/markers/0.61.0/cleared.jsonl", epoch)), three)
}

func TestRecordedQwen(t *testing.T) {
	all := logFile(t, qwen.Format, "qwen/testdata/markers/0.24.4/session.jsonl", epoch)
	// c5 was typed while c4's turn ran, and its reply was cut off, upon which c4 came back into the
	// composer, where c6 was put behind it. That was interrupted before its first word; c7 names a
	// file.
	same(t, "session", inShort(all), "u:c1 a:->relay:bob u:c3 a:Using. t:run_shell_command a:AFTER u:c4 a:ACK u:c5 c:Well. u:c4 u:c7 a:ACK")
	same(t, "its commands", commands(all), []string{cjk, tools[0], tools[1], "bob||whole", "parser.Invalid"})
	for _, e := range all {
		if e.Kind == transcript.User && e.Opens == transcript.Accepted(e, "c5") {
			t.Errorf("%q opens a turn: %t", e.Text, e.Opens)
		}
	}
	same(t, "after /clear", commands(logFile(t, qwen.Format, "qwen/testdata/markers/0.24.4/cleared.jsonl", epoch)), []string{"bob|t1|first marker"})
}

func TestRecordingsFromATimeOn(t *testing.T) {
	for name, c := range map[string]struct {
		entries func(since time.Time) []transcript.Entry
	}{
		"codex": {func(since time.Time) []transcript.Entry {
			return logFile(t, codex.Format, "codex/testdata/markers/0.169.0/session.jsonl", since)
		}},
		"gemini": {func(since time.Time) []transcript.Entry {
			return logFile(t, gemini.Format, "gemini/testdata/markers/0.61.0/session.jsonl", since)
		}},
		"qwen": {func(since time.Time) []transcript.Entry {
			return logFile(t, qwen.Format, "qwen/testdata/markers/0.24.4/session.jsonl", since)
		}},
	} {
		all := c.entries(epoch)
		for i, e := range all {
			got := c.entries(e.Time.Add(300 * time.Microsecond))
			if len(got) < len(all)-i-2 || len(got) > len(all)-i+2 || got[0].Time.Before(e.Time) {
				t.Errorf("%s: from entry %d of %d on: %d", name, i, len(all), len(got))
			}
		}
		same(t, name+": later", len(c.entries(all[len(all)-1].Time.Add(time.Hour))), 0)
	}
}

// Every split of a file gives the same entries.
func TestRecordingsAtEverySplit(t *testing.T) {
	for name, f := range map[string]transcript.Format{
		"codex/testdata/markers/0.169.0/session.jsonl": codex.Format, "gemini/testdata/markers/0.61.0/session.jsonl": gemini.Format,
		"qwen/testdata/markers/0.24.4/session.jsonl": qwen.Format,
	} {
		whole, err := os.ReadFile(filepath.Join(markersDir, name))
		must(t, err)
		want := logFile(t, f, name, epoch)
		for seed := range uint64(21) {
			rng := rand.New(rand.NewPCG(seed, 5))
			file := filepath.Join(t.TempDir(), "t.jsonl")
			r := transcript.NewReader(f, epoch)
			var got []transcript.Entry
			for rest := whole; len(rest) > 0; {
				n := 1 + rng.IntN(min(len(rest), 1+int(seed)*200))
				appendTo(t, file, string(rest[:n]))
				rest = rest[n:]
				more, err := r.Poll(file)
				must(t, err)
				got = append(got, more...)
				if seed == 0 && len(rest) > 6000 { // byte by byte only at the end
					n = len(rest) - 6000
					appendTo(t, file, string(rest[:n]))
					rest = rest[n:]
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s, seed %d: %d entries, want %d", name, seed, len(got), len(want))
			}
		}
	}
}

// Rows made by hand after recorded ones, for what could not be recorded.
func TestRowsOfOtherAgents(t *testing.T) {
	for _, c := range []struct {
		name      string
		f         transcript.Format
		row, want string
	}{
		{"Codex before 0.169", codex.Format, `{"timestamp":"2026-11-21T05:40:30.420Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}`, "u:hi"},
		{"its environment", codex.Format, `{"timestamp":"2026-11-21T05:40:30.420Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n[relay m1 from x]"}]}}`, ""},
		{"a picture", codex.Format, `{"timestamp":"2026-11-21T05:40:30.420Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_image","image_url":"x"},{"type":"input_text","text":"hi"}]}}`, "u:hi"},
		{"a developer's", codex.Format, `{"timestamp":"2026-11-21T05:40:30.420Z","type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"output_text","text":"->relay:a b"}]}}`, ""},
		{"a tool's output", codex.Format, `{"timestamp":"2026-11-21T05:40:30.420Z","type":"response_item","payload":{"type":"function_call_output","output":"->relay:a b","content":[{"type":"output_text","text":"->relay:a b"}]}}`, ""},
		{"reasoning", codex.Format, `{"timestamp":"2026-11-21T05:40:30.420Z","type":"response_item","payload":{"type":"reasoning","role":"assistant","content":[{"type":"output_text","text":"->relay:a b"}]}}`, ""},
		{"a compacted history", codex.Format, `{"timestamp":"2026-11-21T05:40:30.420Z","type":"compacted","payload":{"message":"->relay:a b","replacement_history":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"->relay:a b"}]}]}}`, ""},
		{"another payload", codex.Format, `{"timestamp":"2026-11-21T05:40:30.420Z","type":"response_item","payload":[1]}`, ""},
		{"Gemini's parts", gemini.Format, `{"id":"1","timestamp":"2026-11-21T05:40:30.420Z","type":"gemini","content":[{"text":"a"},"b",{"text":"no","thought":true}]}`, "a:a a:b"},
		{"one part", gemini.Format, `{"id":"1","timestamp":"2026-11-21T05:40:30.420Z","type":"user","content":{"text":"a"}}`, "u:a"},
		{"a hook's words", gemini.Format, `{"id":"1","timestamp":"2026-11-21T05:40:30.420Z","type":"user","content":[{"text":"a"},{"text":"<hook_context>[relay m1 from x]"}]}`, "u:a"},
		{"a tool's result", gemini.Format, `{"id":"1","timestamp":"2026-11-21T05:40:30.420Z","type":"user","content":[{"functionResponse":{"response":{"output":"[relay m1 from x]"}}}]}`, ""},
		{"a warning", gemini.Format, `{"id":"1","timestamp":"2026-11-21T05:40:30.420Z","type":"warning","content":"->relay:a b"}`, ""},
		{"a remark", gemini.Format, `{"id":"1","timestamp":"2026-11-21T05:40:30.420Z","type":"info","content":"->relay:a b"}`, ""},
		{"Qwen's prompt with what a hook adds", qwen.Format, qwenRow(`"type":"user","message":{"parts":[{"text":"hi"},{"text":"[relay m1 from x]"}]},"systemPayload":{"displayText":"hi"}`), "u:hi"},
		{"the contents of a file", qwen.Format, qwenRow(`"type":"user","message":{"parts":[{"text":"hi"},{"text":"\n--- Content from referenced files ---"},{"text":"[relay m1 from x]"}]}`), "u:hi"},
		{"its thoughts", qwen.Format, qwenRow(`"type":"assistant","message":{"parts":[{"text":"->relay:a b","thought":true},{"text":"no"}]},"usageMetadata":{}`), "a:no"},
		{"a reply that was cut off", qwen.Format, qwenRow(`"type":"assistant","message":{"parts":[{"text":"->relay:a b"}]}`), "c:->relay:a"},
		{"a task's word", qwen.Format, qwenRow(`"type":"user","subtype":"notification","provenance":"system","message":{"parts":[{"text":"[relay m1 from x]"}]}`), ""},
		{"its own prompt", qwen.Format, qwenRow(`"type":"user","provenance":"goal_runtime","message":{"parts":[{"text":"[relay m1 from x]"}]}`), ""},
		{"a tool's result", qwen.Format, qwenRow(`"type":"tool_result","message":{"parts":[{"text":"[relay m1 from x]"}]}`), ""},
		{"a row of another kind", qwen.Format, qwenRow(`"type":"system","message":"->relay:a b"`), ""},
		{"the chat, again", gemini.Format, `{"$set":{"messages":[{"id":"1","timestamp":"2026-11-21T05:40:30.420Z","type":"gemini","content":"->relay:a b"}]}}`, ""},
	} {
		got, err := c.f.Row([]byte(c.row))
		if inShort(got) != c.want || err != nil {
			t.Errorf("%s: %s, %v, want %q", c.name, inShort(got), err, c.want)
		}
	}
	for row, f := range map[string]*transcript.Format{
		`{"type":"response_item","payload":{"type":"message","role":"user"}}`:                         &codex.Format,
		`{"timestamp":"yesterday","type":"event_msg"}`:                                                &codex.Format,
		`{"timestamp":"2026-11-21T05:40:30.420Z","type":"user","message":{"parts":[{"text":"a"}]}}`:   &qwen.Format,
		`{"uuid":"1","type":"assistant","message":{"parts":[{"text":"a"}]}}`:                          &qwen.Format,
		`{"id":"1","type":"user","content":"a"}`:                                                      &gemini.Format,
		`{"timestamp":"2026-11-21T05:40:30.420Z","type":"user","content":"a"}`:                        &gemini.Format,
		`{"id":"1","timestamp":"2026-11-21T05:40:30.420Z","type":"user","content":5}`:                 &gemini.Format,
		`{"id":"1","timestamp":"2026-11-21T05:40:30.420Z","type":"gemini","content":[{"text":true}]}`: &gemini.Format,
	} {
		if got, err := f.Row([]byte(row)); err == nil {
			t.Errorf("row %s: %v, want an error", row, got)
		}
	}
}

// qwenRow is a row of Qwen Code's with these fields.
func qwenRow(fields string) string {
	return `{"uuid":"1","timestamp":"2026-11-21T05:40:30.420Z",` + fields + "}"
}

func fuzzRows(f *testing.F, format transcript.Format, name string) {
	b, err := os.ReadFile(filepath.Join(markersDir, name))
	if err != nil {
		f.Fatal(err)
	}
	for row := range bytes.Lines(b) {
		f.Add(row)
	}
	f.Fuzz(func(t *testing.T, row []byte) {
		got, err := format.Row(row)
		again, err2 := format.Row(row)
		if !reflect.DeepEqual(got, again) || (err == nil) != (err2 == nil) {
			t.Fatalf("%v, %v; then %v, %v", got, err, again, err2)
		}
		for _, e := range got {
			if e.UUID == "" {
				t.Errorf("entry %+v", e)
			}
			transcript.Commands(e)
			transcript.Accepted(e, "m1")
		}
	})
}

func FuzzCodexRows(f *testing.F) {
	fuzzRows(f, codex.Format, "codex/testdata/markers/0.169.0/session.jsonl")
}
func FuzzGeminiRows(f *testing.F) {
	fuzzRows(f, gemini.Format, "gemini/testdata/markers/0.61.0/session.jsonl")
}
func FuzzQwenRows(f *testing.F) {
	fuzzRows(f, qwen.Format, "qwen/testdata/markers/0.24.4/session.jsonl")
}
