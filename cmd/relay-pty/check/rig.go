package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/scratch"
	"relay-pty/inject/profile"
)

// rig is how an agent is run without its makers' service.
type rig struct {
	wire fakemodel.Wire
	args []string // for a command that was given none
	home func(dir, baseURL, version string) (env []string, cwd string, err error)
}

// rigs are those of the agents whose model API we can speak, by the log they
// keep. The arguments ask for their usual permissions: in others they do not
// ask, and no dialog can be seen.
var rigs = map[string]rig{
	"claude": {wire: fakemodel.Messages, args: []string{"--permission-mode", "default"}, home: scratch.Claude},
}

func rigFor(l *profile.Log) (r rig, known bool) {
	if l != nil {
		r, known = rigs[l.Format]
	}
	return r, known
}

// prepare makes the scratch home and serves the model API until stop.
func (c *checker) prepare(ctx context.Context) (stop func(), err error) {
	r, known := rigFor(c.p.Log)
	if !known {
		c.env, c.cwd, err = scratch.Plain(c.dir)
		if err == nil {
			c.greet(ctx)
		}
		return func() {}, err
	}
	if c.model, err = fakemodel.Start(r.wire); err != nil {
		return nil, err
	}
	c.model.Respond(c.respond)
	stop = func() { c.model.Close() } // the listener is gone either way
	// The agent's version is asked in a home like the one for which it is asked.
	version := ""
	for range 2 {
		if c.env, c.cwd, err = r.home(c.dir, c.model.URL(), version); err != nil {
			stop()
			return nil, err
		}
		if version == "" {
			version, _, _ = strings.Cut(c.greet(ctx), " ")
		}
	}
	if len(c.command) == 1 {
		c.command = append(c.command, r.args...)
	}
	return stop, nil
}

// versionWait is how long the agent may take to say its version.
const versionWait = 15 * time.Second

// greet tells what is checked, and returns what the agent says to --version.
func (c *checker) greet(ctx context.Context) string {
	version := ""
	if a, err := c.start(ctx, []string{c.command[0], "--version"}); err == nil {
		a.wait(ctx, versionWait, a.gone)
		a.end()
		version, _ = a.row(func(row string) bool { return strings.TrimSpace(row) != "" })
	}
	if version == "" {
		version = "version not told"
	}
	fmt.Fprintf(c.Out, "%s: %s, %s\n", c.p.Name, version, c.command[0])
	return version
}

// What the model is asked, and how it answers.
const (
	askLong = "Please write at length."
	askTool = "Please touch the file."
	askMark = "Please answer by a marker."
	askNone = "Is anybody there?"

	// markBody is what a terminal or a reader of Markdown would not leave as it is.
	markBody = "  two  blanks, *stars*,\n\n    an indent and 日本 "
)

func (c *checker) respond(t fakemodel.Turn) fakemodel.Reply {
	switch text := t.UserText(); {
	case strings.Contains(text, askLong):
		return fakemodel.Reply{Gap: 250 * time.Millisecond, Deltas: slices.Repeat([]string{"One more line.\n\n"}, 400)}
	case strings.Contains(text, askTool):
		return fakemodel.Bash("touch " + c.canary())
	case strings.Contains(text, askMark):
		return fakemodel.Say("Here it is.\n\n->relay:bob <<<" + markBody + ">>>\n\nThat was it.")
	}
	return fakemodel.Say("Yes.")
}

// canary is a file that nobody may make.
func (c *checker) canary() string { return c.cwd + "/canary" }
