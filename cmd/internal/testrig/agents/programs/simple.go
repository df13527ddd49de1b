package programs

import (
	"bytes"
	"cmp"
	"fmt"
	"time"

	"relay-pty/cmd/internal/testrig/agents"
)

// line reads lines from a canonical-mode terminal and answers each.
type line struct {
	idler
	*kit
	part []byte // a line that has no end yet
}

func (k *kit) line() error {
	l := &line{kit: k}
	k.print(k.conf.Greeting + l.prompt())
	return k.loop(l)
}

func (l *line) prompt() string { return cmp.Or(l.conf.Prompt, "> ") }

func (l *line) take(p []byte) {
	l.part = append(l.part, p...)
	for {
		text, rest, whole := bytes.Cut(l.part, []byte("\n"))
		if !whole {
			return
		}
		l.part = rest
		answer := l.conf.Answer(string(text))
		l.print(answer + "\n" + l.prompt())
		l.event(agents.KindReply, answer)
	}
}

func (l *line) obey(c agents.Command) error {
	if c.Cmd != "lie" {
		return l.idler.obey(c)
	}
	l.print(c.Text + "\n" + l.prompt())
	return nil
}

// deaf never reads its terminal, unless told to, but prints.
type deaf struct {
	idler
	*kit
	end  string // of a line
	said int
	next time.Time
}

func (k *kit) deaf() error {
	d := &deaf{kit: k, end: "\n"}
	if !k.conf.Canonical {
		if err := k.raw(); err != nil {
			return err
		}
		d.end = "\r\n"
	}
	if k.print("fake deaf" + d.end); !k.conf.Silent {
		d.next = time.Now()
	}
	return k.loop(d)
}

func (d *deaf) due() time.Time { return d.next }

func (d *deaf) act() {
	d.said++
	d.print(fmt.Sprintf("deaf %d%s", d.said, d.end))
	d.next = time.Now().Add(200 * time.Millisecond)
}

// echo writes back every byte it reads, until C-d or the end of the input.
type echo struct {
	idler
	*kit
}

func (k *kit) echo() error {
	if err := k.raw(); err != nil {
		return err
	}
	k.print(k.conf.Greeting)
	return k.loop(echo{kit: k})
}

func (e echo) take(p []byte) {
	e.print(string(p))
	e.done = bytes.IndexByte(p, 4) >= 0
}
