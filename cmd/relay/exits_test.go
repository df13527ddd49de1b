package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandsOf are all commands that a user finds, those of completion included.
func commandsOf(c *cobra.Command) (list []*cobra.Command) {
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Runnable() {
			list = append(list, sub)
		}
		list = append(list, commandsOf(sub)...)
	}
	return list
}

// wrong are command lines of a command that are wrong, whatever it is for.
func wrong(c *cobra.Command) (list [][]string) {
	path := strings.Fields(c.CommandPath())[1:]
	add := func(args ...string) { list = append(list, slices.Concat(path, args)) }
	add("--nonsense")
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if kind := f.Value.Type(); kind != "string" && kind != "stringSlice" && f.Name != "help" {
			add("--" + f.Name + "=\x01")
		}
	})
	switch c.Name() {
	case "hook": // which never fails, for an agent waits for it
		return nil
	case "run":
		add()
		add("alice")
		add("alice", "--")
		add("a b", "--", "cat")
	case "send": // to whom, the router looks at
		add()
	case "wait":
		add()
		add("a", "b c")
		add("--state", "idle", "a")
	case "reply", "remind", "join", "leave", "keys", "completion":
		add()
		add("a b", "Enter")
	default:
		add("a", "b", "c", "d")
	}
	if use := strings.TrimPrefix(c.Use, c.Name()); use == " NAME" || use == " ID" || use == " [NAME]" {
		add("a b")
		add("")
	}
	return list
}

// TestExitStatusesOfWrongLines: what a command cannot make sense of ends with 2, and starts
// nothing.
func TestExitStatusesOfWrongLines(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"XDG_RUNTIME_DIR", "XDG_STATE_HOME", "HOME", "TMPDIR"} {
		t.Setenv(name, dir)
	}
	for _, c := range commandsOf(newRoot(streams{out: io.Discard})) {
		for _, args := range wrong(c) {
			var out, errs bytes.Buffer
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // whoever makes sense of it does not begin
			got := run(ctx, args, strings.NewReader(""), &out, &errs)
			if got != exitUsage || !strings.HasPrefix(errs.String(), "relay: ") {
				t.Errorf("relay %q: %d, %s%s", args, got, &out, &errs)
			}
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("there is %v, %v", left, err)
	}
}
