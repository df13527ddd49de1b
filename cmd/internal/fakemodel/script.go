package fakemodel

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// lines is a reply of n numbered lines, gap apart.
func lines(n int, gap time.Duration) Reply {
	r := Reply{Gap: gap}
	for i := range n {
		r.Deltas = append(r.Deltas, fmt.Sprintf("Line %d of %d\n\n", i+1, n))
	}
	return r
}

// slowGap is the time between the lines of SLOW.
const slowGap = 250 * time.Millisecond

var word = regexp.MustCompile(`\b(LONG|SLOW|THINK|TOUCH|TOOL|MARK) ([^\s"]+)`)

// Script is the default Responder. A turn that only brings tool results is
// answered "Done."; otherwise the first of the package's words in the last text
// decides, for an interrupted one may stand before it.
func (s *Server) Script(t Turn) Reply {
	if len(t.Text) == 0 && len(t.Results) > 0 {
		return Say("Done.")
	}
	text := ""
	if n := len(t.Text); n > 0 {
		text = t.Text[n-1]
	}
	rep := Say(fmt.Sprintf("ACK %d bytes", len(Received(t))))
	w := word.FindStringSubmatch(text)
	if w == nil {
		return rep
	}
	switch w[1] {
	case "TOUCH":
		return Bash("touch " + w[2])
	case "MARK":
		s.state.Lock()
		defer s.state.Unlock()
		return Say(cmp.Or(s.marks[w[2]], "no mark named "+strings.ToValidUTF8(w[2], "?")))
	}
	n, err := strconv.Atoi(w[2])
	if err != nil || n < 0 {
		return rep
	}
	switch w[1] {
	case "LONG":
		return lines(n, 0)
	case "SLOW":
		return lines(n*int(time.Second/slowGap), slowGap)
	case "THINK":
		rep.Think = time.Duration(n) * time.Second
		return rep
	default: // TOOL
		return Bash("sleep " + strconv.Itoa(n))
	}
}
