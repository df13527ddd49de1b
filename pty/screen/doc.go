// Package screen is a headless terminal: it turns the bytes that a program
// writes to its terminal into rows of cells, a cursor, a title and modes.
//
// Bytes go through three layers, each ignorant of the next: vt.Parser (bytes to
// actions), terminal (actions to edits), grid.Grid (rows of cells, styles,
// clusters). Screen is the outside of all three.
//
// It is pure: no goroutine, no lock, no clock, no output. Queries of the program
// (DA, DSR, DECRQM, OSC colours) are swallowed, because the real terminal that
// sees the same bytes answers them. There is no scroll-back. Note keeps the newest
// of the strings by which programs tell their state. Whoever shares a Screen
// between goroutines locks it.
//
// Where terminals differ it does as tmux 3.3a does; the tests name each case in
// which it knowingly does not. What tmux has not, it does as xterm: left and right
// margins above all, because the real terminal answers who it is, and a tmux
// inside that hears XTerm, iTerm2 or mintty scrolls its panes by them.
//
// Columns are tmux's as well: an emoji with what a joiner, a skin tone or tags add
// to it takes the 2 of its first character, a flag 2, and a variation selector
// changes no width, so U+26A0 U+FE0F takes 1 though some terminals draw it in 2.
//
// Memory is bounded whatever the program sends, and no sequence costs more than a
// pass over the screen.
package screen
