package protocol

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	okInject = `{"type":"inject","id":"m1","from":"bob","body":"hi"}`
	headPart = `{"type":"inject","id":"m1","from":"bob","body":"hi",`
)

func TestDecodeRequest(t *testing.T) {
	plain := Inject{ID: "m1", From: "bob", Body: "hi", Mode: "sequential", Redelivery: "never", Kind: "message"}
	with := func(change func(*Inject)) *Inject {
		r := plain
		change(&r)
		return &r
	}
	zero, seven := int64(0), int64(7)
	long := strings.Repeat("é", MaxBody/2)
	tests := []struct {
		name, in string
		want     Request
	}{
		{"hello", `{"type":"hello"}`, &Hello{}},
		{"cancel", `{"type":"cancel","id":"m1"}`, &Cancel{ID: "m1"}},
		{"queue", `{"type":"queue","req":"q"}`, &Queue{Head{"q"}}},
		{"screen", `{"type":"screen"}`, &Screen{}},
		{"signal", `{"type":"signal","event":"turn_end"}`, &Signal{Event: "turn_end"}},
		{"signal with detail", `{"type":"signal","event":"blocked","detail":"may I?\u001b[2J\n"}`, &Signal{Event: "blocked", Detail: "may I?\x1b[2J\n"}},
		{"signal with nothing to add", `{"type":"signal","event":"busy","detail":""}`, &Signal{Event: "busy"}},
		{"pause", `{"type":"pause"}`, &Pause{}},
		{"pause for a while", `{"type":"pause","for_ms":500,"req":"r"}`, &Pause{Head: Head{"r"}, ForMS: 500}},
		{"keys", `{"type":"keys","keys":["Down","1","C-c"],"req":"r"}`, &Keys{Head{"r"}, []string{"Down", "1", "C-c"}}},
		{"resume", `{"type":"resume","req":"r"}`, &Resume{Head{"r"}}},
		{"pull", `{"type":"pull"}`, &Pull{Max: MaxPull, Modes: Modes()}},
		{"pull with all", `{"type":"pull","max":3,"wait_ms":500,"modes":["urgent","important"],"max_bytes":9000,"req":"r"}`,
			&Pull{Head: Head{"r"}, Max: 3, WaitMS: 500, MaxBytes: 9000, Modes: []string{"urgent", "important"}}},
		{"pull of more than are given", `{"type":"pull","max":1000}`, &Pull{Max: MaxPull, Modes: Modes()}},
		{"pull_ack", `{"type":"pull_ack","ids":["m1","a:b.c_d-e"]}`, &PullAck{IDs: []string{"m1", "a:b.c_d-e"}}},
		{"emit", `{"type":"emit","to":"bob","body":"x"}`, &Emit{To: "bob", Body: "x"}},
		{"emit with all", `{"type":"emit","to":"#dev","body":"x\ny","reply_to":"m1","thread":"t","mode":"urgent","req":"r"}`,
			&Emit{Head: Head{"r"}, To: "#dev", Body: "x\ny", ReplyTo: "m1", Thread: "t", Mode: "urgent"}},
		{"emit to all", `{"type":"emit","to":"*","body":"x"}`, &Emit{To: "*", Body: "x"}},
		{"emit to a host", `{"type":"emit","to":"bob@h-1.example","body":"x"}`, &Emit{To: "bob@h-1.example", Body: "x"}},
		{"hello with token and req", `{"type":"hello","token":"ab","req":"1"}`, &Hello{Head: Head{"1"}, Token: "ab"}},
		{"type need not come first", `{"req":"r","type":"status"}`, &Status{Head{"r"}}},
		{"blanks and a carriage return", " {\t\"type\" : \"status\" } \r", &Status{}},
		{"query", `{"type":"query","id":"a:b.c_d-e"}`, &Query{ID: "a:b.c_d-e"}},
		{"inject gets its defaults", okInject, &plain},
		{"escaped names are the names", `{"type":"inject","\u0069d":"m1","from":"bob","body":"hi"}`, &plain},
		{"all fields", headPart + `"priority":-3,"mode":"sequential","timeout_ms":5,"redelivery":"once","reply_to":"m0","thread":"t","kind":"notice"}`,
			&Inject{ID: "m1", From: "bob", Body: "hi", Priority: -3, Mode: "sequential", TimeoutMS: 5, Redelivery: "once", ReplyTo: "m0", Thread: "t", Kind: "notice"}},
		{"important", headPart + `"mode":"important"}`, with(func(r *Inject) { r.Mode = "important" })},
		{"urgent", headPart + `"mode":"urgent"}`, with(func(r *Inject) { r.Mode = "urgent" })},
		{"marked", headPart + `"redelivery":"marked"}`, with(func(r *Inject) { r.Redelivery = "marked" })},
		{"command", headPart + `"kind":"command"}`, with(func(r *Inject) { r.Kind = "command" })},
		{"smallest priority", headPart + `"priority":-9223372036854775808}`, with(func(r *Inject) { r.Priority = math.MinInt64 })},
		{"minus zero", headPart + `"priority":-0}`, &plain},
		{"body at the limit", strings.Replace(okInject, "hi", long, 1), with(func(r *Inject) { r.Body = long })},
		{"body with escapes", strings.Replace(okInject, "hi", `\u001b[201~\n\ud83d\ude00`, 1), with(func(r *Inject) { r.Body = "\x1b[201~\n😀" })},
		{"from a router", strings.Replace(okInject, "bob", "relay", 1), with(func(r *Inject) { r.From = "relay" })},
		{"from a human elsewhere", strings.Replace(okInject, "bob", "human@h-1.example", 1), with(func(r *Inject) { r.From = "human@h-1.example" })},
		{"subscribe from now", `{"type":"subscribe"}`, &Subscribe{}},
		{"subscribe to all", `{"type":"subscribe","after":0}`, &Subscribe{After: &zero}},
		{"subscribe to some", `{"type":"subscribe","after":7,"events":["state","draft_stashed"]}`, &Subscribe{After: &seven, Events: []string{"state", "draft_stashed"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := DecodeRequest([]byte(tt.in))
			if err != nil {
				t.Fatalf("DecodeRequest: %v", err)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestRefusals: each line of abuse gets one error that says what is wrong with what.
func TestRefusals(t *testing.T) {
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	fields := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(`,"f` + many("x", i) + `":1`)
		}
		return b.String()
	}
	sub := func(old, new string) string { return strings.Replace(okInject, old, new, 1) }
	emit := func(old, new string) string {
		return strings.Replace(strings.Replace(`{"type":"emit","to":"bob","body":"x"}`, old, new, 1), ",,", ",", 1)
	}
	tests := []struct {
		in    string
		code  Code
		field string
		id    string
	}{
		// The grammar.
		{``, BadJSON, "", ""},
		{` `, BadJSON, "", ""},
		{`{`, BadJSON, "", ""},
		{`}`, BadJSON, "", ""},
		{`[]`, BadJSON, "", ""},
		{`[{"type":"status"}]`, BadJSON, "", ""},
		{`"status"`, BadJSON, "", ""},
		{`17`, BadJSON, "", ""},
		{`null`, BadJSON, "", ""},
		{`true`, BadJSON, "", ""},
		{`nul`, BadJSON, "", ""},
		{`status`, BadJSON, "", ""},
		{`GET / HTTP/1.1`, BadJSON, "", ""},
		{"\xef\xbb\xbf" + okInject, BadJSON, "", ""},
		{"\x00" + okInject, BadJSON, "", ""},
		{okInject + okInject, BadJSON, "", "m1"},
		{okInject + ` null`, BadJSON, "", "m1"},
		{okInject + `,`, BadJSON, "", "m1"},
		{okInject + `}`, BadJSON, "", "m1"},
		{okInject + ` // why not`, BadJSON, "", "m1"},
		{okInject[:len(okInject)-1], BadJSON, "", "m1"},
		{okInject[:len(okInject)-3], BadJSON, "body", "m1"},
		{headPart + `}`, BadJSON, "", "m1"},
		{`{,"type":"status"}`, BadJSON, "", ""},
		{`{"type" "status"}`, BadJSON, "type", ""},
		{`{"type":}`, BadJSON, "type", ""},
		{`{"type"}`, BadJSON, "type", ""},
		{`{"type":"status",}`, BadJSON, "", ""},
		{`{'type':'status'}`, BadJSON, "", ""},
		{`{type:"status"}`, BadJSON, "", ""},
		{`{1:"status"}`, BadJSON, "", ""},
		{headPart + `"priority":01}`, BadJSON, "", "m1"},
		{headPart + `"priority":+1}`, BadJSON, "priority", "m1"},
		{headPart + `"priority":0x1}`, BadJSON, "", "m1"},
		{headPart + `"priority":NaN}`, BadJSON, "priority", "m1"},
		{headPart + `"priority":-Infinity}`, BadJSON, "priority", "m1"},
		{headPart + `"priority":1.}`, BadJSON, "priority", "m1"},
		{headPart + `"priority":-}`, BadJSON, "priority", "m1"},
		{sub("hi", "a\nb"), BadJSON, "body", "m1"},
		{sub("hi", "a\x1bb"), BadJSON, "body", "m1"},
		{sub("hi", `a\x41`), BadJSON, "body", "m1"},
		{sub("hi", `a\`), BadJSON, "body", "m1"},
		{sub("hi", `\u12`), BadJSON, "body", "m1"},
		{sub("hi", "\xff"), BadJSON, "body", "m1"},
		{sub("hi", "\xc0\xaf"), BadJSON, "body", "m1"},
		{sub("hi", "\xed\xa0\x80"), BadJSON, "body", "m1"},
		{sub("hi", "\xf5\x80\x80\x80"), BadJSON, "body", "m1"},
		{sub("hi", "\xe2\x82"), BadJSON, "body", "m1"},
		{sub("hi", `\ud800`), BadJSON, "body", "m1"},
		{sub("hi", `\udc00\ud800`), BadJSON, "body", "m1"},
		{sub("hi", `\ud83dx`), BadJSON, "body", "m1"},
		{headPart + "\"\xff\":1}", BadJSON, "", "m1"},
		{headPart + `"x":` + many("[", 20000) + `}`, BadJSON, "x", "m1"},
		{many("[", MaxLine), BadJSON, "", ""},
		{many(`{"a":`, 20000), BadJSON, "a", ""},
		{`{"type":"status"` + fields(80) + `}`, BadJSON, "", ""},
		// Null, doubled, type.
		{headPart + `"thread":null}`, BadField, "thread", "m1"},
		{headPart + `"x":null}`, BadField, "x", "m1"},
		{`{"type":null}`, BadField, "type", ""},
		{headPart + `"id":"m2"}`, BadField, "id", "m1"},
		{headPart + `"\u0062ody":"ho"}`, BadField, "body", "m1"},
		{headPart + `"type":"status"}`, BadField, "type", "m1"},
		{`{}`, MissingField, "type", ""},
		{`{"id":"m1"}`, MissingField, "type", "m1"},
		{`{"TYPE":"status"}`, MissingField, "type", ""},
		{`{"type":7}`, BadField, "type", ""},
		{`{"type":["status"]}`, BadField, "type", ""},
		{`{"type":""}`, UnknownType, "type", ""},
		{`{"type":"Status"}`, UnknownType, "type", ""},
		{`{"type":"status "}`, UnknownType, "type", ""},
		{`{"type":"ok","req":"r"}`, UnknownType, "type", ""},
		{`{"type":"inject_result","id":"m1"}`, UnknownType, "type", "m1"},
		// Fields.
		{headPart + `"colour":1}`, BadField, "colour", "m1"},
		{headPart + `"Priority":1}`, BadField, "Priority", "m1"},
		{headPart + `"ID":"m2"}`, BadField, "ID", "m1"},
		{headPart + `"":1}`, BadField, "", "m1"},
		{headPart + `"` + many("x", 200) + `":1}`, BadField, "", "m1"},
		{`{"type":"status","id":"m1"}`, BadField, "id", "m1"},
		{`{"type":"query"}`, MissingField, "id", ""},
		{`{"type":"query","id":"m1","body":"x"}`, BadField, "body", "m1"},
		{`{"type":"query","id":"` + many("x", 129) + `"}`, BadField, "id", ""},
		{sub(`"m1"`, `""`), BadField, "id", ""},
		{sub(`"m1"`, `"a b"`), BadField, "id", ""},
		{sub(`"m1"`, `"a/b"`), BadField, "id", ""},
		{sub(`"m1"`, `"é"`), BadField, "id", ""},
		{sub(`"m1"`, `"a\n"`), BadField, "id", ""},
		{sub(`"m1"`, `7`), BadField, "id", ""},
		{sub(`"m1"`, `{"a":"m1"}`), BadField, "id", ""},
		{sub(`"id":"m1",`, ``), MissingField, "id", ""},
		{sub(`"from":"bob",`, ``), MissingField, "from", "m1"},
		{sub(`"bob"`, `""`), BadField, "from", "m1"},
		{sub(`"bob"`, `"-bob"`), BadField, "from", "m1"},
		{sub(`"bob"`, `"bob@"`), BadField, "from", "m1"},
		{sub(`"bob"`, `"@host"`), BadField, "from", "m1"},
		{sub(`"bob"`, `"bob@a@b"`), BadField, "from", "m1"},
		{sub(`"bob"`, `"bob\u001b"`), BadField, "from", "m1"},
		{sub(`"bob"`, `"`+many("b", 65)+`"`), BadField, "from", "m1"},
		{sub(`"bob"`, `"self"`), BadField, "from", "m1"},
		{sub(`"bob"`, `"any"`), BadField, "from", "m1"},
		{sub(`"bob"`, `"room@host"`), BadField, "from", "m1"},
		{sub(`,"body":"hi"`, ``), MissingField, "body", "m1"},
		{sub(`"hi"`, `""`), BadField, "body", "m1"},
		{sub(`"hi"`, `5`), BadField, "body", "m1"},
		{sub(`"hi"`, `["hi"]`), BadField, "body", "m1"},
		{sub(`hi`, many("x", MaxBody+1)), MessageTooLarge, "body", "m1"},
		{sub(`hi`, many("é", MaxBody/2)+"x"), MessageTooLarge, "body", "m1"},
		{headPart + `"priority":1.0}`, BadField, "priority", "m1"},
		{headPart + `"priority":1e2}`, BadField, "priority", "m1"},
		{headPart + `"priority":"1"}`, BadField, "priority", "m1"},
		{headPart + `"priority":true}`, BadField, "priority", "m1"},
		{headPart + `"priority":9223372036854775808}`, BadField, "priority", "m1"},
		{headPart + `"mode":"Urgent"}`, BadField, "mode", "m1"},
		{headPart + `"mode":""}`, BadField, "mode", "m1"},
		{headPart + `"timeout_ms":-1}`, BadField, "timeout_ms", "m1"},
		{headPart + `"timeout_ms":1e30}`, BadField, "timeout_ms", "m1"},
		{headPart + `"timeout_ms":99999999999999999999}`, BadField, "timeout_ms", "m1"},
		{headPart + `"redelivery":"always"}`, BadField, "redelivery", "m1"},
		{headPart + `"reply_to":""}`, BadField, "reply_to", "m1"},
		{headPart + `"thread":"a#b"}`, BadField, "thread", "m1"},
		{headPart + `"kind":"raw"}`, BadField, "kind", "m1"},
		{headPart + `"req":""}`, BadField, "req", "m1"},
		{headPart + `"req":7}`, BadField, "req", "m1"},
		{headPart + `"req":"` + many("x", 129) + `"}`, BadField, "req", "m1"},
		{`{"type":"hello","token":""}`, BadField, "token", ""},
		{`{"type":"hello","token":"` + many("x", 257) + `"}`, BadField, "token", ""},
		{`{"type":"hello","name":"x"}`, BadField, "name", ""},
		{`{"type":"subscribe","after":-1}`, BadField, "after", ""},
		{`{"type":"subscribe","after":"0"}`, BadField, "after", ""},
		{`{"type":"subscribe","events":"state"}`, BadField, "events", ""},
		{`{"type":"subscribe","events":[]}`, BadField, "events", ""},
		{`{"type":"subscribe","events":["state",1]}`, BadField, "events", ""},
		{`{"type":"subscribe","events":[["state"]]}`, BadField, "events", ""},
		{`{"type":"subscribe","events":["status"]}`, BadField, "events", ""},
		{`{"type":"subscribe","events":["state"` + many(`,"state"`, 64) + `]}`, BadField, "events", ""},
		{`{"type":"cancel"}`, MissingField, "id", ""},
		{`{"type":"cancel","id":""}`, BadField, "id", ""},
		{`{"type":"cancel","id":["m1"]}`, BadField, "id", ""},
		{`{"type":"cancel","id":"m1\u0000"}`, BadField, "id", ""},
		{`{"type":"cancel","id":"m1","force":true}`, BadField, "force", "m1"},
		{`{"type":"queue","id":"m1"}`, BadField, "id", "m1"},
		{`{"type":"queue","max":1}`, BadField, "max", ""},
		{`{"type":"screen","rows":[]}`, BadField, "rows", ""},
		{`{"type":"signal"}`, MissingField, "event", ""},
		{`{"type":"signal","event":""}`, BadField, "event", ""},
		{`{"type":"signal","event":"Ready"}`, BadField, "event", ""},
		{`{"type":"signal","event":"stopped"}`, BadField, "event", ""},
		{`{"type":"signal","event":["ready"]}`, BadField, "event", ""},
		{`{"type":"signal","event":"ready","detail":7}`, BadField, "detail", ""},
		{`{"type":"signal","event":"ready","detail":"` + many("x", MaxDetail+1) + `"}`, BadField, "detail", ""},
		{`{"type":"signal","event":"ready","state":"x"}`, BadField, "state", ""},
		{`{"type":"keys"}`, MissingField, "keys", ""},
		{`{"type":"keys","keys":[]}`, BadField, "keys", ""},
		{`{"type":"keys","keys":[1]}`, BadField, "keys", ""},
		{`{"type":"keys","keys":"Enter"}`, BadField, "keys", ""},
		{`{"type":"keys","keys":["a"` + strings.Repeat(`,"a"`, MaxKeys) + `]}`, BadField, "keys", ""},
		{`{"type":"pause","for_ms":-1}`, BadField, "for_ms", ""},
		{`{"type":"pause","for_ms":1.5}`, BadField, "for_ms", ""},
		{`{"type":"pause","for_ms":"5m"}`, BadField, "for_ms", ""},
		{`{"type":"resume","for_ms":1}`, BadField, "for_ms", ""},
		{`{"type":"pull","max":0}`, BadField, "max", ""},
		{`{"type":"pull","max":"1"}`, BadField, "max", ""},
		{`{"type":"pull","wait_ms":-1}`, BadField, "wait_ms", ""},
		{`{"type":"pull","wait_ms":1.5}`, BadField, "wait_ms", ""},
		{`{"type":"pull","max_bytes":-1}`, BadField, "max_bytes", ""},
		{`{"type":"pull","modes":[]}`, BadField, "modes", ""},
		{`{"type":"pull","modes":["asap"]}`, BadField, "modes", ""},
		{`{"type":"pull","id":"m1"}`, BadField, "id", "m1"},
		{`{"type":"pull_ack"}`, MissingField, "ids", ""},
		{`{"type":"pull_ack","ids":"m1"}`, BadField, "ids", ""},
		{`{"type":"pull_ack","ids":[]}`, BadField, "ids", ""},
		{`{"type":"pull_ack","ids":["m1",2]}`, BadField, "ids", ""},
		{`{"type":"pull_ack","ids":["m 1"]}`, BadField, "ids", ""},
		{`{"type":"pull_ack","ids":["m"` + many(`,"m"`, MaxPull) + `]}`, BadField, "ids", ""},
		{`{"type":"pull_ack","id":"m1","ids":["m1"]}`, BadField, "id", "m1"},
		{emit(`"to":"bob"`, ``), MissingField, "to", ""},
		{emit(`"bob"`, `""`), BadField, "to", ""},
		{emit(`"bob"`, `"-b"`), BadField, "to", ""},
		{emit(`"bob"`, `"b c"`), BadField, "to", ""},
		{emit(`"bob"`, `"bob@"`), BadField, "to", ""},
		{emit(`"bob"`, `"@h"`), BadField, "to", ""},
		{emit(`"bob"`, `"a@b@c"`), BadField, "to", ""},
		{emit(`"bob"`, `"#"`), BadField, "to", ""},
		{emit(`"bob"`, `"##dev"`), BadField, "to", ""},
		{emit(`"bob"`, `"#dev@h"`), BadField, "to", ""},
		{emit(`"bob"`, `"**"`), BadField, "to", ""},
		{emit(`"bob"`, `"bob\u001b"`), BadField, "to", ""},
		{emit(`"bob"`, `"bob\u0085"`), BadField, "to", ""},
		{emit(`"bob"`, `"`+many("b", 65)+`"`), BadField, "to", ""},
		{emit(`"bob"`, `["bob"]`), BadField, "to", ""},
		{emit(`,"body":"x"`, ``), MissingField, "body", ""},
		{emit(`"x"`, `""`), BadField, "body", ""},
		{emit(`"x"`, `"`+many("x", MaxBody+1)+`"`), MessageTooLarge, "body", ""},
		{emit(`"x"`, `"x","mode":""`), BadField, "mode", ""},
		{emit(`"x"`, `"x","mode":"asap"`), BadField, "mode", ""},
		{emit(`"x"`, `"x","reply_to":"a b"`), BadField, "reply_to", ""},
		{emit(`"x"`, `"x","thread":""`), BadField, "thread", ""},
		{emit(`"x"`, `"x","from":"eve"`), BadField, "from", ""},
		{emit(`"x"`, `"x","id":"m1"`), BadField, "id", "m1"},
		{headPart + `"a\u001bb":1}`, BadField, "", "m1"},
		{headPart + `"a\u009bb":1}`, BadField, "", "m1"},
		{`{"type":"status","pad":"` + many("x", MaxLine) + `"}`, LineTooLarge, "", ""},
	}
	for _, tt := range tests {
		r, err := DecodeRequest([]byte(tt.in))
		shown := tt.in[:min(len(tt.in), 100)]
		if err == nil {
			t.Errorf("%q: accepted as %+v, want %s", shown, r, tt.code)
			continue
		}
		if err.Code != tt.code || err.Field != tt.field || err.ID != tt.id || err.Message == "" {
			t.Errorf("%q: got %s field %q id %q (%s), want %s field %q id %q", shown, err.Code, err.Field, err.ID, err.Message, tt.code, tt.field, tt.id)
		}
	}
	if len(tests) < 80 {
		t.Errorf("only %d lines of abuse", len(tests))
	}
}

// TestEveryTypeIsStrict: what holds for one request holds for all.
func TestEveryTypeIsStrict(t *testing.T) {
	whole := map[string]string{
		"hello": `"token":"ab"`, "inject": `"id":"m1","from":"bob","body":"x"`, "query": `"id":"m1"`, "cancel": `"id":"m1"`, "queue": ``, "status": ``,
		"subscribe": `"after":0`, "screen": ``, "signal": `"event":"ready"`,
		"pull": `"max":1`, "pull_ack": `"ids":["m1"]`, "emit": `"to":"bob","body":"x"`,
		"pause": `"for_ms":500`, "resume": ``, "explain": ``, "keys": `"keys":["Enter"]`,
	}
	if len(whole) != len(Features()) {
		t.Errorf("%d types, want those of Features: %v", len(whole), Features())
	}
	for _, typ := range Features() {
		fields := whole[typ]
		if fields != "" {
			fields = "," + fields
		}
		with := func(more string) string { return `{"type":"` + typ + `"` + fields + more + `}` }
		if r, err := DecodeRequest([]byte(with(`,"req":"r1"`))); err != nil || r.Type() != typ || r.Tag() != "r1" {
			t.Errorf("%s: got %+v, %v", with(`,"req":"r1"`), r, err)
		}
		for _, tt := range []struct {
			line  string
			code  Code
			field string
		}{
			{with(`,"nosuch":1`), BadField, "nosuch"},
			{with(`,"Type":"x"`), BadField, "Type"},
			{with(`,"Req":"r"`), BadField, "Req"},
			{with(`,"req":"a","req":"a"`), BadField, "req"},
			{with(`,"req":null`), BadField, "req"},
			{with(`,"req":1e3`), BadField, "req"},
			{with(`,"req":{}`), BadField, "req"},
			{with(`,"req":""`), BadField, "req"},
			{with(`,"req":"` + strings.Repeat("r", MaxReq+1) + `"`), BadField, "req"},
			{with(`,"req":"\ud800"`), BadJSON, "req"},
			{with(",\"req\":\"\xff\""), BadJSON, "req"},
			{with(`,"x":` + strings.Repeat("[", 20000)), BadJSON, "x"},
			{with(``) + with(``), BadJSON, ""},
			{with(``) + ` 1`, BadJSON, ""},
			{with(`,`), BadJSON, ""},
			{with(`,"pad":"` + strings.Repeat("x", MaxLine) + `"`), LineTooLarge, ""},
		} {
			r, err := DecodeRequest([]byte(tt.line))
			if err == nil || err.Code != tt.code || err.Field != tt.field {
				t.Errorf("%.120s: got %+v, %+v; want %s of %q", tt.line, r, err, tt.code, tt.field)
			}
		}
	}
}

func TestValidTarget(t *testing.T) {
	for _, ok := range []string{"*", "bob", "relay", "human", "room", "#dev", "#a.b-c_d", "bob@host", "bob@h1.example.org", strings.Repeat("x", 64)} {
		if err := ValidTarget(ok); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
	for _, bad := range []string{"", "#", "@", "#*", "*@h", "#dev@h", "a@", "@h", "a@@h", "a b", "-a", "ä", "a\n", "a@h\x1b", strings.Repeat("x", 65), "#" + strings.Repeat("x", 65)} {
		if ValidTarget(bad) == nil {
			t.Errorf("%q: accepted", bad)
		}
	}
}

func TestValidCommand(t *testing.T) {
	for _, ok := range []string{"ls -l", " echo 'é' | wc; # 日本語 🎉", `printf '\033[1m'`} {
		if err := ValidCommand(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range []string{"a\nb", "a\n", "\ra", "a\tb", "a\x00", "a\x03", "a\x1b[A", "a\x7f", "a\u0085b", "a\u009b1m"} {
		if ValidCommand(bad) == nil {
			t.Errorf("%q: accepted", bad)
		}
	}
}

func TestErrorEchoesReq(t *testing.T) {
	tests := []struct{ in, want string }{
		{`{"req":"r1","type":"cancel"}`, "r1"},
		{`{"type":"query","req":"r1"}`, "r1"},
		{`{"type":"cancel","id":null,"req":"r1"}`, "r1"},
		{`{"type":"nosuch","req":"r1"}`, "r1"},
		{`{"req":"r1","type":`, "r1"},
		{`{"req":{"a":1},"type":"query"}`, ""},
		{`{"type":`, ""},
	}
	for _, tt := range tests {
		if _, err := DecodeRequest([]byte(tt.in)); err == nil || err.Req != tt.want {
			t.Errorf("%s: got %+v, want req %q", tt.in, err, tt.want)
		}
	}
}

func TestTimeout(t *testing.T) {
	tests := []struct {
		ms   int64
		want time.Duration
	}{
		{0, 0}, {1500, 1500 * time.Millisecond}, {9223372036854, 9223372036854 * time.Millisecond}, {9223372036855, math.MaxInt64}, {math.MaxInt64, math.MaxInt64},
	}
	for _, tt := range tests {
		if got := (&Inject{TimeoutMS: tt.ms}).Timeout(); got != tt.want {
			t.Errorf("%d ms: got %v, want %v", tt.ms, got, tt.want)
		}
	}
}

func TestValidName(t *testing.T) {
	for _, ok := range []string{"a", "Alice", "0", "a.b_c-d", strings.Repeat("x", 64), "relays", "a11", "al", "humans", "user1", "my.human", "relay2", "rooms", "all", "system", "user"} {
		if err := ValidName(ok); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
	for _, bad := range []string{"", "relay", "human", "self", "any", "room",
		"Human", "HUMAN", "hurnan", "human.", "human_-", "hUrNaN.", "Relay", "RELAY", "re1ay", "reIay", "seIf", "r00m", "roorn", ".a", "_a", "-a", "a b", "a@b", "a/b", "ä", strings.Repeat("x", 65)} {
		if ValidName(bad) == nil {
			t.Errorf("%q: accepted", bad)
		}
		if bad != "relay" && bad != "human" && bad != "a@b" && ValidFrom(bad) == nil {
			t.Errorf("%q: accepted as a sender", bad)
		}
	}
}

func FuzzDecodeRequest(f *testing.F) {
	for _, s := range []string{`{"type":"cancel","id":"m1","req":"r"}`, `{"type":"queue"}`, `{"type":"screen","req":"r"}`,
		`{"type":"signal","event":"blocked","detail":"a\u009b1m\n"}`, `{"type":"emit","to":"#dev","body":"x>>>","reply_to":"m","thread":"t","mode":"urgent"}`,
		headPart + `"mode":"urgent","kind":"command","redelivery":"once"}`, okInject, `{"type":"hello","token":"x","req":"r"}`, `{"type":"query","id":"m1"}`, `{"type":"status"}`,
		`{"type":"subscribe","after":3,"events":["state"]}`, headPart + `"priority":-3,"timeout_ms":9,"kind":"notice"}`,
		`{"type":"inject","id":"\ud800"}`, `{"a":[[[{"b":null}]]]}`, "{\"type\":\"\xff\"}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, refused := DecodeRequest(line)
		if refused != nil {
			if r != nil || !isCode(refused.Code) {
				t.Fatalf("%q: got %v with %+v", line, r, refused)
			}
			mustEncode(t, refused)
			return
		}
		if r.Type() == "emit" && ValidTarget(r.(*Emit).To) != nil {
			t.Fatalf("%q: accepted for %q", line, r.(*Emit).To)
		}
		again := mustEncode(t, r)
		r2, refused := DecodeRequest(again[:len(again)-1])
		if refused != nil || !reflect.DeepEqual(r, r2) {
			t.Fatalf("%q became %q: got %+v (%v), want %+v", line, again, r2, refused, r)
		}
	})
}

// isCode reports whether the contract names c.
func isCode(c Code) bool {
	return slices.Contains([]Code{BadJSON, UnknownType, BadField, MissingField, MessageTooLarge, LineTooLarge, QueueFull,
		DuplicateID, UnknownID, TooLate, CursorGone, NotAuthorized, TooManyConnections, LaggedCode, Degraded, ShuttingDown}, c)
}
