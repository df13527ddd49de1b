package sight

import (
	"testing"

	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
	"relay-pty/pty/screen"
)

// TestProgramStatusIsReadInEveryProfile: any program may say by OSC 7501 how it is, also one that
// an overlay describes, and one that nobody has described.
func TestProgramStatusIsReadInEveryProfile(t *testing.T) {
	profiles := map[string]*profile.Profile{"undescribed": agents.For("some-program")}
	for _, name := range agents.Names() {
		p, ok := agents.Named(name)
		if !ok {
			t.Fatalf("no profile %s", name)
		}
		profiles[name] = p
		o, err := agents.Overlay([]byte(`{"name":"overlay-of-` + name + `","base":"` + name + `","busy":["at work"]}`))
		if err == nil {
			profiles[o.Name] = o
		}
	}
	if len(profiles) < 8 {
		t.Errorf("only %d profiles were tried", len(profiles))
	}
	for name, p := range profiles {
		t.Run(name, func(t *testing.T) {
			s := screen.New(12, 60)
			for _, c := range []struct {
				said   string
				want   ready.State
				detail string
			}{
				{"state=working:app=pi", ready.Busy, ""},
				{"state=blocked:app=pi:kind=permission", ready.Blocked, "permission"},
				{"state=done:app=pi", ready.Ready, ""},
				{"state=idle:app=pi", ready.Ready, ""},
				{"state=somehow:app=pi", "", ""},
			} {
				s.Write([]byte("\x1b]7501;" + c.said + "\x1b\\"))
				got := Look(p, s).Said
				detail := got.Detail
				if c.want != ready.Blocked {
					detail = "" // a profile's own patterns tell what matched
				}
				if got.State != c.want || detail != c.detail {
					t.Errorf("%s: got %+v, want %s %s", c.said, got, c.want, c.detail)
				}
			}
		})
	}
}
