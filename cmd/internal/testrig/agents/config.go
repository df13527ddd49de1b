package agents

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// Config scripts an agent. The zero value is a well-behaved one. The command
// "set" changes any of it while the agent runs.
type Config struct {
	// All agents.

	Greeting string `json:"greeting,omitempty"` // printed at start, verbatim
	// Reply is the answer to every message; empty means "ACK n bytes". {n}
	// stands for the length in bytes, {id} and {from} for those of a relay
	// header, when the message has one.
	Reply string `json:"reply,omitempty"`
	// Marks are the answers to messages with the words "MARK name".
	Marks map[string]string `json:"marks,omitempty"`
	// Env names environment variables that State.Env tells, beside
	// RELAY_AGENT, RELAY_SOCKET and RELAY_TOKEN.
	Env []string `json:"env,omitempty"`
	// ExitTo is a program that the process becomes when the agent exits, with
	// the terminal's settings restored and the agent's variables unset.
	ExitTo string `json:"exit_to,omitempty"`

	// Reading, all agents but echo.

	ReadBytes  int  `json:"read_bytes,omitempty"`  // most bytes taken by one read; 0: all there are
	ReadMS     int  `json:"read_ms,omitempty"`     // pause after each read
	FlushStart bool `json:"flush_start,omitempty"` // drops at start what was typed before, with TCSAFLUSH
	FlushLines int  `json:"flush_lines,omitempty"` // drops what is unread after each so many lines or submitted messages
	FlushBytes int  `json:"flush_bytes,omitempty"` // the same after each so many bytes read

	// Line programs.

	Prompt string `json:"prompt,omitempty"` // default "> "; of editor "$ "; of composer the look's own
	Ask    string `json:"ask,omitempty"`    // asks this first, see the command "ask"
	// EditorGroup is the process group of the child of the command "edit":
	// "own" makes it the foreground job, as a shell does (default of line
	// programs); "same" leaves it in the agent's (default of composer).
	EditorGroup string `json:"editor_group,omitempty"`
	// Canonical leaves the terminal of deaf and liar in its line mode: the
	// kernel echoes what nobody reads.
	Canonical bool `json:"canonical,omitempty"`
	EveryMS   int  `json:"every_ms,omitempty"` // of deaf: a line each so often; 0 means 200
	Lines     int  `json:"lines,omitempty"`    // of deaf: so many lines; 0 means 600, -1 none

	// Composer: what it shows.

	Look         string `json:"look,omitempty"`  // "rule" (default), "box" or "bare"; see package compose
	Ghost        string `json:"ghost,omitempty"` // text in an empty box: dim, in "box" merely pale
	AltScreen    bool   `json:"alt_screen,omitempty"`
	HardWrap     bool   `json:"hard_wrap,omitempty"`     // long lines break at the width, not at blanks
	Chips        string `json:"chips,omitempty"`         // "never": long pastes show in full; "hidden": nothing shows of them
	HistoryTwice bool   `json:"history_twice,omitempty"` // a submitted message is printed twice
	Spin         bool   `json:"spin,omitempty"`          // paints something while idle, too
	// Still moves nothing by itself: no spinner, no alternating title. With
	// ReadBytes 1 the output then depends on what was typed alone.
	Still  bool   `json:"still,omitempty"`
	Frozen bool   `json:"frozen,omitempty"` // paints nothing any more, but goes on reading; thawed, it catches up
	Redraw string `json:"redraw,omitempty"` // "twice" or "clear"; see package paint
	// PaintMS is how long a change takes to be painted; changes meanwhile are
	// painted with it.
	PaintMS int `json:"paint_ms,omitempty"`

	// Composer: what it asks of the terminal. Focus reports are always on.

	NoPaste   bool `json:"no_paste,omitempty"` // no bracketed paste
	Mouse     bool `json:"mouse,omitempty"`    // any-motion mouse reports
	Kitty     int  `json:"kitty,omitempty"`    // flags pushed for the kitty keyboard protocol, whose CSI 13 u is then Enter
	OtherKeys int  `json:"other_keys,omitempty"`
	OSC7501   bool `json:"osc_7501,omitempty"` // tells its state by OSC 7501, as Codex: working, blocked, done, idle

	// Composer: what it does.

	// BusyMS is how long it is busy with a message; 0 means 150, -1 until the
	// command "idle". "BUSY n" in a message sets it for that message.
	BusyMS int `json:"busy_ms,omitempty"`
	// Swallow is how many of the next Enters in the box do nothing; it counts
	// down. -1: all of them, the composer is wedged.
	Swallow     int      `json:"swallow,omitempty"`
	SlashPicker []string `json:"slash_picker,omitempty"` // list that opens on a first word with /; the entries with their /
	AtPicker    []string `json:"at_picker,omitempty"`    // list that opens on a word with @ at the cursor; with their @
	// DialogOn opens the permission dialog, once, when the draft contains this
	// text, before the next key; "*": when it contains any.
	DialogOn string `json:"dialog_on,omitempty"`
	// DialogIgnores is how many keys each dialog ignores first: Claude 2.1.329
	// ignores those of its first 0.1 to 0.2 s.
	DialogIgnores int  `json:"dialog_ignores,omitempty"`
	Rewind        bool `json:"rewind,omitempty"` // Esc Esc on an empty box opens a dialog, once there was a turn
	// ReturnPrompt puts the message of an interrupted turn back into the box,
	// when the turn printed nothing and the box is empty.
	ReturnPrompt bool `json:"return_prompt,omitempty"`
	// QuitKeys is how many C-c or C-d in a row, on an empty box, exit; the C-c
	// that empties the box counts. 0 means 2, -1 that none do.
	QuitKeys int `json:"quit_keys,omitempty"`
}

// Change applies the JSON object fields; a name that is no knob is an error.
func (c *Config) Change(fields []byte) error {
	dec := json.NewDecoder(bytes.NewReader(fields))
	dec.DisallowUnknownFields()
	return dec.Decode(c)
}

var (
	markWord = regexp.MustCompile(`\bMARK ([\w.-]+)`)
	header   = regexp.MustCompile(`^\[relay (\S+) from (\S+?)[\] ]`)
)

// Answer is the reply to message.
func (c Config) Answer(message string) string {
	if m := markWord.FindStringSubmatch(message); m != nil {
		if text, ok := c.Marks[m[1]]; ok {
			return text
		}
	}
	id, from := "none", "nobody"
	if m := header.FindStringSubmatch(message); m != nil {
		id, from = m[1], m[2]
	}
	text := cmp.Or(c.Reply, "ACK {n} bytes")
	return strings.NewReplacer("{n}", strconv.Itoa(len(message)), "{id}", id, "{from}", from).Replace(text)
}
