package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// runHelp is the help of run, with relay-pty's flags, as relay-pty itself tells them.
func runHelp(s streams, c *cobra.Command) {
	fmt.Fprintf(s.out, "%s\n\nUsage:\n  relay %s\n\nExamples:\n%s\n", c.Long, c.Use, c.Example)
	flags, err := wrapperFlags(c.Context())
	if err != nil {
		fmt.Fprintln(s.err, "relay: the flags are not known:", err)
		return
	}
	fmt.Fprintf(s.out, "\nFlags (relay-pty's):\n%s\n", strings.Join(flags, "\n"))
}

// notOfRun are relay-pty's flags that are of no use behind relay run.
var notOfRun = []string{"--name", "--check-profile", "--version"}

// wrapperFlags are the lines of relay-pty's help that tell its flags.
func wrapperFlags(ctx context.Context) (lines []string, err error) {
	wrapper, err := findWrapper()
	if err != nil {
		return nil, err
	}
	help, err := exec.CommandContext(ctx, wrapper, "--help").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --help: %w", wrapper, err)
	}
	_, text, _ := strings.Cut(string(help), "\n  --")
	text, _, _ = strings.Cut("  --"+text, "\n\n")
	keep := true
	for line := range strings.Lines(text) {
		if flag, ok := flagOf(line); ok {
			keep = !slices.Contains(notOfRun, flag)
		}
		if keep {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return lines, nil
}

// flagOf is the flag that a line of help begins with.
func flagOf(line string) (flag string, ok bool) {
	if !strings.HasPrefix(line, "  --") {
		return "", false
	}
	return strings.Fields(line)[0], true
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
	lines, _ := wrapperFlags(ctx) // else nothing is filled in
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
