package agent

import (
	"errors"
	"strings"
	"testing"
)

// clock fails so many times, as a pattern does on a machine whose clock jumps.
type clock struct{ fails, asked int }

func (c *clock) MatchString(line string) (bool, error) {
	if c.asked++; c.asked <= c.fails {
		return false, errors.New("match timeout")
	}
	return line == "> ", nil
}

// TestPatternsThatTakeTooLong: one that does so by chance is asked again, one that always does is
// not.
func TestPatternsThatTakeTooLong(t *testing.T) {
	unlucky := &clock{fails: promptTries - 1}
	p := &prompt{re: unlucky}
	if !p.match("> ") || p.match(">") || !p.match("> ") {
		t.Error("a pattern that was late by chance is not asked any more")
	}
	stuck := &clock{fails: 1 << 30}
	p = &prompt{re: stuck}
	for range 10 {
		if p.match("> ") {
			t.Error("it matches")
		}
	}
	if stuck.asked != promptTries {
		t.Errorf("asked %d times, want %d", stuck.asked, promptTries)
	}
	p, err := newPrompt("^(a+)+$")
	must(t, err)
	if p.match(strings.Repeat("a", 60)+"b") || !p.off {
		t.Error("a pattern that backtracks without end is asked again")
	}
}
