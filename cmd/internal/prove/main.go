// Command prove runs parts of `make prove`: the tests at full counts, with the times and the
// memory that they promise. Each part that passes leaves testdata/prove/PART.json: the commit, the
// machine, how long the part took, and the figures that its tests reported. No part needs another
// one, nor the same commit. From all of these files the program then renders testdata/evidence.md
// and the table of agents in docs/measured.md.
//
//	prove PART...   runs parts; `all` stands for every one
//	prove list      lists the parts, with the commit that each was shown at
//	prove render    renders the tables alone
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "prove:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		args = []string{"list"}
	}
	switch args[0] {
	case "list":
		return list(os.Stdout)
	case "render":
		return render()
	case "all":
		args = nil
		for _, p := range parts {
			args = append(args, p.name)
		}
	}
	var failed []string
	for _, name := range args {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if i < 0 {
			return fmt.Errorf("no part is called %s; `make prove PART=list` lists them", name)
		}
		if err := parts[i].prove(ctx); err != nil {
			fmt.Fprintf(os.Stderr, "prove: %s: %v\n", name, err)
			failed = append(failed, name)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if err := render(); err != nil {
		return err
	}
	if len(failed) > 0 {
		return fmt.Errorf("not shown: %s; their files are as they were", strings.Join(failed, ", "))
	}
	return nil
}
