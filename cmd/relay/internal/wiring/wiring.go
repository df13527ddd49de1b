// Package wiring gives an agent relay's MCP server for one run: no file of its user's changes, and
// the servers that are set there stay. How an agent is told is data of inject/profile.
package wiring

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"relay-pty/inject/agents"
)

// Run is how an agent is to be started.
type Run struct {
	Self  string // path of this program
	Agent string // what the wrapper's flags say of the agent's kind; "": nothing
	Argv  []string
	Env   []string
}

// Server is the same run with our server in it. Whatever is in the way, the run is as it was: the
// agent can be written to without.
func (r Run) Server() (argv, env []string) {
	p, line, plain := agents.Kind(r.Agent, r.Argv...)
	if p == nil || p.MCP == nil || slices.ContainsFunc(p.MCP.Not, exists) {
		return r.Argv, r.Env
	}
	self, err := json.Marshal(r.Self)
	argv, env = r.Argv, r.Env
	if err != nil {
		return argv, env
	}
	if plain && p.MCP.Words != nil {
		argv = line.With(slices.Insert(slices.Clone(line.Argv), 1, filled(p.MCP.Words, self)...))
	}
	if p.MCP.Variable == "" {
		return argv, env
	}
	given := r.given(p.MCP.Variable)
	if text, err := merged(given, filled([]string{p.MCP.Settings}, self)[0]); err == nil {
		env = append(slices.Clone(env), p.MCP.Variable+"="+string(text)) // the last one counts
	}
	return argv, env
}

// filled are texts with our program in them.
func filled(texts []string, self []byte) (list []string) {
	for _, t := range texts {
		list = append(list, strings.ReplaceAll(t, "%s", string(self)))
	}
	return list
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// given is what a variable says, "" if it is not set.
func (r Run) given(variable string) string {
	for _, kv := range slices.Backward(r.Env) {
		if value, ok := strings.CutPrefix(kv, variable+"="); ok {
			return value
		}
	}
	return ""
}

// merged is one JSON object with what stands in another, where that says nothing itself. One with
// comments in it, which some agents read, is an error.
func merged(theirs, ours string) ([]byte, error) {
	all, more := map[string]any{}, map[string]any{}
	for text, into := range map[string]*map[string]any{cmp.Or(theirs, "{}"): &all, ours: &more} {
		dec := json.NewDecoder(bytes.NewReader([]byte(text)))
		dec.UseNumber() // so that they stay as they are
		if err := dec.Decode(into); err != nil {
			return nil, err
		}
	}
	if all == nil {
		return nil, fmt.Errorf("%s is no JSON object", theirs)
	}
	return json.Marshal(joined(all, more))
}

// joined adds to an object, and to the objects in it, what another one has more. A server that has
// our name already stays as it is.
func joined(all, more map[string]any) map[string]any {
	for key, value := range more {
		ours, both := value.(map[string]any)
		theirs, ok := all[key].(map[string]any)
		switch {
		case both && ok:
			maps.Copy(ours, theirs)
			all[key] = ours
		case all[key] == nil:
			all[key] = value
		}
	}
	return all
}
