// Package router holds what the router knows and decides: the events of its log, the state that
// they add up to, and which messages are let in. Everything in it is a pure function of its
// arguments; it reads no clock and does no I/O.
//
// A message is accepted when its event is in the log. What the log adds up to is [State], whose
// rows are written together with the events that change them ([Rows]); at hand are those that have
// not ended, of all else a [Shelf] is asked.
//
// # Messages to several
//
// A message to a channel or to * is one event that names its recipients, so a crash cannot give it
// to a part of them. What each recipient gets is a message like any other (ID:NAME), so claims,
// leases, answers and ends need no second way. Who is in a channel is in the log, and * is
// who runs at that moment: chatter is about the present, while members of a channel asked for all
// that is said there. Rates count deliveries, for those are what turns cost.
//
// # Ends and answers
//
// A message that is sent again is another one, ID:r1, because a wrapper never types one id twice;
// the log says what it stands for. Only what ended without having arrived is sent again, by a
// user's word, and its header says so, for the agent may have seen it.
//
// Who does not run is waited for, not for ever: chatter is stale after minutes (dm_expiry, from
// when it was sent or the agent ended), and a sender who knows better says --timeout. Members of a
// channel read up, so there a message waits for as long as they are known. Whoever reads by `relay
// recv` does when he likes.
//
// How long somebody waits for an answer is a fact of the message (reply_by), no state of a
// connection: whether an answer is late is decided by the log alone, and the same after a crash. An
// answer goes to who asked: a message with re= to somebody else passes the question on, is of the
// same chain, and whoever asked waits on. An answer proves an arrival: a message that its recipient
// answers while it is still being confirmed, or that had ended as unknown, counts as replied.
//
// An agent that just answers is understood: a turn that was given messages and wrote none ends with
// words that may be the answer (turn_end). A turn that wrote to anybody says nothing so, for that
// agent knows how to answer, and may be asking first. The words are no message; nobody is sent
// them, and a message that comes later counts as the answer.
//
// # Later
//
// What comes later is a message already (scheduled): a reminder by the event that set it, a notice
// by the event that delivered its message, under an id derived from that. One event accepts it, so
// nothing can come twice or be lost in between. Its time is the clock's, for only the clock goes on
// while the machine sleeps and no router runs. "Not answered" is said only when nothing old is
// still coming in. A refusal is told to the agent that wrote, by a notice that the event of the
// refusal schedules; an agent may answer all that it hears, so few are told, none about what was to
// go to the router, and an answer to one goes on in the chain of what was refused.
package router
