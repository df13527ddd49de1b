package main

import (
	"fmt"

	"relay-pty/inject"
	"relay-pty/protocol"
	"relay-pty/pty"
)

// What --notice may be.
const (
	noticeOff   = "off"
	noticeTitle = "title"
	noticeBell  = "bell"
	noticeOSC9  = "osc9"
)

// obstacles are what messages wait behind, in words.
var obstacles = map[inject.Hold]string{protocol.WaitsForDraft: "your draft", protocol.WaitsForDialog: "a dialog"}

// notice tells the human, by a sign on the terminal, that messages wait behind a draft or a
// dialog: for the human, that is. The injector's loop alone uses it.
type notice struct {
	kind, name string
	show       func(pty.Sign)

	waiting int // messages of which the sign tells
}

// report is told what messages wait for, and how many do.
func (n *notice) report(hold inject.Hold, waiting int) {
	switch hold {
	case protocol.WaitsForDraft, protocol.WaitsForDialog:
	case protocol.WaitsForHuman: // who types at a draft: what waited for it still does
		if n.waiting == 0 {
			waiting = 0
		}
	default:
		waiting = 0
	}
	if waiting == n.waiting {
		return
	}
	begins := n.waiting == 0
	n.waiting = waiting
	switch n.kind {
	case noticeTitle:
		n.show(n.title())
	case noticeBell:
		if begins {
			n.show(pty.Sign{Once: "\a"})
		}
	case noticeOSC9:
		if begins {
			n.show(pty.Sign{Once: fmt.Sprintf("\x1b]9;%s: a message waits behind %s\a", n.name, obstacles[hold])})
		}
	}
}

// title is the sign that stands before the agent's title as long as anything waits.
func (n *notice) title() pty.Sign {
	if n.waiting == 0 {
		return pty.Sign{}
	}
	return pty.Sign{Prefix: fmt.Sprintf("✉ %d · ", n.waiting), Untitled: n.name}
}
