package pty

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"relay-pty/pty/term"
)

// aMaster is one with nobody on the other side but us.
func aMaster(t *testing.T) (*master, *os.File) {
	t.Helper()
	m, tty, err := openPTY(Config{})
	must(t, err)
	t.Cleanup(func() { m.Close(); tty.Close() })
	return m, tty
}

func noRest() {}

func (b *bell) sleeps() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asleep
}

// TestMasterWakes: a reader that waits hears of output, of a deadline set before or meanwhile, and
// of the end.
func TestMasterWakes(t *testing.T) {
	past := time.Unix(1, 0)
	for name, c := range map[string]struct {
		before func(*master)
		during func(*master, *os.File)
		want   error
	}{
		"output":                   {nil, func(_ *master, tty *os.File) { tty.WriteString("x") }, nil},
		"the end":                  {nil, func(m *master, _ *os.File) { m.Close() }, os.ErrClosed},
		"the end before":           {(*master).Close, nil, os.ErrClosed},
		"a deadline":               {func(m *master) { m.in.set(time.Now().Add(time.Millisecond)) }, nil, os.ErrDeadlineExceeded},
		"a deadline that is over":  {func(m *master) { m.in.set(past) }, nil, os.ErrDeadlineExceeded},
		"a deadline set meanwhile": {nil, func(m *master, _ *os.File) { m.in.set(past) }, os.ErrDeadlineExceeded},
		"a deadline brought forward": {
			func(m *master) { m.in.set(time.Now().Add(time.Hour)) },
			func(m *master, _ *os.File) { m.in.set(past) }, os.ErrDeadlineExceeded,
		},
		"a deadline taken back": {
			func(m *master) { m.in.set(time.Now().Add(time.Hour)) },
			func(m *master, tty *os.File) { m.in.set(time.Time{}); tty.WriteString("x") }, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, tty := aMaster(t)
			if c.before != nil {
				c.before(m)
			}
			errs := make(chan error, 1)
			go func() {
				_, err := m.Read(make([]byte, 16), noRest)
				errs <- err
			}()
			if c.during != nil {
				becomes(t, "the sleep", m.in.sleeps)
				c.during(m, tty)
			}
			if err := soon(t, "the end of the read", errs); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// TestMasterGoesOnAfterADeadline: what a deadline has ended can be done again.
func TestMasterGoesOnAfterADeadline(t *testing.T) {
	m, tty := aMaster(t)
	for range 100 {
		m.in.set(time.Now().Add(100 * time.Microsecond))
		within(t, "the read with a deadline", func() {
			if _, err := m.Read(make([]byte, 16), noRest); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		})
		m.in.set(time.Time{})
		tty.WriteString("x")
		within(t, "the read", func() {
			if n, err := m.Read(make([]byte, 16), noRest); n == 0 || err != nil {
				t.Errorf("got %d, %v", n, err)
			}
		})
	}
}

// TestMasterRests: rest is called before a wait, and not where there is something to read.
func TestMasterRests(t *testing.T) {
	m, tty := aMaster(t)
	rests := 0
	read := func() {
		if _, err := m.Read(make([]byte, 16), func() { rests++; tty.WriteString("x") }); err != nil {
			t.Error(err)
		}
	}
	within(t, "a read that waits", read)
	tty.WriteString("y")
	becomes(t, "something to read", func() (there bool) {
		term.Control(m.f, func(fd int) error { there = readable(fd, 0); return nil })
		return there
	})
	within(t, "a read that need not wait", read)
	if rests != 1 {
		t.Errorf("%d rests, want 1", rests)
	}
}

// TestMasterPassesEverythingOn: writer, reader and changes of deadlines do not disturb each other,
// and a write that its deadline ended says how much of it was taken.
func TestMasterPassesEverythingOn(t *testing.T) {
	m, tty := aMaster(t)
	err := term.Control(tty, func(fd int) error {
		modes, err := term.GetModes(fd)
		if err != nil {
			return err
		}
		quiet := rawModes(*modes)
		return term.SetModes(fd, &quiet)
	})
	must(t, err)
	const size = 1 << 20
	sent := make([]byte, size)
	for i := range sent {
		sent[i] = byte(i >> 4)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for rest := sent; len(rest) > 0; {
			m.out.set(time.Now().Add(50 * time.Microsecond))
			n, err := m.Write(rest)
			if rest = rest[n:]; err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error(err)
				return
			}
		}
	})
	all.Go(func() { io.CopyN(tty, tty, size) }) // short: the reader below says so
	got := make([]byte, 0, size)
	all.Go(func() {
		buf := make([]byte, 8<<10)
		for len(got) < size {
			m.in.set(time.Now().Add(time.Second))
			n, err := m.Read(buf, noRest)
			if err != nil {
				t.Errorf("after %d bytes: %v", len(got), err)
				m.Close()
				return
			}
			got = append(got, buf[1:n]...) // the first byte is packet mode's
		}
	})
	within(t, "passing a megabyte on", all.Wait)
	if !bytes.Equal(got, sent) {
		t.Errorf("%d bytes came back, and not those", len(got))
	}
}
