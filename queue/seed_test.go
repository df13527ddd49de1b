package queue

import (
	"os"
	"testing"

	"relay-pty/protocol/counts"
)

func TestMain(m *testing.M) {
	counts.Rapid(100)
	os.Exit(m.Run())
}
