package e2e

import (
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig/term"
)

// The mark of a dialog's choice looks like the prompt of a composer: the question above it tells.
func TestOverlayDialogAboveItsOptionsHoldsMessages(t *testing.T) {
	t.Parallel()
	file := overlay(t, `{"name":"stranger","prompt":"^❯ ","dialog":["Do you want to run"]}`)
	script := `stty raw -echo; printf 'Do you want to run ls?\r\n❯ 1. Yes\r\n  2. No\033[2;1H'; cat`
	w := start(t, term.Options{Argv: []string{"sh", "-c", script}}, "--agent", file)
	must(t, w.WaitText(patience(t), "2. No"))
	w.state("blocked")
	w.inject("m1", "hello")
	w.held("m1", "dialog", 300*time.Millisecond)
	s := w.status()
	if s.Str("state") != "blocked" || s.Str("blocked_by") != "Do you want to run ls?" || s.Fields["draft"] != false || s.Fields["can_accept"] != false {
		t.Errorf("status %s", s.Raw)
	}
}
