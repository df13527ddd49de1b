package router

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"relay-pty/cmd/relay/internal/chain"
	"relay-pty/protocol"
)

// cupboard is a shelf that is gone with the test.
type cupboard struct {
	last    int64
	rows    []Row // as they were put there
	agents  map[string][]byte
	members map[Member]bool
}

func (c *cupboard) at(id string) int {
	return slices.IndexFunc(c.rows, func(r Row) bool { return r.ID == id || id != "" && r.ShortID == id })
}

func (c *cupboard) Find(id string) []byte {
	if at := c.at(id); at >= 0 {
		return c.rows[at].Data
	}
	return nil
}

func (c *cupboard) Unused(ids []string) []string {
	return slices.DeleteFunc(ids, func(id string) bool { return c.at(id) >= 0 })
}

func (c *cupboard) Load() (v Loaded, _ error) {
	v.Last = c.last
	for _, data := range c.agents {
		v.Agents = append(v.Agents, data)
	}
	for m := range c.members {
		v.Members = append(v.Members, m)
	}
	for _, r := range c.rows {
		if r.Open {
			v.Open = append(v.Open, r.Data)
		}
	}
	return v, nil
}

func (c *cupboard) Newest(f func([]byte) bool) error {
	for _, r := range slices.Backward(c.rows) {
		if r.Sent && !f(r.Data) {
			break
		}
	}
	return nil
}

// keep does what a store does with Rows.
func (c *cupboard) keep(last int64, v Rows) {
	c.last = last
	for _, r := range v.Messages {
		at := c.at(r.ID)
		switch {
		case !r.New:
			c.rows[at] = r
			continue
		case at >= 0:
			c.rows = slices.Delete(c.rows, at, at+1)
		}
		c.rows = append(c.rows, r)
	}
	slices.SortStableFunc(c.rows, func(a, b Row) int { return cmp.Compare(a.Seq, b.Seq) })
	for name, data := range v.Agents {
		if c.agents[name] = data; data == nil {
			delete(c.agents, name)
		}
	}
	for m, in := range v.Members {
		if c.members[m] = in; !in {
			delete(c.members, m)
		}
	}
}

// forget drops the messages that have ended, of which the log keeps nothing, and returns their ids.
func (c *cupboard) forget(upTo int64) (ids []string) {
	goes := map[string]bool{}
	for _, r := range c.rows {
		goes[r.ID] = r.Root == "" && !r.Open && r.Last <= upTo
	}
	c.rows = slices.DeleteFunc(c.rows, func(r Row) bool {
		gone := goes[r.ID] || goes[r.Root]
		if gone {
			ids = append(ids, r.ID)
		}
		return gone
	})
	return ids
}

// life makes events as a router does: what is decided is decided by the state.
type life struct {
	t   *rapid.T
	s   *State
	now int64
	ids []string
}

var people = []string{"alice", "bob", "carol", "script", Human}

func (l *life) one(of ...string) string { return rapid.SampledFrom(of).Draw(l.t, "one") }
func (l *life) yes() bool               { return rapid.Bool().Draw(l.t, "yes") }

// some is the id of a message, mostly.
func (l *life) some() string {
	if len(l.ids) == 0 {
		return "none"
	}
	return rapid.SampledFrom(l.ids).Draw(l.t, "id")
}

func (l *life) runs(name string) bool { a, _ := l.s.Agent(name); return a.Running }

// next are the events of one thing that happens.
func (l *life) next() []Event {
	name := l.one(people[:3]...)
	event := func(kind string) Event {
		e := Event{Type: kind, Agent: name}
		if l.yes() {
			e.Origin = &Origin{"epoch", l.s.Last + 1}
		}
		return e
	}
	l.now += rapid.SampledFrom([]int64{1, 1, 1, 700, 3000, minute, 40 * minute, knownFor / 3}).Draw(l.t, "passes")
	switch rapid.IntRange(0, 14).Draw(l.t, "what") {
	case 0:
		e := event(TypeUp)
		e.PID, e.StartedAt, e.Profile = int(l.now), l.now, "generic"
		return []Event{e}
	case 1:
		e := event(TypeDown)
		e.Origin, e.Reason = nil, l.s.Ending(name, false)
		return []Event{e}
	case 2:
		e := event(l.one(protocol.TypeState, protocol.TypeWaiting, protocol.TypeExit))
		e.State, e.WaitingFor = protocol.StateReady, "draft"
		return []Event{e}
	case 3, 4, 5:
		return l.send()
	case 6, 7, 8:
		return l.result(event(protocol.TypeInjectResult))
	case 9:
		e, _, err := l.s.Remind(Message{ID: l.fresh(), To: l.one(people...), Body: "think"}, 1+l.now%(2*minute), l.now)
		if err != nil {
			return nil
		}
		return []Event{e}
	case 10:
		e, news, err := l.s.Membership(l.one(people...), l.one("#a", "#b"), l.yes())
		if err != nil || !news {
			return nil
		}
		return []Event{e}
	case 11:
		e := Event{Type: l.one(TypePaused, TypeResumed), Agent: name}
		e.Until = l.now + minute
		return []Event{e}
	case 12:
		m, err := l.s.Redelivery(l.some(), l.now)
		if err != nil {
			return nil
		}
		l.ids = append(l.ids, m.ID)
		return []Event{{Type: TypeMessage, Message: m}}
	}
	if first, _, err := l.s.Chain(l.some(), ""); err == nil && l.yes() {
		if e, news, err := l.s.Steers(first, l.yes()); news && err == nil {
			return []Event{e}
		}
	}
	e := event(l.one(protocol.TypeTurnEnd, TypeRefused, TypeKeys, TypeCancelAsked))
	e.IDs, e.Body, e.Tools = []string{l.some()}, "words", l.tools()
	e.ReplyTo = l.some()
	if e.Type == TypeCancelAsked {
		e.ID = l.some()
	}
	if e.Type == TypeRefused {
		e.ID, e.To, e.Timestamp = fmt.Sprint("x", l.s.Last), "nobody", l.now
		e = l.s.Refuse(e, Refusal(l.one("unknown_agent", "rate_limited"), "why"))
	}
	return []Event{e}
}

func (l *life) fresh() string {
	id := fmt.Sprint("m", l.s.Last)
	if l.yes() {
		id = "longer-than-one-reads-" + id
	}
	l.ids = append(l.ids, id)
	return id
}

func (l *life) send() []Event {
	m := Message{
		ID: l.fresh(), From: l.one(people...), To: l.one(append(people, "#a", "#b", All)...), Body: "hi",
		NotifyOnDelivery: l.yes(), NotifyAfterMS: l.now % 2 * minute,
	}
	if l.yes() {
		m.ReplyTo = l.some()
	}
	m, known, err := l.s.Admit(m, l.now, l.runs)
	if err != nil || known != nil {
		return nil
	}
	list, err := l.s.FanOut(m, l.now, l.runs)
	if err != nil {
		return nil
	}
	for _, to := range list {
		l.ids = append(l.ids, DeliveryID(m.ID, to))
	}
	e := Event{Type: TypeMessage, Recipients: list}
	if l.yes() {
		e.IDs, e.Tools = []string{l.some()}, l.tools()
	}
	e.Message = l.s.Link(m, e)
	return []Event{e}
}

func (l *life) tools() *int { return rapid.SampledFrom([]*int{nil, new(0), new(1)}).Draw(l.t, "tools") }

// result is that a message comes on, or ends.
func (l *life) result(e Event) []Event {
	e.ID = l.some()
	m, ok := l.s.Find(e.ID)
	if !ok {
		return nil
	}
	e.Agent = m.To
	e.Status = l.one(protocol.StatusQueued, protocol.StatusInjecting, protocol.StatusDelivered, protocol.StatusFailed, protocol.StatusUnknown)
	if m.Status == StatusScheduled {
		e.Status = protocol.StatusCancelled
	}
	e.Evidence, e.WaitingFor = "turn", "human"
	if l.yes() {
		e.Error = Refusal("stranded", "why")
	}
	return []Event{e}
}

// due are the events of what comes by itself.
func (l *life) due() (list []Event) {
	messages, _ := l.s.Due(l.now, func(string) bool { return false })
	for _, m := range messages {
		l.ids = append(l.ids, m.ID)
		list = append(list, Event{Type: TypeMessage, Message: m})
	}
	presence, _ := l.s.Presence(l.now)
	list = append(append(list, presence...), l.s.Overrun()...)
	over, _ := l.s.Expiring(l.now)
	for _, m := range over {
		e := Event{Type: protocol.TypeInjectResult, Agent: m.To, Message: Message{ID: m.ID}}
		e.Status = protocol.StatusExpired
		list = append(list, e)
	}
	return list
}

// compared is how each field of State is compared that matters from then on.
var compared = map[string]func(s *State, ids []string) any{
	"Rules": nil, // of no event
	"Last":  func(s *State, _ []string) any { return s.Last },
	"messages": func(s *State, ids []string) any {
		var list []Known
		for _, id := range ids {
			if m, ok := s.Find(id); ok {
				list = append(list, m)
			}
		}
		return list
	},
	"short": func(s *State, ids []string) any { // each by its short id, which is of no other
		ways := map[string]string{}
		for _, id := range ids {
			m, ok := s.Find(id)
			if other := ways[m.ShownID()]; ok && other != "" && other != m.ID {
				return fmt.Sprintf("%s and %s are both read as %s", other, m.ID, m.ShownID())
			}
			by, _ := s.Find(m.ShownID())
			ways[m.ShownID()] = by.ID
			if own, _, _ := strings.Cut(m.ShownID(), ":"); len(own) > shortMost || by.ID != m.ID {
				return fmt.Sprintf("%s is read as %s, which finds %s", m.ID, m.ShownID(), by.ID)
			}
		}
		return ways
	},
	"inboxes": func(s *State, _ []string) any {
		var list []Known
		for _, name := range people {
			list = append(list, s.inbox(name)...)
		}
		return list
	},
	"watched":  func(s *State, _ []string) any { return slices.Sorted(maps.Keys(s.watched)) },
	"later":    func(s *State, _ []string) any { return s.Scheduled() },
	"agents":   func(s *State, _ []string) any { return s.Agents() },
	"channels": func(s *State, _ []string) any { return s.channels },
	"rates":    func(s *State, _ []string) any { return fmt.Sprint(s.rates) },
	"shelf":    nil, "changed": nil, "absent": nil, "fresh": nil, "freed": nil, // how it is kept, and who is told
}

func resumed(c *cupboard, all *State) (*State, error) {
	s, err := Resume(c)
	s.Rules = all.Rules
	return s, err
}

// TestWhatIsKeptIsAllThatMatters: a router that begins with what is on the shelf, at any event, and
// puts away what has ended at any other, knows the same as one that has read all events and keeps
// everything at hand.
func TestWhatIsKeptIsAllThatMatters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &cupboard{agents: map[string][]byte{}, members: map[Member]bool{}}
		all := NewState()
		all.Rules.Chains = chain.Rules{Hops: 2, Count: 10}
		kept, err := resumed(c, all)
		must(t, err)
		l := &life{t: t, s: all, now: 1e12}
		var since []Event // what is not kept yet
		var times []int64 // of all
		resume := func() {
			kept, err = resumed(c, all)
			must(t, err)
			for _, e := range since {
				kept.Apply(e)
			}
		}
		for range rapid.IntRange(1, 120).Draw(t, "events") {
			for _, decide := range []func() []Event{l.next, l.due} { // by what the events before have made
				for _, e := range decide() {
					e.EventID = fmt.Sprint("e", all.Last)
					e.Seq, e.Timestamp = all.Last+1, cmp.Or(e.Timestamp, l.now)
					all.Shorten(&e, func() string { return fmt.Sprint("s", all.Last) })
					since, times = append(since, e), append(times, e.Timestamp)
					all.Apply(e)
					kept.Apply(e)
				}
			}
			keep := func() {
				v, err := kept.Take()
				must(t, err)
				c.keep(all.Last, v)
				since = nil
				kept.Saved(v)
				rows(t, c, all)
			}
			switch rapid.IntRange(0, 9).Draw(t, "then") {
			case 0, 1, 2:
				keep()
			case 3: // it is killed, or the disk was full
				resume()
			case 4: // the log loses its oldest events, none of the last minute
				keep()
				old, _ := slices.BinarySearch(times, l.now-minute)
				for _, id := range c.forget(rapid.Int64Range(0, int64(old)).Draw(t, "gone")) {
					delete(all.short, all.messages[id].ShortID)
					delete(all.messages, id)
				}
			}
			same(t, kept, all, l.ids)
		}
	})
}

// rows says where what is kept of messages is not what they are.
func rows(t *rapid.T, c *cupboard, all *State) {
	t.Helper()
	for _, m := range all.messages {
		want, err := m.row()
		must(t, err)
		at := c.at(m.ID)
		if at < 0 {
			t.Fatalf("%s is not kept", m.ID)
		}
		got := c.rows[at]
		got.Data, got.New, want.Data, want.New = nil, false, nil, false
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("kept is\n%+v\nof\n%+v", got, want)
		}
	}
}

func same(t *rapid.T, got, want *State, ids []string) {
	t.Helper()
	for name, of := range compared {
		if of == nil {
			continue
		}
		got, want := of(got, ids), of(want, ids)
		if reflect.DeepEqual(got, want) {
			continue
		}
		a, b := reflect.ValueOf(got), reflect.ValueOf(want)
		for i := 0; a.Kind() == reflect.Slice && i < min(a.Len(), b.Len()); i++ {
			if got, want := a.Index(i).Interface(), b.Index(i).Interface(); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s %d is\n%#v\nwant\n%#v", name, i, got, want)
			}
		}
		t.Fatalf("%s is\n%+v\nwant\n%+v", name, got, want)
	}
}

// TestNothingIsForgottenOnTheShelf: each field that the state consists of is written, and compared.
func TestNothingIsForgottenOnTheShelf(t *testing.T) {
	of := reflect.TypeFor[State]()
	for i := range of.NumField() {
		if _, ok := compared[of.Field(i).Name]; !ok {
			t.Errorf("State.%s is not compared: is it kept?", of.Field(i).Name)
		}
	}
	derived := map[string]bool{"Known.Deliveries": true, "Known.group": true, "Known.kin": true, "Known.at": true, "Message.Confirmed": true, "Message.Ahead": true}
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice:
			walk(of.Elem())
		case reflect.Map:
			walk(of.Elem())
		case reflect.Struct:
			if seen[of] {
				return
			}
			seen[of] = true
			for i := range of.NumField() {
				f := of.Field(i)
				name := of.Name() + "." + f.Name
				if !derived[name] && (!f.IsExported() && !f.Anonymous || f.Tag.Get("json") == "-") {
					t.Errorf("%s is not written", name)
				}
				walk(f.Type)
			}
		}
	}
	walk(reflect.TypeFor[Known]())
	walk(reflect.TypeFor[Agent]())
}
