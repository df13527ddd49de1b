package pty

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// TestAnswersDoNotCutTheEcho: several lines in one write stand in the output as if a human had typed one after the other. A machine that is very busy may
// let a few come ahead.
func TestAnswersDoNotCutTheEcho(t *testing.T) {
	const n = 30
	for name, script := range map[string]string{
		"in a read":       `echo up; while read -r line; do echo "answer to $line"; done`,
		"after a while":   `echo up; while read -r line; do sleep 0.01; echo "answer to $line"; done`,
		"never in a read": `echo up; cat | while read -r line; do echo "answer to $line"; done`,
	} {
		t.Run(name, func(t *testing.T) {
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
			inOrder := 0
			for i := range n {
				if strings.Contains(r.output(), line(i)+"\r\nanswer to "+line(i)+"\r\n") {
					inOrder++
				}
			}
			if inOrder < n/2 {
				t.Errorf("%d of %d lines stand before their answers", inOrder, n)
			}
			t.Logf("%d of %d", inOrder, n)
		})
	}
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
