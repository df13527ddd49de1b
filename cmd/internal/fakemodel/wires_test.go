package fakemodel

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
)

// wire is how a test speaks one of the wires.
type wire struct {
	serve Wire
	path  string
	// conversation is a request with an old exchange, the agent's own text, a tool's result and two
	// new texts.
	conversation, side string
	says               string // the pattern of a piece of a reply
	last               string // what the last event holds
}

func wires() map[string]wire {
	return map[string]wire{
		"messages": {
			serve: Messages, path: "/v1/messages?beta=true",
			conversation: `{"tools":[{},{},{}],"stream":true,"messages":[{"role":"user","content":"old"},{"role":"assistant","content":"answer"},
				{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"listing"}]},
				{"type":"text","text":"<system-reminder>no</system-reminder>"},{"type":"text","text":"new one"}]},
				{"role":"system","content":"by hook"},{"role":"user","content":"new two"}]}`,
			side: `{"stream":true,"messages":[{"role":"user","content":"Write a title"}]}`,
			says: `"text":"(.*?)","type":"text_delta"`,
			last: `"message_stop"`,
		},
		"responses": {
			serve: Responses, path: "/v1/responses",
			conversation: `{"tools":[{}],"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"old"}]},
				{"type":"function_call","name":"exec_command","arguments":"{}"},
				{"type":"function_call_output","call_id":"c","output":"listing"},
				{"type":"message","role":"developer","content":[{"type":"input_text","text":"by the agent"}]},
				{"type":"message","role":"user","content":[{"type":"input_text","text":"<turn_aborted>x"}]},
				{"type":"message","role":"user","content":[{"type":"input_text","text":"new one"}]},
				{"type":"message","role":"user","content":"new two"}]}`,
			side: `{"tools":[{}],"input":[{"type":"message","role":"user","content":"Generate a concise, single-line task title for: x"}]}`,
			says: `"delta":"([^"]*)"`,
			last: `"response.completed"`,
		},
		"chat": {
			serve: Chat, path: "/v1/chat/completions",
			conversation: `{"tools":[{}],"messages":[{"role":"user","content":"old"},{"role":"assistant","content":null},
				{"role":"tool","content":"listing"},{"role":"system","content":"by the agent"},
				{"role":"user","content":[{"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"text","text":"new one"}]},
				{"role":"user","content":"<system-reminder>\nThe user sent the following message:\nnew two\n\nPlease address this message and continue with your tasks.\n</system-reminder>"}]}`,
			side: `{"messages":[{"role":"user","content":"name it"}]}`,
			says: `"delta":{"content":"([^"]*)"`,
			last: "[DONE]",
		},
		"gemini": {
			serve: Gemini, path: "/v1beta/models/fake:streamGenerateContent?alt=sse",
			conversation: `{"tools":[{}],"contents":[{"role":"user","parts":[{"text":"old"}]},{"role":"model","parts":[{"functionCall":{}}]},
				{"role":"user","parts":[{"functionResponse":{"response":"listing"}}]},
				{"role":"user","parts":[{"text":"<session_context>x"},{"text":"new one"},{"text":"\n--- Content from referenced files ---"},{"text":"\nContent from @x:\n"},{"text":"bytes"},{"text":"\n--- End of content ---"},{"text":"new two"}]}]}`,
			side: `{"contents":[],"generationConfig":{"responseJsonSchema":{"type":"object","properties":{"next_speaker":{"type":"string","enum":["model","user"]},"n":{"type":"number"}}}}}`,
			says: `"parts":\[{"text":"([^"]*)"`,
			last: `"STOP"`,
		},
	}
}

func overWires(t *testing.T, test func(t *testing.T, w wire, s *Server)) {
	for name, w := range wires() {
		t.Run(name, func(t *testing.T) { test(t, w, started(t, w.serve)) })
	}
}

func started(t *testing.T, w Wire) *Server {
	t.Helper()
	s, err := Start(w)
	must(t, err)
	t.Cleanup(func() { s.Close() }) // the listener is gone either way
	return s
}

// post sends body to a URL and returns the status and all that is answered.
func post(ctx context.Context, url, body string) (status int, answer string, err error) {
	r, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(all), err
}

// asks returns what the model says to a request, the stream of it, and its last event.
func (w wire) asks(t *testing.T, s *Server, body string) (says, stream, last string) {
	t.Helper()
	_, stream, err := post(testrig.Within(t, time.Minute), s.URL()+w.path, body)
	must(t, err)
	for line := range strings.Lines(stream) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			if last = data; !json.Valid([]byte(data)) && data != "[DONE]\n" {
				t.Errorf("data %q", data)
			}
		}
	}
	for _, piece := range regexp.MustCompile(w.says).FindAllStringSubmatch(stream, -1) {
		says += piece[1]
	}
	return says, stream, last
}

// asking is the conversation with its last text replaced.
func (w wire) asking(text string) string { return strings.Replace(w.conversation, "new two", text, 1) }

func TestWiresLogWhatIsNewAndReply(t *testing.T) {
	overWires(t, func(t *testing.T, w wire, s *Server) {
		s.KeepRaw()
		if says, _, last := w.asks(t, s, w.conversation); says != "ACK 15 bytes" || !strings.Contains(last, w.last) {
			t.Errorf("said %q and last %s, want ACK 15 bytes and %s", says, last, w.last)
		}
		turns := s.Turns()
		if len(turns) != 1 || turns[0].Open() || turns[0].Aborted || !json.Valid(turns[0].Raw) {
			t.Fatalf("got turns %+v, want one that ended well", turns)
		}
		if got := turns[0]; strings.Join(got.Text, "|") != "new one|new two" || strings.Join(got.Results, "|") != "listing" {
			t.Errorf("got texts %q and results %q", got.Text, got.Results)
		}
		if own := turns[0].System; len(own) == 0 || strings.Contains(strings.Join(own, " "), "new") {
			t.Errorf("got System %q, want what the agent adds", own)
		}
	})
}

func TestWiresCallTools(t *testing.T) {
	overWires(t, func(t *testing.T, w wire, s *Server) {
		call := regexp.MustCompile(`"(?:cmd|command)":"([^"]*)"`)
		for words, want := range map[string]string{"TOUCH a/b": "touch a/b", "TOOL 4": "sleep 4", "plain": ""} {
			_, stream, _ := w.asks(t, s, w.asking(words))
			got := append(call.FindStringSubmatch(strings.ReplaceAll(stream, "\\", "")), "", "")[1]
			if got != want {
				t.Errorf("%s: called %q, want %q", words, got, want)
			}
		}
	})
}

func TestWiresKeepSideQuestionsOutOfTheLog(t *testing.T) {
	overWires(t, func(t *testing.T, w wire, s *Server) {
		if says, _, _ := w.asks(t, s, w.side); says == "" || len(s.Turns()) != 0 {
			t.Errorf("said %q, %d turns; want an answer and none", says, len(s.Turns()))
		}
	})
}

func TestWiresNoticeThatTheClientHangsUp(t *testing.T) {
	overWires(t, func(t *testing.T, w wire, s *Server) {
		for n, words := range []string{"THINK 600", "SLOW 600"} {
			limit := testrig.Within(t, time.Minute)
			ctx, hangup := context.WithCancel(limit)
			defer hangup()
			done := make(chan error, 1)
			go func() { _, _, err := post(ctx, s.URL()+w.path, w.asking(words)); done <- err }()
			wait := func(want func(Turn) bool) Turn {
				turn, err := s.WaitTurn(limit, func(t Turn) bool { return t.N == n && want(t) })
				must(t, err)
				return turn
			}
			wait(Turn.Open)
			hangup()
			if err := <-done; err == nil { // at the latest with limit
				t.Errorf("%s: the reply came to its end", words)
			}
			if turn := wait(func(t Turn) bool { return !t.Open() }); !turn.Aborted {
				t.Errorf("%s: got a turn that ended well, want an aborted one", words)
			}
		}
	})
}

// TestAnswersInOnePiece: Gemini CLI asks who speaks next by a schema, and Claude Code may ask for
// whole answers.
func TestAnswersInOnePiece(t *testing.T) {
	claude, google := wires()["messages"], wires()["gemini"]
	for _, c := range []struct {
		w                wire
		path, body, want string
	}{
		{google, "/v1beta/models/fake:generateContent", google.side, `"{\"n\":1,\"next_speaker\":\"user\"}"`},
		{claude, claude.path, strings.Replace(claude.asking("TOUCH a/b"), `"stream":true`, `"stream":false`, 1), `{"command":"touch a/b",`},
	} {
		_, got, err := post(testrig.Within(t, time.Minute), started(t, c.w.serve).URL()+c.path, c.body)
		if err != nil || !json.Valid([]byte(got)) || !strings.Contains(got, c.want) {
			t.Errorf("got %s, %v; want %s in it", got, err, c.want)
		}
	}
}

// TestFailingModelIsTriedAgain: what it refused it has not answered.
func TestFailingModelIsTriedAgain(t *testing.T) {
	w := wires()["messages"]
	s := started(t, w.serve)
	for i, want := range []int{500, 500, 200} {
		s.Fail(i < 2)
		if status, _, err := post(testrig.Within(t, time.Minute), s.URL()+w.path, w.conversation); status != want || err != nil {
			t.Errorf("attempt %d: status %d, %v; want %d", i, status, err, want)
		}
	}
	must(t, s.WaitRefused(t.Context(), 2))
	if n := len(s.Turns()); n != 1 {
		t.Errorf("%d turns, want 1", n)
	}
}

// TestWiresRefuse in the words of their vendors.
func TestWiresRefuse(t *testing.T) {
	for name, want := range map[string]string{
		"messages":  `{"error":{"message":"MESSAGE","type":"authentication_error"},"type":"error"}`,
		"responses": `{"error":{"code":"authentication_error","message":"MESSAGE","param":null,"type":"authentication_error"}}`,
		"chat":      `{"error":{"code":"authentication_error","message":"MESSAGE","param":null,"type":"authentication_error"}}`,
		"gemini":    `{"error":{"code":401,"message":"MESSAGE","status":"UNAUTHENTICATED"}}`,
	} {
		w := wires()[name]
		s := started(t, w.serve)
		s.Respond(func(Turn) Reply { return Reply{Refuse: 401} })
		status, got, err := post(testrig.Within(t, time.Minute), s.URL()+w.path, w.conversation)
		if want = strings.Replace(want, "MESSAGE", trouble, 1); status != 401 || got != want || err != nil {
			t.Errorf("%s: status %d, %v, got %s, want %s", name, status, err, got, want)
		}
		s.Respond(func(Turn) Reply { return Reply{Refuse: 429, Resets: time.Hour} })
		status, got, err = post(testrig.Within(t, time.Minute), s.URL()+w.path, w.conversation)
		if status != 429 || err != nil || !strings.Contains(got, trouble) {
			t.Errorf("%s: a limit with status %d, %v: %s", name, status, err, got)
		}
	}
}

// TestRepliesThatBreakOff: the connection is reset at once, or behind a text; or nothing comes any
// more, until the client hangs up, which ends the turn.
func TestRepliesThatBreakOff(t *testing.T) {
	overWires(t, func(t *testing.T, w wire, s *Server) {
		limit := testrig.Within(t, time.Minute)
		half := []string{"The half"}
		for n, reply := range []Reply{{Fault: Reset}, {Fault: Reset, Deltas: half}, {Fault: Silent}, {Fault: Silent, Deltas: half}} {
			s.Respond(func(Turn) Reply { return reply })
			ctx, hangup := context.WithCancel(limit)
			defer hangup()
			done := make(chan error, 1)
			go func() { _, _, err := post(ctx, s.URL()+w.path, w.conversation); done <- err }()
			if reply.Fault == Silent {
				_, err := s.WaitTurn(limit, func(t Turn) bool { return t.N == n })
				must(t, err)
				hangup()
			}
			if err := <-done; err == nil || limit.Err() != nil {
				t.Errorf("reply %d came to its end: %v", n, err)
			}
			turn, err := s.WaitTurn(limit, func(t Turn) bool { return t.N == n && !t.Open() })
			if must(t, err); !turn.Aborted {
				t.Errorf("reply %d: a turn that ended well", n)
			}
		}
	})
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
	go func() { _, err := s.WaitTurn(testrig.Within(t, time.Minute), never); got <- err }()
	must(t, s.Close())
	if err := <-got; !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestChatCallsTheShellThatIsOffered: agents that speak the same wire name their shell tools
// otherwise.
func TestChatCallsTheShellThatIsOffered(t *testing.T) {
	for tools, want := range map[string]string{
		`[{}]`: "bash", `[{"function":{"name":"edit"}},{"function":{"name":"run_shell_command"}}]`: "run_shell_command",
	} {
		var q request
		if err := json.Unmarshal([]byte(`{"tools":`+tools+`}`), &q); err != nil {
			t.Fatal(err)
		}
		if got := marshal(chat(q).end("", Bash("true").Tool)[0].data); !strings.Contains(got, `"name":"`+want+`"`) {
			t.Errorf("with the tools %s it calls %s, want %s", tools, got, want)
		}
	}
}
