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

// wire is how a test speaks one of the wires.
type wire struct {
	serve Wire
	path  string
	// conversation is a request with an old exchange, the agent's own text, a
	// tool's result and two new texts.
	conversation, side string
	text, command      func(events []obj) string // what they say, and call
	last               string                    // what the last event holds
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
			text: func(events []obj) (text string) {
				for _, e := range events {
					delta, _ := e["delta"].(obj)
					part, _ := delta["text"].(string)
					text += part
				}
				return text
			},
			command: func(events []obj) string {
				for _, e := range events {
					delta, _ := e["delta"].(obj)
					if input, ok := delta["partial_json"].(string); ok {
						return args(input, "command")
					}
				}
				return ""
			},
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
			text: func(events []obj) (text string) {
				for _, e := range events {
					if e["type"] == "response.output_text.delta" {
						text += e["delta"].(string)
					}
				}
				return text
			},
			command: func(events []obj) string {
				for _, e := range events {
					if item, _ := e["item"].(obj); item["type"] == "function_call" {
						return args(item["arguments"].(string), "cmd")
					}
				}
				return ""
			},
			last: `"response.completed"`,
		},
		"chat": {
			serve: Chat, path: "/v1/chat/completions",
			conversation: `{"tools":[{}],"messages":[{"role":"user","content":"old"},{"role":"assistant","content":null},
				{"role":"tool","content":"listing"},{"role":"system","content":"by the agent"},
				{"role":"user","content":[{"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"text","text":"new one"}]},
				{"role":"user","content":"<system-reminder>\nThe user sent the following message:\nnew two\n\nPlease address this message and continue with your tasks.\n</system-reminder>"}]}`,
			side: `{"messages":[{"role":"user","content":"name it"}]}`,
			text: func(events []obj) (text string) {
				for _, e := range events {
					for _, c := range e["choices"].([]any) {
						part, _ := c.(obj)["delta"].(obj)["content"].(string)
						text += part
					}
				}
				return text
			},
			command: func(events []obj) string {
				for _, e := range events {
					for _, c := range e["choices"].([]any) {
						if calls, _ := c.(obj)["delta"].(obj)["tool_calls"].([]any); len(calls) > 0 {
							return args(calls[0].(obj)["function"].(obj)["arguments"].(string), "command")
						}
					}
				}
				return ""
			},
			last: "[DONE]",
		},
		"gemini": {
			serve: Gemini, path: "/v1beta/models/fake:streamGenerateContent?alt=sse",
			conversation: `{"tools":[{}],"contents":[{"role":"user","parts":[{"text":"old"}]},{"role":"model","parts":[{"functionCall":{}}]},
				{"role":"user","parts":[{"functionResponse":{"response":"listing"}}]},
				{"role":"user","parts":[{"text":"<session_context>x"},{"text":"new one"},{"text":"\n--- Content from referenced files ---"},{"text":"\nContent from @x:\n"},{"text":"bytes"},{"text":"\n--- End of content ---"},{"text":"new two"}]}]}`,
			side: `{"contents":[],"generationConfig":{"responseJsonSchema":{"type":"object","properties":{"next_speaker":{"type":"string","enum":["model","user"]},"n":{"type":"number"}}}}}`,
			text: func(events []obj) (text string) {
				for _, e := range events {
					part, _ := geminiPart(e)["text"].(string)
					text += part
				}
				return text
			},
			command: func(events []obj) string {
				call, _ := geminiPart(events[len(events)-1])["functionCall"].(obj)
				in, _ := call["args"].(obj)
				command, _ := in["command"].(string)
				return command
			},
			last: `"STOP"`,
		},
	}
}

func geminiPart(event obj) obj {
	return event["candidates"].([]any)[0].(obj)["content"].(obj)["parts"].([]any)[0].(obj)
}

func args(source, name string) string {
	var v obj
	if json.Unmarshal([]byte(source), &v) != nil {
		return "not JSON: " + source
	}
	s, _ := v[name].(string)
	return s
}

func overWires(t *testing.T, test func(t *testing.T, w wire, s *Server)) {
	for name, w := range wires() {
		t.Run(name, func(t *testing.T) {
			s, err := Start(w.serve)
			must(t, err)
			t.Cleanup(func() { s.Close() }) // the listener is gone either way
			test(t, w, s)
		})
	}
}

// post sends body and returns the response, whose body the caller closes.
func post(t *testing.T, ctx context.Context, url, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", url, bytes.NewReader([]byte(body)))
	must(t, err)
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	return resp
}

// reads reads a stream to its end: its events but for a word that is no JSON, and
// the data of the last one.
func reads(t *testing.T, resp *http.Response) (events []obj, last string) {
	t.Helper()
	defer resp.Body.Close()
	for sc := bufio.NewScanner(resp.Body); sc.Scan(); {
		data, ok := strings.CutPrefix(sc.Text(), "data: ")
		if !ok {
			continue
		}
		last = data
		var e obj
		if err := json.Unmarshal([]byte(data), &e); err == nil {
			events = append(events, e)
		} else if data != "[DONE]" {
			t.Fatalf("data %q: %v", data, err)
		}
	}
	return events, last
}

// asking is the conversation with its last text replaced.
func (w wire) asking(text string) string { return strings.Replace(w.conversation, "new two", text, 1) }

func TestWiresLogWhatIsNewAndReply(t *testing.T) {
	overWires(t, func(t *testing.T, w wire, s *Server) {
		s.KeepRaw()
		events, last := reads(t, post(t, t.Context(), s.URL()+w.path, w.conversation))
		if got := w.text(events); got != "ACK 15 bytes" || !strings.Contains(last, w.last) {
			t.Errorf("said %q and last %s, want ACK 15 bytes and %s", got, last, w.last)
		}
		turns := s.Turns()
		if len(turns) != 1 || turns[0].Open() || turns[0].Aborted || !json.Valid(turns[0].Raw) {
			t.Fatalf("got turns %+v, want one that ended well", turns)
		}
		for _, c := range []struct {
			name      string
			got, want []string
		}{
			{"Text", turns[0].Text, []string{"new one", "new two"}},
			{"Results", turns[0].Results, []string{"listing"}},
		} {
			if got := strings.ReplaceAll(strings.Join(c.got, "|"), `"`, ""); got != strings.Join(c.want, "|") {
				t.Errorf("got %s %q, want %q", c.name, c.got, c.want)
			}
		}
		if len(turns[0].System) == 0 || strings.Contains(strings.Join(turns[0].System, " "), "new") {
			t.Errorf("got System %q, want what the agent adds", turns[0].System)
		}
	})
}

func TestWiresCallTools(t *testing.T) {
	overWires(t, func(t *testing.T, w wire, s *Server) {
		for words, want := range map[string]string{"TOUCH a/b": "touch a/b", "TOOL 4": "sleep 4", "plain": ""} {
			events, _ := reads(t, post(t, t.Context(), s.URL()+w.path, w.asking(words)))
			if got := w.command(events); got != want {
				t.Errorf("%s: called %q, want %q", words, got, want)
			}
		}
	})
}

func TestWiresKeepSideQuestionsOutOfTheLog(t *testing.T) {
	overWires(t, func(t *testing.T, w wire, s *Server) {
		events, _ := reads(t, post(t, t.Context(), s.URL()+w.path, w.side))
		if w.text(events) == "" || len(s.Turns()) != 0 {
			t.Errorf("said %q, %d turns; want an answer and none", w.text(events), len(s.Turns()))
		}
	})
}

func TestWiresNoticeThatTheClientHangsUp(t *testing.T) {
	overWires(t, func(t *testing.T, w wire, s *Server) {
		for n, words := range []string{"THINK 600", "SLOW 600"} {
			limit := testrig.Within(t, patience)
			ctx, hangup := context.WithCancel(limit)
			defer hangup()
			done := make(chan error, 1)
			go func() {
				r, err := http.NewRequestWithContext(ctx, "POST", s.URL()+w.path, strings.NewReader(w.asking(words)))
				if err == nil {
					var resp *http.Response
					if resp, err = http.DefaultClient.Do(r); err == nil {
						_, err = io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
					}
				}
				done <- err
			}()
			wait := func(want func(Turn) bool) Turn {
				turn, err := s.WaitTurn(limit, func(t Turn) bool { return t.N == n && want(t) })
				if err != nil {
					t.Fatalf("%s: wait for the turn: %v", words, err)
				}
				return turn
			}
			wait(Turn.Open)
			hangup()
			select {
			case err := <-done:
				if err == nil {
					t.Errorf("%s: the reply came to its end", words)
				}
			case <-limit.Done():
				t.Fatalf("%s: wait for the end of the request: %v", words, context.Cause(limit))
			}
			if turn := wait(func(t Turn) bool { return !t.Open() }); !turn.Aborted {
				t.Errorf("%s: got a turn that ended well, want an aborted one", words)
			}
		}
	})
}

func TestGeminiAnswersFitTheirSchema(t *testing.T) {
	s, err := Start(Gemini)
	must(t, err)
	defer s.Close()
	resp := post(t, t.Context(), s.URL()+"/v1beta/models/fake:generateContent", wires()["gemini"].side)
	defer resp.Body.Close()
	var v obj
	must(t, json.NewDecoder(resp.Body).Decode(&v))
	var got struct {
		Speaker string   `json:"next_speaker"`
		N       *float64 `json:"n"`
	}
	text, _ := geminiPart(v)["text"].(string)
	if err := json.Unmarshal([]byte(text), &got); err != nil || got.Speaker != "user" || got.N == nil {
		t.Errorf("got %q, %v; want an object that fits and gives the floor to the user", text, err)
	}
}

// TestMessagesWithoutAStream: Claude Code asks for whole answers, too.
func TestMessagesWithoutAStream(t *testing.T) {
	s, err := Start(Messages)
	must(t, err)
	defer s.Close()
	w := wires()["messages"]
	body := strings.Replace(w.asking("TOUCH a/b"), `"stream":true`, `"stream":false`, 1)
	resp := post(t, t.Context(), s.URL()+w.path, body)
	defer resp.Body.Close()
	var m struct {
		StopReason string `json:"stop_reason"`
		Content    []struct {
			Name  string
			Input struct{ Command string }
		}
	}
	must(t, json.NewDecoder(resp.Body).Decode(&m))
	if m.StopReason != "tool_use" || len(m.Content) != 2 || m.Content[1].Name != "Bash" || m.Content[1].Input.Command != "touch a/b" {
		t.Errorf("got %+v, want a call of Bash with touch", m)
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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
