package main

import (
	"slices"
	"testing"

	"relay-pty/inject"
	"relay-pty/protocol"
	"relay-pty/pty"
)

// Each kind tells when messages begin to wait for the human, and the title also how many and when
// none does any more. Keys at a draft are no end of it.
func TestNoticeBeginsAndEnds(t *testing.T) {
	reports := []struct {
		hold    inject.Hold
		waiting int
	}{
		{protocol.WaitsForHuman, 1}, {protocol.WaitsForTurn, 1}, {protocol.WaitsForDraft, 0}, {protocol.WaitsForDraft, 1}, {protocol.WaitsForHuman, 1},
		{protocol.WaitsForDraft, 2}, {protocol.WaitsForHuman, 3}, {"", 3}, {protocol.WaitsForReady, 2}, {protocol.WaitsForDialog, 2}, {protocol.WaitsForDialog, 0},
	}
	one, two, three, none := pty.Sign{Prefix: "✉ 1 · ", Untitled: "alice"}, pty.Sign{Prefix: "✉ 2 · ", Untitled: "alice"}, pty.Sign{Prefix: "✉ 3 · ", Untitled: "alice"}, pty.Sign{}
	for kind, want := range map[string][]pty.Sign{
		noticeTitle: {one, two, three, none, two, none},
		noticeBell:  {{Once: "\a"}, {Once: "\a"}},
		noticeOSC9:  {{Once: "\x1b]9;alice: a message waits behind your draft\a"}, {Once: "\x1b]9;alice: a message waits behind a dialog\a"}},
	} {
		var got []pty.Sign
		n := notice{kind: kind, name: "alice", show: func(s pty.Sign) { got = append(got, s) }}
		for _, r := range reports {
			n.report(r.hold, r.waiting)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", kind, got, want)
		}
	}
}
