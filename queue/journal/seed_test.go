package journal

import (
	"flag"
	"os"
	"testing"
)

// TestMain makes all runs draw the same, but those that are to find something new. RELAY_SEED
// repeats one of them.
func TestMain(m *testing.M) {
	seed := os.Getenv("RELAY_SEED")
	if seed == "" && os.Getenv("RELAY_PROVE") == "" {
		seed = "1"
	}
	if seed != "" {
		if err := flag.Set("rapid.seed", seed); err != nil {
			panic("RELAY_SEED: " + err.Error())
		}
	}
	os.Exit(m.Run())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
