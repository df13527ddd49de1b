package programs

import (
	"bytes"
	"cmp"
	"fmt"
	"time"

	"relay-pty/cmd/internal/testrig/agents"
)

// line reads lines from a canonical-mode terminal and answers each.
func (k *kit) line() error {
	prompt := func() string { return cmp.Or(k.conf.Prompt, "> ") }
	k.print(k.conf.Greeting + prompt())
	var part []byte // a line that has no end yet
	return k.loop(program{
		take: func(p []byte) {
			part = append(part, p...)
			for {
				text, rest, whole := bytes.Cut(part, []byte("\n"))
				if !whole {
					return
				}
				part = rest
				answer := k.conf.Answer(string(text))
				k.print(answer + "\n" + prompt())
				k.event(agents.KindReply, answer)
			}
		},
		obey: func(c agents.Command) error {
			if c.Cmd != "lie" {
				return noCommand(c)
			}
			k.print(c.Text + "\n" + prompt())
			return nil
		},
	})
}

// deaf never reads its terminal, unless told to, but prints.
func (k *kit) deaf() error {
	end := "\n" // of a line
	if !k.conf.Canonical {
		if err := k.raw(); err != nil {
			return err
		}
		end = "\r\n"
	}
	said, next := 0, time.Time{}
	if k.print("fake deaf" + end); !k.conf.Silent {
		next = time.Now()
	}
	return k.loop(program{
		due: func() time.Time { return next },
		act: func() {
			said++
			k.print(fmt.Sprintf("deaf %d%s", said, end))
			next = time.Now().Add(200 * time.Millisecond)
		},
	})
}

// echo writes back every byte it reads, until C-d or the end of the input.
func (k *kit) echo() error {
	if err := k.raw(); err != nil {
		return err
	}
	k.print(k.conf.Greeting)
	return k.loop(program{take: func(p []byte) {
		k.print(string(p))
		k.done = bytes.IndexByte(p, 4) >= 0
	}})
}
