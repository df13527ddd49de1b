package sight

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
	"relay-pty/pty/screen"
)

// reader reads a screen by a profile's data.
type reader struct{ *profile.Profile }

// Sight is what a profile makes of a screen.
type Sight struct {
	Box         Box
	Typed       Box    // the composer, if what alone shows the dialog, its first row, is text that was typed
	Dialog      string // the row that shows a dialog; "" is none
	MaybeDialog string // a row above the composer that shows one, or merely talks of one; "" is none
	Menu        string // the same of an unknown program, see [Menu]
	Working     bool   // busy marks
	Mark        string // the row or title that is one; "" is none
	Queued      bool   // it holds back what was submitted, and will take it up by itself
	Line        string // the row up to the cursor
	Row         int    // that row's number, from 0
	Rows        int    // of the terminal
	Before      string // the last rows up to the cursor, wrapped rows joined
	After       string // what stands right at the cursor
	Paste       bool   // the agent asked for bracketed paste
	Stashed     bool   // it shows that a draft is set aside
	Armed       bool   // it shows that one more key interrupts it
	Inserts     bool   // its composer has modes and shows that keys are text
	Commands    bool   // it shows that they are commands; where nothing would show that, not that they are text
	Tries       bool   // it shows that its API refuses, and that it tries again by itself
	Said        Said   // the agent's own word
}

// Said is the agent's own word for its state: told by the window title, or by the
// newest of its OSCs. Two that are alike but not the same were said twice.
type Said struct {
	State  ready.State // "": it says nothing
	Text   string      // as it was said
	Detail string      // what the pattern's group matches in it
	Serial uint64      // of the OSC
	Once   bool        // it was told once: no profile says that the agent also tells when it is over
}

// Box is the composer.
type Box struct {
	Visible bool
	Foreign bool   // it is in a mode in which a message would be a command
	Mode    string // that mode's prompt
	Top     bool   // its first row is in view; a tall one scrolls inside
	Text    string // its rows, joined with newlines; "" when empty or a placeholder
	Blank   bool   // Text is empty, and the cursor or a further row shows that blanks are typed
}

// tail is how many rows up to the cursor Before holds, and above a composer Tries is looked for in.
const tail = 16

func (p reader) composer() composer { return composer{p.Composer} }

// Look reads the screen by the profile's data.
func Look(p *profile.Profile, s *screen.Screen) Sight { return reader{p}.look(s) }

func (p reader) look(s *screen.Screen) Sight {
	row, col := s.Cursor()
	m := s.Modes()
	rows, _ := s.Size()
	v := Sight{Line: s.RowTo(row, col), Row: row, Rows: rows, Paste: m.BracketedPaste}
	v.Said = p.said(s)
	if title := s.Title(); p.busy(title) {
		v.works(title)
	}
	if p.Composer == nil {
		v.Before = before(s, row, v.Line)
		v.After = after(s, row, col)
		v.Dialog = firstMatch(p.Questions, v.Line)
		v.works(p.near(s, row, p.Busy))
		return v
	}
	at := p.composer().find(s, p.Dialogs, p.Elsewhere)
	v.Box, v.Typed, v.MaybeDialog = at.Box, at.typed, at.maybe
	switch {
	case v.MaybeDialog != "" && v.Box.option(): // the prompt is the mark of a choice
		v.Box, v.Dialog = Box{}, v.MaybeDialog
	case v.Box.Visible:
		p.around(s, at, &v)
	default:
		v.Dialog = cmp.Or(at.asks, anyRow(s, 0, rows, p.Dialogs), anyRow(s, 0, rows, p.Elsewhere))
	}
	if title := s.Title(); v.Dialog == "" && p.AskTitle != nil && p.AskTitle.Match(title) {
		v.Dialog = strings.TrimSpace(title)
	}
	return v
}

// works takes a row or a title, if it is one, for a sign that the agent works.
func (v *Sight) works(mark string) {
	if mark != "" {
		v.Working, v.Mark = true, cmp.Or(v.Mark, mark)
	}
}

// around reads what stands around a composer.
func (p reader) around(s *screen.Screen, at place, v *Sight) {
	above := func(patterns ...*profile.Pattern) string { return p.above(s, at.top, patterns) }
	below := func(patterns ...*profile.Pattern) string { return anyRow(s, at.below, v.Rows, patterns) }
	p.modes(s, at.below, v)
	v.Stashed = beside(s, at, p.Typing.StashShown)
	v.works(cmp.Or(below(p.Busy...), above(p.Busy...)))
	v.Tries = cmp.Or(below(p.Tries...), anyRow(s, max(0, at.top-tail), at.top, p.Tries)) != ""
	v.Queued = above(p.Queued) != ""
	v.Armed = below(p.Typing.Armed) != ""
	v.Dialog = cmp.Or(below(p.Overlays...), above(p.Overlays...))
	if !at.ruled && v.Dialog == "" {
		v.Dialog = below(p.Dialogs...)
	}
}

// modes reads in which of its modes a composer is: the first row below it that shows one tells,
// since further below may stand what is left over from a footer before. In a mode in which Enter
// does not submit no message can be typed.
func (p reader) modes(s *screen.Screen, below int, v *Sight) {
	m := p.Composer.Modal
	if m == nil {
		return
	}
	row := s.Row(below)
	for ; below < v.Rows && !m.Insert.Match(row) && !m.Normal.Match(row) && !m.Select.Match(row); row = s.Row(below) {
		below++
	}
	v.Inserts = m.Insert.Match(row)
	v.Commands = !v.Inserts && (m.Normal == nil || m.Normal.Match(row))
	v.Box.Foreign = v.Box.Foreign || m.Select.Match(row)
}

// choice is how the options of dialogs begin.
var choice = profile.NewPattern(`(?i)^(\(?(\d{1,2}|[a-z])[.):\]]|\[[ x\da-z]\]|[●○◉◯☐☑])( |$)|^(yes|no|allow|deny|approve|reject|accept|decline|proceed|continue|cancel|trust)\b`)

// option reports whether a composer's text looks like the option of a dialog.
func (b Box) option() bool { return b.Visible && choice.Match(b.Text) }

// said is the agent's own word.
func (p reader) said(s *screen.Screen) Said {
	for _, w := range p.Says {
		text, serial := s.Title(), uint64(0)
		if w.Note != 0 {
			text, serial = s.Note(w.Note)
		}
		if detail, found := w.Pattern.Last(text); found {
			return Said{w.State, strings.TrimSpace(text), detail, serial, false}
		}
	}
	text, serial := s.Note(profile.ProgramStatus)
	if m := profile.Status(text); m.State != "" {
		return Said{m.State, strings.TrimSpace(text), m.Detail, serial, true}
	}
	return Said{}
}

// Menu is the row near the cursor, or at the bottom, on which a program whose
// composer we do not know shows a question. It is one only if the program is in
// raw mode and shows no prompt: the output of others may look so, too.
func Menu(p *profile.Profile, s *screen.Screen) string {
	if p.Composer != nil {
		return ""
	}
	row, _ := s.Cursor()
	return reader{p}.near(s, row, p.Dialogs)
}

// nearby is how far from the cursor, or the bottom, what a program asks stands.
const nearby = 8

// near looks for a pattern in the rows near the cursor and at the bottom.
func (p reader) near(s *screen.Screen, row int, patterns []*profile.Pattern) string {
	if len(patterns) == 0 {
		return ""
	}
	rows, _ := s.Size()
	if m := anyRow(s, max(0, row-nearby), min(rows, row+nearby+1), patterns); m != "" {
		return m
	}
	return anyRow(s, max(0, rows-nearby), rows, patterns)
}

// above looks for a pattern in the rows with text right above a composer. More of
// them would be the history, in which anything may stand.
func (p reader) above(s *screen.Screen, top int, patterns []*profile.Pattern) string {
	left := p.Composer.Above
	for r := top - 1; r >= 0 && left > 0; r-- {
		row := s.Row(r)
		if p.composer().blank(row) || isRule(row) {
			continue
		}
		left--
		if m := firstMatch(patterns, row); m != "" {
			return m
		}
	}
	return ""
}

// after is what stands at the cursor, up to a gap, unless it is dim. Text at
// the far right is a second prompt.
func after(s *screen.Screen, row, col int) string {
	_, cols := s.Size()
	var b strings.Builder
	for gap := 0; col < cols && gap < 2; col++ {
		cell := s.Cell(row, col)
		if strings.TrimSpace(cell.Text) == "" || cell.Style.Dim {
			gap++
			continue
		}
		gap = 0
		b.WriteString(cell.Text)
	}
	return b.String()
}

// busy reports whether the window title says so. That it says idle is no evidence:
// it does during dialogs, too.
func (p reader) busy(title string) bool {
	r, _ := utf8.DecodeRuneInString(title)
	return title != "" && strings.ContainsRune(p.BusyTitle, r)
}

// before joins the rows up to the cursor's, wrapped ones without a newline.
func before(s *screen.Screen, row int, line string) string {
	var b strings.Builder
	for r := max(0, row-tail); r < row; r++ {
		b.WriteString(s.Row(r))
		if !s.Wrapped(r) {
			b.WriteByte('\n')
		}
	}
	b.WriteString(line)
	return b.String()
}

func firstMatch(patterns []*profile.Pattern, row string) string {
	if strings.TrimSpace(row) == "" {
		return "" // also saves the patterns' compiling in programs that show none
	}
	for _, p := range patterns {
		if p.Match(row) {
			return strings.Trim(row, " \u00a0│┃")
		}
	}
	return ""
}

func anyRow(s *screen.Screen, from, to int, patterns []*profile.Pattern) string {
	for r := from; r < to; r++ {
		if m := firstMatch(patterns, s.Row(r)); m != "" {
			return m
		}
	}
	return ""
}

// beside looks for a pattern in the three rows above and below a composer.
func beside(s *screen.Screen, at place, p *profile.Pattern) bool {
	patterns := []*profile.Pattern{p}
	return anyRow(s, at.top-3, at.top, patterns) != "" || anyRow(s, at.below, at.below+3, patterns) != ""
}
