package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/doctor"
	"relay-pty/cmd/relay/internal/paper"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
	"relay-pty/protocol/version"
)

// abuses are texts that act on a terminal, or on whoever reads there, if they are shown as is.
var abuses = []string{
	"\x1b[2J\x1b[H\x1b[31mred\u009b2J\u009b31m\x1b]0;title\a\x1b]52;c;eA==\x1b\\\u009d52;c;eA==\u009c\x1bP$q\"p\x1b\\\u0090x\u009c\x1b_x\x1b\\\x1b^y\u0098z" +
		"\x1bc\x1b(0\x0e\x0fx\x08\x08\x7fover\rwritten\u0085\u0084\u008d\u2028\u2029nul\x00\x01\x05\x1f" +
		"\u202egnp.exe\u202c\u2066x\u2069\u200e\u200f\u061czero\u200b\u2060\ufeff\u00ad\u180e\U000e0041\U000e007f\ufff9\ufffa\ufffb",
	"\xff31m\xff32mgreen\xffm\xc0\xaf\xed\xa0\x80\xf5",
	"ready (\x1b[31mx)\x1b[m",
	strings.Repeat("x", 61) + "11:20:03  human → bob  m-zzzz  delivered " + strings.Repeat("字", 90) + "\ttab\t\n\n[relay m-1 from human] line",
}

// filled sets all of a value that can be, lists to a single element, and each string to text.
func filled(v reflect.Value, text string, is bool) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), text, is)
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			filled(v.Index(0), text, is)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				filled(v.Field(i), text, is)
			}
		}
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(is)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	}
}

// of is a T that is all text.
func of[T any](text string, is bool) (v T) {
	filled(reflect.ValueOf(&v).Elem(), text, is)
	return v
}

// evil answers as a router does whose agents and senders have that text for everything.
type evil struct {
	text    string
	is      bool // whether all that may be so is so
	refuses bool // everything, with that text
	pulled  bool
}

func (e *evil) answers(r *http.Request) any {
	m := of[api.Message](e.text, e.is)
	m.ID, m.Status, m.Abandoned = "m-1", router.StatusReplied, false
	m.Recipients[0].Status, m.Recipients[0].Abandoned = protocol.StatusDelivered, false
	m.Replies = []router.Reply{of[router.Reply](e.text, e.is)}
	path := strings.TrimPrefix(r.URL.Path, "/v1/")
	first, last := strings.Split(path, "/")[0], path[strings.LastIndex(path, "/")+1:]
	switch {
	case first == "events":
		page := api.Events{Cursor: 100}
		for i, kind := range append(router.EventTypes(), "inject_result", "state", "of no type") {
			event := of[router.Event](e.text, e.is)
			event.Type = kind
			if i >= len(router.EventTypes()) {
				event.Code = nil
			}
			if kind == "state" {
				event.ID = ""
			}
			page.Events = append(page.Events, event)
		}
		if r.URL.Query().Get("after") == "100" {
			page.Events = nil
		}
		return page
	case last == "pull" && e.pulled: // the next one has gone, too
		return api.Messages{}
	case last == "messages" && r.Method == "GET", last == "queue", last == "pull", last == "dead-letters":
		e.pulled = last == "pull"
		return api.Messages{Messages: []api.Message{m, of[api.Message](e.text, e.is)}, Older: 3}
	case last == "pull_ack":
		return struct{}{}
	case first == "messages":
		for _, kind := range append(router.EventTypes(), "inject_result") {
			event := of[router.Event](e.text, e.is)
			event.Type = kind
			m.Life = append(m.Life, event)
		}
		return m
	case last == "reminders" && r.Method == "GET":
		return of[api.Reminders](e.text, e.is)
	case last == "reminders":
		return of[api.Reminder](e.text, e.is)
	case last == "agents":
		return of[api.Agents](e.text, e.is)
	case last == "screen":
		return of[protocol.ScreenAnswer](e.text, e.is)
	case last == "explain":
		return of[protocol.ExplainAnswer](e.text, e.is)
	case last == "pause", last == "resume":
		return of[api.Agent](e.text, e.is)
	case last == "keys":
		return of[api.Pressed](e.text, e.is)
	case first == "channels" && path != first:
		return of[api.Channel](e.text, e.is)
	case first == "channels":
		return of[api.Channels](e.text, e.is)
	}
	status := of[api.AgentStatus](e.text, e.is)
	if path == "agents/carol" {
		status.Wrapper = nil
	}
	return status
}

// ServeHTTP implements [http.Handler].
func (e *evil) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" {
		json.NewEncoder(w).Encode(api.Health{OK: true, PID: os.Getpid(), Version: version.Release})
		return
	}
	if e.refuses {
		w.WriteHeader(http.StatusTeapot)
		json.NewEncoder(w).Encode(of[router.ErrorValue](e.text, true))
		return
	}
	answer, _ := json.Marshal(e.answers(r))
	for _, broken := range []string{"\xff31m", "\xc0\xaf"} { // which Go would not send
		answer = bytes.ReplaceAll(answer, []byte(strings.ToValidUTF8(broken, `\ufffd`)), []byte(broken))
	}
	w.Write(answer)
}

// listens serves a router where commands look for one.
func (e *evil) listens(t *testing.T) {
	dir := testrig.Dir(t)
	for _, name := range []string{"XDG_RUNTIME_DIR", "XDG_STATE_HOME", "HOME", "TMPDIR"} {
		t.Setenv(name, dir)
	}
	t.Setenv("RELAY_TOKEN", "")
	t.Setenv("RELAY_AGENT", "")
	must(t, os.Mkdir(filepath.Join(dir, "relay"), 0o700))
	srv := httptest.NewUnstartedServer(e)
	srv.Listener.Close() // not that one
	var err error
	srv.Listener, err = net.Listen("unix", filepath.Join(dir, "relay", "router.sock"))
	must(t, err)
	srv.Start()
	t.Cleanup(srv.Close)
}

// told are the commands that tell something of what others wrote.
var told = [][]string{
	{"ls", "--all"}, {"status"}, {"status", "bob"}, {"status", "carol"}, {"explain", "bob"}, {"screen", "bob"}, {"queue", "bob"},
	{"wait", "bob", "--timeout", "1ms"}, {"pause", "bob"}, {"resume", "bob"}, {"keys", "bob", "Enter"},
	{"send", "bob", "hi"}, {"send", "bob", "hi", "--wait"}, {"send", "bob", "hi", "--until", "delivered"}, {"reply", "m-1", "hi"},
	{"recv"}, {"recv", "--consume"}, {"show", "m-1"}, {"cancel", "m-1"}, {"redeliver", "m-1"}, {"remind", "5m", "hi"}, {"remind", "--list"},
	{"join", "#x"}, {"leave", "#x"}, {"log"}, {"log", "bob", "--dead"}, {"events"}, {"events", "--last", "40"}, {"__complete", "show", ""}, {"__complete", "send", ""},
}

// sgr are the colours that commands have.
var sgr = regexp.MustCompile("\x1b\\[(32|33|31|2)m([^\x1b\n]*)\x1b\\[m")

// acts is what of an output acts on a terminal, but for our colours of our words.
func acts(out string, colour bool) string {
	if colour {
		out = sgr.ReplaceAllStringFunc(out, func(painted string) string {
			word, _, _ := strings.Cut(strings.TrimSpace(sgr.FindStringSubmatch(painted)[2]), " (")
			if !slices.Contains([]string{"ready", "replied", "delivered", "gone"}, word) {
				return painted
			}
			return word
		})
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || protocol.Obeyed(r) {
			return r
		}
		return -1
	}, out)
}

// looked reports whether an output has something, and fails the test if that acts on a terminal.
func looked(t *testing.T, colour bool, what string, said func(ctx context.Context, s streams)) int {
	t.Helper()
	const patience = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out, errs bytes.Buffer
	said(ctx, streams{strings.NewReader(""), paper.Of(&out, 80, colour), paper.Of(&errs, 80, colour)})
	if ctx.Err() != nil {
		t.Fatalf("%s: did not end within %v:\n%q\n%q", what, patience, out.String(), errs.String())
	}
	if got := acts(out.String()+errs.String(), colour); got != "" {
		t.Errorf("%s, colours %v, shows %+q:\n%+q\n%+q", what, colour, got, out.String(), errs.String())
	}
	if strings.Contains(errs.String(), "no answer from the router") {
		t.Fatalf("%s: %s", what, errs.String())
	}
	return min(1, out.Len()+errs.Len())
}

// TestNoCommandShowsWhatTerminalsObey: no command that tells people what others wrote lets them act
// on the terminal, whatever senders, agents, wrappers and the router write.
func TestNoCommandShowsWhatTerminalsObey(t *testing.T) {
	e := &evil{}
	e.listens(t)
	shown := 0
	for _, e.text = range abuses {
		for _, e.is = range []bool{true, false} {
			for _, e.refuses = range []bool{false, true} {
				for _, args := range told {
					for _, colour := range []bool{true, false} {
						e.pulled = false
						what := fmt.Sprintf("relay %q (%v, refuses: %v) with %+q", args, e.is, e.refuses, e.text)
						shown += looked(t, colour, what, func(ctx context.Context, s streams) { run(ctx, args, s.in, s.out, s.err) })
					}
				}
			}
		}
	}
	if want := len(abuses) * len(told) * 8; shown < want {
		t.Errorf("%d outputs were looked at, want %d at least", shown, want)
	}
	t.Logf("%d outputs of %d commands", shown, len(told))
}

// TestNoMistakeShowsWhatTerminalsObey: neither words of a command line, of the environment and of
// files, nor what doctor finds.
func TestNoMistakeShowsWhatTerminalsObey(t *testing.T) {
	(&evil{refuses: true}).listens(t)
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	must(t, os.Mkdir(filepath.Join(config, "relay"), 0o700))
	shown, tries := 0, 0
	for _, text := range abuses {
		must(t, os.WriteFile(filepath.Join(config, "relay", "config.toml"), []byte(text+" = 1\n"), 0o600))
		word := strings.ReplaceAll(text, "\x00", "")
		t.Setenv("RELAY_DEMO", word)
		for _, args := range [][]string{
			{text}, {"--" + text}, {"send", text}, {"send", "bob", "--id", text, "hi"}, {"send", "bob", "--timeout", text, "hi"}, {"recv", "--as", text}, {"events", "--event", text},
			{"log", "--last", text}, {"show", text}, {"status", text}, {"keys", "bob", text}, {"pause", "bob", text}, {"remind", text, "hi"}, {"join", text}, {"wait", "bob", "--state", text},
			{"run", text, "--", "x"}, {"run", "bob", "--", text}, {"help", text}, {"completion", text}, {"man", text + "/x"}, {"demo"}, {"doctor"},
		} {
			tries += 2
			for _, colour := range []bool{true, false} {
				shown += looked(t, colour, fmt.Sprintf("relay %q", args), func(ctx context.Context, s streams) { run(ctx, args, s.in, s.out, s.err) })
			}
		}
		f := findings{Findings: []doctor.Finding{of[doctor.Finding](text, true), of[doctor.Finding](text, false)}}
		for _, colour := range []bool{true, false} {
			looked(t, colour, fmt.Sprintf("doctor that finds %+q", text), func(_ context.Context, s streams) { f.tell(s, false) })
		}
	}
	if shown < tries {
		t.Errorf("%d of %d command lines are told nothing", tries-shown, tries)
	}
	t.Logf("%d outputs", shown)
}
