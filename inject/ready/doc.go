// Package ready judges from facts whether an agent can take a message. It is pure: time is an
// argument, and a verdict that silence alone would change comes with the time after which to ask
// again. It owns nothing and waits for nothing; the injector does both.
//
// The agent's own word (Claude Code's session file, OSC 7501 of Codex, ->pty:ready) counts before
// the screen, the screen before a prompt pattern, a pattern before silence. Busy and blocked win.
// Silence alone would say "ready" during every permission dialog. Between a turn and its queued
// successor an agent is idle for a few milliseconds, so evidence must stand 150 ms; Codex and
// Gemini CLI ask for trust or a sign-in up to 0.4 s after their first composer, so that one must
// stand 1 to 1.5 s.
//
// What nobody described gets nothing where text may act. A pager takes a message for keys, a
// multiplexer or ssh hands it to a shell that nobody sees, and neither can be told from an agent
// with a composer. So a program without profile, overlay, prompt pattern or a word of its own gets
// messages only while it reads lines by the terminal's own editing and is not known, by its command
// line, to hand them on.
package ready
