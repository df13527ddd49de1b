package compose

import (
	"cmp"
	"strings"
)

// The looks of a box.
const (
	LookRule = "rule" // as Claude Code: a rule above and below, a cursor drawn in reverse
	LookBox  = "box"  // as older Gemini CLI: a border all around, a placeholder in a colour
	LookBare = "bare" // as Codex: a bold prompt, the terminal's own cursor, a dim footer
)

// frame is a look's measurements and what it draws around the text.
type frame struct {
	look        string
	cols        int
	prompt      string
	lead        string // prompt with SGR
	left, right string // borders of each row of text
	indent      int    // column of the text
	width       int    // columns for the text
	pad         bool   // rows are filled up to the right border
	ghost       string // SGR of the placeholder
	cursor      bool   // the terminal's own
}

func (v View) frame() frame {
	f := frame{look: v.Look, cols: v.Cols, ghost: dim}
	switch v.Look {
	case LookBox:
		f.prompt = cmp.Or(v.Prompt, "> ")
		f.lead = f.prompt
		f.left, f.right, f.pad, f.ghost = "│ ", " │", true, pale
	case LookBare:
		f.prompt = cmp.Or(v.Prompt, "› ")
		f.lead, f.cursor = bold+f.prompt+sgr0, true
	default:
		f.prompt = cmp.Or(v.Prompt, "❯"+nbsp)
		f.lead = f.prompt
		if v.Mode == Busy {
			f.lead = grey + f.prompt + sgr0
		}
	}
	f.indent = len([]rune(f.left + f.prompt))
	f.width = v.Cols - f.indent - len([]rune(f.right)) - 1 // the cursor stands behind a full row
	return f
}

// fill is what lacks between n columns of text and the right border.
func (f frame) fill(n int) string {
	if !f.pad {
		return ""
	}
	return strings.Repeat(" ", max(f.width+1-n, 0))
}

// above is what stands over the text, of which n rows are scrolled out.
func (f frame) above(n int) []string {
	switch f.look {
	case LookBox:
		return []string{"╭" + strings.Repeat("─", max(f.cols-2, 0)) + "╮"}
	case LookBare:
		return nil
	}
	return []string{ruler(f.cols, more(n, '↑'))}
}

func (f frame) below(n int) []string {
	switch f.look {
	case LookBox:
		return []string{"╰" + strings.Repeat("─", max(f.cols-2, 0)) + "╯"}
	case LookBare:
		return []string{""}
	}
	return []string{ruler(f.cols, more(n, '↓'))}
}

// ruler is a full-width line that may hold a word.
func ruler(cols int, word string) string {
	if word == "" {
		return rule + strings.Repeat("─", cols) + sgr0
	}
	rest := max(cols-5-len([]rune(word)), 0)
	return rule + "───" + sgr0 + " " + dim + word + sgr0 + " " + rule + strings.Repeat("─", rest) + sgr0
}

// Said is how a submitted message stands in the history.
func (v View) Said(message string) string {
	f := v.frame()
	lead := strings.ReplaceAll(f.prompt, nbsp, " ") // lists and history never use it
	if v.Look == LookBox {
		lead = " " + lead
	}
	return lead + strings.ReplaceAll(message, "\n", "\n"+strings.Repeat(" ", len([]rune(lead))))
}

// Answer is how the agent's answer stands in the history.
func (v View) Answer(text string) string {
	lead := "● "
	switch v.Look {
	case LookBox:
		lead = "✦ "
	case LookBare:
		lead = "• "
	}
	return lead + strings.ReplaceAll(text, "\n", "\n  ")
}

func (v View) dialog() Box {
	if v.Rewind {
		return v.rewind()
	}
	switch v.Look {
	case LookBox:
		return v.boxDialog()
	case LookBare:
		return Box{Row: 4, Col: 0, Rows: []string{
			"  Would you like to run the following command?",
			"",
			"  $ " + v.Command,
			"",
			bold + "› 1. Yes, proceed (y)" + sgr0,
			"  2. No, and tell the agent what to do differently (esc)",
			"",
			"  " + dim + "Press enter to confirm or esc to cancel" + sgr0,
		}}
	}
	return Box{Row: 5, Col: 1, Rows: []string{
		blue + strings.Repeat("─", v.Cols) + sgr0,
		" " + blue + "Bash command" + sgr0,
		"",
		" " + v.Command,
		" Do you want to proceed?",
		" " + blue + "❯" + sgr0 + " 1. " + blue + "Yes" + sgr0,
		"   2. No",
		"",
		" " + grey + "Esc to cancel · Tab to amend" + sgr0,
	}}
}

func (v View) boxDialog() Box {
	f := v.frame()
	b := Box{Row: 4, Col: 2, Rows: f.above(0)}
	for _, s := range []string{"?  Shell " + v.Command, "", "Allow execution of [Shell]?", "● 1. Allow once", "  2. No (esc)"} {
		b.Rows = append(b.Rows, "│ "+s+strings.Repeat(" ", max(v.Cols-4-len([]rune(s)), 0))+" │")
	}
	b.Rows = append(b.Rows, f.below(0)...)
	return b
}

func (v View) rewind() Box {
	return Box{Row: 4, Col: 2, Rows: []string{
		blue + strings.Repeat("─", v.Cols) + sgr0,
		"  " + blue + "Rewind" + sgr0,
		"  Restore the conversation to the point before…",
		"",
		"  " + blue + "❯ (current)" + sgr0,
		"",
		"  " + grey + "Enter to continue · Esc to cancel" + sgr0,
	}}
}
