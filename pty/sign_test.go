package pty

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"relay-pty/pty/screen"
)

// theater is a session without a PTY, whose human's terminal is a model of one.
type theater struct {
	*Session
	terminal *screen.Screen
	written  bytes.Buffer
}

func newTheater() *theater {
	th := &theater{terminal: screen.New(12, 40)}
	th.Session = &Session{ptmx: &master{}, screen: screen.New(12, 40)}
	th.cfg.Output = io.MultiWriter(th.terminal, &th.written)
	return th
}

// alike reports whether two screens show the same, titles aside.
func alike(a, b *screen.Screen) bool {
	rows, cols := a.Size()
	for r := range rows {
		for c := range cols {
			if a.Cell(r, c) != b.Cell(r, c) {
				return false
			}
		}
	}
	row, col := a.Cursor()
	otherRow, otherCol := b.Cursor()
	return row == otherRow && col == otherCol && a.Modes() == b.Modes()
}

// acts are what agents write; none but "x", which a repetition follows, is followed by what refers
// to it.
var acts = []string{
	"plain text\r\n", "日本語 👩\u200d👧 e\u0301", "\x1b[1;31mred\x1b[m", "\x1b[3;7H", "\x1b[K", "x\x1b[5b", "\x1b]8;;http://h/\x1b\\link\x1b]8;;\a",
	"\x1b[?2026h\x1b[2J\x1b[Hframe\r\n日本\x1b[?2026l", "\x1bPq#0;2;0;0;0~~\x1b\\", "\x1b[?1049h", "\x1b[?1049l", "\x1b7", "\x1b8", "\x1b(0qqq\x1b(B", "\x1bNz",
	"\x1b]0;agent's title\a", "\x1b]2;✳ working\x1b\\", "\x1b]2;\a", "\x1b[22;0t\x1b]2;inner\a\x1b[23;0t", "\x1b]9;done\a", "\x1b[6n", "\x1b[38:2::1:2:3mc\x1b[0m",
}

// Pieces are cut anywhere while signs come, change and go: what is drawn is the same, and in the
// end the title is the agent's.
func TestSignsChangeNothingButTheTitle(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		th, bare := newTheater(), screen.New(12, 40)
		signs := []Sign{{}, {Prefix: "✉ 1 · ", Untitled: "alice"}, {Prefix: "✉ 2 · ", Untitled: "alice"}, {Once: "\a"}, {Once: "\x1b]9;alice\a"}}
		for range 30 {
			for act := acts[rng.IntN(len(acts))]; act != ""; {
				n := 1 + rng.IntN(len(act))
				bare.Write([]byte(act[:n]))
				th.deliver([]byte(act[:n]))
				act = act[n:]
				if rng.IntN(3) == 0 {
					th.Show(signs[rng.IntN(len(signs))])
				}
				if act == "" {
					th.rest() // nothing of the next act refers to this one
				}
			}
			if !alike(th.terminal, bare) {
				t.Fatalf("seed %d: drawn otherwise after %q", seed, th.written.Bytes())
			}
		}
		th.endSign()
		if got, want := th.terminal.Title(), bare.Title(); got != want {
			t.Fatalf("seed %d: the title is %q, want %q, after %q", seed, got, want, th.written.Bytes())
		}
	}
}

func TestSignStandsBeforeTheAgentsTitle(t *testing.T) {
	th := newTheater()
	titled := func(want string) {
		t.Helper()
		if got := th.terminal.Title(); got != want {
			t.Fatalf("the title is %q, want %q", got, want)
		}
	}
	th.terminal.Write([]byte("\x1b]2;the human's shell\a"))
	two := Sign{Prefix: "✉ 2 · ", Untitled: "alice"}
	th.Show(two)
	titled("the human's shell")
	th.rest()
	titled("✉ 2 · alice")
	th.deliver([]byte("\x1b]0;one\a"))
	titled("✉ 2 · one")
	th.deliver([]byte("\x1b]0;one\a")) // as it was: the terminal shows it bare now
	titled("✉ 2 · one")
	th.Show(Sign{Prefix: "✉ 3 · "})
	th.deliver([]byte("\x1b]2;tw"))
	titled("✉ 2 · one")
	th.deliver([]byte("o\a"))
	titled("✉ 3 · two")
	th.Show(Sign{})
	th.rest()
	titled("two")
	th.Show(two)
	th.deliver([]byte("\x1b]2;\a")) // its own, too
	titled("✉ 2 · alice")
	th.endSign()
	titled("")

	th = newTheater()
	th.terminal.Write([]byte("\x1b]2;the human's shell\a"))
	th.Show(two)
	th.rest()
	th.endSign()
	titled("the human's shell")
}

// A bell or a notification comes once, and one that has no place waits for one.
func TestSignIsGivenOnce(t *testing.T) {
	th := newTheater()
	th.deliver([]byte("\x1b[?2026hhalf a frame"))
	th.Show(Sign{Once: "\a"})
	th.rest()
	if n := bytes.Count(th.written.Bytes(), []byte("\a")); n != 0 {
		t.Fatal("a bell in a frame")
	}
	th.deliver([]byte("\x1b[?2026l"))
	th.deliver([]byte("more\r\n"))
	th.rest()
	if got := th.written.String(); got != "\x1b[?2026hhalf a frame\x1b[?2026l\amore\r\n" {
		t.Errorf("wrote %q", got)
	}
	th.written.Reset()
	th.endSign()
	if th.written.Len() != 0 {
		t.Errorf("wrote %q at the end", th.written.Bytes())
	}
}

// The output loop of a silent agent hears of a sign.
func TestSignReachesASilentAgentsTerminal(t *testing.T) {
	shown := make(chan string, 10)
	s, err := Start(Config{Args: []string{"sh", "-c", "read x"}, Output: writerFunc(func(p []byte) (int, error) {
		shown <- string(p)
		return len(p), nil
	})})
	must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(t.Context()) }()
	for range 100 {
		s.Show(Sign{Once: "\a"})
		if got := soon(t, "the bell", shown); got != "\a" {
			t.Fatalf("wrote %q", got)
		}
	}
	s.Hangup(0)
	soon(t, "the end", ended)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
