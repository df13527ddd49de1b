package tools

import (
	"sync"

	"relay-pty/cmd/relay/internal/api"
)

// all are the tools, which all servers share. Names and arguments are a contract; so is that an
// answer is JSON. They are made when the first server is, for each start of relay would pay for it.
var all = sync.OnceValue(func() []tool {
	return []tool{
		of("send_message", `Send a message to another agent, to a script, or to the human. Returns its id and status at once, or with wait_seconds the answer.
Statuses: accepted (waits until the recipient runs), queued (waits until it is ready), injecting, delivered, replied, failed, expired, cancelled, unknown.
An answer that comes later reaches you as a message. Do not send the same again when there is no answer yet.`, sendArguments{}, send),
		of("reply_to_caller", `Answer the agent, script or human that wrote to you. correlation_id is the id in the header of the message that you answer: [relay ID from NAME].
It may be left out when only one sender waits for an answer of yours. Use it only to answer; send_message writes first.`, replyArguments{}, replyToCaller),
		of("respond_direct", `Answer one message by its id, which stands in its header: [relay ID from NAME]. Returns the id and status of your answer.`, respondArguments{}, respondDirect),
		of("check_inbox", `Look for messages to you. There is no need to call it again and again: messages come with the answer of any tool of relay, and most agents get them as turns.
Returns how many there are, and the messages. They count as read at your next call.`, inboxArguments{Max: usualMost}, checkInbox),
		of("wait_for_events", `Wait for what happens: messages, what becomes of them, how agents are. Returns {events, cursor_event_seq} as soon as there is something, or without events when the time is over.
Give cursor_event_seq as after_event_seq of the next call, so that nothing is missed. cursor_gone says that older events are not kept: go on without after_event_seq.
To wait for one answer, send_message with wait_seconds is simpler.`, eventsArguments{After: api.FromNow, Wait: usualWait.Milliseconds()}, waitForEvents),
		of("list_agents", `List the agents that can be written to, whether they run, and how they are: ready, busy, blocked (they ask their user something), or gone. you is your own name.`, struct{}{}, listAgents),
		of("remind_me", `Send a message to yourself later, as a reminder to look at something again. It comes as a message from relay, when you are ready then. Returns its id, by which relay cancel takes it back, and when it is due.
Use it in place of waiting or of looking again and again.`, remindArguments{}, remindMe),
		of("message_status", `Tell what became of a message, by its id: status, by what that is known (evidence), why not (error), and its answers. delivered means that the recipient has it, not that it has acted on it.`, statusArguments{}, messageStatus),
	}
})
