package handover

import (
	"strings"
	"testing"
	"time"

	shadow "relay-pty/inject/draft"
	"relay-pty/inject/refusal"
	"relay-pty/protocol"
	"relay-pty/queue"
)

func TestOneTurn(t *testing.T) {
	long, lines := strings.Repeat("long ", 200), "two\nlines"
	msg := func(body string) queue.Message { return queue.Message{Body: body, Mode: protocol.ModeSequential} }
	command := msg("/clear")
	command.Kind = protocol.KindCommand
	important := msg("now")
	important.Mode = protocol.ModeImportant
	m := &Turns{Chips: shadow.Chips{Paste: "[Pasted", Bytes: 140}}
	for _, c := range []struct {
		name string
		msgs []queue.Message
		want int
	}{
		{"none", nil, 0},
		{"short ones, alike", []queue.Message{msg("y"), msg("y"), msg("y")}, 3},
		{"long ones", []queue.Message{msg(long), msg(lines), msg(long + "."), msg(lines + ".")}, 4},
		{"a long one twice", []queue.Message{msg(long), msg("y"), msg(long)}, 2},
		{"a long one twice, as it is typed", []queue.Message{msg(long + "\tx"), msg(long + "    x"), msg("y")}, 1},
		{"a long one twice, but for what agents trim", []queue.Message{msg(long + "x"), msg("\n" + long + "x\r\n")}, 1},
		{"lines twice", []queue.Message{msg(lines), msg(lines)}, 1},
		{"a command", []queue.Message{msg("y"), command}, 1},
		{"behind a command", []queue.Message{command, msg("y")}, 1},
		{"another mode", []queue.Message{important, msg("y")}, 1},
		{"behind characters of other widths", []queue.Message{msg("é"), msg("数行"), msg(lines)}, 3},
		{"too much", []queue.Message{msg(strings.Repeat("a", maxTurn)), msg("y")}, 1},
	} {
		if got := len(m.oneTurn(c.msgs)); got != c.want {
			t.Errorf("%s: %d of %d in one turn, want %d", c.name, got, len(c.msgs), c.want)
		}
	}
	m.Chips.ByColumn = true
	if got := len(m.oneTurn([]queue.Message{msg("é"), msg("数行"), msg(lines)})); got != 2 {
		t.Errorf("behind characters of other widths, chips by column: %d in one turn, want 2", got)
	}
}

// TestFootersTellHowToAnswerNow: whether markers are read may change while a message waits.
func TestFootersTellHowToAnswerNow(t *testing.T) {
	now, unread := time.Unix(1_700_000_000, 0), false
	box, err := queue.New(queue.Config{}, queue.NewOutbox())
	must(t, err)
	_, _, err = box.Enqueue(queue.Message{ID: "m1", From: "bob", Body: "x", Mode: protocol.ModeSequential, Kind: protocol.KindMessage}, now)
	must(t, err)
	note := func(err error, _ string) { must(t, err) }
	m := &Turns{
		Queue: box, Batch: func() int { return 1 }, Halted: func() bool { return false }, Unread: func() bool { return unread },
		Refused: new(refusal.Gate),
		Leases:  &Leases{Queue: box, Turn: func() bool { return false }, Note: note},
	}
	for _, want := range []string{"[end m1 · reply: ->relay:bob [re=m1] <<<…>>>]", "[end m1 · reply: relay reply m1 …]", "[end m1 · reply: ->relay:bob [re=m1] <<<…>>>]"} {
		next, _ := m.Next(now)
		if again, _ := m.Next(now); again != next {
			t.Error("it is framed anew though nothing has changed")
		}
		if got := next.Turn[0].Footer; got != want {
			t.Errorf("unread %v: got %s, want %s", unread, got, want)
		}
		unread = !unread
	}
}

func TestOldMessagesTellTheirAge(t *testing.T) {
	m := queue.Message{ID: "m1", From: "bob", Body: "x"}
	for age, want := range map[time.Duration]string{
		0: "[relay m1 from bob]", 10 * time.Minute: "[relay m1 from bob]", 12*time.Minute + time.Second: "[relay m1 from bob · 12m old]",
	} {
		if got := framed(m, age, false).Header; got != want {
			t.Errorf("%v: got %s, want %s", age, got, want)
		}
	}
	m.Redelivery = protocol.RedeliverMarked
	if got, want := framed(m, 0, false).Header, "[relay m1 from bob · redelivery]"; got != want {
		t.Errorf("sent again: got %s, want %s", got, want)
	}
}
