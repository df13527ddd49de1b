package term_test

import (
	"os"
	"testing"

	"relay-pty/cmd/internal/testrig"
)

func TestMain(m *testing.M) {
	testrig.KnownStart()
	os.Exit(m.Run())
}
