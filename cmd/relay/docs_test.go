package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	linkIn    = regexp.MustCompile(`\]\(([^)#:]+)(#[a-z0-9-]+)?\)`)
	commandIn = regexp.MustCompile(`(?:^|[ (|])relay ([a-z]+)\b([^|;&<>#]*)`)
	flagIn    = regexp.MustCompile(` --([a-z][a-z-]+)`)
	codeIn    = regexp.MustCompile("`[^`]+`")
)

// documents are the pages that users read, by their path from the top of the project.
func documents(t *testing.T) map[string]string {
	t.Helper()
	t.Chdir("../..")
	paths, err := filepath.Glob("*.md")
	must(t, err)
	for _, below := range []string{"docs/*.md", "docs/*/*.md"} {
		more, err := filepath.Glob(below)
		must(t, err)
		paths = append(paths, more...)
	}
	pages := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		must(t, err)
		pages[path] = string(text)
	}
	return pages
}

func TestDocumentsLinkToWhatIsThere(t *testing.T) {
	linked := map[string]bool{"README.md": true}
	for path, text := range documents(t) {
		for _, m := range linkIn.FindAllStringSubmatch(text, -1) {
			to := filepath.Join(filepath.Dir(path), m[1])
			linked[to] = true
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s: %v", path, m[1], err)
			}
		}
	}
	pages, err := filepath.Glob("docs/*.md")
	must(t, err)
	for _, page := range pages {
		if !linked[page] {
			t.Errorf("no document links to %s", page)
		}
	}
}

// TestDocumentsNameCommandsThatExist: each `relay COMMAND --flag` of an example is one of this
// program. What stands behind `--` is another program's, and run takes relay-pty's flags, too.
func TestDocumentsNameCommandsThatExist(t *testing.T) {
	root := newRoot(streams{})
	examples := 0
	for path, text := range documents(t) {
		if path == "CHANGELOG.md" { // tells of what was
			continue
		}
		for line := range strings.Lines(text) {
			code := codeIn.FindAllString(line, -1)
			if strings.HasPrefix(line, "    ") {
				code = []string{line}
			}
			for _, m := range slices.Concat(allIn(code)...) {
				examples++
				if m[1] == "relay" { // the name of a server, before the command
					continue
				}
				c, _, err := root.Find([]string{m[1]})
				if err != nil || c == root {
					t.Errorf("%s: %q is no command: %s", path, m[1], line)
					continue
				}
				own, _, _ := strings.Cut(m[2], " -- ")
				for _, flag := range flagIn.FindAllStringSubmatch(own, -1) {
					if c.Name() != "run" && c.Flags().Lookup(flag[1]) == nil && flag[1] != "help" {
						t.Errorf("%s: relay %s has no --%s: %s", path, m[1], flag[1], line)
					}
				}
			}
		}
	}
	if examples < 50 {
		t.Errorf("only %d examples were found", examples)
	}
}

// allIn are the commands in each piece of code.
func allIn(code []string) (all [][][]string) {
	for _, piece := range code {
		all = append(all, commandIn.FindAllStringSubmatch(strings.Trim(piece, "`\n"), -1))
	}
	return all
}

var (
	testIn   = regexp.MustCompile(`go test ((?:\./\S+ )+)-run (\w+)`)
	packages = regexp.MustCompile(`\./([\w/-]+)`)
)

// TestDocumentsNameTestsThatExist: each `go test PACKAGE -run NAME` of an example runs a test.
func TestDocumentsNameTestsThatExist(t *testing.T) {
	examples := 0
	for path, text := range documents(t) {
		for _, m := range testIn.FindAllStringSubmatch(text, -1) {
			examples++
			for _, pkg := range packages.FindAllStringSubmatch(m[1], -1) {
				files, err := filepath.Glob(pkg[1] + "/*_test.go")
				must(t, err)
				runs := regexp.MustCompile(`(?m)^func (Test\w*)?` + m[2])
				if !slices.ContainsFunc(files, func(file string) bool {
					tests, err := os.ReadFile(file)
					must(t, err)
					return runs.Match(tests)
				}) {
					t.Errorf("%s: %s runs no test", path, m[0])
				}
			}
		}
	}
	if examples < 10 {
		t.Errorf("only %d examples were found", examples)
	}
}
