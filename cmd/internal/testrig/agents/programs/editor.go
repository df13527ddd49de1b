package programs

import (
	"io"
	"os"
	"strings"

	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/agents/fakeagent"
)

const ctrlX = 0x18

// runChild is the child: raw mode, alternate screen, every byte is logged
// and, where it can be seen, shown; until C-x or the agent's word.
func runChild(e *fakeagent.Kit) error {
	said, held := os.NewFile(3, "said"), os.NewFile(4, "held")
	if err := e.Raw(); err != nil {
		return err
	}
	io.WriteString(e.Out, "\x1b[?1049h\x1b[2J\x1b[Hfake editor\r\n") // a terminal gone ends the read below
	defer io.WriteString(e.Out, "\x1b[?1049l")
	e.Log.Event(agents.KindStart, "")
	io.WriteString(said, "x") // the agent waits for it
	said.Close()
	over := make(chan struct{})
	go func() {
		io.ReadAll(held) // ends in any case
		close(over)
	}()
	for done := false; !done; {
		select {
		case <-e.Readable():
			p, err := e.Read()
			if err != nil {
				return nil // the terminal hung up
			}
			e.Out.WriteString(visible(p)) // as above
			done = strings.ContainsRune(string(p), ctrlX)
		case <-over:
			done = true
		}
	}
	e.Log.Event(agents.KindExit, "")
	return nil
}

// visible is p without control characters; a line end starts a row.
func visible(p []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\r' && r != '\n' || r == 0x7f {
			return -1
		}
		return r
	}, strings.NewReplacer("\r", "\r\n", "\n", "\r\n").Replace(string(p)))
}
