package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	evidence = "testdata/evidence.md"
	measured = "docs/measured.md"

	tableBegins, tableEnds = "<!-- agents -->\n", "<!-- end -->\n"
)

// situations are the columns of the table of agents.
var situations = []string{"idle", "busy", "dialog", "draft", "urgent"}

// results reads the files of all parts, in the order of the list of parts; files of parts that the
// list does not name come first.
func results() (all []result, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var r result
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, r)
	}
	place := func(r result) int { return slices.IndexFunc(parts, func(p part) bool { return p.name == r.Part }) }
	slices.SortStableFunc(all, func(a, b result) int { return place(a) - place(b) })
	return all, nil
}

// list tells of each part when and where it was shown.
func list(w io.Writer) error {
	all, err := results()
	if err != nil {
		return err
	}
	for _, p := range parts {
		says := "not shown yet"
		for _, r := range all {
			if r.Part == p.name {
				says = r.Commit + ", " + r.Date + r.took()
			}
		}
		fmt.Fprintf(w, "%-12s %s\n", p.name, says)
	}
	return nil
}

// render writes the tables.
func render() error {
	all, err := results()
	if err != nil {
		return err
	}
	table := agents(all)
	var b bytes.Buffer
	fmt.Fprint(&b, "# Evidence\n\n"+
		"What the tests showed at full counts. `make prove PART=name` runs a part and rewrites its file in `testdata/prove`;\n"+
		"this page is rendered from these files. Counts, hashes and memory are asserted. Times are reported, for a machine's\n"+
		"load moves them; the part `timed` asserts those that the product promises.\n\n"+
		"Messages of 23 shapes to real agents from npm, with fake model APIs on loopback: each message once and whole in what\n"+
		"the model received, drafts byte for byte, dialogs unanswered, replies whole.\n\n")
	b.WriteString(table)
	for _, r := range all {
		fmt.Fprintf(&b, "\n## %s\n\nCommit %s, %s, %s%s.\n", r.Part, r.Commit, r.Date, r.Machine, r.took())
		head := "\n| what | shown |\n|---|---|\n"
		for _, f := range r.Figures {
			if f.What != "" {
				fmt.Fprintf(&b, "%s| %s | %s |\n", head, f.What, f.Shown)
				head = ""
			}
		}
	}
	if err := os.WriteFile(evidence, b.Bytes(), 0o644); err != nil {
		return err
	}
	return between(measured, table)
}

// took tells how much ran, and how long.
func (r result) took() string {
	switch {
	case r.Seconds == 0: // of a time when parts had no files
		return ""
	case r.Passed == 0:
		return fmt.Sprintf("; %d s", r.Seconds)
	}
	return fmt.Sprintf("; %d tests in %d s", r.Passed, r.Seconds)
}

// agents is the table of agents by situation. Of what two parts say, the later in the list counts.
func agents(all []result) string {
	held := map[string]map[string]string{}
	for _, r := range all {
		for _, f := range r.Figures {
			if f.Agent == "" {
				continue
			}
			if held[f.Agent] == nil {
				held[f.Agent] = map[string]string{}
			}
			held[f.Agent][f.Situation] = fmt.Sprintf("%d of %d", f.Held, f.Of)
		}
	}
	var b strings.Builder
	b.WriteString("| agent | idle | busy | dialog open | draft | urgent |\n|---|---|---|---|---|---|\n")
	for _, agent := range slices.Sorted(maps.Keys(held)) {
		fmt.Fprintf(&b, "| %s |", agent)
		for _, situation := range situations {
			fmt.Fprintf(&b, " %s |", held[agent][situation])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// between replaces the table between the marks of a file.
func between(path, table string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, begins := strings.Cut(string(text), tableBegins)
	_, foot, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		return fmt.Errorf("%s has no place for the table of agents", path)
	}
	return os.WriteFile(path, []byte(head+tableBegins+table+tableEnds+foot), 0o644)
}
