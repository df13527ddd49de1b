package logs

import "testing"

func TestNamed(t *testing.T) {
	if f, ok := Named("claude"); !ok || f.Name != "claude" {
		t.Error("no format claude")
	}
	if _, ok := Named("none"); ok {
		t.Error("a format none")
	}
}
