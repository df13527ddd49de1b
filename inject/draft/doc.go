// Package draft keeps the shadow of what the human has typed and not sent. It reads the human's own
// keystrokes as a line editor would; the screen confirms or refutes it. Mouse, focus, the
// terminal's answers to queries and key releases are not typing.
//
// The shadow never decides alone. It follows what every editor does alike and gives up at the rest
// (Tab, history, unknown keys). A draft is touched only when the shadow knows all of it and what
// is in view agrees: the whole text, pastes as chips included, or, where rows are scrolled away, at
// least 12 characters of it in a row; else it holds. A draft of blanks shows no text: in Claude
// Code, Codex and Gemini CLI the cursor tells of it, in others the shadow does. What else must hold
// before a draft is set aside is in the injector's maySetAside. What the injector itself left in a
// composer, or an interrupted agent gave back into it, is no draft, and not this package's.
package draft
