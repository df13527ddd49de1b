package books

import (
	"bytes"
	"slices"
	"strings"
)

var mutants = []mutant{
	// What the events tell.
	{"an end is dropped", "I1", false, func(c *cook) bool {
		i := c.pick(len(c.Events), func(i int) bool { return terminal(c.Events[i].Status) })
		c.Events = slices.Delete(c.Events, i, i+1)
		return true
	}},
	{"a second end", "I1", false, more("delivered", func(*Event) {})},
	{"another end behind the end", "I1", false, more("delivered", func(e *Event) { e.Status = "failed" })},
	{"an attempt behind the end", "I1", false, more("injecting", func(e *Event) { e.Attempt++ })},
	{"queued twice", "I1", false, more("queued", func(*Event) {})},
	{"a wrong number of an attempt", "I1", false, event("injecting", func(e *Event) { e.Attempt++ })},
	{"an end with the number of another attempt", "I1", false, event("delivered", func(e *Event) { e.Attempt++ })},
	{"delivered by no evidence", "I1", false, event("delivered", func(e *Event) { e.Evidence = "written" })},
	{"unknown for no reason", "I1", true, event("unknown", func(e *Event) { e.Code = "" })},
	{"a number is told twice", "I1", false, func(c *cook) bool {
		i := c.pick(len(c.Events)-1, func(i int) bool { return c.Events[i].Agent == c.Events[i+1].Agent })
		c.Events[i+1].Seq = c.Events[i].Seq
		return true
	}},
	{"delivered without an attempt", "I1", false, func(c *cook) bool {
		e := c.event("injecting")
		e.Status, e.Evidence, e.Attempt = "delivered", "echo", 0
		return true
	}},
	{"never queued", "I1", false, func(c *cook) bool {
		e := c.event("queued")
		at := slices.Index(c.Events, *e)
		c.Events = slices.Delete(c.Events, at, at+1)
		return true
	}},
	{"an event about nobody's message", "I1", false, event("queued", func(e *Event) { e.ID = "none" })},
	{"an event of another agent", "I1", false, more("delivered", func(e *Event) { e.Agent, e.Seq = "a3", 1e9 })},
	{"accepted, and no event", "I12", false, func(c *cook) bool {
		i := c.pick(len(c.Sends), func(i int) bool { return c.Sends[i].Answer == "queued" })
		c.without(c.Sends[i].ID)
		return true
	}},
	{"the queues did not run empty", "I12", false, func(c *cook) bool { c.Drained = false; return true }},

	// What became of a text.
	{"a delivered text is not there: lines", "I2", false, dropped(true)},
	{"a delivered text is not there: composer", "I2", false, dropped(false)},
	{"a byte is another: lines", "I2", false, inText(true, 1, "~")},
	{"a byte is another: composer", "I2", false, inText(false, 1, "~")},
	{"a byte is missing: lines", "I2", false, inText(true, 1, "")},
	{"a byte is missing: composer", "I2", false, inText(false, 1, "")},
	{"the sum is another", "I2", false, func(c *cook) bool {
		e, book, _, to := c.delivered(true)
		if e == nil {
			return false
		}
		at := bytes.LastIndex(book.Bytes[:to], []byte("\n[end ")) - 1
		book.text(at, 1, "g")
		return true
	}},
	{"a priority is another", "I2", false, func(c *cook) bool {
		e, _, _, _ := c.delivered(true)
		if e == nil {
			return false
		}
		s := c.send(e.ID)
		s.Priority += 3
		s.Body = Body(*s, "another body")
		return true
	}},
	{"another sender in the header", "I7", false, func(c *cook) bool {
		e, book, from, _ := c.delivered(true)
		if e == nil {
			return false
		}
		at := from + bytes.Index(book.Bytes[from:], []byte(" from s")) + len(" from s")
		book.text(at, 1, "9")
		return true
	}},
	{"a text at another agent", "I2", false, func(c *cook) bool {
		e, book, from, to := c.delivered(true)
		i := c.pick(len(c.Readings), func(i int) bool { return e != nil && c.Readings[i].Line && c.Readings[i].Agent != e.Agent })
		if i < 0 {
			return false
		}
		other := &c.Readings[i]
		other.Bytes = append([]byte(string(book.Bytes[from:to])+"\n"), other.Bytes...)
		other.Turns = nil
		return true
	}},
	{"delivered in the log of another life", "I2", true, func(c *cook) bool {
		e, book, from, to := c.delivered(true)
		i := c.pick(len(c.Readings), func(i int) bool {
			return e != nil && c.Readings[i].Agent == e.Agent && c.Readings[i].Life > book.Life && bytes.Contains(c.Readings[i].Bytes, []byte("…>>>]"))
		})
		if i < 0 {
			return false
		}
		other := &c.Readings[i]
		other.Bytes = append(bytes.TrimRight(other.Bytes, "\n"), "\n"+string(book.Bytes[from:to])+"\n"...)
		book.text(from, to+1-from, "")
		other.Turns = nil
		return true
	}},
	{"deliveries are told in another order", "I2", false, swap("delivered", func(c *cook, a, b *Event) bool {
		return a.Seq+20 < b.Seq && c.once(a.ID) && c.once(b.ID) && a.Attempt == 1 && b.Attempt == 1
	})},
	{"a failed one was taken", "I3", false, status("failed")},
	{"an expired one was taken", "I3", false, status("expired")},
	{"a cancelled one was taken", "I3", false, status("cancelled")},
	{"one in doubt and no kill", "I4", false, status("unknown")},
	{"more in doubt than kills", "I4", true, func(c *cook) bool {
		e := c.event("unknown")
		if e == nil {
			return false
		}
		c.Faults = slices.DeleteFunc(c.Faults, func(f Fault) bool { return f.Agent == e.Agent })
		return true
	}},
	{"taken twice: lines", "I5", false, twice(true, "")},
	{"taken twice: composer", "I5", false, twice(false, "")},
	{"taken again as a redelivery, and no kill", "I5", false, twice(true, " · redelivery")},
	{"a redelivery without its mark", "I5", true, func(c *cook) bool {
		for i := range c.Readings {
			book := &c.Readings[i]
			if at := bytes.Index(book.Bytes, []byte(" · redelivery")); at >= 0 && c.typedBefore(book, at) {
				book.text(at, len(" · redelivery"), "")
				return true
			}
		}
		return false
	}},
	{"a redelivery that nobody wanted", "I5", true, func(c *cook) bool {
		for i := range c.Readings {
			if at := bytes.Index(c.Readings[i].Bytes, []byte(" · redelivery")); at >= 0 {
				c.send(idBefore(c.Readings[i].Bytes, at)).Redelivery = "never"
				return true
			}
		}
		return false
	}},
	{"accepted in another order", "I6", false, swap("queued", func(c *cook, a, b *Event) bool {
		x, y := c.send(a.ID), c.send(b.ID)
		return x.Mode == y.Mode && x.Priority == y.Priority && c.once(a.ID) && c.once(b.ID) && c.tried(a.ID) > b.Seq
	})},
	{"a refused one was taken", "I11", false, answer("queue_full")},
	{"one is refused, and events tell of it", "I11", true, func(c *cook) bool {
		c.send(c.event("expired").ID).Answer = "degraded"
		return true
	}},
	{"an unanswered one is taken, and no event", "I11", false, func(c *cook) bool {
		e, _, _, _ := c.delivered(false)
		if e == nil {
			return false
		}
		c.send(e.ID).Answer = ""
		c.without(e.ID)
		return true
	}},
	{"an unanswered one is taken twice", "I5", false, func(c *cook) bool { return answer("")(c) && twice(true, "")(c) }},

	// What is around a text.
	{"bytes that nobody wrote: lines", "I7", false, around(true, "hello\n", "")},
	{"bytes that nobody wrote: composer", "I7", false, around(false, "hello", "")},
	{"a key that nobody typed", "I7", false, around(false, "\x16", "")},
	{"an empty line", "I7", false, around(true, "\n\n", "")},
	{"a control character in a text", "I7", false, inText(true, 0, "\x03")},
	{"the human's key in a text: lines", "I8", false, inText(true, 0, "QX")},
	{"the human's key in a text: composer", "I8", false, inText(false, 0, "QX")},
	{"an answer of the terminal in a text", "I8", false, inText(false, 0, "\x1b[24;80R")},
	{"the human's key before Enter: lines", "I8", false, around(true, "", "QX")},
	{"the human's key before Enter: composer", "I8", false, around(false, "", "QX")},
	{"a draft before a message", "I8", false, around(false, "QX", "")},
	{"a draft is sent with a message", "I8", false, func(c *cook) bool {
		book, at := c.turn()
		book.Turns[at] = "QX " + book.Turns[at]
		return true
	}},
	{"a word is lost", "I9", false, word(true, func(book *Reading, word string, at int) { book.text(at, len(word)+1, "") })},
	{"a word is lost: composer", "I9", false, word(false, func(book *Reading, word string, at int) { book.text(at, len(word)+1, "") })},
	{"a word comes twice", "I9", false, word(true, func(book *Reading, word string, at int) { book.text(at, 0, word+"\n") })},
	{"a key is lost", "I9", false, word(true, func(book *Reading, word string, at int) { book.text(at+1, 1, "") })},
	{"words change places", "I9", false, func(c *cook) bool {
		i := c.pick(len(c.Typings), func(i int) bool { return len(c.Typings[i].Words) > 4 })
		w := c.Typings[i].Words
		w[0], w[1] = w[1], w[0]
		return true
	}},
	{"a word of a killed life in its middle is lost", "I9", true, func(c *cook) bool {
		book, word, at := c.human(true, true)
		if book == nil {
			return false
		}
		book.text(at, len(word)+1, "")
		return true
	}},
	{"the human's turn is no more than words of another", "I9", false, func(c *cook) bool {
		book, _ := c.turn()
		book.Turns = append(book.Turns, "QXQX")
		return true
	}},
	{"a text is not typed to its end", "I10", false, func(c *cook) bool {
		book, from, _ := c.last(true)
		if book == nil {
			return false
		}
		book.Bytes, book.Turns = book.Bytes[:from-3], nil
		return true
	}},
	{"Enter is missing: composer", "I10", false, around(false, "", "\x00")},
	{"Enter is missing at the end", "I10", false, func(c *cook) bool {
		book, _, to := c.last(true)
		if book == nil {
			return false
		}
		book.Bytes, book.Turns = book.Bytes[:to], nil
		return true
	}},
	{"a turn is typed and not taken", "I10", false, func(c *cook) bool {
		book, at := c.turn()
		book.Turns = slices.Delete(book.Turns, at, at+1)
		return true
	}},
	{"a paste is not closed", "I10", false, func(c *cook) bool {
		i := c.pick(len(c.Readings), func(i int) bool { return bytes.Contains(c.Readings[i].Bytes, []byte(pasteClose+"\r")) })
		c.Readings[i].Bytes = bytes.Replace(c.Readings[i].Bytes, []byte(pasteClose+"\r"), []byte("\r"), 1)
		return true
	}},
	{"no blank line between two messages", "I10", false, func(c *cook) bool {
		i := c.pick(len(c.Readings), func(i int) bool {
			return !c.Readings[i].Line && bytes.Contains(c.Readings[i].Bytes, []byte(">>>]\n\n[relay "))
		})
		c.Readings[i].Bytes = bytes.Replace(c.Readings[i].Bytes, []byte(">>>]\n\n[relay "), []byte(">>>]\n[relay "), 1)
		return true
	}},
	{"a turn that nobody typed", "I7", false, func(c *cook) bool {
		book, at := c.turn()
		book.Turns = append(book.Turns, book.Turns[at])
		return true
	}},
	{"a line that looks like a footer is not indented", "I7", false, func(c *cook) bool {
		i := c.pick(len(c.Readings), func(i int) bool {
			return c.Readings[i].Line && bytes.Contains(c.Readings[i].Bytes, []byte("\n    [end m-1 · reply: x]"))
		})
		if i < 0 {
			return false
		}
		c.Readings[i].Bytes = bytes.Replace(c.Readings[i].Bytes, []byte("\n    [end m-1 · reply: x]"), []byte("\n[end m-1 · reply: x]"), 1)
		c.Readings[i].Turns = nil
		return true
	}},
}

// dropped takes a delivered text out.
func dropped(line bool) func(*cook) bool {
	return func(c *cook) bool {
		e, book, from, to := c.delivered(line)
		if e == nil {
			return false
		}
		book.Bytes = slices.Delete(book.Bytes, from, to)
		for i, turn := range book.Turns {
			at := strings.Index(turn, "[relay "+e.ID+" ")
			if end := strings.Index(turn, "[end "+e.ID+" "); at >= 0 && end >= 0 {
				book.Turns[i] = turn[:at] + turn[end:]
			}
		}
		return true
	}
}

// twice types a delivered text again, behind all others.
func twice(line bool, mark string) func(*cook) bool {
	return func(c *cook) bool {
		e, book, from, to := c.delivered(line)
		if e == nil {
			return false
		}
		s := c.send(e.ID)
		s.Redelivery = "once"
		text := strings.NewReplacer(pasteOpen, "", pasteClose, "").Replace(string(book.Bytes[from:to]))
		text = strings.Replace(text, " from "+s.From, " from "+s.From+mark, 1)
		end := "\n"
		if !line {
			end = "\r"
			book.Turns = append(book.Turns, text)
		} else {
			book.Turns = nil
		}
		book.Bytes = append(book.Bytes, text+end...)
		return true
	}
}

func answer(is string) func(*cook) bool {
	return func(c *cook) bool {
		e, _, _, _ := c.delivered(c.rnd.IntN(2) == 0)
		if e != nil {
			c.send(e.ID).Answer = is
		}
		return e != nil
	}
}

// around puts bytes before the last turn of a life, or before its Enter, the place of
// which NUL takes.
func around(line bool, before, behind string) func(*cook) bool {
	return func(c *cook) bool {
		book, _, to := c.last(line)
		if book == nil {
			return false
		}
		text := string(book.Bytes)
		at := 0
		for _, end := range []string{">>>]\n[relay ", ">>>]\r[relay ", "\r" + pasteOpen + "[relay ", "Z\n[relay ", "Z\r[relay "} {
			if i := strings.LastIndex(text[:to], end); i >= 0 {
				at = max(at, i+strings.IndexAny(end, "\r\n")+1)
			}
		}
		enter := to + strings.IndexAny(text[to:], "\r\n")
		rest := behind + text[enter:]
		if behind == "\x00" {
			rest = text[enter+1:]
		}
		book.Bytes, book.Turns = []byte(text[:at]+before+text[at:enter]+rest), keep(book)
		return true
	}
}

// keep is what is told as taken, of composers alone: lines are told by what is read.
func keep(b *Reading) []string {
	if b.Line {
		return nil
	}
	return b.Turns
}

func word(line bool, change func(book *Reading, word string, at int)) func(*cook) bool {
	return func(c *cook) bool {
		book, word, at := c.human(line, false)
		if book != nil {
			change(book, word, at)
		}
		return book != nil
	}
}

// idBefore is the id of the message whose header has something at a place.
func idBefore(text []byte, at int) string {
	from := bytes.LastIndex(text[:at], []byte("[relay ")) + len("[relay ")
	id, _, _ := strings.Cut(string(text[from:at]), " ")
	return id
}

// typedBefore says whether the message with its mark at a place was typed in a life before.
func (c *cook) typedBefore(book *Reading, at int) bool {
	id := idBefore(book.Bytes, at)
	s := c.send(id)
	return slices.ContainsFunc(c.Readings, func(b Reading) bool {
		return b.Agent == book.Agent && b.Life < book.Life && bytes.Contains(b.Bytes, []byte("[relay "+id+" from "+s.From+"] "))
	})
}
