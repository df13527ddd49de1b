package testrig

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"relay-pty/protocol/counts"
)

// Proving is counts.Proving.
func Proving() bool { return counts.Proving() }

// Choose picks which tests of a package on whole programs run; the package's TestMain calls it.
// Tests whose names begin with TestProve run in `make prove` alone. With -short, and without a
// -run, the tests that match short run alone: they need no other program and little time.
func Choose(short string) {
	flag.Parse()
	run, skip := flag.Lookup("test.run").Value, flag.Lookup("test.skip").Value
	var err error
	switch {
	case testing.Short() && run.String() == "":
		fmt.Printf("NOT RUN with -short: tests other than %s\n", short)
		err = run.Set(short)
	case Proving():
	case skip.String() == "":
		err = skip.Set("^TestProve")
	default:
		err = skip.Set(skip.String() + "|^TestProve")
	}
	if err != nil {
		panic(err) // a pattern of ours is wrong
	}
}

// Runs is counts.Runs.
func Runs(short, full int) int { return counts.Runs(short, full) }

// Seed is what the random choices of a test come from: $RELAY_SEED, else a random number in
// `make prove`, else 1. The test's log tells it.
func Seed(t testing.TB) uint64 {
	t.Helper()
	s := uint64(1)
	if Proving() {
		s = rand.Uint64N(1 << 32)
	}
	if v := os.Getenv("RELAY_SEED"); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			t.Fatalf("$RELAY_SEED: %v", err)
		}
		s = n
	}
	t.Logf("RELAY_SEED=%d", s)
	return s
}
