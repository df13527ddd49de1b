// Package inject types messages into an agent's terminal and proves that they arrived. One loop
// owns all of its state. Each step looks at the agent, judges once, lets messages expire and
// reports; then the attempt that has the terminal does what its stage asks for (stage.go has the
// table, DESIGN.md the picture), or, when there is none, the next one begins. Between steps the
// loop waits until something changed, or until a stage wants to be asked again.
//
// It knows nothing of sockets, queues or processes; those meet it through the interfaces [Mailbox],
// [Log] and [Agent]. Its only goroutine is the one that calls [Injector.Run].
//
// # Submitting
//
// Enter is pressed on what is seen: the composer must start with our header and end with our
// footer, which both carry the message's id, and no dialog may be visible. A tall composer scrolls
// its header out of view; then the footer counts alone, for the composer was empty before and only
// the injector types in it. After Enter the question is "does it still hold our text", not "is it
// empty": a draft that comes back fills it again. One more Enter is pressed only when the agent has
// read the first one and our text still stands there unchanged. Where the agent shows a draft as
// set aside, Enter is pressed once only: the first one brings the draft back, however late, and a
// second would submit it.
//
// A composer that is empty may be frozen: Gemini CLI empties it and then stands still for 46 s over
// a line of 64 KB. Behind such a line only the turn itself proves the delivery. Or the agent shows
// that it holds prompts back: Gemini CLI does until its tools have started, and the human can still
// take them out. A message among them is followed like one that is handed to a busy agent, until
// the agent's log shows it.
//
// The text must show within ten seconds, and those begin anew with each part that the agent reads:
// slow reading is reading. What is hidden (a chip where header or footer should be) cannot be
// verified, so it is taken back at once and typed again by itself, in pieces. While the agent is
// stopped no deadline runs, and the human's keys wait with it.
//
// # Dialogs
//
// A dialog suspends an attempt, and the terminal is the human's until it is answered. Then the
// composer decides: what stands there whole is submitted, a part of it is taken back and typed
// again, nothing is typed again, and what is mixed with other text is doubt. Behind Enter the time
// stands still for it, where the agent's log will tell. While an agent paints
// anew its composer may be away for some milliseconds (Gemini CLI: 2 to 11), and what was said
// before may read like a question. So a dialog without a composer counts when it has stood for
// 50 ms, one that reads like what was typed last for 300; until then nothing is told or typed.
//
// # Drafts
//
// A draft is set aside by the agent's own means, and verified twice: it must be seen gone before
// the message is typed, and seen the same when it is back. Claude Code has a stash; Codex keeps a
// draft that Ctrl-C clears in its history; shells and Python lose the line by Ctrl-U and get it
// typed again. Gemini CLI and OpenCode have nothing that is safe with every draft: there it holds.
//
// A key may act late. The key that sets a draft aside is awaited for ten seconds, or a second where
// the human types, and taken back when it is still unread. When it acts after that, the shadow of
// keys still has a draft that the composer does not show; it is brought back before anything is
// typed.
//
// A draft may also show late: a loaded agent paints keys seconds after it was given them. So keys
// that an empty composer does not show hold messages for three seconds; then the composer is
// believed.
//
// At a shell's prompt any difference between the row up to the cursor and the same row before the
// human's first key counts as a draft: that also sees history, completion and whatever else keys
// may do.
//
// What a message left in the composer, because it could not be taken back, is ours while nobody
// else has typed. It goes before the next message, as whatever is taken back does, never while the
// agent works.
//
// # Busy agents
//
// Where the profile names a key, an important message goes into the agent's own queue (Codex: Tab,
// the others: Enter), which cuts nothing. Only the agent's log proves it (evidence turn). An agent
// that comes to rest without showing it there leaves it in doubt; one that gives it back into its
// composer gets it submitted. Codex does so with all that it has queued when it is interrupted, by
// us or by the human's Esc: that becomes one turn. What came back because the human pressed another
// key is the human's: a draft while it stands there, delivered when they send it, unknown when they
// change it. OpenCode keeps an interrupted queue for its next turn, so nothing waits for that.
//
// An interrupt is one key at a time: two Escs in one read are Alt-Esc, so the second waits until
// the agent has read and painted, and 60 ms. OpenCode gets a third where it shows that it forgot
// the first. An agent that is still busy 1.2 s after it has shown that it heard an interrupt gets
// another one. One that asks a question, or has painted nothing since it read the keys, never does:
// two Escs that it does at once clear Claude Code's composer. What that gives back when it had not
// said a word is submitted again after the urgent message.
//
// # Line programs
//
// Linux tells what a process waits for. After a message that it has read, a program that waits in a
// read of its terminal is ready; otherwise silence has to show it, for the whole --idle-timeout.
// Lines go one by one, each when the one before was answered, or after 50 ms: text that is typed
// ahead is echoed wherever the kernel happens to be, and an echo that is cut by an answer begins
// lines that look like the program's own words.
package inject
