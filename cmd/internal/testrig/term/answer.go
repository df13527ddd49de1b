package term

import (
	"fmt"
	"regexp"
	"strings"

	"relay-pty/pty/screen"
)

var (
	// question is what asks the terminal something.
	question = regexp.MustCompile("\x1b(?:\\[(?:>?0?c|>0?q|[56]n|18t|\\?u|\\?[0-9]+\\$p)|\\]1[01];\\?(?:\a|\x1b\\\\)|P[+$]q[^\x1b]{0,256}\x1b\\\\)")
	// begun may become a question.
	begun = regexp.MustCompile("\x1b(?:\\[[0-9>?$]{0,8}|\\](?:1[01]?;?\\??\x1b?)?|P[^\x1b]{0,256}\x1b?)?$")
)

// show shows output on the screen, and returns the answers to the questions in it, each true at
// its place in the output. The beginning of a question at the end waits for the rest of it.
func (t *Term) show(p []byte) (reply string) {
	if !t.answers {
		t.scr.Write(p) // never fails
		return ""
	}
	p = append(t.asked, p...)
	for {
		at := question.FindIndex(p)
		if at == nil {
			break
		}
		t.scr.Write(p[:at[1]]) // never fails
		reply += answer(string(p[at[0]:at[1]]), t.scr)
		p = p[at[1]:]
	}
	end := len(p)
	if at := begun.FindIndex(p); at != nil {
		end = at[0]
	}
	t.scr.Write(p[:end]) // never fails
	t.asked = append([]byte(nil), p[end:]...)
	return reply
}

// answer is what a terminal like xterm, with s on it, says to a question; always the same to the
// same one. Source: xterm's ctlseqs, and kitty's protocol extensions for CSI ? u.
func answer(asks string, s *screen.Screen) string {
	rows, cols := s.Size()
	row, col := s.Cursor()
	for _, c := range []struct{ before, after, reply string }{
		{"\x1b[?", "$p", "\x1b[?%s;2$y"}, // DECRQM: known, and off
		{"\x1b[?", "u", "\x1b[?0u"},
		{"\x1b]10;?", "", "\x1b]10;rgb:ffff/ffff/ffff%s"},
		{"\x1b]11;?", "", "\x1b]11;rgb:0000/0000/0000%s"},
		{"\x1bP+q", "\x1b\\", "\x1bP0+r%s\x1b\\"}, // XTGETTCAP: not known
		{"\x1bP$q", "\x1b\\", "\x1bP0$r\x1b\\"},   // DECRQSS: not valid
		{"\x1b[>", "c", "\x1b[>0;115;0c"},
		{"\x1b[>", "q", "\x1bP>|rig(1)\x1b\\"},
		{"\x1b[", "c", "\x1b[?62;22c"},
		{"\x1b[5n", "", "\x1b[0n"},
		{"\x1b[6n", "", fmt.Sprintf("\x1b[%d;%dR", row+1, min(col, cols-1)+1)},
		{"\x1b[18t", "", fmt.Sprintf("\x1b[8;%d;%dt", rows, cols)},
	} {
		rest, found := strings.CutPrefix(asks, c.before)
		if rest, ends := strings.CutSuffix(rest, c.after); found && ends {
			return strings.Replace(c.reply, "%s", rest, 1)
		}
	}
	return ""
}
