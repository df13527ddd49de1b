// Package counts tells tests how often to repeat what they try: a few times in `make test`, in full
// in `make prove`. It imports nothing of ours, so that any test may import it.
package counts

import (
	"flag"
	"os"
	"strconv"
)

// Proving says that this is `make prove`: full counts, random seeds, and nothing runs beside a
// test, so that times, rates and memory are asserted. Elsewhere they are only reported.
func Proving() bool { return os.Getenv("RELAY_PROVE") != "" }

// Runs is how often a test repeats: short in `make test`, full in `make prove`.
func Runs(short, full int) int {
	if Proving() {
		return full
	}
	return short
}

// Rapid is for the TestMain of packages that draw with rapid. In `make test` they draw the same
// each time, so many times a test; in `make prove` a hundred times, something new. RELAY_SEED
// repeats a run.
func Rapid(checks int) {
	seed := os.Getenv("RELAY_SEED")
	if seed == "" && !Proving() {
		seed = "1"
	}
	if seed != "" {
		set("rapid.seed", seed)
	}
	set("rapid.checks", strconv.Itoa(Runs(checks, 100)))
}

// set sets a flag of rapid's, before flags are parsed, so that one on the command line counts.
func set(name, value string) {
	if err := flag.Set(name, value); err != nil {
		panic("set " + name + ": " + err.Error())
	}
}
