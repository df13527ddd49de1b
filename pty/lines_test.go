package pty

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"relay-pty/protocol/counts"
)

// TestAnswersDoNotCutTheEcho: several lines in one write stand in the output as if a human had
// typed one after the other. A machine that is very busy lets some come ahead: how many is asserted
// only where nothing runs beside.
func TestAnswersDoNotCutTheEcho(t *testing.T) {
	const n = 30
	for name, script := range map[string]string{
		"in a read":       `echo up; while read -r line; do echo "answer to $line"; done`,
		"after a while":   `echo up; while read -r line; do sleep 0.01; echo "answer to $line"; done`,
		"never in a read": `echo up; cat | while read -r line; do echo "answer to $line"; done`,
	} {
		t.Run(name, func(t *testing.T) {
			want := 1 // typed at once, none would be: that much no load takes away
			if counts.Proving() {
				want = n / 2
			}
			best := 0
			for tries := 0; tries < 5 && best < n/2; tries++ {
				best = max(best, answeredInOrder(t, script, n))
			}
			if best < want {
				t.Errorf("%d of %d lines stand before their answers, want %d", best, n, want)
			}
			t.Logf("%d of %d", best, n)
		})
	}
}

// answeredInOrder types n lines at once and says how many of them stand before their answers.
func answeredInOrder(t *testing.T, script string, n int) (inOrder int) {
	t.Helper()
	r := begin(t, sh(script))
	r.says("up\r\n")
	var typed strings.Builder
	line := func(i int) string { return fmt.Sprintf("line %d %sx", i, strings.Repeat("x", 10*i)) }
	for i := range n {
		typed.WriteString(line(i) + "\n")
	}
	tx := mustBegin(t, r.Session)
	if got, err := tx.Write(context.Background(), []byte(typed.String())); got != typed.Len() || err != nil {
		t.Fatalf("wrote %d, %v", got, err)
	}
	tx.End()
	r.says("answer to " + line(n-1))
	for i := range n {
		if strings.Contains(r.output(), line(i)+"\r\nanswer to "+line(i)+"\r\n") {
			inOrder++
		}
	}
	return inOrder
}

// TestLinesDoNotWaitForADeafProgram, nor while the human waits.
func TestLinesDoNotWaitForADeafProgram(t *testing.T) {
	r := begin(t, sh("echo up; exec sleep 1000"))
	r.says("up")
	tx := mustBegin(t, r.Session)
	r.Keys([]byte("human"))
	lines := []byte(strings.Repeat("a line\n", 100))
	within(t, "Write", func() {
		if n, err := tx.Write(context.Background(), lines); n != len(lines) || err != nil {
			t.Errorf("wrote %d, %v", n, err)
		}
	})
	tx.End()
}
