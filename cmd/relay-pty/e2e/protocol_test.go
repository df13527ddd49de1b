package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/parser"
)

// caller is a connection of its own; each of its requests carries a req.
type caller struct {
	t *testing.T
	*testrig.Client
}

func (w *wrapped) call() *caller {
	w.t.Helper()
	c, err := testrig.Dial(patience(w.t), w.socket)
	must(w.t, err)
	w.t.Cleanup(func() { c.Close() })
	return &caller{w.t, c}
}

// ask sends a request and returns its first answer.
func (c *caller) ask(request map[string]any) testrig.Frame {
	c.t.Helper()
	f, err := c.Request(patience(c.t), request)
	must(c.t, err)
	return f
}

// want asks and checks members of the answer.
func (c *caller) want(request map[string]any, want map[string]any) testrig.Frame {
	c.t.Helper()
	f := c.ask(request)
	for k, v := range want {
		if fmt.Sprint(f.Fields[k]) != fmt.Sprint(v) {
			c.t.Fatalf("%v: %s is %v, want %v: %s", request, k, f.Fields[k], v, f.Raw)
		}
	}
	return f
}

// become makes the caller speak as the agent, which left its token in a file.
func (c *caller) become(tokenFile string) *caller {
	c.t.Helper()
	token, err := os.ReadFile(tokenFile)
	must(c.t, err)
	c.want(fields("hello", "token", strings.TrimSpace(string(token))), fields("hello", "name", "alice", "protocol", 1))
	return c
}

// fields is a frame of a type with pairs of members.
func fields(typ string, pairs ...any) map[string]any {
	m := map[string]any{"type": typ}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

func injection(id string, pairs ...any) map[string]any {
	return fields("inject", append([]any{"id", id, "from", "bob", "body", "body of " + id}, pairs...)...)
}

// told waits for an event on the subscribed connection.
func (w *wrapped) told(what string, want func(testrig.Frame) bool) testrig.Frame {
	w.t.Helper()
	f, err := w.client.Wait(patience(w.t), want)
	if err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
	return f
}

// startScript runs a script that knows where to leave its token.
func startScript(t *testing.T, script string, flags ...string) (w *wrapped, token string) {
	t.Helper()
	token = filepath.Join(scratch(t), "token")
	argv := []string{"sh", "-c", `echo "$RELAY_TOKEN" > "$1"; echo started; ` + script, "sh", token}
	w = start(t, term.Options{Argv: argv}, flags...)
	must(t, w.WaitText(patience(t), "started"))
	return w, token
}

func TestCancelledMessagesAreNeverTyped(t *testing.T) {
	t.Parallel()
	f := startFake(t, "line", agents.Config{}, "--idle-timeout", "1h", "--prompt-pattern", "^never$")
	c := f.call()
	for _, id := range []string{"a", "b"} {
		c.want(injection(id), fields("inject_result", "status", "queued"))
		f.waitsFor(id, "ready")
	}
	c.want(fields("cancel", "id", "a"), fields("inject_result", "id", "a", "status", "cancelled"))
	c.want(fields("cancel", "id", "a"), fields("inject_result", "id", "a", "status", "cancelled"))
	c.want(fields("query", "id", "a"), fields("inject_result", "status", "cancelled"))
	c.want(injection("a"), fields("inject_result", "status", "cancelled"))
	c.want(injection("a", "body", "other"), fields("error", "code", "duplicate_id"))
	c.want(fields("cancel", "id", "nosuch"), fields("error", "code", "unknown_id", "field", "id", "id", "nosuch"))
	list := c.want(fields("queue"), fields("queue")).Fields["messages"].([]any)
	if len(list) != 1 || list[0].(map[string]any)["id"] != "b" {
		t.Errorf("the queue is %v", list)
	}
	if got := f.read(); got != "" {
		t.Errorf("the agent was typed %q", got)
	}
	ended := func(id string) func(testrig.Frame) bool {
		return func(e testrig.Frame) bool { return e.Str("id") == id && e.Str("status") == "cancelled" }
	}
	c.want(fields("cancel", "id", "b"), fields("inject_result", "id", "b", "status", "cancelled"))
	f.told("the end of b, which comes after all of a", ended("b"))
	ends := 0
	for _, e := range f.client.Frames() {
		if ended("a")(e) {
			ends++
		}
	}
	if ends != 1 {
		t.Errorf("a subscriber heard the end %d times", ends)
	}
}

// TestCancelAtAnyMoment: whatever moment a cancel hits, canceller, sender and
// the agent's own log agree.
func TestCancelAtAnyMoment(t *testing.T) {
	t.Parallel()
	f := startComposer(t, agents.Config{BusyMS: 1})
	c := f.call()
	const perRound = 4
	rnd := rand.New(rand.NewPCG(seed(t), 4))
	cancelled, delivered := 0, 0
	var want []string
	for round := range runs(5, 100) {
		var wait sync.WaitGroup
		answers := make([]testrig.Frame, perRound)
		for i := range perRound {
			id := fmt.Sprintf("m%d-%d", round, i)
			c.want(injection(id), fields("inject_result", "status", "queued"))
			after := []string{"queued", "injecting", "delivered"}[rnd.IntN(3)]
			wait.Go(func() {
				_, err := c.Wait(patience(t, id+" as "+after), func(e testrig.Frame) bool {
					return e.Str("id") == id && slices.Contains([]string{after, "cancelled", "unknown"}, e.Str("status"))
				})
				if err != nil {
					t.Error(err)
				}
				canceller := f.call()
				defer canceller.Close() // there may be only so many connections
				answers[i] = canceller.ask(fields("cancel", "id", id))
			})
		}
		wait.Wait()
		for i, answer := range answers {
			id := fmt.Sprintf("m%d-%d", round, i)
			end := f.told("end of "+id, func(e testrig.Frame) bool {
				return e.Type() == "inject_result" && e.Str("id") == id && !slices.Contains([]string{"queued", "injecting"}, e.Str("status"))
			})
			switch {
			case end.Str("status") == "cancelled" && answer.Str("status") == "cancelled":
				cancelled++
			case end.Str("status") == "delivered" && answer.Str("code") == "too_late":
				delivered++
				want = append(want, text(id, "body of "+id))
			default:
				t.Errorf("%s ended as %s, the canceller was told %s", id, end.Raw, answer.Raw)
			}
		}
	}
	var got []string
	for _, turn := range f.submits() {
		got = append(got, strings.Split(strings.ReplaceAll(turn, "]\n\n[relay ", "]\x00[relay "), "\x00")...) // those that waited went together
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("submitted %q, want %q", got, want)
	}
	shown(t, "composer: messages cancelled at random moments; canceller, sender and the agent agree", "%d cancelled, %d too late", cancelled, delivered)
}

func TestCancelWhileTheComposerStalls(t *testing.T) {
	t.Parallel()
	f := startComposer(t, agents.Config{})
	c := f.call()
	f.do(agents.Command{Cmd: "stall"})
	c.want(injection("m1"), fields("inject_result", "status", "queued"))
	_, err := f.client.WaitStatus(patience(t), "m1", "injecting")
	must(t, err)
	must(t, f.agent.WaitUnread(patience(t, "m1 in the terminal"), 1)) // what is written arrives a little later
	f.call().want(fields("cancel", "id", "m1"), fields("inject_result", "id", "m1", "status", "cancelled"))
	f.do(agents.Command{Cmd: "resume"})
	c.want(injection("m2"), fields("inject_result", "status", "queued"))
	f.delivers("m2", "submitted")
	if got := f.submits(); len(got) != 1 || got[0] != text("m2", "body of m2") {
		t.Errorf("submitted %q", got)
	}
}

func TestSignalsAreTheAgentsOwnWord(t *testing.T) {
	t.Parallel()
	w, token := startScript(t, `while read -r x; do echo "got $x"; done`)
	w.state("ready")
	other := w.call()
	other.want(fields("signal", "event", "busy"), fields("error", "code", "not_authorized"))
	other.want(fields("hello", "token", "0123"), fields("error", "code", "not_authorized", "field", "token"))
	other.want(fields("status"), fields("status", "state", "ready"))

	a := w.call().become(token)
	a.want(fields("signal", "event", "turn_start"), fields("ok"))
	w.state("busy")
	a.want(fields("status"), fields("status", "state", "busy", "confidence", "signal", "agent_idle", false))
	w.inject("m1", "hello")
	w.held("m1", "turn", 200*time.Millisecond)
	a.want(fields("signal", "event", "blocked", "detail", "may I \x1b]0;x\a\u009b2J run\nrm?"), fields("ok"))
	w.state("blocked")
	a.want(fields("status"), fields("status", "state", "blocked", "confidence", "signal", "blocked_by", "may I ]0;x2J run rm?"))
	w.reason("m1", "dialog", nil)
	w.told("waiting", func(f testrig.Frame) bool { return f.Type() == "waiting" && f.Str("waiting_for") == "dialog" })
	a.want(fields("signal", "event", "turn_end"), fields("ok"))
	w.delivers("m1", "echo")
	noControls(t, w)
}

// noControls checks that nothing that we say of the agent can move a terminal.
func noControls(t *testing.T, w *wrapped) {
	t.Helper()
	b, err := os.ReadFile(w.log)
	must(t, err)
	for _, f := range w.client.Frames() {
		b = append(b, f.Raw...)
	}
	for line := range bytes.Lines(b) {
		if bytes.ContainsFunc(bytes.TrimSuffix(line, []byte("\n")), unicode.IsControl) {
			t.Errorf("a control character: %q", line)
		}
	}
}

func TestReadySignalIsNoAnswerToADialog(t *testing.T) {
	t.Parallel()
	w, token := startScript(t, `printf 'Password: '; stty -echo; read x; stty echo; echo; echo "[$x]"; cat`)
	w.state("blocked")
	a := w.call().become(token)
	a.want(fields("signal", "event", "ready"), fields("ok"))
	w.inject("m1", "hello")
	w.held("m1", "dialog", 300*time.Millisecond)
	a.want(fields("status"), fields("status", "state", "blocked", "confidence", "screen", "blocked_by", "Password:"))
	must(t, w.Type("secret\r"))
	w.delivers("m1", "echo")
}

func TestEmitIsTheSameEventAsAMarker(t *testing.T) {
	t.Parallel()
	w, token := startScript(t, `echo '->relay:bob@h1 [re=m1 thread=t mode=urgent] <<<two >>lines'; echo 'here>>>'; cat`)
	a := w.call().become(token)
	emit := fields("emit", "to", "bob@h1", "body", "two >>lines\nhere", "reply_to", "m1", "thread", "t", "mode", "urgent")
	w.call().want(emit, fields("error", "code", "not_authorized"))
	answer := a.want(emit, fields("ok"))
	marked := w.told("marker", func(f testrig.Frame) bool { return f.Str("source") == "stream" })
	emitted := w.told("emitted", func(f testrig.Frame) bool { return f.Str("source") == "emit" })
	if emitted.Num("seq") != answer.Num("seq") || emitted.Str("id") == "" || emitted.Str("id") == marked.Str("id") {
		t.Errorf("%s answered %s", emitted.Raw, answer.Raw)
	}
	if got, want := said(emitted), said(marked); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	items := parser.Text(emitted.Str("raw"))
	if len(items) != 1 || items[0].(parser.Command).Body != "two >>lines\nhere" {
		t.Errorf("raw %q says %+v", emitted.Str("raw"), items)
	}
	a.want(fields("emit", "to", "bob", "body", ""), fields("error", "code", "bad_field", "field", "body"))
	a.want(fields("emit", "to", "b c", "body", "x"), fields("error", "code", "bad_field", "field", "to"))
	a.want(fields("emit", "to", "bob", "body", strings.Repeat("x", 65537)), fields("error", "code", "message_too_large", "field", "body"))
	a.want(fields("emit", "to", "#dev", "body", strings.Repeat("\x00", 65535)+"x"), fields("ok"))
	w.told("the largest event", func(f testrig.Frame) bool { return f.Str("to") == "#dev" && len(f.Str("body")) == 65536 })
}

// said is what an event says of a message.
func said(f testrig.Frame) map[string]string {
	m := map[string]string{}
	for _, k := range []string{"type", "from", "to", "body", "reply_to", "thread", "mode"} {
		m[k] = f.Str(k)
	}
	return m
}

func TestScreenIsToldAsText(t *testing.T) {
	t.Parallel()
	script := `printf '\033[2J\033[H\033[31mred\033[0m  \033]0;title\a日本語\033[3;5Hx'; cat`
	w := start(t, term.Options{Argv: []string{"sh", "-c", script}, Rows: 5, Cols: 40})
	c := w.call()
	var f testrig.Frame
	becomes(t, "the x on the screen", func() bool { f = c.ask(fields("screen")); return strings.Contains(f.Raw, `"    x"`) })
	want := `"rows":["red  日本語","","    x","",""],"cursor_position":[5,2],"size":{"cols":40,"rows":5}}`
	if !strings.HasSuffix(strings.TrimSpace(f.Raw), want) {
		t.Errorf("got %s, want %s", f.Raw, want)
	}
}

func TestCommandsRunAsTyped(t *testing.T) {
	t.Parallel()
	f := startFake(t, "line", agents.Config{})
	c := f.call()
	command := injection("c1", "kind", "command", "body", "ls -l 'é'")
	c.want(command, fields("error", "code", "not_authorized", "field", "kind", "id", "c1"))
	c.want(fields("query", "id", "c1"), fields("error", "code", "unknown_id"))
	if got := f.read(); got != "" {
		t.Errorf("read %q", got)
	}

	f = startFake(t, "line", agents.Config{}, "--allow-command")
	c = f.call()
	c.want(injection("c0", "kind", "command", "body", "a\nb"), fields("error", "code", "bad_field", "field", "body", "id", "c0"))
	c.want(command, fields("inject_result", "status", "queued"))
	f.delivers("c1", "echo", "consumed")
	c.want(injection("n1", "kind", "notice", "body", "all is well"), fields("inject_result", "status", "queued"))
	f.delivers("n1", "echo")
	if got, want := f.read(), "ls -l 'é'\n[relay n1 from bob] all is well\n[end n1]\n"; got != want {
		t.Errorf("read %q, want %q", got, want)
	}
}

func TestModesGoInTheirOrder(t *testing.T) {
	t.Parallel()
	w, token := startScript(t, `cat`)
	a := w.call().become(token)
	a.want(fields("signal", "event", "busy"), fields("ok"))
	w.state("busy")
	order := []string{"u1", "u2", "i1", "i2", "s1", "s2"}
	for _, id := range []string{"s2", "i2", "u2", "s1", "i1", "u1"} {
		mode := map[byte]string{'u': "urgent", 'i': "important", 's': "sequential"}[id[0]]
		w.call().want(injection(id, "mode", mode, "priority", int(id[1])), fields("inject_result", "status", "queued"))
		w.waitsFor(id, "turn")
	}
	var listed []string
	for _, m := range a.want(fields("queue"), fields("queue")).Fields["messages"].([]any) {
		listed = append(listed, m.(map[string]any)["id"].(string))
	}
	a.want(fields("signal", "event", "ready"), fields("ok"))
	var typed []string
	for _, id := range order {
		w.delivers(id, "echo")
	}
	for _, f := range w.client.Frames() {
		if f.Str("status") == "delivered" {
			typed = append(typed, f.Str("id"))
		}
	}
	if !slices.Equal(listed, order) || !slices.Equal(typed, order) {
		t.Errorf("listed %v, typed %v, want %v", listed, typed, order)
	}
}

func TestHalfClosedClientHearsTheEnd(t *testing.T) {
	t.Parallel()
	w := start(t, term.Options{Argv: []string{"cat"}})
	c := w.call()
	must(t, c.SendRaw(`{"type":"inject","id":"m1","from":"bob","body":"x"}`+"\n"+`{"type":"status"}`)) // the last line has no newline
	must(t, c.CloseWrite())
	must(t, c.WaitEOF(patience(t, "the end of the connection")))
	var got []string
	for _, f := range c.Frames() {
		got = append(got, f.Type()+" "+f.Str("status"))
	}
	// The status is answered before or between the results, the queued one is first.
	if len(got) != 4 || got[0] != "inject_result queued" || got[3] != "inject_result delivered" {
		t.Errorf("got %q", got)
	}
	gone := w.call()
	must(t, gone.SendRaw(`{"type":"inject","id":"m2","from":"bob","body":"x"}`+"\n"))
	must(t, gone.Close())
	w.delivers("m2", "echo") // an accepted message stays
}

func TestFeaturesAreAnswered(t *testing.T) {
	t.Parallel()
	w, token := startScript(t, `cat`, "--idle-timeout", "1h", "--allow-command")
	a := w.call().become(token)
	samples := map[string]map[string]any{
		"hello": fields("hello"), "inject": injection("m1"), "query": fields("query", "id", "m1"), "cancel": fields("cancel", "id", "m1"),
		"queue": fields("queue"), "status": fields("status"), "subscribe": fields("subscribe"), "screen": fields("screen"),
		"signal": fields("signal", "event", "busy"), "emit": fields("emit", "to", "bob", "body", "x"),
		"pull": fields("pull", "max", 1), "pull_ack": fields("pull_ack", "ids", []string{"m2"}),
		"pause": fields("pause"), "resume": fields("resume"), "keys": fields("keys", "keys", []string{"x"}), "explain": fields("explain"),
	}
	a.want(injection("m2"), fields("inject_result", "status", "queued"))
	features := a.ask(fields("hello")).Fields["features"].([]any)
	if len(features) != len(samples) {
		t.Errorf("features %v, want those of %d samples", features, len(samples))
	}
	for _, name := range features {
		if f := a.ask(samples[name.(string)]); f.Type() == "error" {
			t.Errorf("%s: %s", name, f.Raw)
		}
	}
}
