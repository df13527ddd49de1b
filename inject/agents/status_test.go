package agents

import (
	"strings"
	"testing"

	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
)

// TestUnfoundNamesWhatWasLookedFor: of each agent with a composer people are told what rules look
// for, and what to do.
func TestUnfoundNamesWhatWasLookedFor(t *testing.T) {
	looks := map[string]string{
		"claude":   `profile claude looks for a row that begins with "[❯>] ", between two rules; in its screen reader mode it shows none`,
		"codex":    `profile codex looks for a row that begins with "› ", with the cursor in it and an empty row below`,
		"gemini":   `profile gemini looks for a row that begins with " [>*] ", with the cursor in it and an empty row below; in its screen reader mode it shows none`,
		"opencode": `" *╹▀{8,}"; its minimal interface shows none (--mini: leave it out)`,
	}
	for _, p := range all {
		got := p.Unfound("alice")
		if want := looks[p.Name]; p.Composer == nil && got != "" || p.Composer != nil && (want == "" || !strings.Contains(got, want)) {
			t.Errorf("%s: got %q, want %q", p.Name, got, want)
		}
		if p.Composer != nil && !(strings.Contains(got, "relay explain alice") && strings.Contains(got, "--agent FILE.json")) {
			t.Errorf("%s: %q does not say what to do", p.Name, got)
		}
	}
	p, err := profile.Overlay([]byte(`{"name":"mine","prompt":"^(>|»)+ "}`), all)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Unfound("bob"); !strings.Contains(got, `profile mine looks for a row that begins with "(>|»)+ "`) {
		t.Errorf("an overlay: got %q", got)
	}
}

// TestProgramStatus: OSC 7501 in the words of its specification.
func TestProgramStatus(t *testing.T) {
	for text, want := range map[string]ready.Word{
		"state=working:app=pi":                    {State: ready.Busy},
		"app=pi:state=idle":                       {State: ready.Ready},
		"state=done":                              {State: ready.Ready},
		"state=blocked:app=codex:kind=permission": {State: ready.Blocked, Detail: "permission"},
		"kind=question;state=blocked":             {State: ready.Blocked, Detail: "question"},
		"state=blocked":                           {State: ready.Blocked},
		"state=error:app=pi":                      {},
		"?":                                       {},
		"":                                        {},
		"mystate=idle":                            {},
	} {
		if got := profile.Status(text); got != want {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
}
