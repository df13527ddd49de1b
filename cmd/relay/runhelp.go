package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/manual"
)

// runHelp is the help of run, with relay-pty's flags, as relay-pty itself tells them.
func runHelp(s streams, c *cobra.Command) {
	fmt.Fprintf(s.out, "%s\n\nUsage:\n  relay %s\n\nExamples:\n%s\n", c.Long, c.Use, c.Example)
	wrapper, err := findWrapper()
	flags := []string{}
	if err == nil {
		flags, err = manual.WrapperFlags(c.Context(), wrapper)
	}
	if err != nil {
		fmt.Fprintln(s.err, "relay: the flags are not known:", err)
		return
	}
	fmt.Fprintf(s.out, "\nFlags (relay-pty's):\n%s\n", strings.Join(flags, "\n"))
}

// completeRun fills in who does not run, then relay-pty's flags, and behind the -- a command and
// what the shell offers for its arguments.
func completeRun(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	end := slices.Index(args, "--")
	switch {
	case len(args) == 0:
		return completing(away)(c, args, word)
	case end < 0 && strings.HasPrefix(word, "-"):
		return flagNames(c.Context(), word), cobra.ShellCompDirectiveNoFileComp
	case end == len(args)-1 && !strings.Contains(word, "/"):
		return commandsIn(os.Getenv("PATH"), word), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// flagNames are the wrapper's flags that begin so.
func flagNames(ctx context.Context, begin string) (list []string) {
	wrapper, err := findWrapper()
	if err != nil {
		return nil
	}
	lines, _ := manual.WrapperFlags(ctx, wrapper) // else nothing is filled in
	for _, word := range strings.Fields(strings.Join(append(lines, "  --"), " ")) {
		if word = strings.Trim(word, ",;"); strings.HasPrefix(word, "--") && strings.HasPrefix(word, begin) && !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	return list
}

// commandsIn are the programs of a PATH that begin so.
func commandsIn(path, begin string) (list []string) {
	for _, dir := range filepath.SplitList(path) {
		entries, _ := os.ReadDir(dir) // a directory that is not there has none
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), begin) {
				continue
			}
			if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				list = append(list, e.Name())
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
