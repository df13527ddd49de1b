package e2e

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig/books"
	"relay-pty/cmd/internal/testrig/storm"
	"relay-pty/protocol/failpoint"
)

// breach is a failpoint, and what its storm needs for the breach to show.
type breach struct {
	failpoint.Name
	caughtBy []string // the invariants of package books of which one must be found broken
	fails    string   // what the storm itself may fail with instead, for it notices some things first
	needs    storm.Config
}

var (
	lines     = []string{"line", "line"}
	slow      = []string{"slow", "slow"}
	composers = []string{"composer", "stranger"}
	kills     = []string{"kill-wrapper"}
	both      = []string{"kill-agent", "kill-wrapper"}
	mixed     = []string{"composer", "stranger", "slow", "stranger"}

	interrupted = storm.Config{Programs: mixed, Kinds: kills, Faults: 60, Messages: 1200, Quiet: true}
)

// breaches are the failpoints that a storm finds. Power cuts find [failpoint.Unsynced], a test of
// the injector [failpoint.DraftIgnored], for a storm's human seldom rests over a draft, and
// [failpoint.FewEvents] breaks nothing that a storm asks for.
var breaches = []breach{
	{failpoint.QueuedUnrecorded, []string{"I1", "I12"}, "no message of this id",
		storm.Config{Programs: lines, Kinds: kills, Faults: 20, Messages: 1500, Quiet: true}},
	{failpoint.IDsForgotten, []string{"I1", "I5"}, "", storm.Config{Programs: lines, Kinds: kills, Faults: 30, Messages: 3000, Quiet: true}},
	{failpoint.LastFirst, []string{"I6"}, "", storm.Config{Programs: lines, Messages: runs(100, 500), Quiet: true}},
	{failpoint.CancelledTyped, []string{"I1", "I3"}, "was told that it is cancelled",
		storm.Config{Programs: lines, Messages: 3000, Quiet: true}},
	{failpoint.ExpiredTyped, []string{"I1", "I3"}, "was told that it is expired",
		storm.Config{Programs: lines, Messages: 3000, Quiet: true}},
	{failpoint.WaitingDropped, []string{"I1", "I12"}, "", storm.Config{Programs: lines, Kinds: kills, Faults: 6, Messages: 800, Quiet: true}},
	{failpoint.Unmarked, []string{"I5"}, "", interrupted},
	{failpoint.RedeliveredUnasked, []string{"I5"}, "", interrupted},
	{failpoint.DoubtDelivered, []string{"I2"}, "", interrupted},
	{failpoint.AttemptUnrecorded, []string{"I1", "I5"}, "", interrupted},
	{failpoint.EventToldAgain, []string{"I1"}, "", storm.Config{Programs: lines, Kinds: kills, Faults: runs(2, 6), Messages: runs(100, 800), Quiet: true}},
	{failpoint.KeysThrough, []string{"I8", "I9", "I10"}, "", storm.Config{Programs: slow, Messages: 300}},
	{failpoint.EnterApart, []string{"I8", "I10"}, "", storm.Config{Programs: slow, Messages: 300}},
	{failpoint.WrittenDelivered, []string{"I2", "I10"}, "", storm.Config{Programs: slow, Kinds: both, Faults: 12, Messages: 300, Quiet: true}},
	{failpoint.FirstAlone, []string{"I2"}, "", storm.Config{Programs: lines, Messages: runs(100, 500), Quiet: true}},
	// A control character may be the ^C or ^D that ends an agent.
	{failpoint.ControlsKept, []string{"I7", "I10", "I2"}, "ended by itself", storm.Config{Programs: composers, Messages: 1200, Quiet: true}},
	{failpoint.FooterForged, []string{"I7", "I2"}, "", storm.Config{Programs: lines, Messages: 3000, Quiet: true}},
}

// quick are the failpoints that show within seconds.
var quick = []failpoint.Name{failpoint.LastFirst, failpoint.FirstAlone, failpoint.EventToldAgain}

// TestFailpoints: wrappers that break a promise do not get through a storm.
func TestFailpoints(t *testing.T) {
	t.Parallel()
	all := slices.Clone(breaches)
	if !proving() {
		all = slices.DeleteFunc(all, func(b breach) bool { return !slices.Contains(quick, b.Name) })
	}
	for _, b := range all {
		t.Run(string(b.Name), func(t *testing.T) { b.caught(t) })
	}
	shown(t, "failpoints: wrappers that break a promise: caught by the books of a storm", "%d of %d", len(all), len(all))
}

// breaks is a wrapper with a failpoint on.
func breaks(t *testing.T, name failpoint.Name) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "relay-pty")
	script := fmt.Sprintf("#!/bin/sh\nRELAY_FAILPOINT=%s exec %s \"$@\"\n", name, breakable.path(t, "failpoint"))
	must(t, os.WriteFile(path, []byte(script), 0o700))
	return path
}

// caught runs storms with the failpoint on until the books tell of it.
func (b breach) caught(t *testing.T) {
	bin, base, began := breaks(t, b.Name), seed(t), time.Now()
	ctx := bounded(t, time.Duration(runs(100, 300))*time.Second, "the end of its storms")
	for n := range uint64(3) {
		c := b.needs
		c.Seed, c.Binary, c.Dir, c.Agents = base+n, bin, filepath.Join(scratch(t), "s"), len(c.Programs)
		c.Patience, c.Stall, c.Log, c.Stray = 10*time.Second, 15*time.Second, t.Logf, func(string, string) {}
		must(t, os.Mkdir(c.Dir, 0o700))
		run, err := storm.Run(ctx, c)
		if err != nil && b.fails != "" && strings.Contains(err.Error(), b.fails) {
			t.Logf("caught after %v: %v", time.Since(began).Round(time.Second), err)
			return
		}
		if err != nil {
			t.Logf("the storm itself fails: %v", err)
			continue
		}
		all := books.Check(run)
		found := slices.IndexFunc(all, func(v books.Violation) bool { return slices.Contains(b.caughtBy, v.Invariant) })
		if found >= 0 {
			v := all[found]
			t.Logf("caught after %v by %d violations: %s at %s: %s %s", time.Since(began).Round(time.Second), len(all),
				v.Invariant, v.Agent, cmp.Or(v.ID, "-"), v.What)
			return
		}
		t.Logf("run %d: %d violations, none of %v", n, len(all), b.caughtBy)
	}
	t.Errorf("not caught by %v within %v", b.caughtBy, time.Since(began).Round(time.Second))
}
