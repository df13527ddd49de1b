// Package check holds a profile against the installed agent: it starts the agent
// in a scratch home, where it can be had against a fake model API on loopback,
// and judges each datum of the profile by itself: the canary against an agent
// that changed its looks overnight.
//
// It types only into agents that it started, answers no dialog but by Esc, and
// leaves nothing behind. Run owns all goroutines and ends them.
package check

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"time"

	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
)

// runLimit bounds a whole run; it is reached only by an agent that hangs.
const runLimit = 5 * time.Minute

// runOne checks one profile.
func runOne(ctx context.Context, cfg Config) (bool, error) {
	dir, err := os.MkdirTemp("", "relay-check")
	if err != nil {
		return false, err
	}
	defer remove(dir)
	ctx, cancel := context.WithTimeoutCause(ctx, runLimit, fmt.Errorf("the agent was not done with within %v", runLimit))
	defer cancel()
	c := &checker{Config: cfg, p: cfg.Profile, command: cfg.Command, dir: dir, over: ctx.Done(), tally: tally{broken: map[string]bool{}}}
	stop, err := c.prepare(ctx)
	if err != nil {
		return false, err
	}
	defer stop()
	if err := c.run(ctx); err != nil {
		return false, err
	}
	c.summary()
	return c.failed == 0, context.Cause(ctx)
}

// remove empties the scratch directory, into which a dying agent may still write.
func remove(dir string) {
	for range 50 {
		if os.RemoveAll(dir) == nil {
			return
		}
		<-time.After(lookEvery)
	}
}

// checker is one run.
type checker struct {
	Config
	p       *profile.Profile
	dir     string
	command []string
	env     []string
	cwd     string
	over    <-chan struct{} // closed when the run must end: then nothing is judged any more

	model *fakemodel.Server // nil: the agent has none that we can speak for
	agent *agent            // nil: the next scene starts one

	tally
	clean bool            // the scene went as promised
	said  strings.Builder // what the scene told
}

// tally is what came of the promises so far.
type tally struct {
	broken                map[string]bool // data that do not hold
	held, failed, skipped int
}

func (t tally) clone() tally {
	t.broken = maps.Clone(t.broken)
	return t
}

// ok tells that a promise holds. A datum is called by its key in overlays where
// it has one.
//
//go:noinline
func (c *checker) ok(datum, says string) {
	c.held++
	c.tell("ok  ", datum, says)
}

// bad tells that one does not hold, and what stands on the agent's screen.
func (c *checker) bad(datum, format string, args ...any) {
	c.failed++
	c.broken[datum], c.clean = true, false
	c.tell("FAIL", datum, fmt.Sprintf(format, args...))
	if c.agent != nil {
		c.tell("", "", c.agent.shown())
	}
}

// skip tells that one cannot be judged.
//
//go:noinline
func (c *checker) skip(datum, why string) {
	c.skipped++
	c.tell("--  ", datum, "not judged: "+why)
}

func (c *checker) tell(word, datum, says string) {
	select {
	case <-c.over:
		return // what we see now is the end
	default:
	}
	if word == "" {
		c.said.WriteString(says)
		return
	}
	fmt.Fprintf(&c.said, "%s %s: %s\n", word, datum, says)
}

func (c *checker) summary() {
	says := fmt.Sprintf("all %d promises hold", c.held)
	if c.failed > 0 {
		says = fmt.Sprintf("%d of %d promises do not hold", c.failed, c.failed+c.held)
	}
	if c.skipped > 0 {
		says += fmt.Sprintf(", %d not judged", c.skipped)
	}
	fmt.Fprintf(c.Out, "%s: %s\n", c.p.Name, says)
}

// scene is a stretch with the agent in which some promises are judged. It begins
// at an empty composer.
type scene struct {
	judges string
	needs  []string // data without which it cannot judge
	model  bool     // it needs a model that answers
	first  bool     // it judges whether there is a composer
	alone  bool     // it starts what it needs itself
	run    func(*checker, context.Context)
}

// scenes are what is played with the profile's agent, in order.
func (c *checker) scenes() []scene {
	if c.p.Composer == nil {
		return []scene{{judges: "message", alone: true, run: (*checker).line}}
	}
	composer := []string{"prompt", "placeholder"}
	turn := []string{"prompt", "placeholder", "submit"}
	way := []string{"prompt", "placeholder", "submit", "newline", "paste_limit", "log"}
	return []scene{
		{judges: "prompt", first: true, run: (*checker).atRest},
		{judges: "prompt", needs: composer, run: (*checker).draft},
		{judges: "clear", needs: composer, run: (*checker).clear},
		{judges: "newline", needs: composer, run: (*checker).newline},
		{judges: "submit", needs: composer, model: true, run: (*checker).submit},
		{judges: "paste_limit", needs: turn, run: (*checker).paste},
		{judges: "busy", needs: turn, model: true, run: (*checker).busy},
		{judges: "placeholder", needs: turn, model: true, run: (*checker).ghost},
		{judges: "stash", needs: turn, model: true, run: (*checker).stash},
		{judges: "dialog", needs: turn, model: true, run: (*checker).dialog},
		{judges: "message", needs: way, model: true, alone: true, run: (*checker).message},
	}
}

// run plays all scenes. After one that did not go as promised, the agent is
// started anew, so that no scene suffers from another's. A scene in which a
// promise did not hold is played once more with a new agent, and the second
// time counts: a key that a busy machine made late is no broken profile.
func (c *checker) run(ctx context.Context) error {
	defer c.leave()
	for _, s := range c.scenes() {
		before := c.tally.clone()
		if err := c.judge(ctx, s); err != nil {
			return err
		}
		if c.failed > before.failed {
			c.tally = before
			if err := c.judge(ctx, s); err != nil {
				return err
			}
		}
		io.WriteString(c.Out, c.said.String())
	}
	return nil
}

// judge plays a scene, or tells why that cannot be.
func (c *checker) judge(ctx context.Context, s scene) error {
	c.said.Reset()
	if why := c.missing(s); why != "" {
		c.skip(s.judges, why)
		return nil
	}
	c.clean = true
	if err := c.play(ctx, s); err != nil {
		return err
	}
	if !c.clean {
		c.leave()
	}
	return context.Cause(ctx)
}

// missing is why a scene cannot be played.
func (c *checker) missing(s scene) string {
	for _, need := range s.needs {
		if c.broken[need] {
			return "it takes " + need + ", which does not hold"
		}
	}
	if s.model && c.model == nil {
		return "there is no fake model API for this agent"
	}
	return ""
}

// leave ends the agent, if one runs.
func (c *checker) leave() {
	if c.agent != nil {
		c.agent.end()
		c.agent = nil
	}
}

// play plays one scene from an empty composer.
func (c *checker) play(ctx context.Context, s scene) error {
	if s.alone {
		c.leave()
		s.run(c, ctx)
		return nil
	}
	settled, err := c.ensureIdle(ctx)
	switch {
	case err != nil:
		return err
	case !settled && !s.first:
		c.bad(s.judges, "the agent did not come back to an empty composer")
		return nil
	}
	s.run(c, ctx)
	return nil
}

// startWait is how long an agent may take to show its composer. One that has
// rested so long without will not show it.
const (
	startWait = 40 * time.Second
	startRest = 5 * time.Second
	idleWait  = 5 * time.Second
	idleRest  = 150 * time.Millisecond
)

// ensureIdle sees to an agent at an empty composer; a new one if need be.
func (c *checker) ensureIdle(ctx context.Context) (settled bool, err error) {
	if c.agent != nil && c.agent.steady(ctx, idleWait, c.idle) {
		return true, nil
	}
	c.leave()
	if c.agent, err = c.start(ctx, c.command); err != nil {
		return false, err
	}
	c.agent.steady(ctx, startWait, func() bool { return c.idle() || c.agent.quiet() > startRest })
	return c.idle(), nil
}

// idle says whether the agent stands at an empty composer.
func (c *checker) idle() bool {
	v := c.agent.look(c.p)
	if !v.Box.Visible || v.Box.Foreign || v.Box.Text != "" {
		return false
	}
	if c.agent.log != nil && !c.broken["log"] {
		own, _ := c.agent.state()
		return own == ready.Ready
	}
	return c.broken["busy"] || !v.Working
}
