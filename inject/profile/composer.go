package profile

import "relay-pty/inject/draft"

// Composer is how the agent's input box looks: what all have, and by Box how it is found.
type Composer struct {
	Prompt      pattern   // what stands before the text on its first row; its width is the indent of the further rows
	Modes       []pattern // the same in modes in which a message must not be typed
	Placeholder pattern   // text that shows in an empty one; nil: dim text is
	Edge        pattern   // rows around it that count as empty ones; may be nil
	Above       int       // how many rows with text right above it may show busy marks and overlays
	Modal       *Modal    // its modes, where it may have some; nil: it has none
	Chips       draft.Chips
	Unseen      string // in which of its modes the agent shows none, and the way out of that; "": in none that is known
	Box         Box    // nil: Bare{}
}

// Box is how a composer is found on the screen: Ruled, Floored or Bare.
type Box interface{ box() }

// Ruled is a composer between two rules, with the terminal's cursor where the next key's text
// goes. Rules begin at the left.
type Ruled struct {
	Corners bool    // rules may be the sides of a box: indented, with corners at their ends
	More    pattern // what the upper rule shows when rows are scrolled out of it; nil: they never are
}

// Floored is a composer all of whose rows begin with its prompt, down to a floor. It looks like
// other things on the screen, and only counts with the cursor in it.
type Floored struct {
	Floor    pattern // the row below it
	Under    int     // how many rows right above Floor are not its text
	Shell    pattern // the last of those while what is typed would be a command; may be nil
	Question pattern // what a question in a box of the same kind begins with, which takes its place; may be nil
	Keys     pattern // what one tells of its keys at its end, whatever it begins with; may be nil
	Tall     int     // with so many rows of text some may be scrolled out of it and nothing tells; 0: never
	Lid      pattern // the last row but one of a page that paints it over a composer which grows down to it; may be nil
	Room     int     // with so many rows such a page has room for a composer of any height
}

// Bare is a composer that nothing encloses: its first row is the last one that begins with its
// prompt.
type Bare struct {
	Footed *Footed // nil: what stands below it, and where the cursor stands, is not known
}

// Footed is a bare composer that an empty row parts from what stands at the bottom of the screen.
// It looks like other things on the screen, and only counts with the cursor in it, which stands
// where the next key's text goes, or parked.
type Footed struct {
	More pattern // what, dim, the end of its first row shows when rows are scrolled out of it; may be nil
	Tall int     // with so many rows of text some may be scrolled out of it and nothing tells; 0: never
	Hang int     // how many columns its text hangs, where its first row may leave the screen; 0: that stays in view
	Park bool    // while the terminal has no focus the cursor stands behind all that shows, and an empty one has its placeholder
}

// Seeks says in plain words what rules look for to find a composer.
func (c *Composer) Seeks() string {
	switch box := c.Box.(type) {
	case Ruled:
		if box.Corners {
			return "a row that begins with " + c.Prompt.begins() + ", between two rules or in a box"
		}
		return "a row that begins with " + c.Prompt.begins() + ", between two rules"
	case Floored:
		return "rows that begin with " + c.Prompt.begins() + ", with the cursor in them, above one that begins with " + box.Floor.begins()
	case Bare:
		if box.Footed != nil {
			return "a row that begins with " + c.Prompt.begins() + ", with the cursor in it and an empty row below"
		}
	}
	return "a row that begins with " + c.Prompt.begins()
}

func (Ruled) box()   {}
func (Floored) box() {}
func (Bare) box()    {}

// Covered stands in the text of a composer where a row that has run over its border may cover text.
const Covered = '\ufffd'

// Uncertain reports whether programs differ on the columns that a character takes: from the first
// mark that combines with others on.
func Uncertain(r rune) bool { return r >= 0x300 }

// Chips are those of the agent's composer, none where it has no composer.
func (p *Profile) Chips() draft.Chips {
	if p.Composer == nil {
		return draft.Chips{}
	}
	return p.Composer.Chips
}

// Pasted are the chips of all agents that were measured: [Pasted text #1 +36 lines] of Claude Code,
// [Pasted Content 10240 chars] of Codex, [Pasted Text: 6 lines] of Gemini CLI, [Pasted ~12 lines]
// of OpenCode. Composers that nobody has measured are taken to do the same.
var Pasted = draft.Chips{Paste: "[Pasted", Image: "[Image", Bytes: 140}
