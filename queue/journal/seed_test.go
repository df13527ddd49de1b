package journal

import (
	"os"
	"testing"

	"relay-pty/protocol/counts"
)

func TestMain(m *testing.M) {
	counts.Rapid(25)
	os.Exit(m.Run())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
