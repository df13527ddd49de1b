package protocol

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// mustEncode encodes f and checks what holds for every frame: one line, one value.
func mustEncode(t *testing.T, f Frame) []byte {
	t.Helper()
	line, err := Encode(f)
	if err != nil {
		t.Fatalf("Encode: %v", err)
	}
	if n := bytes.IndexByte(line, '\n'); n != len(line)-1 {
		t.Fatalf("%q: newline at %d of %d", line, n, len(line))
	}
	if !jsontext.Value(line).IsValid() {
		t.Fatalf("%q: not one JSON value", line)
	}
	if strings.ContainsFunc(string(line[:len(line)-1]), unicode.IsControl) {
		t.Fatalf("%q: a control character", line)
	}
	return line
}

func TestEncode(t *testing.T) {
	ms := int64(1500)
	stamp := Stamp{Seq: 12, Timestamp: 1705350000000}
	tests := []struct {
		f    Frame
		want string
	}{
		{&Error{Code: BadField, Message: "a <b> & c"}, `{"type":"error","code":"bad_field","message":"a <b> & c"}`},
		{&Error{Code: BadField, Message: "m", Field: "f", ID: "i", Req: "r"}, `{"type":"error","code":"bad_field","message":"m","field":"f","id":"i","req":"r"}`},
		{&HelloAnswer{Protocol: Version, Features: []string{"hello"}, Name: "alice"}, `{"type":"hello","protocol":1,"features":["hello"],"name":"alice"}`},
		{&Subscribed{Head: Head{"r"}, Seq: 3, Epoch: "e", Protocol: 1, Features: []string{}}, `{"type":"subscribed","req":"r","seq":3,"epoch":"e","protocol":1,"features":[]}`},
		{&Status{}, `{"type":"status"}`},
		{&StatusAnswer{AgentIdle: true, QueueLength: 2, CursorPosition: [2]int{0, 24}, LastOutputMS: &ms, Name: "a", PID: 1, Agent: "claude", State: "ready",
			Confidence: "screen", Size: Size{Cols: 80, Rows: 24}, Protocol: 1, Features: []string{}},
			`{"type":"status","agent_idle":true,"queue_length":2,"cursor_position":[0,24],"last_output_ms":1500,"name":"a","pid":1,"agent":"claude",` +
				`"state":"ready","confidence":"screen","blocked_by":null,"can_accept":false,"accept":false,"draft":false,"human_idle_ms":null,` +
				`"oldest_pending_ms":null,"waiting_for":null,"injecting":null,"size":{"cols":80,"rows":24},"protocol":1,"features":[],"uptime_ms":0,"degraded":false,"paused":false}`},
		{&InjectResult{Stamp: stamp, ID: "m", Status: StatusQueued, Queued: &Queued{Position: 1}},
			`{"type":"inject_result","seq":12,"timestamp":1705350000000,"id":"m","status":"queued","queue_position":1,"durable":false,"waiting_for":null}`},
		{&InjectResult{Stamp: stamp, ID: "m", Status: StatusDelivered, Attempt: 1, Evidence: EvidenceTurn},
			`{"type":"inject_result","seq":12,"timestamp":1705350000000,"id":"m","status":"delivered","attempt":1,"evidence":"turn"}`},
		{&InjectResult{Stamp: stamp, ID: "m", Status: StatusFailed, Fault: &Fault{"agent_exited", "gone"}},
			`{"type":"inject_result","seq":12,"timestamp":1705350000000,"id":"m","status":"failed","error":{"code":"agent_exited","message":"gone"}}`},
		{&RelayCommand{Stamp: stamp, From: "alice", To: "Bob", Body: "Hello Bob!", Raw: "->relay:Bob <<<Hello Bob!>>>", ID: "c1", Source: "log"},
			`{"type":"relay_command","seq":12,"timestamp":1705350000000,"from":"alice","to":"Bob","body":"Hello Bob!","raw":"->relay:Bob <<<Hello Bob!>>>","id":"c1","source":"log","tools":null}`},
		{&Waiting{Stamp: stamp, ID: "m", WaitingFor: "draft"}, `{"type":"waiting","seq":12,"timestamp":1705350000000,"id":"m","waiting_for":"draft"}`},
		{&Backpressure{Stamp: stamp, QueueLength: 10}, `{"type":"backpressure","seq":12,"timestamp":1705350000000,"queue_length":10,"accept":false}`},
		{&State{Stamp: stamp, State: "blocked", Confidence: "screen", BlockedBy: "dialog"},
			`{"type":"state","seq":12,"timestamp":1705350000000,"state":"blocked","confidence":"screen","blocked_by":"dialog"}`},
		{&MarkerInvalid{Stamp: stamp, Raw: "x", Reason: "y", Source: "stream"}, `{"type":"marker_invalid","seq":12,"timestamp":1705350000000,"raw":"x","reason":"y","source":"stream"}`},
		{&Lagged{Stamp: stamp, Dropped: 4}, `{"type":"lagged","seq":12,"timestamp":1705350000000,"dropped":4}`},
		{&Exit{Stamp: stamp, Code: 0}, `{"type":"exit","seq":12,"timestamp":1705350000000,"code":0}`},
		{&Cancel{Head: Head{"r"}, ID: "m"}, `{"type":"cancel","req":"r","id":"m"}`},
		{&Queue{}, `{"type":"queue"}`},
		{&Screen{}, `{"type":"screen"}`},
		{&Signal{Event: SignalBlocked, Detail: "why"}, `{"type":"signal","event":"blocked","detail":"why"}`},
		{&Emit{To: "*", Body: "b", Mode: ModeUrgent}, `{"type":"emit","to":"*","body":"b","mode":"urgent"}`},
		{&Pull{Max: 1, WaitMS: 5, Modes: []string{ModeImportant}}, `{"type":"pull","max":1,"wait_ms":5,"modes":["important"]}`},
		{&PullAck{IDs: []string{"m"}}, `{"type":"pull_ack","ids":["m"]}`},
		{&MessagesAnswer{Head: Head{"r"}, Messages: []Pulled{}}, `{"type":"messages","req":"r","messages":[]}`},
		{&MessagesAnswer{Messages: []Pulled{{ID: "m", From: "bob", Mode: ModeImportant, ReplyTo: "n", Body: "b", Text: "t"}}},
			`{"type":"messages","messages":[{"id":"m","from":"bob","mode":"important","reply_to":"n","body":"b","text":"t"}]}`},
		{&QueueAnswer{Messages: []Pending{}}, `{"type":"queue","messages":[]}`},
		{&QueueAnswer{Head: Head{"r"}, Messages: []Pending{
			{ID: "m", From: "bob@h", QueuedAt: 1705350000000, ExpiresAt: &ms, Mode: ModeUrgent, Priority: -3, WaitingFor: "draft"},
			{ID: "n", From: "bob", QueuedAt: 1705350000000, Mode: ModeSequential}}},
			`{"type":"queue","req":"r","messages":[` +
				`{"id":"m","from":"bob@h","queued_at":1705350000000,"expires_at":1500,"mode":"urgent","priority":-3,"waiting_for":"draft"},` +
				`{"id":"n","from":"bob","queued_at":1705350000000,"expires_at":null,"mode":"sequential","priority":0,"waiting_for":null}]}`},
		{&ScreenAnswer{Head: Head{"r"}, Rows: []string{"$ ls", ""}, CursorPosition: [2]int{4, 0}, Size: Size{Cols: 80, Rows: 2}},
			`{"type":"screen","req":"r","rows":["$ ls",""],"cursor_position":[4,0],"size":{"cols":80,"rows":2}}`},
		{&ExplainAnswer{Head: Head{"r"}, State: StateUnknown, BlockedBy: "x", Signs: []Sign{{Name: SignComposer, Says: "y", Since: &ms, Wins: true}, {Name: SignLog, Says: "z", Fault: true}}},
			`{"type":"explain","req":"r","state":"unknown","blocked_by":"x","signs":[` +
				`{"name":"composer","says":"y","since":1500,"wins":true},{"name":"log","says":"z","since":null,"wins":false,"fault":true}]}`},
		{&OK{}, `{"type":"ok"}`},
		{&OK{Head: Head{"r"}, Seq: 7}, `{"type":"ok","req":"r","seq":7}`},
		{&InjectResult{Stamp: stamp, ID: "m", Status: StatusQueued, Queued: &Queued{Position: 2, WaitingFor: "human"}, Req: "r"},
			`{"type":"inject_result","seq":12,"timestamp":1705350000000,"id":"m","status":"queued","queue_position":2,"durable":false,"waiting_for":"human","req":"r"}`},
		{&InjectResult{Stamp: stamp, ID: "m", Status: StatusInjecting, Attempt: 2}, `{"type":"inject_result","seq":12,"timestamp":1705350000000,"id":"m","status":"injecting","attempt":2}`},
		{&InjectResult{Stamp: stamp, ID: "m", Status: StatusInjecting, Attempt: 1, Via: ViaPull},
			`{"type":"inject_result","seq":12,"timestamp":1705350000000,"id":"m","status":"injecting","attempt":1,"via":"pull"}`},
		{&InjectResult{Stamp: stamp, ID: "m", Status: StatusCancelled}, `{"type":"inject_result","seq":12,"timestamp":1705350000000,"id":"m","status":"cancelled"}`},
		{&InjectResult{Stamp: stamp, ID: "m", Status: StatusExpired}, `{"type":"inject_result","seq":12,"timestamp":1705350000000,"id":"m","status":"expired"}`},
		{&InjectResult{Stamp: stamp, ID: "m", Status: StatusUnknown, Attempt: 1, Fault: &Fault{"stranded", "look"}},
			`{"type":"inject_result","seq":12,"timestamp":1705350000000,"id":"m","status":"unknown","attempt":1,"error":{"code":"stranded","message":"look"}}`},
		{&RelayCommand{Stamp: stamp, From: "a", To: "#dev", Body: "b", Raw: "r", ID: "c", ReplyTo: "m", Thread: "t", Mode: ModeImportant, Source: "emit"},
			`{"type":"relay_command","seq":12,"timestamp":1705350000000,"from":"a","to":"#dev","body":"b","raw":"r","id":"c","reply_to":"m","thread":"t","mode":"important","source":"emit","tools":null}`},
		{&RelayCommand{Stamp: stamp, From: "a", To: "b", Body: "b", Raw: "r", ID: "c", Source: "log", TurnOf: []string{}, Tools: new(int)},
			`{"type":"relay_command","seq":12,"timestamp":1705350000000,"from":"a","to":"b","body":"b","raw":"r","id":"c","source":"log","turn_of":[],"tools":0}`},
		{&TurnEnd{Stamp: stamp, IDs: []string{"m"}, Outcome: OutcomeAnswered, Text: "t", Tools: new(int)},
			`{"type":"turn_end","seq":12,"timestamp":1705350000000,"ids":["m"],"outcome":"answered","text":"t","tools":0}`},
		{&TurnEnd{Stamp: stamp, IDs: []string{}, Outcome: OutcomeRefused, Text: "t", Reason: ReasonLimit, RetryAt: 1705360000000, Background: true},
			`{"type":"turn_end","seq":12,"timestamp":1705350000000,"ids":[],"outcome":"refused","text":"t","tools":null,"reason":"limit","retry_at":1705360000000,"background":true}`},
		{&Backpressure{Stamp: stamp, QueueLength: 4, Accept: true}, `{"type":"backpressure","seq":12,"timestamp":1705350000000,"queue_length":4,"accept":true}`},
		{&State{Stamp: stamp, State: "ready", Confidence: "guess"},
			`{"type":"state","seq":12,"timestamp":1705350000000,"state":"ready","confidence":"guess","blocked_by":null}`},
		{&State{BlockedBy: "\x1b[2J\x7f\u0080\u009b\u00a0é\u2028"},
			`{"type":"state","seq":0,"timestamp":0,"state":"","confidence":"","blocked_by":"\u001b[2J\u007f\u0080\u009b` + "\u00a0é" + `\u2028"}`},
		{&MarkerInvalid{Raw: "a\xffb\u2028\n"}, `{"type":"marker_invalid","seq":0,"timestamp":0,"raw":"a\ufffdb\u2028\n","reason":"","source":""}`},
	}
	for _, tt := range tests {
		if got := strings.TrimSuffix(string(mustEncode(t, tt.f)), "\n"); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// TestControlsAreEscapedAndStay: escaping changes how a frame looks, not what it says.
func TestControlsAreEscapedAndStay(t *testing.T) {
	var all strings.Builder
	for r := rune(0); r < 0x180; r++ {
		all.WriteRune(r)
	}
	var got MarkerInvalid
	if err := json.Unmarshal(mustEncode(t, &MarkerInvalid{Raw: all.String(), Reason: "\u0085", Source: "\x7f"}), &got); err != nil {
		t.Fatal(err)
	}
	if got.Raw != all.String() || got.Reason != "\u0085" || got.Source != "\x7f" {
		t.Errorf("got %q", got.Raw)
	}
	tagged := Tag(mustEncode(t, &Queue{}), "\u009b31m\x7f")
	if want := `{"type":"queue","req":"\u009b31m\u007f"}` + "\n"; string(tagged) != want {
		t.Errorf("got %q, want %q", tagged, want)
	}
}

func TestClientReadsWhatWeSend(t *testing.T) {
	sent := InjectResult{Stamp: Stamp{1, 2}, ID: "m", Status: StatusQueued, Queued: &Queued{Position: 3}}
	var got InjectResult
	if err := json.Unmarshal(mustEncode(t, &sent), &got); err != nil {
		t.Fatal(err)
	}
	if got.ID != "m" || got.Seq != 1 || got.Queued == nil || got.Position != 3 || got.WaitingFor != "" {
		t.Errorf("got %+v", got)
	}
}

func TestTagLeavesTheFrameAlone(t *testing.T) {
	frame := mustEncode(t, &Exit{Code: 3})
	before := string(frame)
	want := strings.TrimSuffix(before, "}\n") + `,"req":"a\"b"}` + "\n"
	if got := string(Tag(frame, `a"b`)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := string(Tag(frame, "")); got != before || string(frame) != before {
		t.Errorf("frame became %s, %s", got, frame)
	}
}

func TestTerminal(t *testing.T) {
	for status, want := range map[string]bool{StatusQueued: false, StatusInjecting: false, StatusDelivered: true, StatusFailed: true, StatusExpired: true, StatusCancelled: true, StatusUnknown: true, "": false} {
		if got := Terminal(status); got != want {
			t.Errorf("%s: got %v, want %v", status, got, want)
		}
	}
}
