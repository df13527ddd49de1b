package protocol

import (
	_ "embed" // the package's own comment
	"strconv"
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
		rest = strings.TrimPrefix(rest, " ")
		if head, ok := strings.CutPrefix(rest, "# "); ok {
			rest = strings.ToUpper(head)
		}
		text.WriteString(rest)
	}
	return strings.NewReplacer( // what Go's comments link to
		"Package protocol is", "This is",
		"[MaxLine]", strconv.Itoa(MaxLine), "[MaxReq]", strconv.Itoa(MaxReq), "[MaxBody]", strconv.Itoa(MaxBody),
		"[MaxDetail]", strconv.Itoa(MaxDetail), "[MaxPull]", strconv.Itoa(MaxPull), "[Signals]", strings.Join(Signals(), ", "),
	).Replace(text.String())
}
