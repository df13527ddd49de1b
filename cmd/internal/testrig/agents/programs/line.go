package programs

import (
	"bytes"
	"cmp"
	"errors"
	"io"

	"golang.org/x/sys/unix"

	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/agents/fakeagent"
	"relay-pty/cmd/internal/testrig/agents/tty"
)

// line reads lines from a canonical-mode terminal and answers each.
type line struct {
	env   *fakeagent.Kit
	part  []byte // a line that has no end yet
	ask   string // the question that the next line or byte answers
	modes tty.Modes
	limit int // Config.ReadBytes before the question
}

// runLine is line, flusher, editor and ask.
func runLine(e *fakeagent.Kit) error {
	l := &line{env: e}
	if e.Conf.FlushStart {
		e.Flush()
	}
	l.print(e.Conf.Greeting)
	if e.Conf.Ask != "" {
		if err := l.question(e.Conf.Ask); err != nil {
			return err
		}
	} else {
		l.prompt()
	}
	e.Log.Event(agents.KindStart, "")
	err := e.Loop(l, nil, nil)
	if len(l.part) > 0 {
		l.line(string(l.part))
	}
	e.Log.Event(agents.KindExit, "")
	return err
}

// print drops errors: when the terminal is gone, the next read says so.
func (l *line) print(s string) { io.WriteString(l.env.Out, s) }

func (l *line) prompt() { l.print(cmp.Or(l.env.Conf.Prompt, "> ")) }

func (l *line) Take(p []byte) {
	if l.ask == askKey && len(p) > 0 {
		l.answered(string(p))
		return
	}
	l.part = append(l.part, p...)
	for {
		text, rest, ok := bytes.Cut(l.part, []byte("\n"))
		if !ok {
			return
		}
		l.part = rest
		if l.ask != "" {
			l.answered(string(text))
		} else {
			l.line(string(text))
		}
	}
}

func (l *line) line(text string) {
	e := l.env
	e.Log.Event(agents.KindLine, text)
	if e.Name == "editor" && text == "edit" {
		if err := e.HandOver(l); err == nil {
			return
		}
	}
	answer := e.Conf.Answer(text)
	l.print(answer + "\n")
	l.prompt()
	e.Log.Event(agents.KindReply, answer)
	e.CountLine()
}

func (l *line) Report(st *agents.State) {
	st.Draft = string(l.part)
	if l.ask != "" {
		st.Mode = "ask"
	}
}

func (l *line) Changed()     {}
func (l *line) Leave() error { return nil }

func (l *line) Back() error {
	l.prompt()
	return nil
}

func (l *line) Obey(cmd agents.Command) (bool, error) {
	switch cmd.Cmd {
	case "say":
		l.print(cmd.Text)
	case "lie":
		l.print(cmd.Text + "\n")
		l.prompt()
	case "ask":
		if l.ask != "" {
			return true, errors.New("a question is open already")
		}
		l.print("\n") // the prompt stands there
		return true, l.question(cmd.Text)
	default:
		return false, nil
	}
	return true, nil
}

// The questions that have a form.
const (
	askYesNo    = "yn"
	askPassword = "password"
	askKey      = "key"
)

// question asks. For a password the echo goes off as in glibc's getpass, with
// TCSAFLUSH before and after; for a key the terminal hands over single bytes.
func (l *line) question(what string) error {
	l.ask = what
	text, ok := map[string]string{
		askYesNo: "Continue? [y/N] ", askPassword: "Password: ", askKey: "Press any key to continue . . . ",
	}[what]
	if !ok {
		text = what
	}
	when, off := tty.Now, tty.Modes{}.Lflag
	switch what {
	case askPassword:
		when, off = tty.Flush, unix.ECHO
	case askKey:
		off = unix.ECHO | unix.ICANON
		l.limit, l.env.Conf.ReadBytes = l.env.Conf.ReadBytes, 1
	}
	if off != 0 {
		err := l.env.TTY.Change(when, func(m *tty.Modes) {
			l.modes = *m
			m.Lflag &^= off
			if off&unix.ICANON != 0 {
				m.Cc[unix.VMIN], m.Cc[unix.VTIME] = 1, 0
			}
		})
		if err != nil {
			return err
		}
	}
	l.print(text)
	l.env.Log.Event(agents.KindAsk, text)
	return nil
}

func (l *line) answered(text string) {
	what := l.ask
	l.ask = ""
	restore := func(m *tty.Modes) { *m = l.modes }
	var err error // the terminal is gone: the next read says so
	switch what {
	case askPassword:
		err = l.env.TTY.Change(tty.Flush, restore)
	case askKey:
		err = l.env.TTY.Change(tty.Now, restore)
		l.env.Conf.ReadBytes = l.limit
	}
	if err == nil && (what == askPassword || what == askKey) {
		l.print("\n") // nothing was echoed
	}
	l.prompt()
	l.env.Log.Event(agents.KindAnswer, text)
}
