package agents

import (
	"slices"
	"testing"
)

func TestTakenOnceEach(t *testing.T) {
	texts, unasked := Taken([]Event{
		{Kind: KindDraft, Text: "a"}, {Kind: KindSubmit, Text: "a"}, {Kind: KindQueued, Text: "b"},
		{Kind: KindQueued, Text: "c"}, {Kind: KindSubmit, Text: "b\nc"}, {Kind: KindSubmit, Text: "d"},
		{Kind: KindCommand, Text: "/quit"},
	})
	if want := []string{"a", "b", "c", "d"}; !slices.Equal(texts, want) || len(unasked) != 1 || unasked[0].Text != "/quit" {
		t.Errorf("got %q, want %q; and %v", texts, want, unasked)
	}
}
