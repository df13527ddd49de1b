// Package protocol is the wire format of the injection socket: JSON Lines, one
// object a line, at most [MaxLine] bytes a line without its newline.
//
// It encodes frames, decodes requests strictly and what a wrapper sends leniently, and
// knows the words, names, limits and codes of the wire. It does not sanitise text, keep
// state, or know of sockets and terminals; everything in it is a pure function of its
// arguments.
//
// # Requests
//
// Every request is an object with a "type" and may carry "req", a string of 1 to
// [MaxReq] bytes that is echoed in each of its answers.
//
//	{"type":"hello","token":"…"?}
//	{"type":"inject","id":"m1","from":"bob","body":"…", and optionally
//	   "priority":0          any int64, lower goes first
//	   "mode":"sequential"   or "important", "urgent"
//	   "timeout_ms":0        0 = never, not negative
//	   "redelivery":"never"  or "once", "marked"
//	   "reply_to":"…", "thread":"…"
//	   "kind":"message"      or "notice", "command"}
//	{"type":"query","id":"m1"}
//	{"type":"cancel","id":"m1"}
//	{"type":"queue"}
//	{"type":"status"}
//	{"type":"subscribe","after":0?,"events":["state",…]?}
//	{"type":"screen"}
//	{"type":"explain"}
//	{"type":"pause","for_ms":0}                        0: until a resume
//	{"type":"resume"}
//	{"type":"keys","keys":["Down","Enter"]}            where the wrapper allows commands, else not_authorized
//
// and, on a connection that said hello with the token, so that it speaks as the agent
// (else not_authorized):
//
//	{"type":"signal","event":"ready","detail":"…"?}    one of [Signals]
//	{"type":"emit","to":"bob","body":"…","reply_to":"…"?,"thread":"…"?,"mode":"…"?}
//	{"type":"pull","max":10?,"wait_ms":60000?,"modes":["important",…]?,"max_bytes":9000?}
//	{"type":"pull_ack","ids":["m1",…]}
//
// NAME is [A-Za-z0-9][A-Za-z0-9_.-]{0,63}; relay, human, self, any and room are reserved,
// in any case, with signs behind, and what looks like one of them (re1ay, hurnan). "from"
// is NAME or NAME@HOST and may also be relay or human. "to" is NAME, NAME@HOST, #NAME or *,
// where NAME may be reserved: that is the router's business.
// "id", "reply_to" and "thread" are [A-Za-z0-9_.:-]{1,128}. A body is 1 to [MaxBody] bytes
// of UTF-8, "detail" and "reply_quote" at most [MaxDetail]. One of control and invisible
// characters alone is bad_field, for those are removed from what is typed.
//
// Messages go in the order of mode (urgent, important, sequential), then of priority,
// then of arrival. Only urgent ones get the last tenth of the queue (rounded down). An
// agent's mode in emit and in markers is passed on as it said it; whoever routes it takes
// its urgent for important unless its rules allow more.
//
// A notice has no reply footer; where nobody reads the agent's markers, the footer of others names
// the command that answers. A command is its body alone, typed as it is, to run: it
// must be one line without control or invisible characters (bad_field), and only a wrapper that was
// started so takes it (not_authorized). A command of a single character fails (dialog) where the
// agent has a composer: beside that may stand a question which takes it for an answer.
//
// A signal is the agent's own word about its state: ready and turn_end say ready, busy and
// turn_start say busy. It yields to fresher evidence, and a dialog on the screen stays one.
//
// A query is answered at once with the latest result of its message. While that is not a terminal
// one, the later ones follow as they come, as after an inject: a client that closed its side for
// writing is served until the message has ended. Who wants only the answer reads one line.
//
// A pause lets no message begin to be typed for so long, on the clock that no jump of the time of
// day moves, or until a resume. A message that is being typed is finished; all others wait for
// "paused", and expire as ever. The pause outlives the wrapper, unless that keeps no journal
// (--ephemeral).
//
// A resume also lets one message be tried at once where the API of the agent's model refuses.
//
// Keys are pressed one by one, never within a message or a human's key, and each counts when the
// agent has read it; in line mode, when the terminal's line editor has it. One that the agent does
// not read within 3 seconds is taken back, and those behind it are not pressed. Names: Enter, Esc,
// Tab, Space, Backspace, Up, Down, Left, Right, Home, End, Delete, PageUp, PageDown, C-x, M-x, and
// each character.
//
// # Pulling
//
// A hook or a tool of the agent's can ask for its messages and hand them over by itself: nothing is
// typed, so a draft, a dialog or a running turn is no hindrance. A pull takes the messages that go
// next, of the given modes (all), at most max ([MaxPull]) and 64 KiB of bodies, and with max_bytes
// no more bytes of texts than that; a command is never among them. It waits up to wait_ms for a
// first one, as long as the client stays and asks for nothing else. Only one waits at a time: a
// second takes the place of the first, which is answered without messages, for the first may belong
// to a hook that nobody listens to any more. While it waits, messages of its modes are not typed.
//
// A pull is an attempt, so each message is injecting, once for the attempt. It is leased: nobody
// else gets it, and it cannot be cancelled. A pull_ack, on whatever connection of the agent's,
// makes it delivered with evidence pulled; the agent's own log, where there is one, makes it
// delivered with evidence turn. Without either the lease ends 30 seconds after the pull or, if a
// turn runs then, with that turn. What becomes of the message then is what its sender chose:
// with redelivery once it waits again, and says so in its header; else it is unknown. A lease also
// ends at the message's timeout, but not within 5 seconds of the pull. The message is unknown then,
// not expired, since the agent may read it yet. A client that was gone before it could be answered
// has got nothing, and its messages wait again. Acknowledging again changes nothing; what has ended
// otherwise is too_late, and the other ids of that pull_ack count.
//
// # Cancelling
//
// A waiting message is cancelled at once; one that is being typed is taken back, if Enter
// was not pressed. The answer to a cancel is one line: the message's inject_result with
// status cancelled (again, when it was cancelled before), or the error too_late when Enter
// was pressed or it has ended otherwise. While an attempt is being taken back the answer
// waits, for 10 seconds at most, and so do the answers to later requests of the same
// connection; events go on. If that time is over the answer is too_late, and the message
// is not cancelled: what was answered stays true. When the canceller hangs up before it is
// answered, the cancel still counts.
//
// # Strictness
//
// One object a line; an unknown field (also one that differs only in
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
// formed. Codes are API, messages are not. An answer that would be over [MaxLine] (the
// screen or the queue may be) is message_too_large.
//
// # Answers
//
// Answers come in the order of the requests; events may come in between. A client that
// closes its side for writing still gets them all. On one connection each new result of a
// message comes once, with the "req" of that connection's last inject, query or successful
// cancel of it.
//
//	{"type":"hello","protocol":1,"features":["hello","inject",…],"name":"alice"}
//	{"type":"subscribed","seq":12,"epoch":"9f…","protocol":1,"features":[…]}
//	{"type":"status", …}                            see below
//	{"type":"queue","messages":[{"id":"m1","from":"bob","queued_at":…,"expires_at":null,"mode":"sequential","priority":0,"waiting_for":"draft"},…]}
//	{"type":"screen","rows":["$ ls",…],"cursor_position":[4,0],"size":{"cols":80,"rows":24}}
//	{"type":"explain","state":"unknown","blocked_by":"…","signs":[{"name":"composer","says":"…","since":…,"wins":true},…]}
//	{"type":"keys","pressed":2}                     with "error" where that is not all
//	{"type":"messages","messages":[{"id":"m1","from":"bob","mode":"important","reply_to":"…","thread":"…","body":"…","text":"[relay m1 from bob] …"},…]}
//	{"type":"ok"}                                   to signal, pull_ack, pause and resume
//	{"type":"ok","seq":12}                          to emit: the number of its relay_command
//	{"type":"inject_result", …}                     see below
//
// A status says of the agent "name", "agent" (the profile), "pid", "state" (starting, ready, busy,
// blocked, unknown, stopped or exited), "agent_idle" (the state is ready), "confidence" (signal,
// screen or guess), "blocked_by" (what stands in the way, or null), "last_output_ms",
// "cursor_position", "size" and, where no answer can be expected, "unheard" (why nobody hears what
// it writes); of the composer "can_accept" and "draft"; of the human "human_idle_ms"; of the queue
// "queue_length", "accept", "oldest_pending_ms", "waiting_for" (of the oldest waiting message),
// "injecting" (the id that is being typed, or null) and "paused"; and of the wrapper "protocol",
// "features", "uptime_ms" and "degraded" (its disk fails).
//
// An explain tells why the state is what it is: its "signs" are what it may stand on, the strongest
// first, each with its "name", what it "says", "since" when (Unix milliseconds, or null), and
// whether it "wins", which exactly one does. Names: process, terminal, dialog, busy_row; session,
// hook, osc and title (the agent's own word, by where it was heard); profile, composer, prompt,
// turn, silence; log (the agent's own log, which proves deliveries); markers (why nobody reads
// them). A sign with "fault" true tells of something that is wrong. An agent that rests for 20
// seconds while no rule finds its composer is unknown, and "blocked_by" names what was looked for;
// so is one whose composer is in a mode in which text is no prompt, and messages wait for "draft".
//
// After a turn that the API of its model refused, an agent that would be ready is blocked, and
// "blocked_by" has the agent's words and the time. Nothing is typed, and a pull of an agent at rest
// gets nothing, until the agent's "retry_at", or until a turn is answered, whoever began that:
// messages wait for "ready". One message is tried then; on a resume; and, where the agent told no
// time, 1, 2, 4, 8, 16 and each further 30 minutes after the refusal or the try before.
//
// "features" lists the request types that this version answers. "rows" holds every row of
// the screen without blanks at its end. What is shown of the agent ("rows", "blocked_by",
// error messages, refused markers) holds no control characters; a relay_command's "body"
// and "raw" are exact, and whoever shows or types them removes theirs. On the wire all of
// C0, DEL and C1 is escaped, so that a line does no harm on a terminal.
//
// # Events
//
// Every event carries "seq", strictly increasing, and "timestamp", Unix milliseconds.
//
//	{"type":"inject_result","seq":12,"timestamp":…,"id":"m1","status":"queued","queue_position":1,"durable":false,"waiting_for":"draft"}
//	{"type":"inject_result",…,"status":"injecting","attempt":1}          and "via":"pull" if the agent pulled it
//	{"type":"inject_result",…,"status":"delivered","attempt":1,"evidence":"turn"}
//	{"type":"inject_result",…,"status":"failed","attempt":1,"error":{"code":"agent_exited","message":"…"}}
//	{"type":"waiting",…,"id":"m1","waiting_for":null}
//	{"type":"backpressure",…,"queue_length":40,"accept":false}
//	{"type":"state",…,"state":"ready","confidence":"screen","blocked_by":null}
//	{"type":"relay_command",…,"from":"alice","to":"bob","body":"…","raw":"…","id":"…","reply_to":"…","thread":"…","mode":"…","source":"log","turn_of":["m1"],"tools":2}
//	{"type":"draft_stashed",…,"id":"m1"}            the human's draft was set aside for m1
//	{"type":"draft_restored",…,"id":"m1"}           it stands in the composer again
//	{"type":"marker_invalid",…,"raw":"…","reason":"…","source":"stream"}
//	{"type":"turn_end",…,"ids":["m1"],"outcome":"answered","text":"…","tools":2}
//	{"type":"turn_end",…,"ids":["m1"],"outcome":"refused","text":"…","tools":0,"reason":"limit","retry_at":1705360000000}
//	{"type":"lagged",…,"dropped":17}
//	{"type":"exit",…,"code":0}
//
// "waiting_for" is ready (the agent is not known to be, or its API refuses), human (keys were just
// typed), draft, dialog, turn, stopped, paused, or null. The "source" of a relay_command is log,
// stream or emit; "raw" of an emitted one is the marker that says the same.
// "backpressure" goes to subscribers and to connections with an inject in flight.
//
// "turn_of" are the messages that the turn which wrote a relay_command was given by then, and
// "tools" is how many tools it has used: relay's own, and shells that run nothing but relay, are
// talk and do not count. It is null where no log tells.
//
// A "turn_end" comes for every turn that the agent's log shows. Its "outcome" is answered, silent
// (it ended well without a word), interrupted, or refused by the model's API. A refused one has a
// "reason", which is limit, auth, overloaded or error, and "retry_at" where the agent says from
// when on requests are taken. "text" is what the agent said last: an answer only of a turn that was
// answered, and empty where the turn wrote messages, which say what was to be said. Of a turn that
// was refused, "text" is what the agent says of that. With "background" true, a shell, a subagent
// or a monitor that the turn began goes on, and nothing is an answer yet: the turn in which the
// agent is told that it is over has the same "ids".
//
// "queue_position" counts from 1, the message that goes next. A "waiting" event
// names the message that goes next, or the one whose attempt was withdrawn; what it
// waits for holds for every message behind it as well. "lagged" is the last line of
// a connection that read too slowly: its seq repeats the last event which that
// connection was sent in full (0: none), so that a client which resumes after the last
// seq it saw misses nothing.
package protocol
