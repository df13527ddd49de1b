package hub

import (
	"errors"
	"slices"
	"testing"

	"relay-pty/cmd/relay/internal/router"
)

// TestWhichMessageIsMeant by what its id begins with: one alone, where what belongs to a message is
// not counted beside it.
func TestWhichMessageIsMeant(t *testing.T) {
	many := []string{"x-6", "x-5", "x-4", "x-3", "x-2", "x-1"}
	for _, c := range []struct {
		word       string
		found      []string
		more       bool
		want       string
		candidates []string
	}{
		{"m-7w", []string{"m-7wzk03fa"}, false, "m-7wzk03fa", nil},
		{"m-7w", []string{"m-7wzk:bob:r1", "m-7wzk:bob", "m-7wzk"}, false, "m-7wzk", nil},
		{"m-7wzk:b", []string{"m-7wzk:bob"}, false, "m-7wzk:bob", nil},
		{"m-8wzk", nil, false, "no message has the id m-8wzk", nil},
		{"m-7", []string{"m-7wzk03fa"}, false, "no message has the id m-7, and its beginning needs 4 characters", nil},
		{"m-7w", []string{"m-7wzz", "m-7wzk"}, false, "2 ids begin with m-7w: m-7wzz, m-7wzk", []string{"m-7wzz", "m-7wzk"}},
		{"x-xx", slices.Clone(many), false, "6 ids begin with x-xx: x-6, x-5, x-4, x-3, x-2, …", many[:5]},
		{"x-xx", slices.Clone(many), true, "more than 6 ids begin with x-xx: x-6, x-5, x-4, x-3, x-2, …", many[:5]},
		{"x-xx", many[:1], true, "more than 1 ids begin with x-xx: x-6", many[:1]},
	} {
		got, err := begunBy(c.word, c.found, c.more)
		var refused *router.ErrorValue
		if errors.As(err, &refused); err != nil && refused.Code != "unknown_id" {
			t.Errorf("%s: refused as %s", c.word, refused.Code)
		}
		if err != nil {
			got = err.Error()
		}
		if got != c.want || refused != nil && !slices.Equal(refused.Candidates, c.candidates) {
			t.Errorf("%s of %v: %s, want %s; candidates %v", c.word, c.found, got, c.want, refused)
		}
	}
}
