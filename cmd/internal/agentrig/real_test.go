package agentrig_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/pty/screen"
)

func TestMain(m *testing.M) {
	testrig.KnownStart()
	os.Exit(m.Run())
}

// idle is what each agent shows when it waits for a prompt that nobody has begun.
var idle = map[string]string{
	"claude": "❯\u00a0\n", "codex": "› Ask Codex to do", "gemini": ">   Type your message", "opencode": "┃  Build · Fake",
}

// session is a real agent on a terminal of its own.
type session struct {
	*term.Term
	t   *testing.T
	a   agentrig.Agent
	api *fakemodel.Server
	cwd string
}

func open(t *testing.T, a agentrig.Agent, changes ...agentrig.Change) *session {
	t.Helper()
	real := realagent.SetUp(t, a, testrig.Dir(t), changes...)
	asksNoRegistry(t, filepath.Join(filepath.Dir(real.Dir), "home"))
	tm := testrig.StartTerm(t, term.Options{Argv: real.Argv, Env: real.Env, Dir: real.Dir})
	return &session{tm, t, a, real.API, real.Dir}
}

// asksNoRegistry has a home's npm ask a registry of ours, which must not hear of it: an agent that
// fetches packages works for half a minute more, and not on loopback.
func asksNoRegistry(t *testing.T, home string) {
	t.Helper()
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("the agent asked its registry for %s", r.URL)
		http.NotFound(w, r)
	}))
	t.Cleanup(registry.Close)
	must(t, os.WriteFile(filepath.Join(home, ".npmrc"), []byte("registry="+registry.URL+"/\n"), 0o600))
}

func (s *session) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.Screen())
	}
}

// step bounds one thing that the agent is to do.
func (s *session) step() context.Context {
	s.t.Helper()
	return testrig.Within(s.t, 2*time.Minute)
}

// idles waits until the agent's composer is empty.
func (s *session) idles() {
	s.t.Helper()
	s.must(s.WaitText(s.step(), idle[s.a.Profile]))
}

// says pastes text and submits it, and waits for its turn, whole.
func (s *session) says(text string) fakemodel.Turn {
	s.t.Helper()
	s.must(s.Paste(text))
	s.must(s.WaitText(s.step(), text[strings.LastIndex(text, "\n")+1:]))
	n := len(s.api.Turns())
	// Gemini CLI takes an Enter soon after a paste for one more line of it.
	s.must(s.PressUntil(s.step(), "\r", time.Second, func(*screen.Screen) bool { return len(s.api.Turns()) > n }))
	return s.ends(n)
}

// ends waits for the end of the turn n.
func (s *session) ends(n int) fakemodel.Turn {
	s.t.Helper()
	turn, err := s.api.WaitTurn(s.step(), func(t fakemodel.Turn) bool { return t.N == n && !t.Open() })
	s.must(err)
	return turn
}

func TestRealAgentsTalkAndAsk(t *testing.T) {
	t.Parallel()
	for _, a := range agentrig.All() {
		t.Run(a.Name(), func(t *testing.T) {
			t.Parallel()
			s := open(t, a)
			s.api.SetMark("one", "first\n\n->relay:bob <<<Hello Bob>>>")
			s.idles()
			for _, c := range []struct{ text, shown string }{
				{"hello\nthere", "ACK 11 bytes"}, {"MARK one", "->relay:bob <<<Hello Bob>>>"}, {"LONG 40", "Line 40 of 40"}, {"TOOL 0", "Done."},
			} {
				turn := s.says(c.text)
				if got := s.a.Received(turn); got != c.text || turn.Aborted {
					t.Errorf("received %q (aborted %v), want %q", turn.Text, turn.Aborted, c.text)
				}
				s.must(s.WaitText(s.step(), c.shown))
				s.idles()
			}
			s.asks()
			for _, turn := range s.api.Turns() {
				if n := strings.Count(strings.Join(turn.Text, "\n"), "hello"); n > 0 && turn.N > 0 {
					t.Errorf("turn %d repeats the first message: %q", turn.N, turn.Text)
				}
			}
			t.Logf("%d turns, %d side questions", len(s.api.Turns()), s.api.Sides())
		})
	}
}

// asks checks that a tool call waits for its permission, and is run with it.
func (s *session) asks() {
	s.t.Helper()
	made := filepath.Join(s.cwd, "made")
	turn := s.says("TOUCH made")
	s.must(s.WaitText(s.step(), s.a.Question()))
	if _, err := os.Stat(made); !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatalf("the command ran unasked: %v", err)
	}
	s.must(s.PressUntil(s.step(), "\r", time.Second, func(*screen.Screen) bool { return len(s.api.Turns()) > turn.N+1 }))
	result := s.ends(turn.N + 1)
	if _, err := os.Stat(made); err != nil || len(result.Results) != 1 || len(result.Text) != 0 {
		s.t.Errorf("got file %v, results %q and text %q; want the file, one result and no text", err, result.Results, result.Text)
	}
}
