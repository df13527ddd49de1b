// Package protocol is the wire format of the injection socket: JSON Lines, one
// object a line, at most [MaxLine] bytes a line without its newline.
//
// It decodes requests strictly, encodes answers and events, and knows the closed
// set of error codes. It does not sanitise text, keep state, or know of sockets
// and terminals; everything in it is a pure function of its arguments.
//
// # Requests
//
// Every request is an object with a "type" and may carry "req", a string of 1 to
// [MaxReq] bytes that is echoed in each of its answers.
//
//	{"type":"hello","token":"…"?}
//	{"type":"inject","id":"m1","from":"bob","body":"…", and optionally
//	   "priority":0          any int64, lower goes first
//	   "mode":"sequential"   one of [Modes]
//	   "timeout_ms":0        0 = never, not negative
//	   "redelivery":"never"  or "once"
//	   "reply_to":"…", "thread":"…"
//	   "kind":"message"      or "notice"; "command" is not_authorized}
//	{"type":"query","id":"m1"}
//	{"type":"status"}
//	{"type":"subscribe","after":0?,"events":["state",…]?}
//
// NAME is [A-Za-z0-9][A-Za-z0-9_.-]{0,63}; relay, human, self, any and room are
// reserved. "from" is NAME or NAME@HOST and may also be relay or human, never self,
// any or room. "id", "reply_to" and "thread" are [A-Za-z0-9_.:-]{1,128}. A body is 1
// to [MaxBody] bytes of UTF-8.
//
// Strictness: one object a line; an unknown field (also one that differs only in
// case), a field given twice, null, a fraction or an exponent where an integer
// belongs, an object or a list where text belongs are bad_field and name the field.
// Invalid UTF-8, lone surrogates, two values on a line and anything that is no JSON
// object are bad_json. A line that is wrong in several ways is answered once: first
// for its JSON, then for fields that are null or doubled, then its type, then its
// fields.
//
// # Errors
//
//	{"type":"error","code":"bad_field","message":"…","field":"mode","id":"m1","req":"…"}
//
// "field", "id" and "req" stand there when they are known and were themselves well
// formed. Codes are API, messages are not.
//
// # Answers
//
//	{"type":"hello","protocol":1,"features":["hello","inject",…],"name":"alice"}
//	{"type":"subscribed","seq":12,"epoch":"9f…","protocol":1,"features":[…]}
//	{"type":"status", …}                            see [StatusAnswer]
//	{"type":"inject_result", …}                     see below
//
// "features" lists the request types that this version answers.
//
// # Events
//
// Every event carries "seq", strictly increasing, and "timestamp", Unix milliseconds.
//
//	{"type":"inject_result","seq":12,"timestamp":…,"id":"m1","status":"queued","queue_position":1,"durable":false,"waiting_for":"draft"}
//	{"type":"inject_result",…,"status":"injecting","attempt":1}
//	{"type":"inject_result",…,"status":"delivered","attempt":1,"evidence":"turn"}
//	{"type":"inject_result",…,"status":"failed","attempt":1,"error":{"code":"agent_exited","message":"…"}}
//	{"type":"waiting",…,"id":"m1","waiting_for":null}
//	{"type":"backpressure",…,"queue_length":40,"accept":false}
//	{"type":"state",…,"state":"ready","confidence":"screen","blocked_by":null}
//	{"type":"relay_command",…,"from":"alice","to":"bob","body":"…","raw":"…","id":"…","reply_to":"…","thread":"…","mode":"…","source":"log"}
//	{"type":"marker_invalid",…,"raw":"…","reason":"…","source":"stream"}
//	{"type":"lagged",…,"dropped":17}
//	{"type":"exit",…,"code":0}
//
// "queue_position" counts from 1, the message that goes next. A "waiting" event
// names the message that goes next, or the one whose attempt was withdrawn; what it
// waits for holds for every message behind it as well. "lagged" is the last line of
// a connection that read too slowly: its seq repeats the last event which that
// connection was sent in full (0: none), so that a client which resumes after the last
// seq it saw misses nothing.
package protocol
