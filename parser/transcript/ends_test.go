package transcript_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	claude "relay-pty/inject/agents/claude/log"
	codex "relay-pty/inject/agents/codex/log"
	gemini "relay-pty/inject/agents/gemini/log"
	qwen "relay-pty/inject/agents/qwen/log"
	"relay-pty/parser/transcript"
)

// endsOf are the ends of the turns in entries, of an agent that rests behind the last.
func endsOf(f transcript.Format, entries []transcript.Entry) []string {
	turn := transcript.Turn{Endless: f.Endless}
	var all []string
	add := func(ends []transcript.End) {
		for _, e := range ends {
			text, _, _ := strings.Cut(e.Text, "\n")
			says := fmt.Sprintf("%v %s %q, %d tools", e.IDs, e.Outcome, text, e.Tools)
			if e.Outcome == transcript.Refused {
				says += fmt.Sprintf(", %s", e.Reason)
			}
			if !e.RetryAt.IsZero() {
				says += " until " + e.RetryAt.UTC().Format("2 Jan 15:04")
			}
			if e.Background {
				says += ", goes on"
			}
			all = append(all, says)
		}
	}
	for _, e := range entries {
		add(turn.Take(e))
	}
	add(turn.Rest())
	return all
}

// logOf reads rows as a file of a format.
func logOf(t *testing.T, f transcript.Format, rows ...string) []transcript.Entry {
	t.Helper()
	file := filepath.Join(t.TempDir(), "log.jsonl")
	must(t, os.WriteFile(file, []byte(strings.Join(rows, "\n")+"\n"), 0o600))
	r := transcript.NewReader(f, epoch)
	entries, err := r.Poll(file)
	if err != nil || r.Bad > 0 {
		t.Fatalf("%v, %d bad rows", err, r.Bad)
	}
	return entries
}

// Turns of real agents whose model answered, was refused by each kind of error behind a call of a
// tool, was interrupted in the middle of a sentence and of a tool, said nothing, and left a shell
// behind.
func TestRecordedEndsOfTurns(t *testing.T) {
	defer func(was *time.Location) { time.Local = was }(time.Local)
	time.Local = time.UTC
	for name, c := range map[string]struct {
		f    transcript.Format
		want []string
	}{
		"claude/testdata/markers/2.1.329/ends.jsonl": {claude.Format, []string{
			`[s1] answered "ACK 72 bytes", 0 tools`,
			`[s2] refused "API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later.", 1 tools, limit`,
			`[s3] refused "Invalid API key · Fix external API key", 1 tools, auth`,
			`[s4] refused "API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment. ` +
				`If it persists, check your inference gateway (127.0.0.1:41547).", 1 tools, overloaded`,
			`[s5] refused "Credit balance is too low", 0 tools, limit`,
			`[s6] interrupted "Line 1 of 80", 0 tools`,
			`[s7] interrupted "Let me look at it first.", 1 tools`,
			`[s8] answered "ACK 220 bytes", 0 tools`, // it said nothing, and Claude Code asked it once more
			`[s9] answered "Done.", 1 tools, goes on`,
			`[s9] answered "ACK 0 bytes", 0 tools`, // it was told that the shell is over
			`[s10] answered "ACK 81 bytes", 0 tools`,
		}},
		"codex/testdata/markers/0.169.0/ends.jsonl": {codex.Format, []string{
			`[s1] answered "ACK 72 bytes", 0 tools`,
			`[s2] refused "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage ` +
				`to purchase more credits or try again at 3:09 AM.", 1 tools, limit until 29 Nov 03:09`,
			`[s3] refused "unexpected status 401 Unauthorized: Incorrect API key provided: x., url: http://127.0.0.1:39013/v1/responses", 1 tools, auth`,
			`[s4] refused "Selected model is at capacity. Please try a different model.", 1 tools, overloaded`,
			`[s5] refused "{\"error\":{\"message\":\"refused with 400\",\"type\":\"some_error\",\"code\":\"some_code\"}}", 0 tools, error`,
			`[s6] interrupted "", 0 tools`, // it does not log what was said in part
			`[s7] interrupted "Let me look at it first.", 1 tools`,
			`[s8] silent "", 0 tools`,
			`[s9] answered "Done.", 1 tools, goes on`,
			`[s10] answered "ACK 81 bytes", 0 tools`, // it is not told that the shell is over
		}},
		"claude/testdata/markers/2.1.329/limit.jsonl": {claude.Format, []string{
			`[s1] refused "You've hit your limit · resets 3:34am (UTC)", 1 tools, limit until 29 Nov 03:34`,
			`[s2] refused "Not logged in · Please run /login", 0 tools, auth`,
		}},
		"gemini/testdata/markers/0.61.0/ends.jsonl": {gemini.Format, []string{
			`[s1] answered "ACK 72 bytes", 0 tools`,
			`[s2] refused "[API Error: {\"error\":{\"code\":401,\"message\":\"API key not valid. Please pass a valid API key.\",\"status\":\"UNAUTHENTICATED\"}}]", 0 tools, auth`,
			`[s3] refused "[API Error: {\"error\":{\"message\":\"refused with 400\",\"type\":\"some_error\",\"code\":\"some_code\"}}]", 0 tools, error`,
			`[s4] answered "Done.", 1 tools`,
			`[s5] interrupted "Let me look at it first.", 0 tools`, // the tool is logged behind that
			`[s6] answered "Done.", 1 tools, goes on`,
			`[s7] answered "ACK 78 bytes", 0 tools`,
		}},
		"qwen/testdata/markers/0.24.4/ends.jsonl": {qwen.Format, []string{
			`[s1] answered "ACK 72 bytes", 0 tools`, `[s2] refused "401 refused with 401", 1 tools, auth`,
			`[s3] refused "400 refused with 400", 0 tools, error`, `[s4] refused "503 refused with 503", 1 tools, overloaded`,
			`[s5] answered "Done.", 1 tools`,
		}},
		"claude/testdata/markers/2.1.329/session.jsonl": {claude.Format, []string{
			`[m1] answered "", 0 tools`, `[m2 m3] answered "", 1 tools`,
			`[m4] answered "slow words slow words slow words slow words slow words slow words slow words slow words ", 0 tools`,
			`[m5] answered "ok 91", 0 tools`, `[m6] answered "", 1 tools, goes on`, `[m6] answered "ok 0", 0 tools`, // a subagent
			`[] answered "ok 31", 0 tools`, `[m7] answered "", 0 tools`, `[m8] answered "", 0 tools`,
		}},
		"claude/testdata/markers/2.1.329/interrupted.jsonl": {claude.Format, []string{
			`[k2] interrupted "slow words slow words slow words ", 0 tools`, `[k3] interrupted "", 1 tools`, `[] answered "", 0 tools`,
			`[k4] answered "ok 71", 0 tools`, `[k5] answered "ok 953", 0 tools`,
		}},
		"claude/testdata/markers/2.1.329/error.jsonl": {claude.Format, []string{
			`[n1] refused "API Error: 400 bad", 0 tools, error`, `[n2] refused "API Error: 400 bad", 0 tools, error`,
		}},
		"codex/testdata/markers/0.169.0/session.jsonl": {codex.Format, []string{
			`[c3] answered "word0 word1 word2 word3 word4 word5 word6 word7 word8 word9 word10 word11 word12 word13 word14 word15 word16 word17 word18 word19 ", 0 tools`,
			`[c4] answered "ACK 33", 0 tools`, `[c5] answered "ACK 37", 0 tools`, `[c6 c7] answered "ACK 34", 0 tools`, `[c8] interrupted "", 0 tools`,
			`[c9] refused "{\"error\": {\"message\": \"bad thing\", \"type\": \"invalid_request_error\"}}", 0 tools, error`,
			`[c10] answered "", 1 tools`, `[c11] answered "ACK 36", 0 tools`, `[c12 c13] answered "ACK 91", 0 tools`,
		}},
		"gemini/testdata/markers/0.61.0/session.jsonl": {gemini.Format, []string{
			`[c1] answered "", 0 tools`, `[c3] refused "[API Error: Incomplete JSON segment at the end]", 0 tools, error`, `[c4 c5] answered "ACK 72", 0 tools`,
			`[c8] interrupted "", 0 tools`, `[c9] refused "[API Error: {\"error\":{\"code\":400,\"message\":\"bad thing\",\"status\":\"INVALID_ARGUMENT\"}}]", 0 tools, error`,
			`[c10] answered "", 1 tools`, `[c14] answered "ACK 23", 0 tools`,
		}},
		"qwen/testdata/markers/0.24.4/session.jsonl": {qwen.Format, []string{
			`[c1] answered "", 0 tools`, `[c3] answered "", 1 tools`, `[c4 c5] interrupted "", 0 tools`,
			`[c4] silent "", 0 tools`, // it was interrupted before its first word, which is not logged
			`[c7] answered "ACK 45 bytes", 0 tools`,
		}},
	} {
		same(t, name, endsOf(c.f, logFile(t, c.f, name, epoch)), c.want)
	}
}

// say makes rows of a format by hand, each with an id and a time of its own: of a prompt, of what
// was said, of a tool that runs a script.
type say struct {
	n                        int
	prompt, said, ran, ended string
}

func (s *say) row(form, text string) string {
	s.n++
	at := time.Date(2026, 11, 21, 5, 40, s.n, 0, time.UTC).Format("2006-01-02T15:04:05.000Z07:00")
	return strings.NewReplacer("ID", fmt.Sprint("i", s.n), "AT", at, "TEXT", text).Replace(form)
}

// written are the forms of the rows of each agent's log.
func written() map[string]*say {
	return map[string]*say{
		"claude": {
			prompt: `{"type":"user","uuid":"ID","timestamp":"AT","origin":{"kind":"human"},"message":{"content":"TEXT"}}`,
			said:   `{"type":"assistant","uuid":"ID","timestamp":"AT","message":{"model":"m","content":[{"type":"text","text":"TEXT"}]}}`,
			ran:    `{"type":"assistant","uuid":"ID","timestamp":"AT","message":{"model":"m","content":[{"type":"tool_use","name":"Bash","input":{"command":"TEXT"}}]}}`,
			ended:  `{"type":"system","subtype":"turn_duration","uuid":"ID","timestamp":"AT"}`,
		},
		"codex": {
			prompt: `{"timestamp":"AT","type":"response_item","payload":{"type":"message","id":"ID","role":"user","content":[{"type":"input_text","text":"TEXT"}]}}`,
			said:   `{"timestamp":"AT","type":"response_item","payload":{"type":"message","id":"ID","role":"assistant","content":[{"type":"output_text","text":"TEXT"}]}}`,
			ran:    `{"timestamp":"AT","type":"response_item","payload":{"type":"function_call","id":"ID","name":"exec_command","arguments":"{\"cmd\":\"TEXT\"}","call_id":"ID"}}`,
			ended:  `{"timestamp":"AT","type":"event_msg","payload":{"type":"task_complete","turn_id":"ID"}}`,
		},
		"gemini": {
			prompt: `{"id":"ID","timestamp":"AT","type":"user","content":[{"text":"TEXT"}]}`,
			said:   `{"id":"ID","timestamp":"AT","type":"gemini","content":"TEXT"}`,
			ran:    `{"id":"ID","timestamp":"AT","type":"gemini","content":"","toolCalls":[{"id":"ID","name":"run_shell_command","args":{"command":"TEXT"}}]}`,
		},
		"qwen": {
			prompt: `{"uuid":"ID","timestamp":"AT","type":"user","message":{"parts":[{"text":"TEXT"}]}}`,
			said:   `{"uuid":"ID","timestamp":"AT","type":"assistant","usageMetadata":{},"message":{"parts":[{"text":"TEXT"}]}}`,
			ran:    `{"uuid":"ID","timestamp":"AT","type":"assistant","usageMetadata":{},"message":{"parts":[{"functionCall":{"name":"run_shell_command","args":{"command":"TEXT"}}}]}}`,
		},
	}
}

var formats = map[string]transcript.Format{"claude": claude.Format, "codex": codex.Format, "gemini": gemini.Format, "qwen": qwen.Format}

// TestEndsOfSeveralPrompts: each prompt's turn ends with its own words, be it a second behind the
// one before, in a log that tells no end; ten that were queued and typed at once are one turn; and
// what only runs relay is no tool.
func TestEndsOfSeveralPrompts(t *testing.T) {
	for name, s := range written() {
		ask := func(ids ...string) string {
			var text []string
			for _, id := range ids {
				text = append(text, `[relay `+id+` from ci] go\n[end `+id+`]`)
			}
			return s.row(s.prompt, strings.Join(text, `\n\n`))
		}
		var rows, want []string
		add := func(row string) {
			if row != "" {
				rows = append(rows, row)
			}
		}
		for _, id := range []string{"a", "b", "c"} {
			add(ask(id))
			add(s.row(s.said, "For "+id+"."))
			add(s.row(s.ended, ""))
			want = append(want, fmt.Sprintf("[%s] answered %q, 0 tools", id, "For "+id+"."))
		}
		add(ask("d"))
		add(s.row(s.ended, ""))
		add(ask("m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10"))
		add(s.row(s.ran, "make"))
		add(s.row(s.ran, "relay ls; relay send bob hi"))
		add(s.row(s.ran, "make && relay ls"))
		add(s.row(s.said, "Ten."))
		add(s.row(s.ended, ""))
		want = append(want, `[d] silent "", 0 tools`, `[m1 m2 m3 m4 m5 m6 m7 m8 m9 m10] answered "Ten.", 2 tools`)
		same(t, name, endsOf(formats[name], logOf(t, formats[name], rows...)), want)
	}
}

// TestRefusalsByHand: what could not be recorded, after what agents show on their screens, and by
// what their programs write.
func TestRefusalsByHand(t *testing.T) {
	defer func(was *time.Location) { time.Local = was }(time.Local)
	time.Local = time.UTC
	claudes := func(says, word string) string {
		return `{"type":"assistant","uuid":"ID","timestamp":"AT","isApiErrorMessage":true,` + word + `"message":{"model":"<synthetic>","content":[{"type":"text","text":"` + says + `"}]}}`
	}
	codexes := func(says, info string) string {
		return `{"timestamp":"AT","type":"event_msg","payload":{"type":"task_complete","turn_id":"ID","error":{"message":"` + says + `","codex_error_info":` + info + `}}}`
	}
	geminis := func(says string) string {
		return `{"id":"ID","timestamp":"AT","type":"error","content":"` + says + `"}`
	}
	qwens := func(status string) string {
		return `{"uuid":"ID","timestamp":"AT","type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_error","error_message":"no","status_code":` + status + `}}}`
	}
	const at = "You've hit your 5-hour limit · resets "
	for _, c := range []struct{ agent, row, want string }{
		{"claude", claudes(at+"7:51pm", `"error":"rate_limit",`), "limit until 21 Nov 19:51"},
		{"claude", claudes(at+"5am", `"error":"rate_limit",`), "limit until 22 Nov 05:00"}, // it is past five
		{"claude", claudes(at+"7pm (America/New_York)", `"error":"rate_limit",`), "limit until 22 Nov 00:00"},
		{"claude", claudes("You've hit your weekly limit · resets Dec 3, 7pm", `"error":"rate_limit",`), "limit until 3 Dec 19:00"},
		{"claude", claudes("You've hit your weekly limit · resets Jan 2, 2027, 7:30am", `"error":"rate_limit",`), "limit until 2 Jan 07:30"},
		{"claude", claudes("API Error: 529 Overloaded", ""), "overloaded"},
		{"claude", claudes("API Error: 401 no", `"error":{"of":"another form"},`), "auth"},
		{"claude", claudes("API Error: Connection error.", `"error":"unknown",`), "error"},
		{"codex", codexes("try again at Dec 3rd, 2026 3:09 AM.", `"usage_limit_exceeded"`), "limit until 3 Dec 03:09"},
		{"codex", codexes("You’ve hit your usage limit. Try again at 3:09 AM.", `"usage_limit_exceeded"`), "limit until 22 Nov 03:09"},
		{"codex", codexes("no", `{"response_too_many_failed_attempts":{"http_status_code":429}}`), "limit"},
		{"codex", codexes("no", `{"response_stream_disconnected":{"http_status_code":null}}`), "error"},
		{"codex", codexes("no", `"unauthorized"`), "auth"},
		{"codex", codexes("no", `7`), "error"},
		{"gemini", geminis("[API Error: You exceeded your current quota (Status: RESOURCE_EXHAUSTED)]"), "limit"},
		{"gemini", geminis("[API Error: The model is overloaded. (Status: UNAVAILABLE)]"), "overloaded"},
		{"gemini", geminis("[API Error: API key not valid. Please pass a valid API key. (Status: INVALID_ARGUMENT)]"), "auth"},
		{"gemini", geminis(`[API Error: You have exhausted your daily quota on this model.]\nPlease wait and try again later. To increase your limits, request more`), "limit"},
		{"gemini", geminis(`[API Error: no]\nPossible quota limitations in place or slow response times detected.`), "limit"},
		{"qwen", qwens("401"), "auth"},
		{"qwen", qwens("429"), "limit"},
		{"qwen", qwens("503"), "overloaded"},
	} {
		s := written()[c.agent]
		rows := []string{s.row(s.prompt, `[relay m1 from ci] go\n[end m1]`), s.row(s.said, "Let me look at it first."), s.row(s.ran, "make"), s.row(c.row, "")}
		got := endsOf(formats[c.agent], logOf(t, formats[c.agent], rows...))
		if len(got) != 1 || !strings.HasPrefix(got[0], "[m1] refused ") || !strings.HasSuffix(got[0], `, 1 tools, `+c.want) {
			t.Errorf("%s, %s: %q, want %s", c.agent, c.row, got, c.want)
		}
	}
}

// TestBackgroundByHand: shells that Gemini CLI and Qwen Code left behind. The one never tells that
// such a shell is over; the other tells the agent, in a turn of its own.
func TestBackgroundByHand(t *testing.T) {
	g, q := written()["gemini"], written()["qwen"]
	const moved = `{"id":"ID","timestamp":"AT","type":"gemini","content":"","toolCalls":[{"id":"ID","name":"run_shell_command","args":{"command":"make"},` +
		`"result":[{"functionResponse":{"response":{"output":"Command moved to background (P\u0049D: 77). Output hidden. Press Ctrl+B to view."}}}]}]}`
	same(t, "gemini", endsOf(gemini.Format, logOf(t, gemini.Format,
		g.row(g.prompt, `[relay m1 from ci] go\n[end m1]`), g.row(moved, ""), g.row(g.said, "It runs."),
		g.row(g.prompt, `[relay m2 from ci] go\n[end m2]`), g.row(g.said, "Two."))),
		[]string{`[m1] answered "It runs.", 1 tools, goes on`, `[m2] answered "Two.", 0 tools`})
	const started = `{"uuid":"ID","timestamp":"AT","type":"tool_result","message":{"parts":[{"functionResponse":{"response":{"output":"Background shell started.\nid: bg_1\noutput file: x"}}}]}}`
	const note = `{"uuid":"ID","timestamp":"AT","type":"user","subtype":"notification","provenance":"system","message":{"parts":[{"text":"<task-id>bg_1</task-id><status>TEXT</status>"}]}}`
	same(t, "qwen", endsOf(qwen.Format, logOf(t, qwen.Format,
		q.row(q.prompt, `[relay m1 from ci] go\n[end m1]`), q.row(q.ran, "make"), q.row(started, ""), q.row(q.said, "It runs."),
		q.row(note, "running"), q.row(note, "completed"), q.row(q.said, "It is built."))),
		[]string{`[m1] answered "It runs.", 1 tools, goes on`, `[m1] answered "It is built.", 0 tools`})
}
