package parser

import (
	"fmt"
	"strings"
	"testing"

	"relay-pty/protocol"
)

func TestMarkerSaysTheCommand(t *testing.T) {
	for _, body := range []string{"x", "a\nb", "\nx\n", " x ", ">>>", "a>>>>b", strings.Repeat(">", 1000), "<<<a", "ends with >",
		"```\ncode", "\\->relay:x", "日本語 🎉", "a\ttab", strings.Repeat("x", protocol.MaxBody), strings.Repeat(">", protocol.MaxBody)} {
		want := Command{To: "#dev", Body: body, ReplyTo: "m1", Mode: protocol.ModeImportant}
		want.Raw = Marker(want)
		if items := Text(want.Raw); len(items) != 1 || items[0] != Item(want) {
			t.Errorf("%.100q says %.200q, want %.100q", want.Raw, fmt.Sprint(items), body)
		}
	}
}
