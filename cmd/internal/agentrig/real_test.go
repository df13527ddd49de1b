package agentrig_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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

// session is a real agent on a terminal of its own.
type session struct {
	*term.Term
	t   *testing.T
	api *fakemodel.Server
	cwd string
}

func open(t *testing.T, a agentrig.Agent) *session {
	t.Helper()
	real := realagent.SetUp(t, a, testrig.Dir(t))
	asksNoRegistry(t, filepath.Join(filepath.Dir(real.Dir), "home"))
	tm := testrig.StartTerm(t, term.Options{Argv: real.Argv, Env: real.Env, Dir: real.Dir})
	return &session{tm, t, real.API, real.Dir}
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

// TestRealAgentsWorkOffline: each agent begins without a question, gives its model what the user
// said, runs what needs no permission, and asks before what does.
func TestRealAgentsWorkOffline(t *testing.T) {
	for _, a := range agentrig.All() {
		t.Run(a.Name(), func(t *testing.T) {
			s := open(t, a)
			s.must(s.WaitText(s.step(), a.Idle))
			for text, shown := range map[string]string{"hello": "ACK 5 bytes", "TOOL 0": "Done."} {
				if got := a.Received(s.says(text)); got != text {
					t.Errorf("received %q, want %q", got, text)
				}
				s.must(s.WaitText(s.step(), shown))
				s.must(s.WaitText(s.step(), a.Idle))
			}
			s.says("TOUCH made")
			s.must(s.WaitText(s.step(), a.Question))
			if _, err := os.Stat(filepath.Join(s.cwd, "made")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the command ran unasked: %v", err)
			}
		})
	}
}

// says pastes text and submits it, and waits for its turn, whole.
func (s *session) says(text string) fakemodel.Turn {
	s.t.Helper()
	s.must(s.Paste(text))
	s.must(s.WaitText(s.step(), text))
	n := len(s.api.Turns())
	// Gemini CLI takes an Enter soon after a paste for one more line of it.
	s.must(s.PressUntil(s.step(), "\r", time.Second, func(*screen.Screen) bool { return len(s.api.Turns()) > n }))
	turn, err := s.api.WaitTurn(s.step(), func(t fakemodel.Turn) bool { return t.N == n && !t.Open() })
	s.must(err)
	return turn
}
