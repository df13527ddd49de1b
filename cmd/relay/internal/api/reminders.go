package api

import (
	"net/http"

	"relay-pty/cmd/relay/internal/router"
)

// remind sets a reminder for whoever asks.
func (s *Server) remind(r *http.Request) (any, error) {
	var ask Remind
	if err := decode(r, &ask); err != nil {
		return nil, err
	}
	to, err := s.sender(r, ask.From)
	if err != nil {
		return nil, err
	}
	k, err := s.Hub.Remind(r.Context(), router.Message{ID: ask.ID, To: to, Body: ask.Message}, ask.DelayMS)
	if err != nil {
		return nil, err
	}
	return reminderOf(k), nil
}

// reminders answers with what is to be sent later.
func (s *Server) reminders(r *http.Request) (any, error) {
	to, err := s.named(r, r.URL.Query().Get("to"))
	if err != nil {
		return nil, err
	}
	var answer Reminders
	s.Hub.View(func(state *router.State, _ func(string) bool) {
		answer.Reminders = []Reminder{}
		for _, k := range state.Scheduled() {
			if to == "" || k.To == to {
				answer.Reminders = append(answer.Reminders, reminderOf(k))
			}
		}
	})
	return answer, nil
}

func reminderOf(k router.Known) Reminder {
	return Reminder{
		ID: k.ID, Status: k.Status, To: k.To, Body: k.Body, About: k.About, SetAt: k.SetAt, DueAt: k.DueAt,
	}
}
