package e2e

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/inject/agents"
	"relay-pty/inject/agents/logs"
	"relay-pty/parser"
	"relay-pty/parser/sqlite"
	"relay-pty/parser/transcript"
	"relay-pty/pty/screen"
)

// logged is a real agent on a terminal of its own, and its log.
type logged struct {
	*term.Term
	t       *testing.T
	a       agentrig.Agent
	api     *fakemodel.Server
	log     *transcript.Log
	entries []transcript.Entry
}

func openLogged(t *testing.T, a agentrig.Agent) *logged {
	t.Helper()
	dir := scratch(t)
	real := realagent.SetUp(t, a, dir)
	return startLogged(t, a, real.API, term.Options{Argv: real.Argv, Env: real.Env, Dir: real.Dir, Rows: 30, Cols: 100, Answers: true}, dir)
}

func startLogged(t *testing.T, a agentrig.Agent, api *fakemodel.Server, opts term.Options, dir string) *logged {
	t.Helper()
	format, ok := logs.Named(a.Profile)
	if !ok {
		t.Fatalf("no format %s", a.Profile)
	}
	since := time.Now()
	tm := testrig.StartTerm(t, opts)
	p, _ := agents.Named(a.Profile)
	home := filepath.Join(dir, "home", p.Log.Home)
	l := &logged{Term: tm, t: t, a: a, api: api, log: transcript.Follow(format, home, tm.Pid(), since)}
	l.waits(a.Idle)
	return l
}

func (l *logged) waits(text string) {
	l.t.Helper()
	if err := l.WaitText(patience(l.t), text); err != nil {
		l.t.Fatalf("wait for %q: %v\n%s", text, err, l.Screen())
	}
}

// look looks once.
func (l *logged) look() {
	l.t.Helper()
	_, entries, err := l.log.Look()
	if err != nil && !errors.Is(err, transcript.ErrNoSession) {
		l.t.Fatal(err)
	}
	l.entries = append(l.entries, entries...)
}

// until looks until want is so.
func (l *logged) until(what string, want func() bool) {
	l.t.Helper()
	ctx := patience(l.t)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for l.look(); !want(); l.look() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			l.t.Fatalf("%s: %v\ncommands %q\n%s", what, context.Cause(ctx), l.commands(), l.Screen())
		}
	}
}

// says types text, submits it and waits for the turn that it begins.
func (l *logged) says(text string) fakemodel.Turn {
	l.t.Helper()
	n := len(l.api.Turns())
	must(l.t, l.Paste(text))
	err := l.WaitScreen(patience(l.t, "text in the composer"), func(s *screen.Screen) bool {
		return !strings.Contains(term.Dump(s), l.a.Idle) || l.a.Profile == "opencode"
	})
	must(l.t, err)
	ctx := bounded(l.t, takes(l.a.Profile, text), "a turn behind Enter")
	must(l.t, l.PressUntil(ctx, "\r", time.Second, func(*screen.Screen) bool { return len(l.api.Turns()) > n }))
	turn, err := l.api.WaitTurn(patience(l.t, "the end of the turn"), func(t fakemodel.Turn) bool { return t.N == n && !t.Open() })
	must(l.t, err)
	return turn
}

// accepted counts the entries that show the message.
func (l *logged) accepted(id string) int {
	n := 0
	for _, e := range l.entries {
		if transcript.Accepted(e, id) {
			n++
		}
	}
	return n
}

// commands are those of the entries, as "to|reply_to|body".
func (l *logged) commands() []string {
	var all []string
	for _, e := range l.entries {
		for _, f := range transcript.Commands(e) {
			if c, ok := f.Item.(parser.Command); ok {
				all = append(all, fmt.Sprintf("%s|%s|%s", c.To, c.ReplyTo, c.Body))
			}
		}
	}
	return all
}

// varied is n sentences of which none is like another.
func varied(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%x is `code` number %d, **%x** in 日本語 and 🎉. ", sha256.Sum256([]byte{byte(i)}), i*i, i*7919)
	}
	return b.String()
}

func logAgents() []agentrig.Agent {
	return slices.DeleteFunc(agentrig.All(), func(a agentrig.Agent) bool { return a.Profile == "claude" })
}

func TestProveLogsShowWhatWasTypedAndSaid(t *testing.T) {
	t.Parallel()
	for _, a := range logAgents() {
		t.Run(a.Name(), func(t *testing.T) {
			t.Parallel()
			l := openLogged(t, a)
			var lag []time.Duration
			n := 23
			for i, body := range shapes(filepath.Join(t.TempDir(), "canary"))[:n] {
				id := fmt.Sprintf("m%d", i)
				turn := l.says(parser.Envelope{ID: id, From: "alice", Body: body}.Text())
				l.until("the turn of "+id, func() bool { return l.accepted(id) > 0 })
				for _, e := range l.entries {
					if transcript.Accepted(e, id) {
						lag = append(lag, e.Time.Sub(turn.At))
					}
				}
			}
			batch := parser.Envelope{ID: "b1", From: "alice", Body: "one"}.Text() + "\n\n" + parser.Envelope{ID: "b2", From: "bob", Body: "two\n"}.Text()
			l.says(batch)
			l.until("the batch", func() bool { return l.accepted("b1") > 0 && l.accepted("b2") > 0 })
			texts, want := replies()
			for i, text := range texts {
				if a.Profile == "gemini" && len(text) > 1000 {
					// Gemini CLI ends a turn that repeats itself.
					long := varied(40)
					text, want[i] = "->relay:bob <<<"+long+">>>", []string{"bob||" + long}
				}
				l.api.SetMark(fmt.Sprintf("t%d", i), text)
				l.says(fmt.Sprintf("MARK t%d", i))
			}
			all := slices.Concat(want...)
			l.until(fmt.Sprintf("%d commands", len(all)), func() bool { return len(l.commands()) >= len(all) })
			l.says("->relay:eve <<<typed, not said>>>\nTOOL 0")
			l.look()
			if got := l.commands(); !slices.Equal(got, all) {
				t.Errorf("commands\n%q\nwant\n%q", got, all)
			}
			for i := range n {
				if got := l.accepted(fmt.Sprintf("m%d", i)); got != 1 {
					t.Errorf("m%d is accepted %d times", i, got)
				}
			}
			shown(t, a.Name()+": its log shows messages of all shapes and a batch in their turns, and its commands",
				"%d messages, %d commands; row's time after the request %s", len(lag)+2, len(all), spread(lag))
		})
	}
}

// Two of the same agent in one directory, each with a conversation of its own,
// and then each with another one.
func TestProveLogsOfTwoInOneDirectoryAreNotMixedUp(t *testing.T) {
	t.Parallel()
	for _, a := range logAgents() {
		t.Run(a.Name(), func(t *testing.T) {
			t.Parallel()
			dir := scratch(t)
			real := realagent.SetUp(t, a, dir)
			opts := term.Options{Argv: real.Argv, Env: real.Env, Dir: real.Dir, Rows: 30, Cols: 100, Answers: true}
			var both [2]*logged
			for i := range both {
				both[i] = startLogged(t, a, real.API, opts, dir)
				both[i].look()
			}
			for round := range 2 {
				for i, l := range both {
					id := fmt.Sprintf("m%d-%d", round, i)
					l.log.Expected = func() []string { return []string{id} }
					real.API.SetMark(id, "->relay:bob "+id)
					l.says(fmt.Sprintf("[relay %s from x] MARK %s\n[end %s]", id, id, id))
					both[1-i].look() // which is not waiting for it
					l.until(id, func() bool { return l.accepted(id) == 1 && len(l.commands()) == round+1 })
				}
				if round == 0 {
					for _, l := range both {
						l.anew()
					}
				}
			}
			for i, l := range both {
				l.look()
				want := []string{fmt.Sprintf("bob||m0-%d", i), fmt.Sprintf("bob||m1-%d", i)}
				if got := l.commands(); !slices.Equal(got, want) {
					t.Errorf("%d: commands %q, want %q", i, got, want)
				}
				for _, e := range l.entries {
					if transcript.Accepted(e, fmt.Sprintf("m0-%d", 1-i)) || transcript.Accepted(e, fmt.Sprintf("m1-%d", 1-i)) {
						t.Errorf("%d: has %q of the other", i, e.Text)
					}
				}
			}
		})
	}
}

// anew begins another conversation in the same process, behind its first turn. Codex refuses to
// before its screen says that the turn is over, and then has forgotten the command.
func (l *logged) anew() {
	l.t.Helper()
	l.waits(map[string]string{"codex": "Worked for"}[l.a.Profile])
	command := map[string]string{"codex": "/new", "gemini": "/clear", "opencode": "/new", "qwen": "/clear"}[l.a.Profile]
	said := "MARK m0"
	must(l.t, l.Type(command))
	l.waits(command)
	err := l.PressUntil(patience(l.t, "an empty screen behind "+command), "\r", time.Second, func(s *screen.Screen) bool { return !strings.Contains(term.Dump(s), said) })
	if err != nil {
		l.t.Fatalf("%v\n%s", err, l.Screen())
	}
}

// A reader without locks, while SQLite writes, copies its log into the database
// and begins it anew.
func TestRealSQLiteIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("sqlite3")
	testrig.Require(t, "sqlite3", err)
	file := filepath.Join(t.TempDir(), "a.db")
	cmd := exec.CommandContext(t.Context(), path, file)
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	n := runs(3000, 30000)
	written := make(chan error, 1)
	go func() {
		w := bufio.NewWriter(in)
		fmt.Fprintln(w, "pragma journal_mode=wal; pragma synchronous=off; pragma wal_autocheckpoint=30; create table filler(x); create table event(id text primary key, data text);")
		for i := 1; i <= n; i++ {
			if i%7 == 0 {
				fmt.Fprintf(w, "begin; insert into filler values(zeroblob(%d)); rollback;\n", i%50000)
			}
			fmt.Fprintf(w, "insert into event values('e%d', printf('%%.*c', %d, 'x')||'%d');\n", i, i*i%9000, i)
		}
		err := w.Flush()
		written <- errors.Join(err, in.Close(), cmd.Wait())
	}()
	var db *sqlite.DB
	next, looks, over := int64(1), 0, false
	for ctx := patience(t, "all rows"); next <= int64(n); looks++ {
		must(t, context.Cause(ctx))
		if db == nil {
			if db, err = sqlite.Open(file); err != nil {
				continue // not there yet
			}
			defer db.Close()
		}
		select {
		case err := <-written:
			must(t, err)
			over = true
		default:
		}
		var rows []sqlite.Row
		err := db.View(func(tx *sqlite.Tx) error {
			rows = nil
			table, err := tx.Table("event")
			if err != nil {
				return nil // not there yet
			}
			return table.Rows(next, func(r sqlite.Row) (bool, error) { rows = append(rows, r); return true, nil })
		})
		if err != nil && !errors.Is(err, sqlite.ErrBusy) && !errors.Is(err, sqlite.ErrNoWAL) {
			t.Fatalf("row %d: %v", next, err)
		}
		if err != nil {
			continue
		}
		for _, r := range rows {
			i := int(next)
			data := r.Text("data")
			if r.ID != next || r.Text("id") != fmt.Sprintf("e%d", i) || len(data) != max(1, i*i%9000)+len(strconv.Itoa(i)) || !strings.HasSuffix(data, "x"+strconv.Itoa(i)) {
				t.Fatalf("row %d: id %d, %s, %d bytes %q", next, r.ID, r.Text("id"), len(data), clip(data))
			}
			next++
		}
		if over && len(rows) == 0 && next <= int64(n) {
			t.Fatalf("ended at row %d of %d", next-1, n)
		}
	}
	shown(t, "a database that SQLite writes and checkpoints, read without locks: rows in order, whole and once", "%d of %d, %d looks", next-1, n, looks)
}

// OpenCode's database, written by SQLite: what was there before, sessions of other
// directories and of sub-agents, and rows whose numbers are used again.
func TestRealSQLiteHoldsOpencodesSessions(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("sqlite3")
	testrig.Require(t, "sqlite3", err)
	cwd, since := t.TempDir(), time.Now()
	tm := testrig.StartTerm(t, term.Options{Argv: []string{path, filepath.Join(cwd, "opencode.db")}, Dir: cwd})
	events := 0
	run := func(sql string) {
		t.Helper()
		events++
		must(t, tm.Type(sql+fmt.Sprintf(" select 'done %s%d';\r", "no ", events)))
		if err := tm.WaitText(patience(t), fmt.Sprintf("\ndone no %d", events)); err != nil {
			t.Fatalf("%v\n%s", err, tm.Screen())
		}
	}
	said := func(session, text string, at time.Time) {
		t.Helper()
		id := fmt.Sprintf("%09x%03x", at.UnixMilli()&(1<<36-1), events)
		run(fmt.Sprintf(`insert into event values('evt_%s1','%s','message.updated.1','{"info":{"id":"m%s","sessionID":"%s","role":"assistant"}}');`, id, session, id, session) +
			fmt.Sprintf(`insert into event values('evt_%s2','%s','message.part.updated.1','{"part":{"id":"p%s","sessionID":"%s","messageID":"m%s","type":"text","text":"%s","time":{"end":1}},"time":%d}');`, id, session, id, session, id, text, at.UnixMilli()) +
			fmt.Sprintf(`insert into event values('evt_%s3','%s','message.updated.1','{"info":{"id":"m%s","sessionID":"%s","role":"assistant","finish":"tool-calls"}}');`, id, session, id, session))
	}
	run("pragma journal_mode=wal; create table event(id text primary key, aggregate_id text, type text, data text); create table session(id text primary key, parent_id text, directory text, time_created integer);")
	run(fmt.Sprintf("insert into session values('ours',null,'%s',1),('helper','ours','%s',1),('else',null,'/else',1),('gone',null,'%s',1);", cwd, cwd, cwd))
	for range 30 {
		said("ours", "old", since.Add(-time.Hour))
	}
	format, _ := logs.Named("opencode")
	l := &logged{Term: tm, t: t, log: transcript.Follow(format, "", tm.Pid(), since)}
	step := func(want ...string) {
		t.Helper()
		l.until(fmt.Sprint(want), func() bool { return len(l.entries) >= len(want) })
		var got []string
		for _, e := range l.entries {
			got = append(got, e.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("said %q, want %q", got, want)
		}
	}
	l.look()
	said("helper", "helper", time.Now())
	said("else", "else", time.Now())
	said("ours", "one", time.Now())
	step("one")
	said("gone", "two", time.Now())
	step("one", "two")
	run("delete from event where aggregate_id in ('gone', 'else');")
	said("ours", "three", time.Now())
	said("ours", "four", time.Now())
	step("one", "two", "three", "four")
	run("pragma wal_checkpoint(truncate);")
	said("ours", "five", time.Now())
	step("one", "two", "three", "four", "five")

	// What a killed process leaves tells which messages a turn had taken.
	told := func(id, session, parent string) {
		t.Helper()
		at, _ := json.Marshal(text(id, "hello"))
		run(fmt.Sprintf(`insert into event values('evt_%09x%s1','%s','message.updated.1','{"info":{"id":"n%s","sessionID":"%s","role":"user"}}');`, time.Now().UnixMilli()&(1<<36-1), id, session, id, session) +
			fmt.Sprintf(`insert into event values('evt_%09x%s2','%s','message.part.updated.1','{"part":{"id":"q%s","sessionID":"%s","messageID":"n%s","type":"text","text":%s},"time":%d}');`, time.Now().UnixMilli()&(1<<36-1), id, session, id, session, id, at, time.Now().UnixMilli()))
		if parent != "" {
			run(fmt.Sprintf(`insert into event values('evt_%09x%s3','%s','message.updated.1','{"info":{"id":"r%s","sessionID":"%s","role":"assistant","parentID":"%s"}}');`, time.Now().UnixMilli()&(1<<36-1), id, session, id, session, parent))
		}
	}
	told("m1", "ours", "nm1")
	told("m2", "else", "nm2")
	told("m3", "ours", "")
	must(t, tm.Signal(syscall.SIGKILL))
	_, err = tm.Wait(patience(t, "the end of sqlite3"))
	must(t, err)
	if found := transcript.Search(format, cwd, since, []string{"m1", "m2", "m3", "m4"}); !found["m1"] || !found["m2"] || found["m3"] || found["m4"] {
		t.Errorf("found %v; want m1 and m2, which a turn has taken", found)
	}
	if found := transcript.Search(format, cwd, time.Now().Add(time.Hour), []string{"m1"}); found["m1"] {
		t.Error("found before it was sent")
	}
}
