package e2e

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig/books"
	"relay-pty/cmd/internal/testrig/sabotage"
	"relay-pty/cmd/internal/testrig/storm"
)

// quick are the sabotages that show within seconds.
var quick = []string{
	"the last one to come goes first", "of several messages in a turn the first alone is typed", "a restart tells an event again",
}

// TestSabotageIsCaught: wrappers that break a promise do not get through a storm.
func TestSabotageIsCaught(t *testing.T) {
	t.Parallel()
	all := sabotage.All()
	if !proving() {
		all = slices.DeleteFunc(all, func(s sabotage.Sabotage) bool { return !slices.Contains(quick, s.Name) })
	}
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) { sabotaged(t, s) })
	}
	shown(t, "sabotaged builds of the wrapper: caught by the books of a storm", "%d of %d", len(all), len(all))
}

// sabotaged runs storms with the sabotaged wrapper until the books tell of it.
func sabotaged(t *testing.T, s sabotage.Sabotage) {
	bin, err := sabotage.Build(t.TempDir(), s)
	must(t, err)
	base, began := seed(t), time.Now()
	ctx := bounded(t, time.Duration(runs(100, 300))*time.Second, "the end of its storms")
	for n := range uint64(3) {
		dir := scratch(t)
		c := storm.Config{
			Seed: base + n, Binary: bin, Dir: filepath.Join(dir, "s"), Agents: len(s.Provoke.Programs), Senders: 3,
			Messages: s.Provoke.Messages, Faults: s.Provoke.Faults, Kinds: s.Provoke.Kinds, Programs: s.Provoke.Programs,
			Quiet: !s.Provoke.Typing, Patience: 10 * time.Second, Stall: 15 * time.Second,
		}
		must(t, os.Mkdir(c.Dir, 0o700))
		run, err := storm.Run(ctx, c)
		if err != nil && s.Fails != "" && strings.Contains(err.Error(), s.Fails) {
			t.Logf("caught after %v: %v", time.Since(began).Round(time.Second), err)
			return
		}
		if err != nil {
			t.Logf("the storm itself fails: %v", err)
			continue
		}
		all := books.Check(run)
		found := slices.IndexFunc(all, func(v books.Violation) bool { return slices.Contains(s.CaughtBy, v.Invariant) })
		if found >= 0 {
			v := all[found]
			t.Logf("caught after %v by %d violations: %s at %s: %s %s", time.Since(began).Round(time.Second), len(all), v.Invariant, v.Agent, cmp.Or(v.ID, "-"), v.What)
			return
		}
		t.Logf("run %d: %d violations, none of %v", n, len(all), s.CaughtBy)
	}
	t.Errorf("not caught by %v within %v", s.CaughtBy, time.Since(began).Round(time.Second))
}
