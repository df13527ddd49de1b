package agents_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"relay-pty/inject/agents"
	"relay-pty/inject/agents/logs"
	"relay-pty/inject/profile"
)

const (
	repository = "../.."
	agentsDir  = "inject/agents"
	tools      = "cmd/internal/" // they run agents, and name them
)

// shared are the directories beneath inject/agents that are no agent's.
var shared = []string{"logs", "rig"}

// without says which pieces a directory does without, and needs no reason elsewhere: shells and
// REPLs keep no log that tells a turn, and are those that the machine has; anything else is nothing
// that could be started or recorded.
var without = map[string][]string{
	"shells":  {"log", "rig"},
	"generic": {"log", "rig", "recordings"},
}

// lacking says what an agent's directory lacks. rigs are the packages that start agents for tests.
func lacking(root fs.FS, dir string, p *profile.Profile, rigs string) (lacks []string) {
	lack := func(format string, args ...any) { lacks = append(lacks, fmt.Sprintf(format, args...)) }
	files := func(pattern string) []string {
		list, _ := fs.Glob(root, path.Join(agentsDir, dir, pattern)) // the pattern is well formed
		return list
	}
	needs := func(piece string) bool { return !slices.Contains(without[dir], piece) }
	if p == nil {
		lack("a profile in the list of inject/agents")
		p = &profile.Profile{}
	}
	if p.Title == "" {
		lack("a title in its profile")
	}
	if needs("recordings") {
		casts := files("testdata/transcripts/*.cast*")
		if len(casts) == 0 {
			lack("recordings, testdata/transcripts/*.cast")
		}
		for _, cast := range casts {
			name, _, _ := strings.Cut(path.Base(cast), ".cast")
			if len(files("testdata/screens/"+name+".txt")) == 0 {
				lack("testdata/screens/%s.txt, what tmux shows of a recording", name)
			}
		}
	}
	if needs("log") {
		if p.Log == nil || len(files("log/*.go")) == 0 {
			lack("a log format, package log, or the word in this test that it keeps none")
		} else if _, ok := logs.Named(p.Log.Format); !ok {
			lack("its log format %q in the list of inject/agents/logs", p.Log.Format)
		}
		if len(files("testdata/markers/*/*.jsonl")) == 0 {
			lack("a log with markers, testdata/markers/VERSION/*.jsonl")
		}
	} else if p.Log != nil {
		lack("what its profile names: a log")
	}
	if needs("rig") {
		if !strings.Contains(rigs, "relay-pty/inject/agents/"+dir+"/rig") {
			lack("how tests start it, package rig, in the list of cmd/internal/agentrig")
		}
		if !slices.ContainsFunc(files("rig/*.go"), func(file string) bool {
			text, err := fs.ReadFile(root, file)
			return err == nil && regexp.MustCompile(`(?m)^\s*Tools: `).Match(text)
		}) {
			lack("how tests give it an MCP server, Tools in package rig")
		}
		pinned(root, dir, lack)
	}
	page(root, p, lack)
	return lacks
}

// pinned looks at what is pinned of an agent. A shell script reads it line by line.
func pinned(root fs.FS, dir string, lack func(string, ...any)) {
	text, err := fs.ReadFile(root, path.Join(agentsDir, dir, "rig/pins.json"))
	var pins []struct {
		Directory, Version, Package, Runs string
		SHA512                            map[string]string
	}
	if err != nil || json.Unmarshal(text, &pins) != nil || len(pins) == 0 {
		lack("a pinned version, rig/pins.json")
	}
	for _, pin := range pins {
		if pin.Version == "" || pin.Directory == "" || pin.Runs == "" || !strings.Contains(pin.Package, "@"+pin.Version) {
			lack("a pin that says directory, version, package@version, runs: %+v", pin)
		}
		if _, plain := pin.SHA512["any"]; !plain && pin.SHA512["linux-x64"] == "" {
			lack("a checksum of %s for any platform, or for linux-x64", pin.Package)
		}
		for platform, sum := range pin.SHA512 {
			if !regexp.MustCompile(`^[0-9a-f]{128}$`).MatchString(sum) {
				lack("a SHA-512 of %s for %s: %q", pin.Package, platform, sum)
			}
		}
		directory, version := regexp.QuoteMeta(pin.Directory), regexp.QuoteMeta(pin.Version)
		row := regexp.MustCompile(`(?m)^\{"directory": "` + directory + `", .*"version": "` + version + `".*\},?$`)
		if !row.Match(text) {
			lack("the pin of %s on one line", pin.Package)
		}
	}
}

// page looks for an agent's page and its row in the table of agents.
func page(root fs.FS, p *profile.Profile, lack func(string, ...any)) {
	table, _ := fs.ReadFile(root, "docs/agents/README.md") // none has no row
	row := regexp.MustCompile(`(?m)^\| \[([^]]+)\]\(([\w.]+)\) \| ` + "`" + regexp.QuoteMeta(p.Name) + "`" + ` \|`).FindSubmatch(table)
	switch {
	case row == nil || string(row[1]) != p.Title:
		lack("a row [%s](page) | `%s` in the table of docs/agents/README.md", p.Title, p.Name)
	default:
		if _, err := fs.Stat(root, "docs/agents/"+string(row[2])); err != nil {
			lack("its page, docs/agents/%s", row[2])
		}
	}
}

// TestEveryAgentIsComplete says what an agent's directory lacks: it is the list of what a new agent
// needs.
func TestEveryAgentIsComplete(t *testing.T) {
	rigs, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, repository+"/cmd/internal/agentrig").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	dirs, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, d := range dirs {
		dir := d.Name()
		if !d.IsDir() || slices.Contains(shared, dir) {
			continue
		}
		p, ok := agents.Named(dir)
		if !ok {
			p, _ = agents.Named(strings.TrimSuffix(dir, "s")) // the directory of several
		}
		for _, lack := range lacking(os.DirFS(repository), dir, p, string(rigs)) {
			t.Errorf("%s/%s lacks %s", agentsDir, dir, lack)
		}
		if p != nil {
			seen[p.Name] = true
		}
	}
	for _, name := range agents.Names() {
		if !seen[name] {
			t.Errorf("the profile %s has no directory of its own", name)
		}
	}
	if got := lacking(fstest.MapFS{}, "new", nil, ""); len(got) != 9 {
		t.Errorf("an empty directory lacks %d pieces, want all 9: %q", len(got), got)
	}
	bad := fstest.MapFS{
		"inject/agents/new/rig/pins.json": {Data: []byte(`[{"directory": "new", "version": "1",` + "\n" +
			`"package": "new@2", "runs": "x", "sha512": {"any": "00"}}]`)},
	}
	var got []string
	pinned(bad, "new", func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) })
	if len(got) != 3 {
		t.Errorf("a bad pin lacks %q, want its version, its checksum and its line", got)
	}
}

// branded are the files outside of inject/agents that name an agent, each with its reason. Tests
// are no product, nor is what starts agents for them, cmd/internal.
var branded = map[string]string{
	"cmd/relay-pty/flags.go":          "help: an example",
	"cmd/relay-pty/check.go":          "help: an example",
	"cmd/relay-pty-check/plan.go":     "help: an example",
	"cmd/relay/main.go":               "help: an example",
	"cmd/relay/ls.go":                 "help: an example",
	"cmd/relay/run.go":                "help: which agents get tools and hooks, and an example",
	"cmd/relay/mcp.go":                "help: an example",
	"cmd/relay/demo.go":               "help: whom the demo puts on its stage",
	"cmd/relay/internal/demo/demo.go": "the demo is a play for two agents of different makers",
}

// makers are words that tell of an agent beside its name, its title, its commands and its packages.
const makers = `anthropic|openai|\bqwen`

// brands finds what names an agent: one that has packages is no shell.
func brands() *regexp.Regexp {
	words := []string{makers}
	for _, name := range agents.Names() {
		p, _ := agents.Named(name)
		for _, word := range slices.Concat([]string{p.Name}, p.Commands, strings.Fields(string(p.Packages))) {
			if p.Packages != "" {
				words = append(words, regexp.QuoteMeta(word))
			}
		}
	}
	return regexp.MustCompile("(?i)" + strings.Join(words, "|"))
}

// TestNoBrandElsewhere: what is known of one agent stands in its directory, so no other file of
// the product names an agent in a string or an identifier.
func TestNoBrandElsewhere(t *testing.T) {
	found, brands := map[string]bool{}, brands()
	err := fs.WalkDir(os.DirFS(repository), ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") ||
			strings.HasPrefix(file, agentsDir+"/") || strings.HasPrefix(file, tools) {
			return err
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, path.Join(repository, file), nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			said := ""
			switch n := n.(type) {
			case *ast.BasicLit:
				said = n.Value
			case *ast.Ident:
				said = n.Name
			}
			if brand := brands.FindString(said); brand != "" {
				if found[file] = true; branded[file] == "" {
					t.Errorf("%s: %q belongs to %s", fset.Position(n.Pos()), brand, agentsDir)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for file := range branded {
		if !found[file] {
			t.Errorf("%s names no agent any more", file)
		}
	}
}
