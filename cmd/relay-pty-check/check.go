package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
)

// checker is one run.
type checker struct {
	subject
	self    string // relay-pty, for the promise that a message arrives
	out     io.Writer
	dir     string // what the run makes is below it
	env     []string
	cwd     string
	model   *fakemodel.Server // nil: there is none, and noModel says why
	noModel string
	live    *live  // nil: the next scene starts an agent
	report  string // of the scenes so far; each line begins with a newline
	scene   string // the report of this one
}

// check holds a profile against its agent and tells one line a promise. It reports whether all
// hold; an error is ours, or the cause of ctx.
func check(ctx context.Context, self string, s subject, out io.Writer) (holds bool, err error) {
	dir, err := os.MkdirTemp("", "relay-check")
	if err != nil {
		return false, err
	}
	defer remove(dir)
	c := &checker{subject: s, self: self, out: out, dir: dir}
	if err := c.prepare(ctx); err != nil {
		return false, err
	}
	if c.model != nil {
		defer c.model.Close() // the listener is gone either way
	}
	defer c.leave()
	for _, s := range c.scenes() {
		if err := c.judge(ctx, s); err != nil {
			return false, err
		}
		fmt.Fprint(out, c.scene[1:], "\n")
		c.report += c.scene
	}
	held, failed := strings.Count(c.report, "\nok "), strings.Count(c.report, "\nFAIL ")
	says := fmt.Sprintf("all %d promises hold", held)
	if failed > 0 {
		says = fmt.Sprintf("%d of %d promises do not hold", failed, failed+held)
	}
	if skipped := strings.Count(c.report, "\n-- "); skipped > 0 {
		says += fmt.Sprintf(", %d not judged", skipped)
	}
	fmt.Fprintf(out, "%s: %s\n", c.profile.Name, says)
	return failed == 0, nil
}

// remove empties the scratch directory, when nobody lives there any more who may still write.
func remove(dir string) {
	agentrig.Vacate(dir, endGrace)
	for range 50 {
		if os.RemoveAll(dir) == nil {
			return
		}
		<-time.After(lookEvery)
	}
}

// prepare makes the scratch home, serves the model API, and tells which agent is checked.
func (c *checker) prepare(ctx context.Context) (err error) {
	if c.env, c.cwd, err = agentrig.Plain(c.dir); err != nil {
		return err
	}
	asked, err := c.start(ctx, c.command[0], "--version")
	if err != nil {
		return err
	}
	asked.wait(ctx, startWait, func() bool { return false }) // until it ends
	asked.end()
	version := append(asked.rows(), "version not told")[0]
	fmt.Fprintf(c.out, "%s: %s, %s\n", c.profile.Name, version, c.command[0])

	rig, known := agentrig.Agent{}, false
	if c.profile.Log != nil {
		rig, known = agentrig.For(c.profile.Log.Format)
	}
	if !known {
		c.noModel = "there is no fake model API for this agent"
		return nil
	}
	model, err := rig.API()
	if err != nil {
		return err
	}
	env, cwd, err := rig.Prepare(c.dir, model.URL())
	if err != nil {
		model.Close() // nobody knows of it
		c.noModel = "there is no home in which this agent needs no service: " + err.Error()
		return nil
	}
	c.env, c.cwd, c.model = env, cwd, model
	if len(c.command) == 1 {
		c.command = append(c.command, rig.Args...)
	}
	return nil
}

// scene is a stretch with the agent in which some promises are judged. It begins at an empty
// composer.
type scene struct {
	judges string
	needs  []string // data without which it can't judge
	model  bool     // it needs a model that answers
	alone  bool     // it starts what it needs itself
	play   func(context.Context)
}

// scenes are what is played with the profile's agent, in order.
func (c *checker) scenes() []scene {
	if c.profile.Composer == nil {
		return []scene{{judges: "message", alone: true, play: c.line}}
	}
	composer := []string{"prompt", "placeholder"}
	turn := append(composer, "submit")
	return []scene{
		{judges: "prompt", play: c.atRest},
		{judges: "prompt", needs: composer, play: c.draft},
		{judges: "newline", needs: composer, play: c.newline},
		{judges: "paste_limit", needs: composer, play: c.paste},
		{judges: "stash", needs: composer, play: c.stash},
		{judges: "submit", needs: composer, model: true, play: c.submit},
		{judges: "busy", needs: turn, model: true, play: c.busy},
		{judges: "dialog", needs: turn, model: true, play: c.dialog},
		{judges: "placeholder", needs: turn, model: true, play: c.queued},
		{judges: "message", needs: append(turn, "newline", "paste_limit", "log"), model: true, alone: true, play: c.message},
	}
}

// judge plays a scene, or tells why that can't be. A scene in which a promise does not hold is
// played once more with a new agent, and the second time counts: a key that a busy machine lost is
// no broken profile.
func (c *checker) judge(ctx context.Context, s scene) error {
	c.scene = ""
	if at := slices.IndexFunc(s.needs, c.broken); at >= 0 {
		c.skip(s.judges, "it takes "+s.needs[at]+", which does not hold")
		return nil
	}
	if s.model && c.model == nil {
		c.skip(s.judges, c.noModel)
		return nil
	}
	for range 2 {
		c.scene = ""
		if s.alone {
			c.leave()
		} else if err := c.settle(ctx); err != nil {
			return err
		}
		s.play(ctx)
		if ctx.Err() != nil { // what was seen last is the agent's end
			return context.Cause(ctx)
		}
		if !strings.Contains(c.scene, "\nFAIL ") {
			return nil
		}
		c.leave()
	}
	return nil
}

// broken reports whether a promise of the datum did not hold.
func (c *checker) broken(datum string) bool {
	return strings.Contains(c.report, "\nFAIL "+datum+":")
}

// ok tells that a promise holds. A datum is called by its key in overlays where it has one.
func (c *checker) ok(datum, promise string) { c.scene += "\nok   " + datum + ": " + promise }

// skip tells that a promise can't be judged.
func (c *checker) skip(datum, why string) { c.scene += "\n--   " + datum + ": not judged: " + why }

// bad tells that a promise does not hold, and what stands on the agent's screen.
func (c *checker) bad(datum, why string) {
	c.scene += "\nFAIL " + datum + ": " + why
	if c.live != nil {
		c.scene += c.live.shown()
	}
}

// needs waits for cond and tells where the promise does not hold. data is what the profile has for
// it; nil: nothing that helps.
func (c *checker) needs(ctx context.Context, datum string, cond func() bool, promise string, data any) bool {
	holds := c.live.wait(ctx, within, cond)
	if holds {
		return true
	}
	why := "does not hold: " + promise
	switch data.(type) {
	case nil:
	case int:
		why += fmt.Sprintf("; the profile has %d", data)
	default:
		why += fmt.Sprintf("; the profile has %q", data)
	}
	c.bad(datum, why)
	return false
}

// expect is needs, and tells where the promise holds, too.
func (c *checker) expect(ctx context.Context, datum string, cond func() bool, promise string, data any) bool {
	holds := c.needs(ctx, datum, cond, promise, data)
	if holds {
		c.ok(datum, promise)
	}
	return holds
}
