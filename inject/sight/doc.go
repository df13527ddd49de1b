// Package sight reads an agent's screen by its profile: where its composer is and what it holds,
// whether a dialog stands there, whether the agent works. It is pure.
//
// What was typed is no evidence against us. Marks of work and of dialogs are looked for where the
// agent paints them, in their own form: never in the rows of a composer that has the cursor, and
// not in the history, in which anything may stand.
//
// Programs differ on columns. Where an agent draws a flag, an emoji or a syllable in fewer columns
// than the terminal, parts of the character stay in cells that the agent takes for blank. Each such
// character may have left one stray cell in our text; in an emptied composer characters of our
// messages alone are no draft. OpenCode also finds its chips by column, so behind such a body
// nothing more is typed. A row that runs over its end covers the border of the next one; that row
// still is the box's, and the few letters that it may cover are told by what stands beside them. A
// row of the conversation may do the same to a box that comes to stand below it: what it leaves in
// the margin is no text.
package sight
