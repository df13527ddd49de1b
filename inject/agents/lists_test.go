package agents_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "write the lists of agents anew")

// TestLists holds the lists of agents to the directories: a new agent is a directory, and this test
// with -update. Generic is the last: it is for what no other one is for.
func TestLists(t *testing.T) {
	dirs, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var rigs, rest []string
	for _, d := range dirs {
		switch _, err := os.Stat(d.Name() + "/rig"); {
		case !d.IsDir() || slices.Contains(shared, d.Name()):
		case err == nil:
			rigs = append(rigs, d.Name())
		case d.Name() != "generic":
			rest = append(rest, d.Name())
		}
	}
	for _, l := range []struct {
		file, of, below, element string
		dirs                     []string
		needs                    string
	}{
		{"list.go", "*profile.Profile", "", "&%s.Profile", slices.Concat(rigs, rest, []string{"generic"}), "inject/profile"},
		{"logs/list.go", "transcript.Format", "/log", "%s.Format", having("log", rigs, rest), "parser/transcript"},
		{"../../cmd/internal/agentrig/list.go", "func() []rig.Agent", "/rig", "%s.All", rigs, "inject/agents/rig"},
	} {
		pkg, name := "agents", "all"
		switch l.below {
		case "/log":
			pkg = "logs"
		case "/rig":
			pkg, name = "agentrig", "rigs"
		}
		var imports, elements bytes.Buffer
		for _, dir := range l.dirs {
			as := ""
			if l.below != "" {
				as = dir
			}
			fmt.Fprintf(&imports, "%s \"relay-pty/inject/agents/%s%s\"\n", as, dir, l.below)
			fmt.Fprintf(&elements, l.element+", ", dir)
		}
		want, err := format.Source(fmt.Appendf(nil, "package %s\n\nimport (\n%s\"relay-pty/%s\"\n)\n\n"+
			"// %s is written by `go test ./inject/agents -run Lists -update`, from the directories.\n"+
			"var %s = []%s{%s}\n", pkg, imports.String(), l.needs, name, name, l.of, bytes.TrimSuffix(elements.Bytes(), []byte(", "))))
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			err = os.WriteFile(l.file, want, 0o644)
		}
		if got, readErr := os.ReadFile(l.file); err != nil || readErr != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the directories have: %v %v\n%s", l.file, err, readErr, want)
		}
	}
}

// having are the directories with one of that name in them.
func having(name string, lists ...[]string) (dirs []string) {
	for _, dir := range slices.Concat(lists...) {
		if _, err := os.Stat(dir + "/" + name); err == nil {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
