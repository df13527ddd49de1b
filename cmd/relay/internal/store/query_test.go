package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"relay-pty/cmd/relay/internal/router"
)

// wanted is what a question means, row by row.
func wanted(q router.Query, r router.Row, all []router.Row) bool {
	has := func(id string) bool { return slices.ContainsFunc(all, func(r router.Row) bool { return r.ID == id }) }
	if r.Seq <= q.After || !r.Sent || q.From != "" && r.From != q.From {
		return false
	}
	if slices.Contains(q.Missed, r.To) && !r.Part && r.From != q.To && !has(r.ID+":"+q.To) {
		return true
	}
	return (q.Dead && r.Dead || !q.Dead && (!r.Part || r.To == q.To || r.To == q.Target)) &&
		(q.To == "" || r.To == q.To) && (q.Target == "" || r.To == q.Target || r.From == q.Target)
}

// TestMessagesAreFound: whatever is asked, those are found that are wanted, as they came.
func TestMessagesAreFound(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	last := int64(1000)
	rapid.Check(t, func(r *rapid.T) {
		_, err := s.w.Exec(`DELETE FROM messages`)
		must(r, err)
		last++
		names := []string{"ann", "bob", "ci", "#x", "*"}
		one := rapid.SampledFrom(names)
		yes := rapid.Bool()
		var all []router.Row
		for i := range rapid.IntRange(0, 30).Draw(r, "messages") {
			m := router.Row{ID: fmt.Sprint("m", i), Seq: int64(i + 1), From: one.Draw(r, "from"), To: one.Draw(r, "to"), Sent: i%7 != 0, New: true, Status: "accepted", Last: int64(i + 1)}
			if m.From == m.To { // which is refused
				m.To = "dan"
			}
			if i > 0 && yes.Draw(r, "part") {
				m.ID, m.Root, m.Part = all[i-1].ID+":"+m.To, all[i-1].ID, true
			}
			m.Dead, m.Open = m.Sent && yes.Draw(r, "dead"), yes.Draw(r, "open")
			m.Data = []byte(m.ID)
			all = append(all, m)
		}
		must(r, s.Commit(context.Background(), []Entry{{last, "state", "bob", []byte("x")}}, router.Rows{Messages: all}))
		for range 10 {
			some := rapid.SampledFrom([]string{"", "", "ann", "bob", "ci"})
			q := router.Query{
				After: rapid.Int64Range(0, 20).Draw(r, "after"), From: some.Draw(r, "q.from"), To: some.Draw(r, "q.to"), Target: some.Draw(r, "q.target"),
				Dead: yes.Draw(r, "q.dead"), Last: rapid.IntRange(0, 5).Draw(r, "last"),
			}
			if q.To != "" && !q.Dead && yes.Draw(r, "missed") {
				q.Missed = []string{"#x", "*"}
			}
			var want []string
			for _, m := range all {
				if wanted(q, m, all) {
					want = append(want, m.ID)
				}
			}
			older := 0
			if q.Last > 0 {
				older = max(0, len(want)-q.Last)
				want = want[older:]
			}
			got, more, upTo, err := s.Messages(context.Background(), q)
			if err != nil || !slices.Equal(got, want) || more != older || upTo != last {
				r.Fatalf("%+v: %v and %d older, up to %d, %v; want %v and %d", q, got, more, upTo, err, want, older)
			}
		}
		counts, err := s.Ended(context.Background())
		must(r, err)
		n := 0
		for _, m := range all {
			if m.Sent && !m.Open {
				n++
			}
		}
		if counts["accepted"] != n {
			r.Errorf("%v have ended, want %d", counts, n)
		}
	})
}

// TestEachQuestionHasItsIndex: none reads all messages, however many there are.
func TestEachQuestionHasItsIndex(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	for _, q := range []router.Query{
		{}, {Last: 5}, {From: "ann"}, {To: "ann", Last: 3}, {Target: "ann"}, {To: "ann", From: "bob"}, {Dead: true, To: "ann"}, {To: "ann", Missed: []string{"#x", "*"}},
	} {
		for _, a := range arms(q, 9) {
			rows, err := s.r.Query("EXPLAIN QUERY PLAN SELECT id, seq, n FROM messages WHERE "+strings.Join(a.where, " AND ")+" ORDER BY seq DESC, n DESC LIMIT 10", a.args...)
			must(t, err)
			plan := ""
			for rows.Next() {
				var id, parent, no int
				var detail string
				must(t, rows.Scan(&id, &parent, &no, &detail))
				plan += detail + "\n"
			}
			must(t, rows.Err())
			if !strings.HasPrefix(plan, "SEARCH messages USING") || strings.Contains(plan, "SCAN") || strings.Contains(plan, "TEMP B-TREE FOR ORDER BY") {
				t.Errorf("%+v is answered by %s", q, plan)
			}
		}
	}
}

// TestBegun: ids and short ones, the newest first, and whether there are more.
func TestBegun(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	var all []router.Row
	for i := range begunMost + 20 {
		all = append(all, router.Row{ID: fmt.Sprint("many", i), ShortID: fmt.Sprint("s", i), Seq: int64(i + 1), Sent: true, New: true})
	}
	must(t, s.Commit(t.Context(), []Entry{{1, "state", "bob", []byte("x")}}, router.Rows{Messages: all}))
	for word, want := range map[string]struct {
		first string
		n     int
		more  bool
	}{"many": {"many119", 100, true}, "many11": {"many119", 11, false}, "s11": {"many119", 11, false}, "s7": {"many79", 11, false}, "x": {"", 0, false}, "M": {"", 0, false}} {
		ids, more, err := s.Begun(t.Context(), word)
		if err != nil || len(ids) != want.n || more != want.more || want.n > 0 && ids[0] != want.first {
			t.Errorf("%s: %v, more: %v, %v", word, ids, more, err)
		}
	}
	if s.Find("s7") == nil || s.Find("many7") == nil || s.Find("s") != nil {
		t.Error("a message is not found by its ids, or another is")
	}
}

// TestForget drops what has ended, with all that belongs to it, and nothing else.
func TestForget(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	var all []router.Row
	add := func(id, root string, last int64, open bool) {
		all = append(all, router.Row{ID: id, Root: root, Seq: last, Last: last, Open: open, Sent: true, New: true, Data: []byte(id)})
	}
	for i := range forgetMost + 10 {
		add(fmt.Sprint("old", i), "", int64(i%7+1), false)
	}
	add("open", "", 1, true)
	add("new", "", 9, false)
	add("group", "", 5, false)
	add("group:a", "group", 2, false)
	add("late", "", 9, false)
	add("late:a", "late", 2, false)
	must(t, s.Commit(t.Context(), []Entry{{1, "state", "bob", []byte("x")}}, router.Rows{Messages: all}))
	must(t, s.Forget(t.Context(), 8))
	left := []string{}
	for _, r := range all {
		if s.Find(r.ID) != nil {
			left = append(left, r.ID)
		}
	}
	if want := []string{"open", "new", "late", "late:a"}; !slices.Equal(left, want) {
		t.Errorf("left are %v, want %v", left, want)
	}
}

// TestUnused: an id that no message has is found by an index.
func TestUnused(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	must(t, s.Commit(t.Context(), nil, router.Rows{Messages: []router.Row{
		{ID: "one", Seq: 1, New: true, Data: []byte("{}")}, {ID: "a-long-one", ShortID: "two", Seq: 2, New: true, Data: []byte("{}")},
	}}))
	if got, want := s.Unused([]string{"one", "two", "three", "a-long-one", "four"}), []string{"three", "four"}; !slices.Equal(got, want) {
		t.Errorf("unused are %q, want %q", got, want)
	}
	plan := ""
	must(t, rowsOf(t.Context(), s.r, func(row *sql.Rows) error {
		var id, parent, no int
		var detail string
		err := row.Scan(&id, &parent, &no, &detail)
		plan += detail + "\n"
		return err
	}, "EXPLAIN QUERY PLAN "+idsUnused, "[]"))
	if strings.Count(plan, "SEARCH messages USING COVERING INDEX") != 2 || strings.Contains(plan, "SCAN messages") {
		t.Errorf("it is answered by %s", plan)
	}
}
