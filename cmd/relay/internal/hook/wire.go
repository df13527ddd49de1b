package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
	"relay-pty/parser"
)

// waiting stands behind the event in the command line of a hook that waits beside the agent.
const waiting = "wait"

// Limits that the agent itself puts on a hook: one that it waits for, and one that waits, which is
// begun anew with every turn. waitMost is a little less.
const (
	answerLimit = 5 * time.Second
	waitLimit   = 24 * time.Hour
	waitMost    = waitLimit - time.Minute

	versionLimit = 3 * time.Second
)

// Wire adds to an agent's command line what makes it run our hooks, by the program self. Settings
// that the user gives there stay; those that cannot be read are the agent's to complain of, and
// leave the command line as it is. What has no hooks, or is to be taken for another kind of agent
// by the wrapper's flags, is left alone, too. version tells what the agent's program says of its
// release: an older one would wait for a hook that waits, so it gets none of those.
func Wire(self string, flags, all []string, version func(argv []string) string) []string {
	p, program, plain := agents.Kind(Kind(flags), all...)
	if p == nil || p.Hooks == nil || !plain {
		return all
	}
	argv := program.Argv
	at, given := lastOf(p.Hooks.Flag, argv)
	settings, err := read(given)
	if err != nil {
		return all
	}
	release := ""
	if !program.Fetched { // to fetch it may take long
		release = version(program.With([]string{argv[0], "--version"}))
	}
	line, ok := with(settings, self, p.Name, fit(*p.Hooks, release))
	if !ok {
		return all
	}
	return program.With(placed(p.Hooks.Flag, line, at, argv))
}

// placed puts a flag and its value into a command line, in the place of the one that stands at at.
func placed(flag, line string, at int, argv []string) []string {
	switch {
	case at < 0:
		return slices.Concat(argv[:1], []string{flag, line}, argv[1:])
	case argv[at] == flag:
		return slices.Concat(argv[:at+1], []string{line}, argv[at+2:])
	}
	return slices.Concat(argv[:at], []string{flag, line}, argv[at+1:])
}

// Version is what a command line says of a program's release, "" when it does not tell in time, or
// ctx ends.
func Version(ctx context.Context, argv []string) string {
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// fit is the hooks that an agent of a release may have.
func fit(h profile.Hooks, version string) []profile.Hook {
	var got [3]int
	fmt.Sscanf(version, "%d.%d.%d", &got[0], &got[1], &got[2]) // what is no release is older than any
	if slices.Compare(got[:], h.Since[:]) >= 0 {
		return h.Events
	}
	list := slices.Clone(h.Events)
	for i := range list {
		list[i].Waits = nil
	}
	return list
}

// Kind is what the wrapper's flags say of the agent's kind, "" if they say nothing.
func Kind(flags []string) string {
	_, given := lastOf("--agent", append([]string{""}, flags...))
	return given
}

// lastOf is where a flag with a value stands last in a command line, and that value; -1: nowhere.
func lastOf(flag string, argv []string) (at int, value string) {
	at = -1
	for i := 1; i < len(argv) && argv[i] != "--"; i++ {
		v, joined := strings.CutPrefix(argv[i], flag+"=")
		switch {
		case joined:
			at, value = i, v
		case argv[i] == flag && i+1 < len(argv):
			at, value = i, argv[i+1]
			i++
		}
	}
	return at, value
}

// read is what a user's settings say, JSON or a file of it; none say nothing.
func read(given string) (settings map[string]any, err error) {
	text := []byte(given)
	switch {
	case given == "":
		return map[string]any{}, nil
	case !strings.HasPrefix(strings.TrimSpace(given), "{"):
		if text, err = os.ReadFile(given); err != nil {
			return nil, err
		}
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber() // so that they stay as they are
	err = dec.Decode(&settings)
	return settings, err
}

// with is settings with our hooks behind their own, as JSON; false when those are in no form that
// we know.
func with(settings map[string]any, self, agent string, events []profile.Hook) (string, bool) {
	if settings == nil {
		return "", false
	}
	hooks, ok := settings["hooks"].(map[string]any)
	if !ok && settings["hooks"] != nil {
		return "", false
	}
	all := map[string]any{}
	maps.Copy(all, hooks)
	for _, h := range events {
		list, ok := all[h.Event].([]any)
		if !ok && all[h.Event] != nil {
			return "", false
		}
		if ours := commands(self, agent, h); len(ours) > 0 {
			all[h.Event] = append(slices.Clone(list), map[string]any{"hooks": ours})
		}
	}
	settings["hooks"] = all
	line, err := json.Marshal(settings)
	return string(line), err == nil
}

// commands are those that the agent runs at a moment. One that it waits for ends well, whatever
// becomes of our program: an agent takes the status 2 for a veto, and a crash of Go's runtime has
// it. One that waits takes the shell's place, for it watches its parent, and by that status it
// wakes.
func commands(self, agent string, h profile.Hook) (list []any) {
	program := "'" + strings.ReplaceAll(self, "'", `'\''`) + "'"
	command := func(form, args string, limit time.Duration) map[string]any {
		line := fmt.Sprintf("if [ -x %s ]; then "+form, program, program+" hook "+agent+" "+args)
		return map[string]any{"type": "command", "command": line, "timeout": int(limit.Seconds())}
	}
	if h.Signal != "" || h.Modes != nil {
		list = append(list, command("%s; fi; exit 0", h.Event, answerLimit))
	}
	if h.Waits != nil {
		c := command("exec %s; fi", h.Event+" "+waiting, waitLimit)
		c["asyncRewake"], c["rewakeSummary"], c["rewakeMessage"] = true, parser.WakeTitle, parser.WakeTitle+":"
		list = append(list, c)
	}
	return list
}
