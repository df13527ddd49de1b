package waits

import (
	"testing"
	"time"
)

func TestDead(t *testing.T) {
	for _, c := range []struct {
		name string
		list []Wait
		want string
	}{
		{"nobody waits", nil, ""},
		{"one waits for who acts", []Wait{{"a", []string{Human}}}, ""},
		{"a chain to who acts", []Wait{{"a", []string{"b"}}, {"b", []string{"c"}}, {"c", []string{Agent}}}, ""},
		{"a ring", []Wait{{"a", []string{"b"}}, {"b", []string{"a"}}}, "a waits for b, b waits for a"},
		{"a ring with a way out", []Wait{{"a", []string{"b"}}, {"b", []string{"a", Time}}}, ""},
		{"behind a ring", []Wait{{"a", []string{"a"}}, {"b", []string{"a"}}, {"c", []string{Human}}}, "a waits for a, b waits for a"},
		{"for what has ended", []Wait{{"a", []string{"gone"}}}, "a waits for gone"},
		{"for nothing", []Wait{{"a", nil}}, "a waits for nothing that could come"},
	} {
		if got := Dead(c.list); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestStill(t *testing.T) {
	var s Still[string]
	began := time.Unix(100, 0)
	for _, c := range []struct {
		at   time.Duration
		as   string
		is   bool
		left time.Duration
	}{{0, "a", false, time.Minute}, {time.Minute - 1, "a", false, 1}, {time.Minute, "a", true, 0}, {2 * time.Minute, "b", false, time.Minute}} {
		if is, left := s.For(c.as, began.Add(c.at), time.Minute); is != c.is || left != c.left {
			t.Errorf("%q after %v: %v, %v left; want %v, %v", c.as, c.at, is, left, c.is, c.left)
		}
	}
}
