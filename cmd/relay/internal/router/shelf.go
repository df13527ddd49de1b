package router

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Shelf keeps what a State has saved. Messages that have ended are only there: State has them at
// hand while they are needed, and a line about each.
type Shelf interface {
	// Find returns what was saved of a message, nil for nothing.
	Find(id string) []byte
}

// Saving is what has changed since the one before. Whoever keeps it does so as a whole or not at
// all.
type Saving struct {
	Seq   int64  // of the newest event that is in it
	State []byte // all but the messages
	Pages []Page
	Drop  []Place // of messages that are to be forgotten

	known []*Known
}

// Page is a message as it is kept: the line about it, which is empty before it was sent, and all of
// it. Open says that it has not ended.
type Page struct {
	Place
	Line, All []byte
	Open      bool
}

// Place is where a message stands among all.
type Place struct {
	Seq int64
	ID  string
}

// line is what is known of each message without its page.
type line struct {
	Place
	from, to, channel, redelivers, status string
	short                                 string // id that is read in place of a longer one
	root                                  string // id of the message to several that it is of
	last                                  int64  // number of the newest event about it
	again                                 bool   // superseded by a redelivery
	unsent                                bool   // it was cancelled before
	known                                 *Known // the loaded message; nil: only this summary is in memory
}

// record is how a message is written: those that belong together are named.
type record struct {
	Known
	Group      string   `json:",omitempty"`
	Deliveries []string `json:",omitempty"`
}

// image is how all but the messages is written.
type image struct {
	Last     int64
	LastID   string
	Agents   []*Agent
	Channels map[string]map[string]seat
	Rates    []recent
	Refusals map[string][]refusal
}

// root is the message to several that a message is of, or itself: those are kept, put away and
// forgotten together.
func (m *Known) root() *Known {
	if m.group != nil {
		return m.group
	}
	return m
}

// open reports whether anything is still to be done about a message.
func (m *Known) open() bool {
	if len(m.Deliveries) > 0 {
		return slices.ContainsFunc(m.Deliveries, (*Known).open)
	}
	return !Ended(m.Status)
}

// find is the message of that id, for whoever is about to change it: if it is on the shelf it is
// read from there, and kept in memory from now on. nil where no message has the id.
func (s *State) find(id string) *Known {
	id = s.long(id)
	m := s.messages[id]
	if m == nil {
		m = s.fetch(id, true)
	}
	s.touch(m)
	return m
}

// has reports whether a message has that id, or short id.
func (s *State) has(id string) bool {
	return s.short[id] != "" || s.messages[id] != nil || s.shelf != nil && id != "" && s.shelf.Find(id) != nil
}

// look is a message that nobody changes.
func (s *State) look(id string) *Known {
	id = s.long(id)
	if m := s.messages[id]; m != nil {
		return m
	}
	return s.fetch(id, false)
}

// touch notes that a message changes.
func (s *State) touch(m *Known) {
	if m != nil && s.shelf != nil {
		s.touched[m.ID], s.touched[m.root().ID] = m, m.root()
	}
}

// fetch reads a message from the shelf, together with those that belong to it. stays: it is at hand
// from then on.
func (s *State) fetch(id string, stays bool) *Known {
	if s.shelf == nil || id == "" {
		return nil
	}
	var r record
	if data := s.shelf.Find(id); data == nil || json.Unmarshal(data, &r) != nil {
		return nil // it is not kept, or not by us
	}
	m := &r.Known
	if stays {
		s.know(m)
		if l := s.line(m); l != nil {
			l.known = m
		}
		if r.Group != "" {
			m.group = s.near(r.Group, true)
		}
	}
	for _, part := range r.Deliveries {
		if one := s.near(part, stays); one != nil {
			m.Deliveries = append(m.Deliveries, one)
		}
	}
	return m
}

// near is a message that is at hand, or is fetched.
func (s *State) near(id string, stays bool) *Known {
	if m := s.messages[id]; m != nil {
		return m
	}
	return s.fetch(id, stays)
}

// line is the one about a message, nil where it was not sent.
func (s *State) line(m *Known) *line {
	at, _ := slices.BinarySearchFunc(s.order, m.Seq, func(l line, seq int64) int { return cmp.Compare(l.Seq, seq) })
	for ; at < len(s.order) && s.order[at].Seq == m.Seq; at++ {
		if s.order[at].ID == m.ID {
			return &s.order[at]
		}
	}
	return nil
}

// describe writes the line anew from the message, if that is at hand.
func (l *line) describe() {
	if m := l.known; m != nil {
		l.from, l.to, l.channel, l.redelivers, l.status = m.From, m.To, m.Channel, m.Redelivers, m.Status
		l.again, l.last, l.short = m.Again, m.newest(), m.ShortID
		if m.group != nil {
			l.root = m.group.ID
		}
	}
}

// newest is the number of the newest event about a message.
func (m *Known) newest() int64 {
	last := m.Seq
	for _, seq := range m.Events {
		last = max(last, seq)
	}
	return last
}

// wanted asks want, which is told what a line has: from whom to whom a message went, and how. m is
// written for that, for hundreds of thousands of lines.
func (l *line) wanted(want func(*Message) bool, m *Message) bool {
	m.ID, m.From, m.To, m.Channel, m.Redelivers = l.ID, l.from, l.to, l.channel, l.redelivers
	return want(m)
}

// lineFields is how many fields a line has. One that was written before there were short ids lacks
// the last.
const lineFields = 9

func (l *line) write() []byte {
	return []byte(strings.Join([]string{
		l.from, l.to, l.channel, l.redelivers, l.status, l.root, fmt.Sprint(l.last), fmt.Sprintf("%t %t", l.again, l.unsent), l.short,
	}, "\n"))
}

func (l *line) read(text []byte, one func(string) string) error {
	f := strings.SplitN(string(text), "\n", lineFields)
	if len(f) == lineFields-1 {
		f = append(f, "")
	}
	if len(f) != lineFields {
		return fmt.Errorf("message %s: its line has %d fields", l.ID, len(f))
	}
	l.from, l.to, l.channel, l.redelivers, l.status = one(f[0]), one(f[1]), one(f[2]), strings.Clone(f[3]), one(f[4])
	l.root, l.short = one(f[5]), strings.Clone(f[8])
	l.again, l.unsent = strings.HasPrefix(f[7], "true"), strings.HasSuffix(f[7], "true")
	var err error
	l.last, err = strconv.ParseInt(f[6], 10, 64)
	return err
}

// Save returns what has changed since the last time. It is to be followed by Saved, or by NotSaved.
func (s *State) Save() (v Saving, err error) {
	v = Saving{Seq: s.Last, Drop: s.dropped, known: slices.Collect(maps.Values(s.touched))}
	i := image{s.Last, s.LastID, slices.Collect(maps.Values(s.agents)), s.channels, s.rates.list, s.refusals}
	if v.State, err = json.Marshal(i); err != nil {
		return v, err
	}
	for _, m := range v.known {
		r := record{Known: *m}
		if m.group != nil {
			r.Group = m.group.ID
		}
		for _, one := range m.Deliveries {
			r.Deliveries = append(r.Deliveries, one.ID)
		}
		p := Page{Place: Place{m.Seq, m.ID}, Open: m.open()}
		if p.All, err = json.Marshal(r); err != nil {
			return v, err
		}
		if l := s.line(m); l != nil {
			l.describe()
			p.Line = l.write()
		}
		v.Pages = append(v.Pages, p)
	}
	s.touched, s.dropped = map[string]*Known{}, nil
	return v, nil
}

// unsent gives a message that was cancelled before it was sent a line, so that it is forgotten in
// its time.
func (s *State) unsent(m *Known) {
	at, _ := slices.BinarySearchFunc(s.order, m.Seq, func(l line, seq int64) int { return cmp.Compare(l.Seq, seq) })
	s.order = slices.Insert(s.order, at, line{Place: Place{m.Seq, m.ID}, known: m, unsent: true})
}

// Saved says that what Save returned is kept: what has ended is no longer needed at hand.
func (s *State) Saved() {
	needed := map[*Known]bool{}
	for id, m := range s.messages {
		if s.touched[id] != nil || m.open() {
			needed[m.root()] = true
		}
	}
	for id, m := range s.messages {
		if needed[m.root()] {
			continue
		}
		if l := s.line(m); l != nil {
			l.describe()
			l.known = nil
		}
		delete(s.messages, id)
	}
}

// NotSaved says that what Save returned is not kept.
func (s *State) NotSaved(v Saving) {
	for _, m := range v.known {
		if s.messages[m.ID] == m { // else it was forgotten since
			s.touched[m.ID] = m
		}
	}
	s.dropped = append(v.Drop, s.dropped...)
}

// Forget drops the messages that have ended, of which the log keeps nothing: its events up to a
// number are gone.
func (s *State) Forget(upTo int64) {
	several := map[string]int64{} // the newest events about messages to several
	s.order = slices.DeleteFunc(s.order, func(l line) bool {
		l.describe()
		last := l.last
		switch {
		case l.known != nil && l.known.open():
			last = math.MaxInt64
		case l.root != "":
			last = several[l.root]
		}
		if Group(l.to) {
			several[l.ID] = last
		}
		if last > upTo {
			return false
		}
		delete(s.messages, l.ID)
		delete(s.touched, l.ID)
		delete(s.short, l.short)
		if s.shelf != nil {
			s.dropped = append(s.dropped, l.Place)
		}
		return true
	})
}

// Kept is what a shelf has.
type Kept interface {
	Shelf
	// Load returns what was saved last of the state, nil for nothing, and calls each with the
	// lines, as they came, and open with the messages that have not ended.
	Load(each func(Place, []byte) error, open func(id string)) (state []byte, err error)
}

// Resume is the state that a shelf has; that of an empty log where it has none.
func Resume(shelf Kept) (*State, error) {
	s := NewState()
	s.shelf = shelf
	words := map[string]string{}
	one := func(word string) string {
		if words[word] == "" {
			words[strings.Clone(word)] = strings.Clone(word)
		}
		return words[word]
	}
	var open []string
	data, err := shelf.Load(func(p Place, text []byte) error {
		l := line{Place: p}
		err := l.read(text, one)
		s.order = append(s.order, l)
		if l.short != "" {
			s.short[l.short] = l.ID
		}
		return err
	}, func(id string) { open = append(open, id) })
	if err != nil || data == nil {
		return s, err
	}
	var i image
	if err := json.Unmarshal(data, &i); err != nil {
		return s, err
	}
	s.Last, s.LastID, s.rates = i.Last, i.LastID, ratesOf(i.Rates)
	for _, a := range i.Agents {
		s.agents[a.Name] = a
	}
	maps.Copy(s.channels, i.Channels)
	maps.Copy(s.refusals, i.Refusals)
	for _, id := range open {
		if s.near(id, true) == nil {
			return s, fmt.Errorf("message %s, which waits, is not kept", id)
		}
	}
	s.sort()
	return s, nil
}

// sort makes the lists of what waits, from the messages.
func (s *State) sort() {
	for _, m := range s.messages {
		if m.Status == StatusScheduled {
			s.later = append(s.later, m)
		}
	}
	slices.SortFunc(s.later, func(a, b *Known) int {
		return cmp.Or(cmp.Compare(a.DueAt, b.DueAt), cmp.Compare(a.Seq, b.Seq), strings.Compare(a.ID, b.ID))
	})
	for i := range s.order {
		if m := s.order[i].known; m != nil && len(m.Deliveries) == 0 && m.open() {
			s.inboxes[m.To] = append(s.inboxes[m.To], m)
		}
	}
}
