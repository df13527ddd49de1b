package sight

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay-pty/inject/agents"
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

// TestLookAtEveryMomentOfTheRecordings has each recording's looks in their order,
// so that none shows rest within a turn or a dialog.
func TestLookAtEveryMomentOfTheRecordings(t *testing.T) {
	for file, want := range map[string]string{
		"codex/dialog.cast":         "rests busy rests busy asks busy rests",
		"codex/draft.cast":          "rests draft",
		"codex/idle-start.cast":     "rests busy rests",
		"codex/long-reply.cast":     "rests busy rests draft busy rests",
		"codex/relay-40x24.cast":    "rests busy rests busy rests",
		"codex/relay-80x24.cast":    "rests busy rests draft busy rests",
		"codex/short-reply.cast":    "rests draft busy rests",
		"codex/think-steer.cast":    "rests busy rests draft busy rests",
		"gemini/dialog.cast":        "rests draft rests busy asks rests",
		"gemini/draft.cast":         "rests draft",
		"gemini/idle-start.cast":    "rests",
		"gemini/long-reply.cast.gz": "rests draft rests busy",
		"gemini/relay-40x24.cast":   "rests draft rests busy rests",
		"gemini/relay-80x24.cast":   "rests draft rests busy rests",
		"gemini/short-reply.cast":   "rests draft rests busy rests",
		"opencode/dialog.cast":      "rests draft rests busy asks busy rests",
		"opencode/draft.cast":       "rests draft",
		"opencode/idle-start.cast":  "rests",
		"opencode/long-reply.cast":  "rests draft rests busy rests",
		"opencode/relay-40x24.cast": "rests draft rests busy rests",
		"opencode/relay-80x24.cast": "rests draft rests busy rests",
		"opencode/short-reply.cast": "rests draft rests busy",
	} {
		t.Run(file, func(t *testing.T) {
			agent, name, _ := strings.Cut(file, "/")
			p, _ := agents.Named(agent)
			c := record(t, filepath.Join("../agents", agent, "testdata/transcripts", name))
			s := screen.New(c.rows, c.cols)
			var got []string
			for _, e := range c.events {
				if e.typed {
					continue
				}
				s.Write([]byte(e.text))
				if w := told(Look(p, s)); w != "" && (len(got) == 0 || got[len(got)-1] != w) {
					got = append(got, w)
				}
			}
			if g := strings.Join(got, " "); g != want {
				t.Errorf("looks are\n%s, want\n%s", g, want)
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
