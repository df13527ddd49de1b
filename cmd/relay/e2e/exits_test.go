package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// table is the table with that head in a document: what stands in the first column.
func table(t *testing.T, document, head string) (rows []string) {
	t.Helper()
	text, err := os.ReadFile("../../../" + document)
	must(t, err)
	_, rest, _ := strings.Cut(string(text), "\n| "+head+" | means |\n|---|---|\n")
	for line := range strings.Lines(rest) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 {
			break
		}
		rows = append(rows, strings.TrimSpace(cells[1]))
	}
	return rows
}

// ends is the exit status of a program.
func (u *user) ends(program string, args ...string) (status int, said string) {
	u.t.Helper()
	cmd := u.command(u.t.Context(), args...)
	cmd.Path = filepath.Join(u.bin, program)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		u.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// TestExitStatuses: the programs end as the documents say, row by row, and nobody's name is 3 for
// all commands about an agent.
func TestExitStatuses(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	wrapped := func(argv ...string) []string {
		flags := []string{"--name", "a", "--headless", "--socket", filepath.Join(u.dir, "a"), "--"}
		return append(flags, argv...)
	}
	nobody := strings.Split("status nobody,screen nobody,queue nobody,log nobody,wait nobody,pause nobody,"+
		"resume nobody,keys nobody Enter,send nobody hi", ",")
	for _, program := range []struct {
		name, document, head string
		rows                 map[string][][]string
		status               map[string]int // of rows that are no number
	}{
		{"relay", "docs/scripts.md", "exit status", map[string][][]string{
			"0":   {{"ls"}},
			"1":   fields([]string{"show m-1", "cancel m-1", "reply m-1 hi", "redeliver m-1"}),
			"2":   {{"nonsense"}, {"send", "human", "hi", "--from", "a b"}, {"send", "human", ""}},
			"3":   fields(nobody),
			"124": {{"recv", "--wait=1ms"}}, "128 + n": nil, // TestSendThatIsInterrupted has those
		}, nil},
		{"relay-pty", "docs/socket.md", "exit status of relay-pty", map[string][][]string{
			"the agent's own": {wrapped("sh", "-c", "exit 7")},
			"125":             fields([]string{"", "--nonsense", "--name a", "a b", "--name a --size 0x0 -- cat"}),
			"126":             {wrapped("/etc/passwd"), wrapped("/etc")},
			"127":             {wrapped("nosuchcommand"), wrapped("./nosuchcommand")},
		}, map[string]int{"the agent's own": 7}},
	} {
		rows := table(t, program.document, program.head)
		slices.Sort(rows)
		if want := slices.Sorted(maps.Keys(program.rows)); !slices.Equal(rows, want) {
			t.Errorf("%s has rows %q of %s, want %q", program.document, rows, program.name, want)
		}
		for row, lines := range program.rows {
			want, err := strconv.Atoi(row)
			if err != nil {
				want = program.status[row]
			}
			for _, args := range lines {
				if got, said := u.ends(program.name, args...); got != want {
					t.Errorf("%s %q: %d, want %d: %s", program.name, args, got, want, said)
				}
			}
		}
	}
	if got, _ := u.ends("relay-pty", wrapped("sh", "-c", "kill $$")...); got != 128+15 {
		t.Errorf("an agent that a signal ended is told by %d", got)
	}
}

func fields(lines []string) (all [][]string) {
	for _, line := range lines {
		all = append(all, strings.Fields(line))
	}
	return all
}
