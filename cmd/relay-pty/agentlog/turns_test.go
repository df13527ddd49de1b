package agentlog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
	"relay-pty/parser/transcript"
	"relay-pty/protocol"
)

// written is an agent's log in which the news stand at the next look.
type written struct {
	news  []transcript.News
	while func() // happens while it is read
}

func (w *written) Look() (transcript.Session, []transcript.News, error) {
	if w.while != nil {
		w.while()
	}
	all := w.news
	w.news = nil
	return transcript.Session{}, all, nil
}

// heard is a log in a format, and what it tells.
type heard struct {
	*Log
	markers, ends []string
}

func hear(format string) *heard {
	h := &heard{}
	h.Log = New(Agent{
		Profile: profile.Log{Format: format}, Word: func(ready.Word) {}, Shown: func() {},
		Marker: func(found transcript.Found) { h.markers = append(h.markers, fmt.Sprint(found.Item)) },
		TurnEnd: func(ev *protocol.TurnEnd) {
			first, _, _ := strings.Cut(ev.Text, " ")
			h.ends = append(h.ends, strings.TrimSpace(fmt.Sprint(ev.IDs, " ", ev.Outcome, " ", first)))
		},
	})
	return h
}

// TestMessageThatEndedBeforeItWasLogged: its submission is the end of it, and its turn is logged
// later. By that turn, and no other, it is known whose the log is.
func TestMessageThatEndedBeforeItWasLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, h := &written{}, hear("gemini")
		h.format.Follow = func(transcript.Format, string, int, time.Time) transcript.Source { return src }
		tells := func(of, id, marker string) {
			at := time.Now()
			src.news = append(src.news, transcript.News{Of: of, Entries: []transcript.Entry{
				{Kind: transcript.User, UUID: "u" + of, Time: at, Text: "[relay " + id + " from x] y", Opens: true},
				{Kind: transcript.Assistant, UUID: "a" + of, Time: at, Text: "->relay:bob " + marker},
			}})
		}
		h.Expect("m1")
		h.Look() // another directory might turn out to be the agent's
		h.Forget("m1")
		tells("other", "m9", "not mine")
		src.while = func() { // a busy machine lets that pass between the steps of a look
			src.while = nil
			h.Expect("m2")
			tells("mine", "m2", "mine")
			h.Forget("m2")
		}
		h.Look()
		time.Sleep(3 * time.Second)
		h.Look()
		if len(h.markers) != 1 || !strings.Contains(h.markers[0], "mine") || strings.Contains(h.markers[0], "not") {
			t.Errorf("heard %q, want what was said in its own conversation", h.markers)
		}
		if h.Took("m1") || h.Took("m2") {
			t.Error("what has ended is asked for")
		}
	})
}

// TestPromptEndsTheTurnBefore: Gemini CLI does not log that a turn has ended well. What it said to
// a message is no answer to the next one, nor is that kept from its answer by a marker before it.
func TestPromptEndsTheTurnBefore(t *testing.T) {
	h := hear("gemini")
	all, err := transcript.NewReader(h.format, time.Time{}).Poll("../../../inject/agents/gemini/testdata/markers/0.61.0/session.jsonl")
	must(t, err)
	for _, e := range all {
		h.take(e)
	}
	h.rest()
	// The turns of c1 and c10 wrote markers; c4 and c5 were given as one.
	want := []string{
		"[c1] answered", "[c3] refused [API", "[c4 c5] answered ACK", "[c8] interrupted", "[c9] refused [API", "[c10] answered", "[c14] answered ACK",
	}
	if !slices.Equal(h.ends, want) {
		t.Errorf("told %q, want %q", h.ends, want)
	}
}

// TestPromptInTheQuietBehindAnother: an agent that does not log the ends of its turns is given a
// message a moment after another one, and one after that. Each is answered with its own turn's
// words.
func TestPromptInTheQuietBehindAnother(t *testing.T) {
	h := hear("gemini")
	began := time.Now()
	for i, id := range []string{"m1", "m2", "m3"} {
		at := began.Add(time.Duration(i) * time.Second)
		h.take(transcript.Entry{Kind: transcript.User, UUID: "u" + id, Time: at, Text: "[relay " + id + " from x] y\n[end]", Opens: true})
		h.take(transcript.Entry{Kind: transcript.Tool, UUID: "t" + id, Time: at})
		if given := h.Given(); !slices.Equal(given.IDs, []string{id}) || given.Tools != 1 {
			t.Errorf("%s: the turn was given %q, and used %d tools", id, given.IDs, given.Tools)
		}
		h.take(transcript.Entry{Kind: transcript.Assistant, UUID: "a" + id, Time: at, Text: "for-" + id})
	}
	h.rest()
	if want := []string{"[m1] answered for-m1", "[m2] answered for-m2", "[m3] answered for-m3"}; !slices.Equal(h.ends, want) {
		t.Errorf("told %q, want %q", h.ends, want)
	}
	if given := h.Given(); len(given.IDs) > 0 {
		t.Errorf("an agent at rest: %q", given.IDs)
	}
}
