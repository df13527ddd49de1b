package main

import (
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/relay-pty/agentlog"
	"relay-pty/inject/ready"
)

func TestLogThatDoesNotShowWhatWasDeliveredIsAFault(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	owed := now.Add(-logLate)
	for _, c := range []struct {
		name  string
		is    agentlog.Standing
		state ready.State
		fault bool
		says  string
	}{
		{"not looked for", agentlog.Standing{}, ready.Ready, false, "not looked for yet"},
		{"none yet", agentlog.Standing{Dir: "/d"}, ready.Ready, false, "none of this session is in /d yet"},
		{"read", agentlog.Standing{Dir: "/d", Found: true}, ready.Ready, false, "found in /d, and read"},
		{"begun elsewhere", agentlog.Standing{Dir: "/d", Found: true, Left: now}, ready.Ready, false, "but for turns that were begun in another terminal, the last at "},
		{"delivered, and none found", agentlog.Standing{Dir: "/d", Owed: owed}, ready.Ready, true, "no log of this session is found in /d"},
		{"kept by a server", agentlog.Standing{Dir: "/d", Owed: owed}, ready.Ready, true, "; it has a server"},
		{"delivered, and not shown", agentlog.Standing{Dir: "/d", Found: true, Owed: owed}, ready.Unknown, true, "the log that is read, in /d, does not show it"},
		{"delivered just now", agentlog.Standing{Dir: "/d", Found: true, Owed: owed.Add(1)}, ready.Ready, false, "found in /d"},
		{"still at work", agentlog.Standing{Dir: "/d", Found: true, Owed: owed}, ready.Busy, false, "found in /d"},
		{"asks something", agentlog.Standing{Dir: "/d", Found: true, Owed: owed}, ready.Blocked, false, "found in /d"},
	} {
		got := logSign(c.is, "it has a server", c.state, now)
		if got.Fault != c.fault || !strings.Contains(got.Says, c.says) || !got.Since.Equal(c.is.Owed) {
			t.Errorf("%s: got %+v, want fault %v, %q", c.name, got, c.fault, c.says)
		}
	}
}
