package sight

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay-pty/inject/agents"
	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
	"relay-pty/pty/screen"
)

// cast is a recording: a terminal's size and what was printed and typed on it.
type cast struct {
	rows, cols int
	events     []castEvent
}

type castEvent struct {
	typed bool
	text  string
}

func record(t *testing.T, path string) cast {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 16<<20)
	var c cast
	for sc.Scan() {
		if c.rows == 0 {
			var head struct{ Width, Height int }
			must(t, json.Unmarshal(sc.Bytes(), &head))
			c.rows, c.cols = head.Height, head.Width
			continue
		}
		var e [3]any
		must(t, json.Unmarshal(sc.Bytes(), &e))
		c.events = append(c.events, castEvent{e[1] == "i", e[2].(string)})
	}
	must(t, sc.Err())
	return c
}

// told is what a sight says of the agent, in one word; none while its composer is
// not to be seen, which is never taken for rest.
func told(v Sight) string {
	switch {
	case v.Dialog != "" || v.Said.State == ready.Blocked:
		return "asks"
	case v.Armed:
		return "armed"
	case v.Queued:
		return "queued"
	case v.Working || v.Said.State == ready.Busy:
		return "busy"
	case !v.Box.Visible:
		return ""
	case v.Box.Text != "":
		return "draft"
	}
	return "rests"
}

var update = flag.Bool("update", false, "write the looks of the recordings anew")

// TestLookAtEveryMomentOfTheRecordings has each recording's looks in their order, so that none
// shows rest within a turn or a dialog: a line for each in the agent's looks.txt.
func TestLookAtEveryMomentOfTheRecordings(t *testing.T) {
	for _, agent := range agents.Names() {
		p := named(agent)
		if p.Composer == nil {
			continue
		}
		dir := filepath.Join("../agents", agent, "testdata")
		casts, err := filepath.Glob(filepath.Join(dir, "transcripts", "*.cast*"))
		must(t, err)
		var got strings.Builder
		for _, path := range casts {
			fmt.Fprintf(&got, "%s: %s\n", filepath.Base(path), strings.Join(looks(t, p, path), " "))
		}
		file := filepath.Join(dir, "looks.txt")
		if *update {
			must(t, os.WriteFile(file, []byte(got.String()), 0o644))
		}
		want, err := os.ReadFile(file)
		must(t, err)
		if got.String() != string(want) {
			t.Errorf("%s: looks are\n%s, want\n%s", agent, got.String(), want)
		}
	}
}

// looks are what a recording tells of the agent, from its beginning to its end.
func looks(t *testing.T, p *profile.Profile, path string) (looks []string) {
	t.Helper()
	c := record(t, path)
	s := screen.New(c.rows, c.cols)
	for _, e := range c.events {
		if e.typed {
			continue
		}
		s.Write([]byte(e.text))
		if w := told(Look(p, s)); w != "" && (len(looks) == 0 || looks[len(looks)-1] != w) {
			looks = append(looks, w)
		}
	}
	return looks
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
