package router

import (
	"os"
	"testing"

	"relay-pty/protocol/counts"
)

func TestMain(m *testing.M) {
	counts.Rapid(30)
	os.Exit(m.Run())
}
