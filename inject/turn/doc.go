// Package turn is what is typed into an agent as one turn: one message or several, how they look in
// its composer, and whether they stand there. It is pure.
//
// A piece must show before the next one is typed. Claude Code 2.1.197 puts the chip of a paste
// where the cursor was when it read the paste: a header or footer that was typed in the same breath
// changed places with the chip, or was lost. So header, body and footer are three writes, and Enter
// demands that there is the body, or a chip, between header and footer. Codex leaves what reached
// it together with other keys in its terminal until the next key. Claude Code marks a paste of over
// 800 bytes or 3 lines as foreign text, so there header, body and footer are a paste each; 2.1.329
// takes a text that is pasted twice for the wish to see the first in full, so no turn has a long
// body twice. How much may be typed or pasted without becoming a chip is data of the profile:
// bytes, lines, rows of the terminal.
//
// Keys may be commands. In a composer with vim's modes nothing shows NORMAL, but a paste is text in
// each mode, and Enter submits in all but VISUAL, which shows and holds messages. In composers that
// take only keys the header is typed first, and the rest follows when the header stands there as it
// was typed.
//
// In a shell every line is inert by itself: `: '…'` with each quote in double quotes of its own
// (history expansion reads before the grammar does), or a comment. An open quote or a here-document
// would make code of it, so it is typed at the first prompt only, never at one for the rest of
// something, and Enter is pressed only when the line shows exactly what was typed, whatever the
// shell completes or corrects.
package turn
