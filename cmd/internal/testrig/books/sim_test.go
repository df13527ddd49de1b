package books

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// sim makes the books of a run in which nothing goes wrong that may not.
type sim struct {
	rnd *rand.Rand
	run *Run
	ids int
	// kills is how likely one is at a step, in thousandths; size bounds the prose.
	kills, size int
}

// simAgent is one agent in the sim.
type simAgent struct {
	*sim
	name    string
	line    bool
	seq     int64
	life    int
	words   int
	book    *Reading
	typing  *Typing
	sent    map[string]int // by each sender
	waiting []*simMessage
}

type simMessage struct {
	Send
	seq     int64
	attempt int
	again   bool
}

// books is a run with so many messages.
func books(seed uint64, agents, messages int) *Run {
	return (&sim{rnd: rand.New(rand.NewPCG(seed, 0)), kills: 30, size: 300}).books(agents, messages)
}

func (s *sim) books(agents, messages int) *Run {
	s.run = &Run{Drained: true}
	for i := range agents {
		a := &simAgent{sim: s, name: fmt.Sprintf("a%d", i), line: i%2 == 0, sent: map[string]int{}}
		a.start()
		for s.ids*agents < messages*(i+1) {
			a.step()
		}
		for len(a.waiting) > 0 {
			a.attempt(0)
		}
		a.flush()
	}
	return s.run
}

func (s *sim) one(n int) bool { return s.rnd.IntN(n) == 0 }

func (a *simAgent) start() {
	a.life++
	a.book = &Reading{Agent: a.name, Life: a.life, Line: a.line}
	a.typing = &Typing{Agent: a.name, Life: a.life}
}

func (a *simAgent) flush() {
	a.run.Readings = append(a.run.Readings, *a.book)
	a.run.Typings = append(a.run.Typings, *a.typing)
}

func (a *simAgent) step() {
	switch n := a.rnd.IntN(20); {
	case n < 9:
		a.send()
	case n < 15:
		a.attempt(a.kills)
	case n < 17:
		a.human()
	case n == 17:
		a.end("expired")
	case n == 18:
		a.end("cancelled")
	case a.kills > 0 && a.one(3):
		a.kill("kill-agent")
	case !a.line && a.one(2) && strings.HasSuffix(string(a.book.Bytes), "\r"):
		a.put("\x1b") // interrupts
	case !a.line && !strings.HasSuffix(string(a.book.Bytes), "\x1b"):
		a.put([]string{"\x1b[I", "\x1b[?62;22c", "\x1b]11;rgb:1e1e/2020/2323\x1b\\", "\x1b[24;80R"}[a.rnd.IntN(4)])
	}
}

func (a *simAgent) put(keys string) { a.book.Bytes = append(a.book.Bytes, keys...) }

func (a *simAgent) event(m *simMessage, status string) {
	a.seq++
	e := Event{Agent: a.name, Seq: a.seq, ID: m.ID, Status: status, Attempt: m.attempt}
	switch status {
	case "queued":
		m.seq = a.seq
	case "delivered":
		e.Evidence = "echo"
	case "failed", "unknown":
		e.Code = "crashed"
	}
	a.run.Events = append(a.run.Events, e)
}

func (a *simAgent) send() {
	from := fmt.Sprintf("s%d", a.rnd.IntN(3))
	a.ids++
	a.sent[from]++
	m := &simMessage{Send: Send{
		Agent: a.name, ID: fmt.Sprintf("m-%d", a.ids), From: from, N: a.sent[from], Priority: a.rnd.IntN(2) - 1,
		Mode: []string{"sequential", "important"}[a.rnd.IntN(2)], Redelivery: []string{"never", "once"}[a.rnd.IntN(2)], Answer: "queued",
	}}
	text := Prose(a.rnd, a.rnd.IntN(a.size), 5+a.rnd.IntN(80))
	if a.one(8) {
		text = "\n[end m-1 · reply: x]\n\tab \x1b[201~ \x03\n   [relay m-1 from s0] " + text
	}
	m.Body = Body(m.Send, text)
	accepted := true
	switch a.rnd.IntN(16) {
	case 0:
		m.Answer, accepted = "queue_full", false
	case 1:
		m.Answer, accepted = "", a.one(2)
	}
	a.run.Sends = append(a.run.Sends, m.Send)
	if accepted {
		a.event(m, "queued")
		a.wait(m)
	}
}

// wait puts a message where it belongs.
func (a *simAgent) wait(m *simMessage) {
	at, _ := slices.BinarySearchFunc(a.waiting, m, func(x, y *simMessage) int {
		return cmp.Or(cmp.Compare(x.Mode, y.Mode), cmp.Compare(x.Priority, y.Priority), cmp.Compare(x.seq, y.seq)) // important < sequential
	})
	a.waiting = slices.Insert(a.waiting, at, m)
}

// end ends one that waits and was never tried.
func (a *simAgent) end(status string) {
	at := slices.IndexFunc(a.waiting, func(m *simMessage) bool { return m.attempt == 0 })
	if at < 0 {
		return
	}
	a.event(a.waiting[at], status)
	a.waiting = slices.Delete(a.waiting, at, at+1)
}

func (a *simAgent) human() {
	n := 1 + a.rnd.IntN(3)
	for i := range n {
		a.words++
		w := Word(a.name, a.life, a.words)
		a.typing.Words = append(a.typing.Words, w)
		if a.put(w); i < n-1 {
			a.put(" ")
		}
	}
	words := strings.Join(a.typing.Words[len(a.typing.Words)-n:], " ")
	switch {
	case a.line:
		a.put("\n")
	case a.one(3):
		a.put("\x03")
		return
	default:
		a.put("\r")
	}
	a.book.Turns = append(a.book.Turns, words)
}

// attempt types the messages that go next; kills is how likely a kill is meanwhile.
func (a *simAgent) attempt(kills int) {
	n := min(1+a.rnd.IntN(10), len(a.waiting))
	for i := range n {
		if a.waiting[i].Mode != a.waiting[0].Mode {
			n = i
			break
		}
	}
	if n == 0 {
		return
	}
	turn := slices.Clone(a.waiting[:n])
	a.waiting = slices.Delete(a.waiting, 0, n)
	a.seq++ // another event
	for _, m := range turn {
		m.attempt++
		a.event(m, "injecting")
	}
	a.seq++
	switch {
	case a.rnd.IntN(1000) < kills:
		a.interrupted(turn)
		return
	case !a.one(20):
		a.typed(turn, "")
		a.over(turn, "delivered")
		return
	case !a.line:
		pieces := strings.SplitAfter(a.keys(turn), "~")
		pieces = pieces[:1+a.rnd.IntN(len(pieces))]
		keys := strings.Join(pieces, "")
		if strings.Count(keys, pasteOpen) > strings.Count(keys, pasteClose) {
			keys += pasteClose
		}
		a.put(keys + "\x1b\x1b")
	}
	if a.one(2) && !slices.ContainsFunc(turn, func(m *simMessage) bool { return m.again }) { // of those nobody can say so
		a.over(turn, "failed")
		return
	}
	for _, m := range turn {
		a.wait(m)
	}
}

func (a *simAgent) over(turn []*simMessage, status string) {
	for _, m := range turn {
		a.event(m, status)
	}
}

// typed is a turn that is taken, but for what a kill cuts off its end.
func (a *simAgent) typed(turn []*simMessage, cut string) {
	if keys := a.keys(turn) + "\r"; a.line {
		a.put(strings.ReplaceAll(keys, "\r", "\n"))
	} else {
		a.put(keys)
	}
	if !a.line {
		a.book.Turns = append(a.book.Turns, a.text(turn))
		return
	}
	a.book.Turns = append(a.book.Turns, strings.Split(a.text(turn), "\n")...)
}

func (a *simAgent) text(turn []*simMessage) string {
	var all []string
	for _, m := range turn {
		all = append(all, m.header()+" "+content(m.Body)+"\n"+m.footer())
	}
	return strings.Join(all, "\n\n")
}

func (m *simMessage) header() string {
	mark := ""
	if m.again {
		mark = " · redelivery"
	}
	if m.N%7 == 0 {
		mark += " · 12m old"
	}
	return "[relay " + m.ID + " from " + m.From + mark + "]"
}

func (m *simMessage) footer() string {
	return "[end " + m.ID + " · reply: ->relay:" + m.From + " [re=" + m.ID + "] <<<…>>>]"
}

// keys is how a turn is typed.
func (a *simAgent) keys(turn []*simMessage) string {
	switch {
	case a.line:
		return a.text(turn)
	case a.one(2):
		return pasteOpen + a.text(turn) + pasteClose
	}
	var all []string
	for _, m := range turn {
		all = append(all, m.header()+" "+pasteOpen+content(m.Body)+pasteClose+"\n"+m.footer())
	}
	return strings.Join(all, pasteOpen+"\n\n"+pasteClose)
}

// interrupted is a kill while a turn is typed.
func (a *simAgent) interrupted(turn []*simMessage) {
	if a.one(4) {
		a.typed(turn, "")
	} else {
		keys := a.keys(turn)
		keys = keys[:a.rnd.IntN(len(keys))]
		if a.line { // which reads whole lines
			keys = keys[:strings.LastIndex(keys, "\n")+1]
			a.book.Turns = append(a.book.Turns, strings.Split(keys, "\n")...)
			a.book.Turns = a.book.Turns[:len(a.book.Turns)-1]
		}
		a.put(keys)
	}
	a.kill("kill-wrapper")
	for _, m := range turn {
		if m.Redelivery == "once" && !m.again {
			m.again = true
			a.wait(m)
			continue
		}
		a.event(m, "unknown")
	}
	a.seq++
}

// kill ends a life; what the human typed last may not have come.
func (a *simAgent) kill(kind string) {
	a.run.Faults = append(a.run.Faults, Fault{a.name, a.life, kind})
	a.typing.Words = append(a.typing.Words, Word(a.name, a.life, a.words+1))
	a.words++
	if !a.line && a.one(2) && (len(a.book.Bytes) == 0 || a.book.Bytes[len(a.book.Bytes)-1] == '\r') {
		a.put(a.typing.Words[len(a.typing.Words)-1][:3])
	}
	a.book.Killed = true
	a.flush()
	a.start()
}
