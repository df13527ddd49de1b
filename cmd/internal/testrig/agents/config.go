package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
)

// Config scripts an agent. The zero value is a well-behaved one. The command "set" changes what
// it names while the agent runs.
type Config struct {
	// All agents.

	Greeting string            // printed at the start
	Marks    map[string]string // the answers to messages with the words "MARK name"
	ExitTo   string            // the program that the process becomes when it quits

	// Reading.

	ReadBytes  int // most bytes taken by one read; 0: all there are
	ReadMS     int // the pause after each read
	FlushBytes int // after each so many bytes read, what is unread is dropped

	// Programs without a composer.

	Prompt    string // of a line program; default "> "
	Canonical bool   // leaves the terminal of deaf and liar in line mode: the kernel echoes what nobody reads
	Silent    bool   // deaf prints nothing

	// What a composer shows.

	Look         string // "" as Claude Code's; or compose.Bare
	Ghost        string // text in an empty box
	AltScreen    bool
	HardWrap     bool   // long lines break at the width, not at blanks
	Chips        string // "never": long pastes show in full
	HistoryTwice bool   // a submitted message is printed twice
	Spin         bool   // paints something while idle, too
	Still        bool   // moves nothing by itself: no spinner, no title that alternates
	Redraw       string // "twice": each row is painted over itself; "clear": each frame clears all
	PaintMS      int    // how long a change takes to be painted
	NoPaste      bool   // asks for no bracketed paste
	Mouse        bool   // asks for mouse reports

	// What a composer does.

	BusyMS  int      // how long a turn takes; 0 means 150, -1 until the command "idle"
	Swallow int      // how many of the next Enters in the box do nothing; -1: none does anything
	Picker  []string // a list that opens on a first word with / and on any word with @
	// DialogOn opens the permission dialog, once, when the draft contains this text, before the
	// next key; "*": when there is any.
	DialogOn string
	Rewind   bool // Esc Esc on an empty box opens a dialog, once there was a turn
	// ReturnPrompt puts the message of an interrupted turn back into the empty box.
	ReturnPrompt bool
	// QuitKeys is how many C-c or C-d in a row, on an empty box, exit. The C-c that empties the
	// box counts. 0 means 2, -1 that none do.
	QuitKeys int
	// EditorGroup makes the child of the command "edit" the foreground job, as a shell does;
	// without it, the child is in the agent's own process group.
	EditorGroup bool
}

// Change applies a JSON object; a name that is no field is an error.
func (c *Config) Change(fields []byte) error {
	dec := json.NewDecoder(bytes.NewReader(fields))
	dec.DisallowUnknownFields()
	return dec.Decode(c)
}

var markWord = regexp.MustCompile(`\bMARK ([\w.-]+)`)

// Answer is the reply to message.
func (c Config) Answer(message string) string {
	if m := markWord.FindStringSubmatch(message); m != nil {
		if text, ok := c.Marks[m[1]]; ok {
			return text
		}
	}
	return fmt.Sprintf("ACK %d bytes", len(message))
}
