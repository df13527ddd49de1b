package books

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"unicode"
)

// Body is the body of s around text: whose it is, the text, and the sum of both, so that
// it proves itself. Id and sender must be made of lower-case letters, digits and
// punctuation, and text of anything but what a human types.
func Body(s Send, text string) string {
	body := fmt.Sprintf("%s %s n%d p%d %s ", s.ID, s.From, s.N, s.Priority, text)
	return body + sum(content(body))
}

// Prose is a text of about size bytes in lower-case words, in lines of at most line bytes.
func Prose(rnd *rand.Rand, size, line int) string {
	var b strings.Builder
	for used := 0; b.Len() < size; {
		n := 1 + rnd.IntN(12)
		switch {
		case used > 0 && used+1+n > line:
			b.WriteByte('\n')
			used = 0
		case used > 0:
			b.WriteByte(' ')
			used++
		}
		for range n {
			b.WriteByte("abcdefghijklmnopqrstuvwxyz0123456789"[rnd.IntN(36)])
		}
		used += n
	}
	return b.String()
}

// Word is the n-th word that the human types in a life of an agent. No two are alike,
// and none begins another one.
func Word(agent string, life, n int) string {
	return letters(int(crc32.ChecksumIEEE([]byte(agent)))) + "X" + letters(life) + "Y" + letters(n) + "Z"
}

// letters writes n in upper-case letters, without those that may follow an Esc in a key.
func letters(n int) string {
	const digits = "ABCDEFGHJKLMNQRSTUVW"
	s := digits[n%len(digits) : n%len(digits)+1]
	if n /= len(digits); n > 0 {
		return letters(n) + s
	}
	return s
}

// sum is eight digits, lower case.
func sum(s string) string {
	return fmt.Sprintf("%08x", crc32.Checksum([]byte(s), crc32.MakeTable(crc32.Castagnoli)))
}

// proven says whether what was read ends with the sum of the rest.
func proven(read string) bool {
	at := len(read) - 8
	return at >= 0 && sum(read[:at]) == read[at:]
}

// content is a body as an agent must read it: no control characters but newlines, a tab
// as four blanks, and a line that looks like a header or a footer indented by four.
func content(body string) string {
	if strings.IndexFunc(body, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) >= 0 {
		body = strings.Map(func(r rune) rune {
			if r != '\n' && unicode.IsControl(r) {
				return -1
			}
			return r
		}, strings.ReplaceAll(body, "\t", "    "))
	}
	if !strings.Contains(body, "[relay ") && !strings.Contains(body, "[end ") {
		return body
	}
	lines := strings.Split(body, "\n")
	for i, line := range lines {
		text := strings.TrimLeft(line, " ")
		if len(line)-len(text) < 4 && (strings.HasPrefix(text, "[relay ") || strings.HasPrefix(text, "[end ")) {
			lines[i] = "    " + line
		}
	}
	return strings.Join(lines, "\n")
}
