package parser

import "strings"

// Marker writes the marker that says c, which must be valid; c.Raw is left alone. Its fence is
// longer than any run in the body, and the newlines within it are not part of the body.
func Marker(c Command) string {
	var keys []string
	for _, kv := range [...][2]string{{"re", c.ReplyTo}, {"thread", c.Thread}, {"mode", c.Mode}} {
		if kv[1] != "" {
			keys = append(keys, kv[0]+"="+kv[1])
		}
	}
	head := string(relayPrefix) + c.To + " "
	if len(keys) > 0 {
		head += "[" + strings.Join(keys, " ") + "] "
	}
	width := max(3, longestRun(c.Body, '>')+1)
	return head + strings.Repeat("<", width) + "\n" + c.Body + "\n" + strings.Repeat(">", width)
}

// longestRun is how often b stands in s without a break, at most.
func longestRun(s string, b byte) int {
	longest, n := 0, 0
	for i := range len(s) {
		if n++; s[i] != b {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}
