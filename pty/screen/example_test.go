package screen_test

import (
	"fmt"

	"relay-pty/pty/screen"
)

// The bytes of a program become rows of text, a cursor and a title.
func Example() {
	s := screen.New(3, 20)
	fmt.Fprint(s, "\x1b]2;agent\x07ready\r\n\x1b[1m❯ \x1b[mdraft\x1b[2D")
	row, col := s.Cursor()
	fmt.Printf("%s | %s | %s | cursor in row %d, column %d\n", s.Title(), s.Row(0), s.Row(1), row, col)
	// Output: agent | ready | ❯ draft | cursor in row 1, column 5
}
