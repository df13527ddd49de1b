package log

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/parser"
	"relay-pty/parser/transcript"
)

// Events as OpenCode 1.18.33 wrote them when it talked to a fake model; paths and
// those of no interest were taken out.
const recorded = "../testdata/markers/1.18.33/events.jsonl"

var epoch = time.UnixMilli(0)

// logged is a row of the table event.
type logged struct {
	ID      string          `json:"id"`
	Session string          `json:"aggregate_id"`
	Kind    string          `json:"type"`
	Data    json.RawMessage `json:"data"`
}

// events reads the recording of OpenCode's table.
func recording(t testing.TB) []logged {
	t.Helper()
	b, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	var all []logged
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		var e logged
		if err := json.Unmarshal(s.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// entriesOf are the entries of events.
func entriesOf(t testing.TB, all []logged, since time.Time) []transcript.Entry {
	t.Helper()
	o := newEvents(since)
	var entries []transcript.Entry
	for _, e := range all {
		more, err := o.row(e.Kind, e.Data)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, more...)
	}
	return entries
}

// inShort describes entries: u, a, c for a cut reply, ., and the id of a message
// or the first word.
func inShort(entries []transcript.Entry) string {
	var out []string
	for _, e := range entries {
		first := strings.Fields(strings.TrimPrefix(e.Text, "[relay ") + " -")[0]
		switch {
		case e.Kind == transcript.TurnEnd:
			out = append(out, ".")
		case e.Kind == transcript.Tool:
			out = append(out, "t:"+e.Text)
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

// commands describes the items in entries, one a line.
func commands(all []transcript.Entry) []string {
	var out []string
	for _, e := range all {
		for _, f := range transcript.Commands(e) {
			if c, ok := f.Item.(parser.Command); ok {
				out = append(out, fmt.Sprintf("%s|%s%s%s|%s", c.To, c.ReplyTo, c.Thread, c.Mode, c.Body))
			} else {
				out = append(out, fmt.Sprintf("%T", f.Item))
			}
		}
	}
	return out
}

func TestRecorded(t *testing.T) {
	all := entriesOf(t, recording(t), epoch)
	// c4, c5 and e2 were queued, c8 was interrupted, c9 failed, c14 names a file, c15
	// is in another session.
	if got, want := inShort(all), "u:c1 a:日本語 . u:c3 a:word0 . u:c4 u:c5 a:ACK . u:c8 c:before . u:e1 a:THOUGHT . u:e2 a:ACK . u:c9 . u:c10 t:bash a:Using. a:AFTER . u:c12 a:ACK . u:c14 a:ACK . u:c15 a:Sure. ."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	want := []string{
		"bob||数行の日本語 🎉\n\ttab\tand trailing blanks  \n\n  indented مرحبا", "parser.Invalid",
		"bob||before the tool", "bob|m2|after the tool",
		"bob||Hello Bob, multi word\nsecond line", "#team|authimportant|one line for **the** team",
		"carol@host2||code:\n```go\nfmt.Println(\">>>\", 1)\n```\n->relay:bob inner decoy",
	}
	if got := commands(all); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for i, e := range all {
		got := entriesOf(t, recording(t), e.Time.Add(300*time.Microsecond))
		if len(got) < len(all)-i-3 || len(got) > len(all)-i+2 {
			t.Errorf("from entry %d of %d on: %d", i, len(all), len(got))
		}
	}
}

// TestRecordedEndsOfTurns: how the turns of the recording ended, and what it says of failures.
func TestRecordedEndsOfTurns(t *testing.T) {
	var turn transcript.Turn
	var got []string
	for _, e := range entriesOf(t, recording(t), epoch) {
		for _, end := range append(turn.Take(e), turn.Rest()...) {
			got = append(got, fmt.Sprint(end.IDs, " ", end.Outcome, " ", strings.Fields(end.Text + " -")[0], " ", end.Tools))
		}
	}
	want := []string{
		"[c1] answered - 0", "[c3] answered word0 0", "[c4 c5] answered ACK 0", "[c8] interrupted - 0", "[e1] answered THOUGHT 0",
		"[e2] answered ACK 0", "[c9] refused bad 0", "[c10] answered - 1", "[c12 c13] answered ACK 0", "[c14] answered ACK 0", "[c15] answered - 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	at := time.UnixMilli(1000)
	for failure, want := range map[string]string{
		`{"name":"MessageAbortedError","data":{"message":"Aborted"}}`:                                               " {interrupted  0}",
		`{"name":"APIError","data":{"message":"Unauthorized","statusCode":401}}`:                                    "Unauthorized {refused auth 0}",
		`{"name":"ProviderAuthError","data":{"providerID":"x","message":"no key"}}`:                                 "no key {refused auth 0}",
		`{"name":"APIError","data":{"message":"too many","statusCode":429,"responseHeaders":{"retry-after":"60"}}}`: "too many {refused limit 61}",
		`{"name":"APIError","data":{"message":"later","statusCode":503,"responseHeaders":{"retry-after":"soon"}}}`:  "later {refused overloaded 0}",
		`{"name":"MessageOutputLengthError","data":{}}`:                                                             " {refused error 0}",
		`"of another form"`: " {refused error 0}",
	} {
		says, how := (&info{Error: json.RawMessage(failure)}).failure(at)
		until := int64(0)
		if !how.RetryAt.IsZero() {
			until = how.RetryAt.Unix()
		}
		if got := fmt.Sprintf("%s {%s %s %d}", says, how.Outcome, how.Reason, until); got != want {
			t.Errorf("%s: %s, want %s", failure, got, want)
		}
	}
}

// What a turn has not taken yet is no proof.
func TestQueuedIsNotAccepted(t *testing.T) {
	o := newEvents(epoch)
	typed, taken := map[string]int{}, map[string]int{}
	for i, e := range recording(t) {
		entries, err := o.row(e.Kind, e.Data)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"c4", "c5", "e2"} {
			if bytes.Contains(e.Data, []byte(`"text":"[relay `+id)) {
				typed[id] = i
			}
			for _, one := range entries {
				if transcript.Accepted(one, id) {
					taken[id] = i
				}
			}
		}
	}
	if taken["c4"] != taken["c5"] || taken["c4"] < typed["c5"]+3 || taken["e2"] < typed["e2"]+3 || typed["e2"] == 0 {
		t.Errorf("typed at %v, taken at %v", typed, taken)
	}
}

func TestEvents(t *testing.T) {
	o := newEvents(epoch)
	step := func(kind, data, want string) {
		t.Helper()
		got, err := o.row(kind, []byte(data))
		if err != nil || inShort(got) != want {
			t.Errorf("%s %s: %q, %v, want %q", kind, data, inShort(got), err, want)
		}
	}
	step("message.updated.1", `{"info":{"id":"m1","sessionID":"s","role":"user"}}`, "")
	step("message.part.updated.1", `{"part":{"id":"p1","sessionID":"s","messageID":"m1","type":"text","text":"typed"},"time":1}`, "")
	step("message.part.updated.1", `{"part":{"id":"p2","sessionID":"s","messageID":"m1","type":"text","text":"contents of a file","synthetic":true},"time":1}`, "")
	step("message.updated.1", `{"info":{"id":"m2","sessionID":"other","role":"assistant","parentID":"m9"}}`, "")
	step("message.updated.1", `{"info":{"id":"m3","sessionID":"s","role":"assistant","parentID":"m0"}}`, "")
	step("message.updated.1", `{"info":{"id":"m4","sessionID":"s","role":"assistant","parentID":"m1"}}`, "u:typed")
	step("message.part.updated.1", `{"part":{"id":"p3","sessionID":"s","messageID":"m4","type":"reasoning","text":"thought","time":{"end":2}},"time":2}`, "")
	step("message.part.updated.1", `{"part":{"id":"p4","sessionID":"s","messageID":"m4","type":"text","text":"begun","time":{"start":2}},"time":2}`, "")
	step("message.part.updated.1", `{"part":{"id":"p4","sessionID":"s","messageID":"m4","type":"text","text":"said","time":{"start":2,"end":3}},"time":3}`, "")
	step("message.part.updated.1", `{"part":{"id":"p5","sessionID":"s","messageID":"m4","type":"tool","tool":"bash","state":{"status":"pending","input":{}}},"time":3}`, "a:said")
	step("message.part.updated.1", `{"part":{"id":"p5","sessionID":"s","messageID":"m4","type":"tool","tool":"bash","state":{"status":"running","input":{"command":"make"}}},"time":3}`, "t:bash")
	step("message.part.updated.1", `{"part":{"id":"p5","sessionID":"s","messageID":"m4","type":"tool","tool":"bash","state":{"status":"completed","input":{"command":"make"}}},"time":3}`, "")
	step("message.part.updated.1", `{"part":{"id":"p9","sessionID":"s","messageID":"m4","type":"tool","tool":"relay_send_message","state":{"status":"running","input":5}},"time":3}`, "")
	step("message.part.updated.1", `{"part":{"id":"p10","sessionID":"s","messageID":"m4","type":"tool","tool":"bash","state":{"status":"running","input":{"command":"relay ls"}}},"time":3}`, "")
	step("message.part.updated.1", `{"part":{"id":"p6","sessionID":"s","messageID":"m4","type":"text","text":"cut off","time":{"end":3}},"time":3}`, "")
	step("message.updated.1", `{"info":{"id":"m4","sessionID":"s","role":"assistant","parentID":"m1","error":{"name":"MessageAbortedError"},"time":{"completed":4}}}`, "c:cut .")
	step("message.updated.1", `{"info":{"id":"m4","sessionID":"s","role":"assistant","parentID":"m1","finish":"stop","time":{"completed":4}}}`, "")
	step("message.updated.1", `{"info":{"id":"m5","sessionID":"s","role":"assistant","parentID":"m1","summary":true}}`, "")
	step("message.part.updated.1", `{"part":{"id":"p7","sessionID":"s","messageID":"m5","type":"text","text":"a summary","time":{"end":3}},"time":3}`, "")
	step("message.updated.1", `{"info":{"id":"m5","sessionID":"s","role":"assistant","summary":true,"time":{"completed":4}}}`, "")
	step("message.part.updated.1", `{"part":{"id":"p8","sessionID":"s","messageID":"unknown","type":"text","text":"x","time":{"end":3}},"time":3}`, "")
	step("session.created.1", `{}`, "")
	for i := range 3 * rolesMost {
		step("message.updated.1", fmt.Sprintf(`{"info":{"id":"n%d","sessionID":"s","role":"user"}}`, i), "")
		step("message.part.updated.1", fmt.Sprintf(`{"part":{"id":"q%d","sessionID":"s","messageID":"n%d","type":"text","text":"never taken"},"time":1}`, i, i), "")
	}
	if n := len(o.roles) + len(o.older); n > 2*rolesMost || len(o.waiting) > waitingMost {
		t.Errorf("keeps %d roles and %d texts", n, len(o.waiting))
	}
	for _, data := range []string{``, `{`, `{}`, `{"info":5}`} {
		if _, err := o.row("message.updated.1", []byte(data)); err == nil {
			t.Errorf("message %s: no error", data)
		}
		if _, err := o.row("message.part.updated.1", []byte(data)); err == nil {
			t.Errorf("part %s: no error", data)
		}
	}
}

func FuzzEvents(f *testing.F) {
	all := recording(f)
	for i, e := range all[1:] {
		f.Add(string(all[i].Data), string(e.Data))
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		o := newEvents(epoch)
		for _, data := range []string{a, b, a, b} {
			for _, kind := range []string{"message.updated.1", "message.part.updated.1"} {
				entries, err := o.row(kind, []byte(data))
				if err != nil && entries != nil {
					t.Errorf("%v and %v", entries, err)
				}
				for _, e := range entries {
					transcript.Commands(e)
					transcript.Accepted(e, "m1")
				}
			}
		}
	})
}
