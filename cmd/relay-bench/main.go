// Command relay-bench measures how quick relay is on this machine, as a user's shell and an agent
// see it: whole processes and real terminals. Where tmux is there, `tmux send-keys`, which is how
// it is done without relay, is measured beside it in the same rounds.
//
//	relay-bench [-n ROUNDS] [-assert]
//
// It runs the programs relay and relay-pty that stand beside it, in a directory of its own.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "agent" {
		if err := agent(os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "relay-bench:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	n := flag.Int("n", 30, "`ROUNDS` of each measurement, 30 at most: more a minute are not let through")
	assert := flag.Bool("assert", false, "fail when a median is over its bound, which is longer where tmux is slow")
	flag.Parse()
	if err := run(ctx, *n, *assert, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "relay-bench:", err)
		os.Exit(1)
	}
}

// most is how many messages a minute go from one agent to another.
const most = 30

func run(ctx context.Context, n int, assert bool, out io.Writer) (err error) {
	if n < 1 || n > most || flag.NArg() > 0 {
		return fmt.Errorf("want from 1 to %d rounds, and no arguments", most)
	}
	r, err := setUp(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.tearDown()) }()
	for i := range n {
		if err := r.round(i); err != nil {
			return fmt.Errorf("round %d: %w", i+1, err)
		}
	}
	return report(out, r.times, assert)
}

// measure is one thing that is measured.
type measure string

const (
	sendWarm   measure = "relay send, a router runs"
	sendCold   measure = "relay send, no router runs"
	sendKeys   measure = "tmux send-keys"
	sendByte   measure = "relay send → the agent has it"
	keysByte   measure = "tmux send-keys → the agent has it"
	markerByte measure = "a marker → the other agent has it"
)

// pace is how long tmux send-keys takes on a machine on which the bounds hold. On a slower one they
// are as much longer as it is.
const pace = 2600 * time.Microsecond

// slower is how many times slower than that machine this one is, 1 at least.
func slower(times map[measure][]time.Duration) float64 {
	keys := slices.Sorted(slices.Values(times[sendKeys]))
	if len(keys) == 0 {
		return 1
	}
	return max(1, float64(keys[len(keys)/2])/float64(pace))
}

// measures are in the order of the report, each with the bound of its median.
var measures = []struct {
	measure
	bound time.Duration // 0: none
}{
	{sendWarm, 15 * time.Millisecond}, {sendKeys, 0}, {sendCold, 80 * time.Millisecond},
	{sendByte, 0}, {keysByte, 0}, {markerByte, 20 * time.Millisecond},
}

// report prints the quantiles of all that was measured.
func report(out io.Writer, times map[measure][]time.Duration, assert bool) error {
	var over []string
	scale := slower(times)
	fmt.Fprintf(out, "%-36s %9s %9s %9s %9s\n", "milliseconds", "median", "95 %", "most", "bound")
	for _, m := range measures {
		list := times[m.measure]
		if len(list) == 0 {
			fmt.Fprintf(out, "%-36s not measured: no tmux\n", m.measure)
			continue
		}
		slices.Sort(list)
		median, bound := list[len(list)/2], "-"
		limit := time.Duration(scale * float64(m.bound))
		if limit > 0 {
			bound = ms(limit)
		}
		if limit > 0 && median > limit {
			over = append(over, fmt.Sprintf("%s: %s ms", m.measure, ms(median)))
		}
		_, err := fmt.Fprintf(out, "%-36s %9s %9s %9s %9s\n", m.measure, ms(median), ms(list[len(list)*95/100]), ms(list[len(list)-1]), bound)
		if err != nil {
			return err
		}
	}
	if assert && len(over) > 0 {
		return fmt.Errorf("over the bound: %s", strings.Join(over, "; "))
	}
	return nil
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000) }
