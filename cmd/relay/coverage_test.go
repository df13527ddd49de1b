package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// codes are those with which commands of this program are refused. Others are for requests that it
// does not make, as bad_json, or need a disk that fails.
var codes = []string{
	router.UnknownAgent, router.SelfSend, router.RateLimited, router.AlreadyClosed, router.Unheard, router.Confirm, api.NotRunning,
	string(protocol.BadField), string(protocol.MessageTooLarge), string(protocol.DuplicateID), string(protocol.UnknownID),
	string(protocol.TooLate), string(protocol.CursorGone), string(protocol.NotAuthorized),
}

// TestScriptsTryEverything: each command, flag, exit status and code stands in a script.
func TestScriptsTryEverything(t *testing.T) {
	paths, err := filepath.Glob("e2e/testdata/script/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("scripts: %v, %v", paths, err)
	}
	var lines []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		must(t, err)
		lines = append(lines, strings.Split(string(text), "\n")...)
	}
	tried := func(what, pattern string) {
		re := regexp.MustCompile(pattern)
		if !slices.ContainsFunc(lines, re.MatchString) {
			t.Errorf("no script tries %s", what)
		}
	}
	for _, c := range newRoot(streams{}).Commands() {
		if c.Hidden || c.Name() == "demo" { // whose tests are its own
			continue
		}
		tried(c.Name(), `relay `+c.Name()+`\b`)
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && !f.Hidden {
				tried(c.Name()+" --"+f.Name, `relay `+c.Name()+`\b.*--`+f.Name+`\b`)
			}
		})
	}
	for _, status := range []string{"1", "2", "3", "124"} {
		tried("exit status "+status, `^exits `+status+` relay`)
	}
	for _, code := range codes {
		tried("the code "+code, `(stderr|stdout|until) .*`+code)
	}
}
