package main

import (
	"slices"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/testrig/figures"
)

// Packages of tests on whole programs, and patterns of their tests.
const (
	wrapper = "./cmd/relay-pty/e2e"
	router  = "./cmd/relay/e2e"

	real    = "^Test(Real|Prove)"
	noAgent = "Shell|Python|Programs|SQLite|ShadowFollowsReadline" // real programs that are no agents
	twins   = "Twins"                                              // several sessions of an agent in one directory
	fronts  = "SessionInFront|SessionsIn|SessionOf"                // which session of an agent is typed to and heard
	hooks   = "RealHooks"                                          // delivery through hooks, release by release
	refusal = "ProveRefusals"                                      // each way in which an agent's API refuses
	pairs   = "ProveAnswersOfPairs"                                // whose answer is whose
	timed   = "Quick"                                              // tests that promise times: nothing runs beside them
	storms  = "Storm|Kills|Crash|EachCall|PowerCuts|Failpoint"     // tests that take all of a machine

	apart = twins + "|" + fronts + "|" + hooks + "|" + timed + "|" + refusal + "|" + pairs // have parts of their own
)

// part is a piece of `make prove` that runs by itself. Each is meant to take less than twenty
// minutes.
type part struct {
	name     string
	env      []string
	commands [][]string
	reads    func(text []byte) ([]figures.Figure, error) // figures in what the commands print
	shows    []figures.Figure                            // figures that their success alone shows
}

// parts are all of them, one for each agent that tests can start. The tests of each agent also run
// the sessions that several agents share.
var parts = slices.Concat([]part{
	{name: "journal", commands: [][]string{tests("./queue/...")}},
	{name: "units", commands: [][]string{tests("./pty/...", "./inject/...", "./parser/...")}},
	{name: "rig", commands: [][]string{tests("-skip", storms, "./cmd/internal/...")}},
	{name: "fakes", commands: [][]string{tests("-parallel", "12", "-skip", real+"|"+timed+"|"+storms, wrapper)}},
	{name: "programs", commands: [][]string{tests("-parallel", "4", "-run", real+"("+noAgent+")", wrapper)}},
}, agentParts(), []part{
	{name: "timed", commands: [][]string{tests("-parallel", "1", "-run", timed, wrapper)}},
	{name: "storm", commands: [][]string{tests("-run", "Storm", wrapper, "./cmd/internal/testrig/...")}},
	{name: "kills", commands: [][]string{tests("-parallel", "1", "-run", "Kills", wrapper)}},
	{name: "crashes", commands: [][]string{tests("-parallel", "1", "-run", "Crash|EachCall", wrapper)}},
	{name: "powercuts", commands: [][]string{tests("-run", "PowerCuts", wrapper)}},
	{name: "failpoints", commands: [][]string{tests("-run", "Failpoint", wrapper)}},
	{name: "relay", commands: [][]string{tests("-parallel", "1", "-skip", real+"|Killed|Anyone|Race|"+timed, "./cmd/relay/...")}},
	{name: "relay-kills", commands: [][]string{tests("-parallel", "1", "-run", "Killed|Anyone|Race", router)}},
	{name: "relay-real", commands: [][]string{tests("-parallel", "1", "-run", real, "-skip", apart, router)}},
	{name: "sessions", commands: [][]string{tests("-parallel", "2", "-run", fronts, router)}},
	{name: "hooks", commands: [][]string{tests("-parallel", "2", "-run", hooks, router)}},
	{name: "refusals", commands: [][]string{tests("-run", refusal, router)}},
	{name: "pairs", commands: [][]string{tests("-run", pairs, router)}},
	{name: "twins", commands: [][]string{tests("-parallel", "2", "-run", twins, router)}},
	{
		name:     "bench",
		commands: [][]string{{"make", "--silent", "bench"}, tests("-run", timed, router)},
		reads:    throughput,
	},
	{
		name: "package", commands: [][]string{{"bash", ".ci/package/try"}},
		shows: []figures.Figure{{What: "packages, built as a release builds them", Shown: "the deb is installed where nothing else is, and its programs run"}},
	},
	{
		name: "fuzz", env: []string{"FUZZTIME=5m", "FUZZSHORT=10s", "FUZZJOBS=3"}, commands: [][]string{{"bash", ".ci/fuzz"}},
		shows: []figures.Figure{{What: "fuzzers of screen, protocol, parser, sanitiser and draft, 5 minutes each; the others 10 seconds", Shown: "no finding"}},
	},
})

// agentParts are what the tests show of each agent, every release of it that is pinned.
func agentParts() (list []part) {
	for _, profile := range agentrig.Profiles() {
		list = append(list, part{
			name: profile, env: []string{"RELAY_AGENTS=" + profile},
			commands: [][]string{tests("-parallel", "4", "-run", real, "-skip", real+"("+noAgent+")|"+timed+"|"+storms, wrapper)},
		})
	}
	return list
}

// tests is a run of go test at full counts.
func tests(args ...string) []string {
	return append([]string{"go", "test", "-json", "-count=1", "-timeout=60m"}, args...)
}
