package protocol

import (
	_ "embed" // the package's own comment
	"strings"
)

//go:embed doc.go
var source string

// Manual is the description of the wire format, which is this package's comment, as text.
func Manual() string {
	var text strings.Builder
	for line := range strings.Lines(source) {
		rest, ok := strings.CutPrefix(line, "//")
		if !ok {
			break
		}
		text.WriteString(strings.TrimPrefix(rest, " "))
	}
	return text.String()
}
