package protocol

import (
	"regexp"
	"strings"
	"testing"
)

// TestManualReadsWithoutGo: what the package's comment links to stands in the manual by its value.
func TestManualReadsWithoutGo(t *testing.T) {
	text := Manual()
	for _, want := range []string{"This is the wire format", "at most 1048576 bytes a line", "\nERRORS\n", `"blocked_by"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the manual does not say %q", want)
		}
	}
	for _, link := range regexp.MustCompile(`\[[A-Z]\w+\]`).FindAllString(text, -1) {
		t.Errorf("the manual does not say what %s means", link)
	}
	if strings.Contains(text, "\n# ") || strings.Contains(text, "package protocol") {
		t.Errorf("the manual reads like Go: %s", text)
	}
}
