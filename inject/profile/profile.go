// Package profile holds the words in which an agent is described: how its composer, its dialogs and
// its busy state look, how a message is typed into it, and where it keeps its own log. Each agent
// is a directory of inject/agents with a literal of these; nothing that types or reads a screen
// branches on an agent's name. An overlay changes a profile, or makes one. Package sight reads
// screens by this data.
package profile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"relay-pty/inject/ready"
)

// Profile is one agent's data.
type Profile struct {
	Name      string
	Title     string   // what it is, to people
	Commands  []string // base names of the commands that start it
	Packages  Words    // npm packages that it comes in
	Installed pattern  // paths of its program that do not end in its name; may be nil
	Usage     *Usage   // nil: each of its command lines is taken for a session
	Marks     Words    // variables, NAME or NAME=VALUE, that its session leaves to what it starts; * stands for any end
	Sets      string   // NAME=VALUE that keeps its sessions where we can follow them; "": nothing is needed
	Shared    *Shared  // nil: each of its sessions is a process of its own

	Composer  *Composer              // nil: a line program, or a TUI we do not know
	BusyTitle string                 // first characters of the window title while it works
	AskTitle  pattern                // the window title while a question stands on the screen; may be nil
	Says      []Saying               // its own word for its state, told by the terminal
	Busy      []pattern              // rows beneath the composer, or right above it, while it works
	Tries     []pattern              // rows there while its API refuses and it tries again by itself
	Queued    pattern                // the row right above it that heads prompts which it holds back while it looks idle; may be nil
	Dialogs   []pattern              // rows of a screen without composer on which a question stands
	Elsewhere []pattern              // the same, of a base that has no composer: the rows of the overlay's are text
	Overlays  []pattern              // rows beneath a composer that is used for something else, or right above it
	Questions []pattern              // what stands before the cursor when a line program asks
	Prompt    string                 // regexp2 pattern of the row up to the cursor that means ready
	Continued pattern                // the same when it waits for the rest of something begun; may be nil
	Begun     func(text string) bool // reports whether lines that were sent wait for the rest of something; may be nil
	Quote     Quote                  // how text is made inert
	Language  string                 // the shell in whose language it then is, by its command; "": it is nobody's that we know
	Rules     ready.Rules
	Typing    Typing
	Log       *Log   // nil: the agent keeps no log that we read
	Hooks     *Hooks // nil: it has none that we use
	MCP       *MCP   // nil: it takes no MCP server for one run
}

// OneByOne reports whether each message is a turn of its own. Where text is code each must be inert
// by itself; and a composer of which the screen alone tells may be too small to show more than one.
func (p *Profile) OneByOne() bool { return p.Quote.Inert() || p.Composer != nil && p.Log == nil }

// Unfound is what to tell people when no rule finds the composer of the agent of that name, which
// rests; "" for programs that have none.
func (p *Profile) Unfound(agent string) string {
	if p.Composer == nil {
		return ""
	}
	why := fmt.Sprintf("its composer is not found, so nothing can be typed: profile %s looks for %s", p.Name, p.Composer.Seeks())
	if p.Composer.Unseen != "" {
		why += "; " + p.Composer.Unseen
	}
	return why + fmt.Sprintf("; relay screen %s shows what is there, relay explain %[1]s what was made of it, --agent FILE.json describes another composer", agent)
}

// Typing is how a message is typed.
type Typing struct {
	PasteBytes int  // a bracketed paste longer than this is marked as foreign text …
	PasteLines int  // … and so is one with so many newlines or more; header and footer are then typed. 0: no limit
	PasteRows  int  // in a terminal with so many rows or fewer a paste may have no newline, and with each row more one more; 0: rows do not matter
	PasteAll   bool // header and footer are then pasted, each by itself, as typing would not be taken for text
	PasteTrims bool // a marked paste loses the white space at its ends
	Newline    string
	Submit     string
	EnterDelay time.Duration // from the moment that the text shows to Enter
	Clear      []string      // keys that remove our own text, tried in turn and verified
	Start      string        // the key that leads to the beginning of the composer's text, where users say how low it is; "": there is none
	End        string        // the one that leads to its end
	Interrupt  []string      // keys that end the running turn, pressed in turn; none: it cannot be
	Armed      pattern       // what shows below the composer while one more of the last of them ends it; nil: nothing does
	Queue      string        // the key that hands text to a busy agent without cutting its reply; "": there is none
	Returns    bool          // a turn interrupted before its first word comes back into the composer
	Stash      string        // keys that set a draft aside; "": there are none
	StashShown pattern       // what shows then; nil: nothing does
	StashLine  bool          // only a draft of one line can be set aside
	Unstash    string        // keys that bring it back; "": the next submit does, and so does Stash pressed again
	Retype     bool          // or it is typed again: Stash merely removes it
	Echo       time.Duration // how long the text may take to show
	KeyWait    time.Duration // how long a human's key may wait for a transaction
	Confirm    time.Duration // how long after Enter it may take to be gone
	SlowText   int           // behind a text of more bytes the agent stands still, and its composer proves nothing; 0: none does
	SlowTurn   time.Duration // how long it may do so
	Again      time.Duration // text still there, and read, so long: Enter once more
}

// Marked reports whether a bracketed paste of the text is marked as foreign, and shown as a chip,
// in a terminal of so many rows.
func (t *Typing) Marked(text string, rows int) bool {
	return t.PasteBytes > 0 && len(text) > t.PasteBytes || t.PasteLines > 0 && strings.Count(text, "\n") >= t.newlines(rows)
}

// newlines is how many of them are too many for a paste that shows as it is.
func (t *Typing) newlines(rows int) int {
	if t.PasteRows == 0 {
		return t.PasteLines
	}
	return min(t.PasteLines, max(0, rows-t.PasteRows+1))
}

// Unmarked is how many bytes of the text, at least a character, can be handed over at once without
// a mark for them in a terminal of so many rows; keyed reports whether by keys: length alone makes
// text look like a paste where it is typed. Where all is pasted, only a newline is typed, if the
// terminal is so low that no paste may hold one. Where a paste loses the white space at its ends,
// that is not counted.
func (t *Typing) Unmarked(text string, rows int) (size int, keyed bool) {
	most := t.newlines(rows) - 1
	if t.PasteAll && most == 0 && text[0] == '\n' {
		return 1, true
	}
	lead, last := 0, len(text)
	if t.PasteTrims {
		lead = len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
		last = len(strings.TrimRightFunc(text, unicode.IsSpace))
	}
	for end, lines := lead, 0; end < last; {
		_, size := utf8.DecodeRuneInString(text[end:])
		newline := t.PasteAll && text[end] == '\n'
		if t.PasteBytes > 0 && end > lead && end+size-lead > t.PasteBytes || newline && most == 0 {
			return end, !t.PasteAll
		}
		if end += size; newline && end < last {
			if lines++; lines == most {
				return end, !t.PasteAll
			}
		}
	}
	return len(text), !t.PasteAll
}

// KillLines empties a composer from the cursor back, line by line: each line up to it, then what
// parts it from the one before. In an empty composer it does nothing.
var KillLines = strings.Repeat("\x15\x7f", 32)

// Shared is how a process is known that serves several sessions of an agent. It keeps the
// environment of whoever started it, so whatever is below it may be anybody's.
type Shared struct {
	What    string  // what it is, to people
	Daemons []Words // arguments that start it, in this order; the first is the command's first, or right behind a script's name
	Job     string  // variable of what belongs to such a session: a path that ends in the session's name; "": none
	Instead string  // how an agent of ours is started so that it has a process of its own
}

// Serves reports whether a command line starts such a process.
func (s *Shared) Serves(argv []string) bool {
	return slices.ContainsFunc(s.Daemons, func(w Words) bool {
		words, rest := strings.Fields(string(w)), argv
		for i, word := range words {
			at := slices.Index(rest, word)
			if at < 0 || i == 0 && at != 1 && !(at == 2 && strings.Contains(argv[1], "/")) {
				return false
			}
			rest = rest[at+1:]
		}
		return true
	})
}

// Saying is what an agent says of its state in the window title or by an OSC.
type Saying struct {
	Note    int // the OSC's code, one that the screen notes; 0: the title
	Pattern pattern
	State   ready.State
}

// ProgramStatus is the code of the OSC by which any program may say how it is: Codex and pi do.
// Source: superlogical.com/rex/docs/build/program-status.
const ProgramStatus = 7501

var (
	statusWord = NewPattern(`(?:^|[;:])state=(\w+)`)
	statusKind = NewPattern(`(?:^|[;:])kind=(\w+)`)
	statuses   = map[string]ready.State{"working": ready.Busy, "blocked": ready.Blocked, "done": ready.Ready, "idle": ready.Ready}
)

// Status is what the text of that OSC says, the zero Word where it says nothing that is known.
func Status(text string) (w ready.Word) {
	if text == "" {
		return w
	}
	state, _ := statusWord.Last(text)
	if w.State = statuses[state]; w.State == ready.Blocked {
		w.Detail, _ = statusKind.Last(text)
	}
	return w
}

// Log is where an agent keeps its state and its transcripts.
type Log struct {
	Format  string                 // a format that inject/agents/logs lists
	HomeEnv string                 // variable that names the agent's directory …
	Within  string                 // … or the one that it is in by this name
	Home    string                 // that directory beneath $HOME when the variable is not set
	Words   map[string]ready.State // its own words for its states
	Remote  string                 // how it comes that another process keeps it, which is not found, and the way out
}

// Pattern is a regular expression that is compiled when it is first used: most
// runs use one profile.
type Pattern struct {
	source string
	once   sync.Once
	re     *regexp.Regexp
}

type pattern = *Pattern

// NewPattern is the pattern of a source that is known to be a good one.
func NewPattern(source string) *Pattern { return &Pattern{source: source} }

// Nothing matches no row.
var Nothing = NewPattern(`^\b$`)

func (p *Pattern) get() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.source) })
	return p.re
}

// Match reports whether the pattern matches the row; no pattern matches none.
func (p *Pattern) Match(row string) bool { return p != nil && p.get().MatchString(row) }

// Find returns the leftmost match in the row, "" when there is none.
func (p *Pattern) Find(row string) string { return p.get().FindString(row) }

// Index returns where the leftmost match begins, -1 when there is none.
func (p *Pattern) Index(row string) int {
	if at := p.get().FindStringIndex(row); at != nil {
		return at[0]
	}
	return -1
}

// Last returns what the pattern's last group matches, or the whole match if it has none.
func (p *Pattern) Last(text string) (match string, found bool) {
	m := p.get().FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	return m[len(m)-1], true
}

// begins is what rows begin with that the pattern matches, as whoever wrote it did, in quotes: an
// overlay's is bound to the row's beginning. A blank that does not break is shown as one that does.
func (p *Pattern) begins() string {
	source := p.source
	if inner, bound := strings.CutPrefix(source, "^(?:"); bound {
		source = strings.TrimSuffix(inner, ")")
	}
	return strconv.Quote(strings.ReplaceAll(strings.TrimPrefix(source, "^"), "\u00a0", " "))
}

// String is the pattern's source.
func (p *Pattern) String() string { return p.source }
