package fakemodel

import (
	"net/http"
	"strings"
	"sync"
	"testing"
)

// TestHabitsChangeWhileItServes: what a test sets after the start is no race with a request, which
// an agent of an earlier moment may make at any time.
func TestHabitsChangeWhileItServes(t *testing.T) {
	s, err := Start(Messages)
	must(t, err)
	defer s.Close()
	var asks sync.WaitGroup
	for range 4 {
		asks.Go(func() {
			body := `{"model":"m","stream":true,"tools":[{},{},{}],"messages":[{"role":"user","content":"hi"}]}`
			answer, err := http.Post(s.URL()+"/v1/messages", "application/json", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			answer.Body.Close() // what it says is not looked at
		})
	}
	s.KeepRaw()
	s.Respond(func(Turn) Reply { return Say("later") })
	asks.Wait()
	if got := s.Responder()(Turn{}); len(got.Deltas) != 1 || got.Deltas[0] != "later" {
		t.Errorf("it answers %q", got.Deltas)
	}
}

// TestFailingModelIsTriedAgain: what it refused it has not answered.
func TestFailingModelIsTriedAgain(t *testing.T) {
	s, err := Start(Messages)
	must(t, err)
	defer s.Close()
	for i, want := range []int{500, 500, 200} {
		s.Fail(i < 2)
		body := `{"model":"m","stream":true,"tools":[{},{},{}],"messages":[{"role":"user","content":"hi"}]}`
		answer, err := http.Post(s.URL()+"/v1/messages", "application/json", strings.NewReader(body))
		must(t, err)
		if answer.Body.Close(); answer.StatusCode != want {
			t.Errorf("attempt %d: status %d, want %d", i, answer.StatusCode, want)
		}
	}
	must(t, s.WaitRefused(t.Context(), 2))
	if n := len(s.Turns()); n != 1 {
		t.Errorf("%d turns, want 1", n)
	}
}
