// Package screen is a headless terminal: it turns the bytes that a program
// writes to its terminal into rows of cells, a cursor, a title and modes.
//
// Bytes go through three layers, each ignorant of the next: vt.Parser (bytes to
// actions), terminal (actions to edits), grid (rows of cells). Screen is the
// outside of all three.
//
// It is pure: no goroutine, no lock, no clock, no output. Queries of the program
// (DA, DSR, DECRQM, OSC colours) are swallowed, because the real terminal that
// sees the same bytes answers them. There is no scroll-back; OnScrollOff hears
// of the rows that leave. Whoever shares a Screen between goroutines locks it.
//
// Where terminals differ it does as tmux 3.3a does; the tests name each case in
// which it knowingly does not. Memory is bounded whatever the program sends, and
// no sequence costs more than a pass over the screen.
package screen
