package fakemodel

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
)

// patience is how long a test waits for what must come; only a failure takes that long.
const patience = time.Minute

// serve starts a server of Messages for a test, and what bounds the test.
func serve(t *testing.T) (*Server, context.Context) {
	t.Helper()
	s, err := Start(Messages)
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s, testrig.Within(t, patience)
}

func user(text string) obj      { return obj{"role": "user", "content": text} }
func assistant(text string) obj { return obj{"role": "assistant", "content": text} }

// ask posts a turn and returns its response, whose body the caller closes.
func ask(ctx context.Context, t *testing.T, s *Server, stream bool, tools int, messages ...obj) *http.Response {
	t.Helper()
	req := obj{"model": "m", "stream": stream, "messages": messages, "tools": make([]obj, tools)}
	b, err := json.Marshal(req)
	must(t, err)
	r, err := http.NewRequestWithContext(ctx, "POST", s.URL()+"/v1/messages?beta=true", bytes.NewReader(b))
	must(t, err)
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	return resp
}

// events reads a stream to its end: event names, and the text deltas joined.
func events(t *testing.T, body io.ReadCloser) (names []string, text string) {
	t.Helper()
	defer body.Close()
	for sc := bufio.NewScanner(body); sc.Scan(); {
		if name, ok := strings.CutPrefix(sc.Text(), "event: "); ok {
			names = append(names, name)
		}
		data, ok := strings.CutPrefix(sc.Text(), "data: ")
		if !ok {
			continue
		}
		var ev struct {
			Type  string
			Delta struct{ Text string }
		}
		if err := json.Unmarshal([]byte(data), &ev); err != nil {
			t.Fatalf("data %q: %v", data, err)
		}
		if ev.Type != names[len(names)-1] {
			t.Errorf("event %s carries type %s", names[len(names)-1], ev.Type)
		}
		text += ev.Delta.Text
	}
	return names, text
}

func TestStreamIsWhatClientsExpect(t *testing.T) {
	s, ctx := serve(t)
	names, text := events(t, ask(ctx, t, s, true, 5, user("hello")).Body)
	want := "message_start content_block_start content_block_delta content_block_stop message_delta message_stop"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got events %s, want %s", got, want)
	}
	if text != "ACK 5 bytes" {
		t.Errorf("got text %q, want ACK 5 bytes", text)
	}
}

func TestWithoutStreamTheAnswerIsOneObject(t *testing.T) {
	s, ctx := serve(t)
	resp := ask(ctx, t, s, false, 5, user("TOUCH /tmp/x"))
	defer resp.Body.Close()
	var m struct {
		StopReason string `json:"stop_reason"`
		Content    []struct {
			Type, Name string
			Input      struct{ Command string }
		}
	}
	must(t, json.NewDecoder(resp.Body).Decode(&m))
	if m.StopReason != "tool_use" || len(m.Content) != 2 || m.Content[1].Name != "Bash" || m.Content[1].Input.Command != "touch /tmp/x" {
		t.Errorf("got %+v, want a call of Bash with touch", m)
	}
}

func TestOtherRoutes(t *testing.T) {
	s, ctx := serve(t)
	for _, c := range []struct {
		method, path string
		status       int
		body         string
	}{
		{"HEAD", "/", 200, ""},
		{"GET", "/v1/anything", 200, "{}"},
		{"POST", "/v1/messages/count_tokens", 200, `{"input_tokens":10}`},
		{"POST", "/v1/elsewhere", 404, "404 page not found\n"},
		{"POST", "/v1/messages", 400, ""},
	} {
		r, err := http.NewRequestWithContext(ctx, c.method, s.URL()+c.path, nil)
		must(t, err)
		resp, err := http.DefaultClient.Do(r)
		must(t, err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != c.status || c.status != 400 && string(body) != c.body {
			t.Errorf("%s %s = %d %q, %v; want %d %q", c.method, c.path, resp.StatusCode, body, err, c.status, c.body)
		}
	}
}

func TestSideQuestionsStayOutOfTheLog(t *testing.T) {
	s, ctx := serve(t)
	_, text := events(t, ask(ctx, t, s, true, 0, user("Write a title")).Body)
	if !json.Valid([]byte(text)) {
		t.Errorf("got title %q, want JSON", text)
	}
	if n := len(s.Turns()); n != 0 || s.Sides() != 1 {
		t.Errorf("got %d turns and %d side questions, want 0 and 1", n, s.Sides())
	}
}

func TestTurnHoldsWhatIsNew(t *testing.T) {
	s, ctx := serve(t)
	s.KeepRaw()
	messages := []obj{
		user("old"), assistant("answer"),
		{"role": "user", "content": []obj{
			{"type": "tool_result", "content": []obj{{"type": "text", "text": "listing"}}},
			{"type": "tool_result", "content": "plain"},
			{"type": "text", "text": "<system-reminder>no</system-reminder>"},
			{"type": "text", "text": "new one"},
		}},
		{"role": "system", "content": "by hook"},
		user("new two"),
	}
	events(t, ask(ctx, t, s, true, 5, messages...).Body)
	turn, err := s.WaitTurn(ctx, func(t Turn) bool { return !t.Open() })
	must(t, err)
	for _, c := range []struct {
		name      string
		got, want []string
	}{
		{"Text", turn.Text, []string{"new one", "new two"}},
		{"System", turn.System, []string{"by hook"}},
		{"Results", turn.Results, []string{"listing", "plain"}},
	} {
		if strings.Join(c.got, "|") != strings.Join(c.want, "|") {
			t.Errorf("got %s %q, want %q", c.name, c.got, c.want)
		}
	}
	if turn.Aborted || !json.Valid(turn.Raw) {
		t.Errorf("got aborted %v and raw %.40q, want a finished turn with its request", turn.Aborted, turn.Raw)
	}
}

func TestTurnsAreNumbered(t *testing.T) {
	s, ctx := serve(t)
	for _, text := range []string{"one", "two", "three"} {
		events(t, ask(ctx, t, s, true, 5, user(text)).Body)
	}
	for i, turn := range s.Turns() {
		if turn.N != i || turn.UserText() != []string{"one", "two", "three"}[i] {
			t.Errorf("turn %d: got number %d and %q", i, turn.N, turn.UserText())
		}
	}
	if n := len(s.Turns()); n != 3 {
		t.Errorf("got %d turns, want 3", n)
	}
}

func TestHangingUpAbortsTheTurn(t *testing.T) {
	s, ctx := serve(t)
	for _, words := range []string{"THINK 600", "SLOW 600"} {
		cctx, hangup := context.WithCancel(ctx)
		resp := ask(cctx, t, s, true, 5, user(words))
		open, err := s.WaitTurn(ctx, func(t Turn) bool { return t.UserText() == words && t.Open() })
		must(t, err)
		hangup()
		resp.Body.Close()
		turn, err := s.WaitTurn(ctx, func(t Turn) bool { return t.N == open.N && !t.Open() })
		if err != nil || !turn.Aborted {
			t.Errorf("%s: got aborted %v, %v; want an aborted turn", words, turn.Aborted, err)
		}
	}
}

func TestSilenceCarriesPings(t *testing.T) {
	s, ctx := serve(t)
	s.PingEvery(time.Millisecond)
	s.Respond(func(Turn) Reply { return Reply{Think: 100 * time.Millisecond, Deltas: []string{"x"}} })
	names, text := events(t, ask(ctx, t, s, true, 5, user("hm")).Body)
	if !strings.Contains(strings.Join(names, " "), "ping ping") || text != "x" {
		t.Errorf("got %q with events %v, want x after pings", text, names)
	}
}

func TestWaitTurnEnds(t *testing.T) {
	s, err := Start(Messages)
	must(t, err)
	never := func(Turn) bool { return false }
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := s.WaitTurn(ctx, never); !errors.Is(err, why) {
		t.Errorf("got %v, want the context's cause", err)
	}
	got := make(chan error, 1)
	go func() { _, err := s.WaitTurn(t.Context(), never); got <- err }()
	must(t, s.Close())
	select {
	case err := <-got:
		if !errors.Is(err, ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
	case <-time.After(patience):
		t.Errorf("the end of a wait at a closed server: not within %v", patience)
	}
}

func TestScript(t *testing.T) {
	s := &Server{}
	s.SetMark("a.b", "->relay:bob <<<é>>>")
	for _, c := range []struct {
		in   string
		text string
		rep  Reply
	}{
		{"hé", "ACK 3 bytes", Reply{}},
		{"[relay m1 from bob] LONG 2\n[end m1]", "Line 1 of 2\n\nLine 2 of 2\n\n", Reply{}},
		{"SLOW 1", "Line 1 of 4\n\nLine 2 of 4\n\nLine 3 of 4\n\nLine 4 of 4\n\n", Reply{Gap: slowGap}},
		{"THINK 3", "ACK 7 bytes", Reply{Think: 3 * time.Second}},
		{"please TOUCH a/b now", "Running a command.", Reply{Tool: &Tool{Command: "touch a/b"}}},
		{"TOOL 4", "Running a command.", Reply{Tool: &Tool{Command: "sleep 4"}}},
		{"MARK a.b", "->relay:bob <<<é>>>", Reply{}},
		{"MARK no", "no mark named no", Reply{}},
		{"LONG way", "ACK 8 bytes", Reply{}},
		{"BELONG 3", "ACK 8 bytes", Reply{}},
	} {
		got := s.Script(Turn{Text: []string{c.in}})
		if text := strings.Join(got.Deltas, ""); text != c.text {
			t.Errorf("%q: got %q, want %q", c.in, text, c.text)
		}
		if got.Gap != c.rep.Gap || got.Think != c.rep.Think {
			t.Errorf("%q: got gap %v, think %v; want %v, %v", c.in, got.Gap, got.Think, c.rep.Gap, c.rep.Think)
		}
		if (got.Tool == nil) != (c.rep.Tool == nil) || got.Tool != nil && got.Tool.Command != c.rep.Tool.Command {
			t.Errorf("%q: got tool %+v, want %+v", c.in, got.Tool, c.rep.Tool)
		}
	}
}

func TestUnwrap(t *testing.T) {
	wrap := func(body string) string {
		return "\n\n<pasted_content id=\"7b23\">\n" + body + "\n</pasted_content id=\"7b23\">\n"
	}
	for _, c := range []struct{ name, in, want string }{
		{"nothing to do", "a\n[Pasted text #1]\nb", "a\n[Pasted text #1]\nb"},
		{"paste alone", wrap("a\nb"), "a\nb"},
		{"header and footer around", "[h] " + wrap("a\nb") + "\n[f]", "[h] a\nb\n[f]"},
		{"two pastes", "1" + wrap("a") + "2" + wrap("b") + "3", "1a2b3"},
		{"placeholder before it", "x [Pasted text #3 +12 lines]" + wrap("a"), "x a"},
		{"a mark inside the paste", wrap("<pasted_content id=\"1\">\nx\n</pasted_content id=\"1\">\n"), "<pasted_content id=\"1\">\nx\n</pasted_content id=\"1\">\n"},
		{"not closed", "a\n\n<pasted_content id=\"1\">\nb", "a\n\n<pasted_content id=\"1\">\nb"},
	} {
		if got := Unwrap(c.in); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
