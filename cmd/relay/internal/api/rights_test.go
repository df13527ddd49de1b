package api

import (
	"context"
	"testing"

	"relay-pty/protocol"
)

// TestAnAgentsOwn: with its token an agent takes back, sends again, pauses and resumes what is its
// own, and takes no id that belongs to what others sent. A person may all of it.
func TestAnAgentsOwn(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	carol := NewClient(r.socket, carolsToken)
	t.Cleanup(carol.http.CloseIdleConnections)
	for id, from := range map[string]string{"theirs": "human", "hers": "carol", "lost": "human", "hers-lost": "carol"} {
		_, err := r.Send(ctx, Send{To: "bob", Body: "hi", ID: id, From: from})
		must(t, err)
	}
	for _, id := range []string{"lost", "hers-lost"} {
		r.tell(id, protocol.StatusFailed)
	}
	for id, to := range map[string]string{"later": "human", "her-later": "carol"} {
		_, err := r.Remind(ctx, Remind{ID: id, From: to, DelayMS: 60_000, Message: "look"})
		must(t, err)
	}
	must(t, r.hub.Pause(ctx, "carol", "", 0))
	message := func(f func(context.Context, string) (Message, error)) func(string) error {
		return func(id string) error { _, err := f(ctx, id); return err }
	}
	agent := func(f func(context.Context, string) (Agent, error)) func(string) error {
		return func(name string) error { _, err := f(ctx, name); return err }
	}
	pause := func(name string) error { _, err := carol.Pause(ctx, name, 0); return err }
	taken := func(id string) error { _, err := carol.Send(ctx, Send{To: "bob", Body: "hi", ID: id}); return err }
	for _, c := range []struct {
		what string
		does func(string) error
		of   string
		code string
	}{
		{"take back another's", message(carol.Cancel), "theirs", "not_authorized"},
		{"take back another's reminder", message(carol.Cancel), "later", "not_authorized"},
		{"take back its own", message(carol.Cancel), "hers", ""},
		{"take back its own reminder", message(carol.Cancel), "her-later", ""},
		{"send another's again", message(carol.Redeliver), "lost", "not_authorized"},
		{"send its own again", message(carol.Redeliver), "hers-lost", ""},
		{"pause another one", pause, "bob", "not_authorized"},
		{"resume another one", agent(carol.Resume), "bob", "not_authorized"},
		{"end the pause that a person made", agent(carol.Resume), "carol", "not_authorized"},
		{"take the id of another's redelivery", taken, "theirs:r1", "duplicate_id"},
		{"take the id of another's copy", taken, "theirs:bob", "duplicate_id"},
		{"take the id of its own", taken, "hers:r7", ""},
		{"take an id with a colon", taken, "build:42", ""},
		{"a person takes back another's", message(r.Cancel), "hers:r7", ""},
		{"a person sends another's again", message(r.Redeliver), "lost", ""},
	} {
		if err := c.does(c.of); c.code == "" && err != nil || c.code != "" && code(err) != c.code {
			t.Errorf("%s: %v, want %q", c.what, err, c.code)
		}
	}
	if m, err := r.Message(ctx, "theirs", "", 0); err != nil || m.Status == protocol.StatusCancelled {
		t.Errorf("the other one's is %s, %v", m.Status, err)
	}
	if p, _ := r.hub.Paused("carol"); !p.On || p.By != "" {
		t.Errorf("the pause that a person made is %+v", p)
	}
	must(t, r.hub.Pause(ctx, "bob", "bob", 0))
	if p, _ := r.hub.Paused("bob"); p.By != "bob" {
		t.Errorf("bob's own pause is %+v", p)
	}
}
