package agent

import (
	"os"
	"strconv"
	"time"

	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
	"relay-pty/protocol/process"
)

// seekEvery is the least time between two looks at all processes in front. Who draws is looked at
// once more after that: see the rules for what nobody has described.
const seekEvery = 100 * time.Millisecond

// Found is an agent with a profile that the command has turned out to start, and its process: the
// one in front of the terminal, or another of its group. nil: there is none. The injector's
// goroutine alone asks.
func (a *Agent) Found() (p *profile.Profile, pid int) {
	now := time.Now()
	if now.Sub(a.sought) < seekEvery {
		return nil, 0
	}
	a.sought = now
	if tty, err := a.Session.TTY(); err != nil || tty.Foreground != a.Session.PID() {
		return nil, 0
	}
	for _, pid := range a.Session.Group() {
		argv := process.Argv(pid)
		if argv == nil {
			continue // it has ended, or the system does not tell
		}
		file, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe") // "": not told
		if p := agents.Running(argv, file); p != nil {
			return p, pid
		}
	}
	return nil, 0
}

// Become takes the agent for one of another profile. The injector's goroutine alone may tell. A
// pattern of the user's stays.
func (a *Agent) Become(p *profile.Profile) {
	if a.pattern == a.profile.Prompt {
		a.pattern = p.Prompt
		a.prompt, _ = newPrompt(p.Prompt) // our own are good ones
	}
	a.profile, a.unlike = p, false
	a.quotes.Store(p.Composer == nil && p.Quote.Inert())
	a.shadow.Becomes(p.Composer == nil, p.Chips(), p.Begun)
}
