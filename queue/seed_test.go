package queue

import (
	"os"
	"testing"

	"relay-pty/internal/counts"
)

func TestMain(m *testing.M) {
	counts.Rapid(100)
	os.Exit(m.Run())
}
