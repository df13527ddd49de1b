package router

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"relay-pty/protocol"
)

// cupboard is a shelf that is gone with the test.
type cupboard struct {
	state []byte
	pages map[string]Page
}

func (c *cupboard) Find(id string) []byte { return c.pages[id].All }

func (c *cupboard) Load(each func(Place, []byte) error, open func(string)) ([]byte, error) {
	var list []Page
	for _, p := range c.pages {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Page) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), strings.Compare(a.ID, b.ID)) })
	for _, p := range list {
		if len(p.Line) > 0 {
			if err := each(p.Place, p.Line); err != nil {
				return nil, err
			}
		}
		if p.Open {
			open(p.ID)
		}
	}
	return c.state, nil
}

// keep does what a store does with a Saving.
func (c *cupboard) keep(v Saving) {
	c.state = v.State
	for _, p := range v.Pages {
		c.pages[p.ID] = p
	}
	for _, p := range v.Drop {
		delete(c.pages, p.ID)
	}
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
	switch rapid.IntRange(0, 13).Draw(l.t, "what") {
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
		e, _, err := l.s.Remind(Reminder{ID: l.fresh(), To: l.one(people...), Text: "think", DelayMS: 1 + l.now%(2*minute)}, l.now)
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
	e := event(l.one(protocol.TypeTurnEnd, TypeRefused, TypeKeys, TypeCancelAsked))
	e.IDs, e.Body = []string{l.some()}, "words"
	e.ReplyTo = l.some()
	if e.Type == TypeCancelAsked {
		e.ID = l.some()
	}
	if e.Type == TypeRefused {
		e.ID, e.To, e.Timestamp = fmt.Sprint("x", l.s.Last), "nobody", l.now
		e = l.s.Refuse(e, refuse(l.one("unknown_agent", "rate_limited"), "why"))
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
	return []Event{{Type: TypeMessage, Message: m, Recipients: list}}
}

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
		e.Error = refuse("stranded", "why")
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
	list = append(list, presence...)
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
	"Rules":  nil, // of no event
	"Last":   func(s *State, _ []string) any { return s.Last },
	"LastID": func(s *State, _ []string) any { return s.LastID },
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
	"order": func(s *State, _ []string) any {
		all := func(*Message) bool { return true }
		list, _ := s.Newest(0, 1000, all)
		some, older := s.Newest(s.Last/2, 3, func(m *Message) bool { return m.To == "bob" && m.Channel == "" && m.Redelivers == "" })
		dead, deader := s.Dead(0, 3, all)
		return []any{list, some, older, dead, deader, s.Count(func(string) bool { return true })}
	},
	"inboxes": func(s *State, _ []string) any {
		var list []Known
		for _, name := range people {
			list = append(list, s.Inbox(name)...)
		}
		return list
	},
	"later":    func(s *State, _ []string) any { return s.Scheduled() },
	"agents":   func(s *State, _ []string) any { return s.Agents() },
	"channels": func(s *State, _ []string) any { return s.channels },
	"rates":    func(s *State, _ []string) any { return fmt.Sprint(s.rates) },
	"refusals": func(s *State, _ []string) any { return fmt.Sprint(s.refusals) },
	"shelf":    nil, "touched": nil, "dropped": nil, // how it is kept
}

// TestWhatIsKeptIsAllThatMatters: a router that begins with what is on the shelf, at any event, and
// puts away what has ended at any other, knows the same as one that has read all events and keeps
// everything at hand.
func TestWhatIsKeptIsAllThatMatters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &cupboard{pages: map[string]Page{}}
		all := NewState()
		kept, err := Resume(c)
		must(t, err)
		l := &life{t: t, s: all, now: 1e12}
		var since []Event // the last Save that was kept
		for range rapid.IntRange(1, 120).Draw(t, "events") {
			for _, decide := range []func() []Event{l.next, l.due} { // by what the events before have made
				for _, e := range decide() {
					e.EventID = fmt.Sprint("e", all.Last)
					e.Seq, e.Timestamp = all.Last+1, cmp.Or(e.Timestamp, l.now)
					all.Shorten(&e, func() string { return fmt.Sprint("s", all.Last) })
					since = append(since, e)
					all.Apply(e)
					kept.Apply(e)
				}
			}
			keep := func(lost bool) {
				v, err := kept.Save()
				must(t, err)
				if lost {
					kept.NotSaved(v)
					return
				}
				c.keep(v)
				since = nil
				kept.Saved()
			}
			switch rapid.IntRange(0, 9).Draw(t, "then") {
			case 0, 1, 2:
				keep(l.yes())
			case 3: // it is killed
				if kept, err = Resume(c); err != nil {
					t.Fatal(err)
				}
				for _, e := range since {
					kept.Apply(e)
				}
			case 4: // the log loses its oldest events, of which all is kept
				keep(false)
				upTo := rapid.Int64Range(0, all.Last).Draw(t, "gone")
				all.Forget(upTo)
				kept.Forget(upTo)
				keep(false)
			}
			same(t, kept, all, l.ids)
		}
	})
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
	derived := map[string]bool{"Known.group": true, "Message.Confirmed": true, "Message.Ahead": true}
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
	walk(reflect.TypeFor[image]())
}
