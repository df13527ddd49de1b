package programs

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/agents/fakeagent"
)

// deaf never reads its terminal, but prints.
type deaf struct {
	env  *fakeagent.Kit
	said int
	end  string // of a line
}

func runDeaf(e *fakeagent.Kit) error {
	d := &deaf{env: e, end: "\n"}
	if !e.Conf.Canonical {
		if err := e.Raw(); err != nil {
			return err
		}
		defer e.Restore()
		d.end = "\r\n"
	}
	e.Stalled = true
	d.print(cmp.Or(e.Conf.Greeting, "fake deaf"+d.end))
	e.Log.Event(agents.KindStart, "")
	every := time.NewTicker(time.Duration(cmp.Or(e.Conf.EveryMS, 200)) * time.Millisecond)
	defer every.Stop()
	err := e.Loop(d, every.C, d.line)
	e.Log.Event(agents.KindExit, "")
	return err
}

// print drops errors: the terminal is gone, and a hangup ends the process.
func (d *deaf) print(s string) { io.WriteString(d.env.Out, s) }

func (d *deaf) line() {
	if d.said < cmp.Or(d.env.Conf.Lines, 600) {
		d.said++
		d.print(fmt.Sprintf("deaf %d%s", d.said, d.end))
	}
}

func (d *deaf) Take([]byte)          {} // it is in the byte log
func (d *deaf) Report(*agents.State) {}
func (d *deaf) Changed()             {}
func (d *deaf) Leave() error         { return nil }
func (d *deaf) Back() error          { return nil }

func (d *deaf) Obey(cmd agents.Command) (bool, error) {
	if cmd.Cmd != "say" {
		return false, nil
	}
	d.print(strings.ReplaceAll(cmd.Text, "\n", d.end))
	return true, nil
}

// runEcho writes back every byte it reads until C-d or the end of the input.
func runEcho(e *fakeagent.Kit) error {
	if err := e.Raw(); err != nil {
		return err
	}
	defer e.Restore()
	io.WriteString(e.Out, e.Conf.Greeting) // a terminal gone ends the read below
	e.Log.Event(agents.KindStart, "")
	buf := make([]byte, 64<<10)
	for {
		n, err := e.In.Read(buf)
		e.Log.Read(buf[:n])
		if _, werr := e.Out.Write(buf[:n]); werr != nil {
			return werr
		}
		if err != nil || strings.ContainsRune(string(buf[:n]), 4) {
			e.Log.Event(agents.KindExit, "")
			return nil
		}
	}
}
