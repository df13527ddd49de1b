package protocol

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// everything that a wrapper sends, each field filled.
func everything() []Frame {
	at, ms := Stamp{Seq: 12, Timestamp: 1705350000000}, int64(1500)
	tag, tools := Head{"r"}, 2
	return []Frame{
		&InjectResult{Stamp: at, ID: "m", Status: StatusInjecting, Attempt: 1, Via: ViaPull},
		&InjectResult{Stamp: at, ID: "m", Status: StatusQueued, Queued: &Queued{Position: 2, Durable: true, WaitingFor: WaitsForDraft}, Req: "r"},
		&InjectResult{Stamp: at, ID: "m", Status: StatusDelivered, Attempt: 2, Evidence: EvidenceTurn},
		&InjectResult{Stamp: at, ID: "m", Status: StatusFailed, Attempt: 1, Fault: &Fault{FaultAgentExited, "gone"}},
		&RelayCommand{Stamp: at, From: "a", To: "#dev", Body: "b\n<>&\x1b", Raw: "r", ID: "c", ReplyTo: "m", Thread: "t", Mode: ModeImportant, Source: SourceLog, TurnOf: []string{"m"}, Tools: &tools},
		&State{Stamp: at, State: StateBlocked, Confidence: ByScreen, BlockedBy: "Do you?"},
		&Backpressure{Stamp: at, QueueLength: 4, Accept: true},
		&Waiting{Stamp: at, ID: "m"},
		&DraftStashed{Stamp: at, ID: "m"},
		&DraftRestored{Stamp: at, ID: "m"},
		&MarkerInvalid{Stamp: at, Raw: "r", Reason: "y", Source: SourceStream},
		&TurnEnd{Stamp: at, IDs: []string{"m"}, Outcome: OutcomeRefused, Text: "t", Tools: &tools, Reason: ReasonLimit, RetryAt: 9, Background: true},
		&Lagged{Stamp: at, Dropped: 3},
		&Exit{Stamp: at, Code: 143},
		&HelloAnswer{Head: tag, Protocol: Version, Features: Features(), Name: "alice"},
		&Subscribed{Head: tag, Seq: 7, Epoch: "e", Protocol: Version, Features: Features()},
		&StatusAnswer{Head: tag, AgentIdle: true, QueueLength: 1, CursorPosition: [2]int{3, 4}, LastOutputMS: &ms, Name: "a", PID: 5, Agent: "claude",
			State: StateReady, Confidence: BySignal, BlockedBy: "x", CanAccept: true, Accept: true, Draft: true, HumanIdleMS: &ms, OldestPendingMS: &ms,
			WaitingFor: WaitsForDraft, Injecting: "m",
			Size: Size{80, 24}, Protocol: Version, Features: Features(), UptimeMS: 9, Degraded: true, Paused: true},
		&QueueAnswer{Head: tag, Messages: []Pending{{ID: "m", From: "bob", QueuedAt: 1, ExpiresAt: &ms, Mode: ModeUrgent, Priority: -1, WaitingFor: WaitsForHuman}}},
		&ScreenAnswer{Head: tag, Rows: []string{"$ ls", ""}, CursorPosition: [2]int{4, 0}, Size: Size{80, 2}},
		&KeysAnswer{Head: tag, Pressed: 2, Fault: &Fault{FaultNoConsume, "y"}},
		&ExplainAnswer{Head: tag, State: StateUnknown, BlockedBy: "x", Signs: []Sign{{Name: SignComposer, Says: "y", Since: &ms, Wins: true}, {Name: SignLog, Fault: true}}},
		&OK{Head: tag, Seq: 8},
		&MessagesAnswer{Head: tag, Messages: []Pulled{{ID: "m", From: "bob", Mode: ModeUrgent, ReplyTo: "n", Thread: "t", Body: "b", Text: "x"}}},
		&Error{Code: BadField, Message: "m", Field: "f", ID: "m", Req: "r"},
	}
}

// TestEveryFrameComesBack: what one side encodes, the other decodes, every field of every type.
func TestEveryFrameComesBack(t *testing.T) {
	seen := map[string]bool{}
	for _, want := range everything() {
		seen[want.Type()] = true
		line := mustEncode(t, want)
		got, err := DecodeEvent(line)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s came back as %#v, %v", line, got, err)
		}
		if a, ok := want.(Answer); ok && bytes.Contains(line, []byte(`"req":"r"`)) != (a.Tag() == "r") {
			t.Errorf("%s: Tag is %q", line, a.Tag())
		}
		if ev, ok := got.(Event); ok && ev.Stamped() != (Stamp{12, 1705350000000}) {
			t.Errorf("%s: stamped %v", line, ev.Stamped())
		}
	}
	for _, typ := range append(EventTypes(), types(answers)...) {
		if !seen[typ] {
			t.Errorf("%s is not tried here", typ)
		}
	}
}

// TestNewerWrappersAreUnderstood: fields and types that came later pass.
func TestNewerWrappersAreUnderstood(t *testing.T) {
	got, err := DecodeEvent([]byte(`{"type":"exit","seq":3,"timestamp":4,"code":1,"signal":"TERM","core":{"dumped":false}}`))
	if want := (&Exit{Stamp{3, 4}, 1}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, %v", got, err)
	}
	line := []byte(`{"type":"usage","seq":5,"timestamp":6,"tokens":12}`)
	got, err = DecodeEvent(line)
	u, ok := got.(*Unknown)
	if err != nil || !ok || u.Type() != "usage" || u.Stamped() != (Stamp{5, 6}) || !bytes.Equal(u.Line, line) {
		t.Errorf("got %#v, %v", got, err)
	}
	if got, err = DecodeEvent([]byte(`{"type":"pong"}`)); err != nil || got.(*Unknown).Seq != 0 {
		t.Errorf("got %#v, %v", got, err)
	}
}

func TestNoFrames(t *testing.T) {
	for _, line := range []string{"", "x", "[]", "7", `{"type":7}`, `{}`, `{"seq":1}`, `{"type":"exit","code":"one"}`, `{"type":"exit"`} {
		if f, err := DecodeEvent([]byte(line)); err == nil || !strings.HasPrefix(err.Error(), "decode ") {
			t.Errorf("%q: got %#v, %v", line, f, err)
		}
	}
}

func FuzzDecodeEvent(f *testing.F) {
	for _, frame := range everything() {
		line, err := Encode(frame)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got, err := DecodeEvent(line)
		if err != nil {
			return
		}
		if u, ok := got.(*Unknown); ok {
			if u.Type() == "" || !bytes.Equal(u.Line, line) {
				t.Errorf("%q is %#v", line, u)
			}
			return
		}
		again, err := DecodeEvent(mustEncode(t, got))
		if err != nil || again.Type() != got.Type() {
			t.Errorf("%q came back as %#v, %v", line, again, err)
		}
	})
}
