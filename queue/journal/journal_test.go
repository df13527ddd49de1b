package journal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"relay-pty/protocol"
	"relay-pty/protocol/counts"
	"relay-pty/queue"
)

var t0 = time.Now()

func message(id string) queue.Message {
	return queue.Message{ID: id, From: "bob", Body: "body of " + id, Mode: protocol.ModeSequential, Kind: protocol.KindMessage,
		Redelivery: protocol.RedeliverNever}
}

// run is a mailbox and its log on a journal.
type run struct {
	*queue.Mailbox
	journal     *still
	log         *queue.Outbox
	past        Past
	interrupted []queue.Message
	end         func()
}

// still is a journal whose commits can be kept from going on.
type still struct {
	*Journal
	mu sync.Mutex
}

func (s *still) Commit(changes []queue.Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Journal.Commit(changes)
}

func start(t *testing.T, path string) *run {
	t.Helper()
	opened, past, err := Open(path, nil)
	must(t, err)
	j := &still{Journal: opened}
	r := &run{journal: j, log: queue.NewOutbox(), past: past}
	r.log.Keep(j, past.Epoch, past.Last)
	if r.Mailbox, err = queue.New(queue.Config{}, r.log); err != nil {
		t.Fatal(err)
	}
	r.interrupted = r.Restore(past.Live)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.log.Run(ctx, func(err error) { t.Log("journal:", err) }) }()
	r.end = func() {
		t.Helper()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
	return r
}

func (r *run) accept(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if res, known, err := r.Enqueue(message(id), t0); err != nil || known || !res.Queued.Durable {
			t.Fatalf("%s: %+v, %v, %v", id, res, known, err)
		}
	}
}

func (r *run) heads() (ids []string) {
	for _, m := range r.Heads(100) {
		ids = append(ids, m.ID)
	}
	return ids
}

func pathOf(t *testing.T) string { return filepath.Join(t.TempDir(), "state", "alice.journal") }

func TestRunGoesOnWhereTheLastEnded(t *testing.T) {
	path := pathOf(t)
	r := start(t, path)
	r.accept(t, "a", "b", "c", "d")
	must(t, r.Take(t0, "a", "b"))
	must(t, r.Finish("a", queue.Outcome{Status: protocol.StatusDelivered, Evidence: "turn"}, t0))
	epoch := r.log.Epoch()
	r.end()
	last := r.log.Last()

	r = start(t, path)
	defer func() {
		if r.end(); r.log.Last() != last {
			t.Errorf("the last event is %d at the end, want %d: a restart tells nothing by itself", r.log.Last(), last)
		}
	}()
	if got := fmt.Sprint(r.heads()); got != "[c d]" || r.log.Epoch() != epoch || r.log.Last() != last {
		t.Errorf("%s wait, epoch %s, last event %d; want c and d, %s, %d", got, r.log.Epoch(), r.log.Last(), epoch, last)
	}
	if len(r.interrupted) != 1 || r.interrupted[0].ID != "b" || r.interrupted[0].Body != "body of b" || r.interrupted[0].Attempt != 1 {
		t.Errorf("%+v was interrupted, want b", r.interrupted)
	}
	if res, known, err := r.Enqueue(message("a"), t0); !known || err != nil || res.Status != "delivered" || res.Evidence != "turn" {
		t.Errorf("a again: %+v, %v, %v", res, known, err)
	}
	other := message("a")
	other.Body = "another"
	if _, _, err := r.Enqueue(other, t0); err != queue.ErrDuplicate {
		t.Errorf("another message with the id of a: %v", err)
	}
	follower, err := r.log.Follow(0)
	must(t, err)
	defer follower.Close()
	var seqs []int64
	for {
		got, err := follower.Next(3)
		must(t, err)
		if len(got) == 0 {
			break
		}
		for _, e := range got {
			seqs = append(seqs, e.Seq)
		}
	}
	if int64(len(seqs)) != last || seqs[0] != 1 || seqs[len(seqs)-1] != last {
		t.Errorf("replayed %v, want 1 to %d", seqs, last)
	}
}

func TestOneFileIsOneRuns(t *testing.T) {
	path := pathOf(t)
	r := start(t, path)
	defer r.end()
	r.accept(t, "a")
	if _, _, err := Open(path, nil); err == nil {
		t.Error("opened twice")
	}
}

// TestOldestGoFirst: what is kept is bounded, and what is gone is known to be.
func TestOldestGoFirst(t *testing.T) {
	defer func(e, b int64, m int) { maxEvents, maxBytes, maxEnded = e, b, m }(maxEvents, maxBytes, maxEnded)
	maxEvents, maxBytes, maxEnded = 10, 5000, 5
	path := pathOf(t)
	r := start(t, path)
	for i := range 20 {
		id := fmt.Sprint(i)
		r.accept(t, id)
		must(t, r.Finish(id, queue.Outcome{Status: protocol.StatusFailed}, time.Now()))
	}
	r.end()
	j, past, err := Open(path, nil)
	if err != nil || past.Damaged != "" {
		t.Fatalf("%v, %s", err, past.Damaged)
	}
	defer j.Close() // only read
	kept, err := j.Events(j.Gone(), 100)
	if n := int64(len(kept)); err != nil || n == 0 || n > maxEvents || kept[0].Seq != j.Gone()+1 || kept[n-1].Seq != past.Last {
		t.Errorf("%d events are kept behind %d, of %d, %v", n, j.Gone(), past.Last, err)
	}
	bytes := 0
	for _, e := range kept {
		bytes += len(e.Frame)
	}
	if int64(bytes) > maxBytes {
		t.Errorf("%d bytes of events are kept", bytes)
	}
	if _, ok := j.Find("0"); ok {
		t.Error("the first message is still known")
	}
	if _, ok := j.Find("19"); !ok {
		t.Error("the last message is forgotten")
	}
}

// TestOldestGoFirstFromACopy: a file that was written anew lets go of its oldest events, and of no
// others. Once it let go of all that had been copied, so that a router that was away for some
// seconds never heard of them.
func TestOldestGoFirstFromACopy(t *testing.T) {
	defer func(e int64) { maxEvents = e }(maxEvents)
	maxEvents = 640
	path := pathOf(t)
	r := start(t, path)
	r.accept(t, "first")
	tells := func(to int64) {
		for r.log.Last() < to {
			written, err := r.log.Propose(time.Now(), queue.Proposal{Event: &protocol.State{State: protocol.StateReady}})
			must(t, err)
			must(t, written())
		}
	}
	looks := func(when string) {
		t.Helper()
		gone, last := r.journal.Gone(), r.log.Last()
		if kept := last - gone; kept < min(last, maxEvents-2*maxEvents/chunks) || kept > maxEvents {
			t.Errorf("%s: %d of %d events are kept, want some %d", when, kept, last, maxEvents)
		}
		for at := gone; at < last; {
			got, err := r.journal.Events(at, 100)
			if must(t, err); len(got) == 0 || got[0].Seq != at+1 {
				t.Fatalf("%s: behind event %d of %d to %d stands %v", when, at, gone, last, got)
			}
			at = got[len(got)-1].Seq
		}
	}
	tells(maxEvents - 20)
	looks("before")
	r.journal.mu.Lock()
	r.journal.limit = 0
	r.journal.mu.Unlock()
	tells(maxEvents + 50)
	looks("a copy")
	r.end()
	r = start(t, path)
	defer r.end()
	looks("another run")
	tells(2 * maxEvents)
	looks("later")
}

// failBehindTheWrite makes a commit that fails when all of it is written.
func failBehindTheWrite(t *testing.T, j *Journal, changes ...queue.Change) {
	t.Helper()
	frame, err := framed(newFrame(), changes)
	must(t, err)
	must(t, j.file.append(frame))
	j.broken = true
}

// TestFileIsWrittenAnewAfterAFailure: with all that was there before, and nothing that
// was refused.
func TestFileIsWrittenAnewAfterAFailure(t *testing.T) {
	path := pathOf(t)
	j, past, err := Open(path, nil)
	must(t, err)
	change := func(seq int64, r queue.Record) queue.Change {
		r.Stamp = protocol.Stamp{Seq: seq}
		return queue.Change{Entry: queue.Entry{Seq: seq, Type: "inject_result", About: r.ID, Frame: []byte("{}\n")}, Record: &r}
	}
	waits := func(id string) queue.Record { return queue.Record{Message: message(id), Status: protocol.StatusQueued} }
	must(t, j.Commit([]queue.Change{change(1, waits("a")), change(2, waits("b"))}))
	ended := queue.Record{Message: queue.Message{ID: "a"}, Status: protocol.StatusFailed, EndedAt: t0}
	failBehindTheWrite(t, j, change(3, waits("refused")), change(4, ended))
	before, err := os.Stat(path)
	must(t, err)
	if err := j.Commit([]queue.Change{change(4, ended), change(5, waits("c"))}); err != nil { // what happened is written again
		t.Fatal(err)
	}
	if after, err := os.Stat(path); err != nil || os.SameFile(before, after) {
		t.Errorf("it is the same file (%v)", err)
	}
	must(t, j.Close())
	again, now, err := Open(path, nil)
	if err != nil || now.Damaged != "" || now.Epoch != past.Epoch || now.Last != 5 {
		t.Fatalf("%+v, %v", now, err)
	}
	defer again.Close() // only read
	ids := ""
	for _, r := range now.Live {
		ids += r.ID
	}
	if got, err := again.Events(0, 10); ids != "bc" || len(got) != 4 || err != nil {
		t.Errorf("%s wait, %d events, %v; want bc, 4", ids, len(got), err)
	}
}

// TestOnlyWhatWasSurvivesAFailure: also when the run ends before it can write again.
func TestOnlyWhatWasSurvivesAFailure(t *testing.T) {
	path := pathOf(t)
	r := start(t, path)
	r.accept(t, "waits", "takenback", "ends")
	j := r.journal.Journal
	last := j.file.last
	events, err := j.Events(0, 100)
	must(t, err)
	record := func(id, status string, attempt int) queue.Change {
		rec := queue.Record{Message: message(id), Status: status, Stamp: protocol.Stamp{Seq: last + 1}}
		rec.Attempt = attempt
		return queue.Change{Entry: queue.Entry{Seq: last + 1, Type: "inject_result", About: id, Frame: []byte("{}\n")}, Record: &rec}
	}
	for _, c := range []queue.Change{
		record("waits", protocol.StatusQueued, 0), record("takenback", protocol.StatusInjecting, 1),
		record("ends", protocol.StatusFailed, 0), record("refused", protocol.StatusQueued, 0),
	} {
		failBehindTheWrite(t, j, c)
		must(t, j.Commit(nil))
	}
	r.end()
	again, past, err := Open(path, nil)
	if err != nil || past.Damaged != "" {
		t.Fatalf("%+v, %v", past, err)
	}
	defer again.Close() // only read
	for i, id := range []string{"waits", "takenback", "ends"} {
		if i >= len(past.Live) || past.Live[i].ID != id || past.Live[i].Status != protocol.StatusQueued || past.Live[i].Attempt != 0 {
			t.Fatalf("%s is not as it was: %+v", id, past.Live)
		}
	}
	if now, err := again.Events(0, 100); err != nil || len(now) != len(events) || len(past.Live) != 3 {
		t.Errorf("%d events, %d messages, %v; want %d, 3", len(now), len(past.Live), err, len(events))
	}
}

// TestRemovedFile: what is accepted after somebody removed the journal is kept like all that was
// accepted before.
func TestRemovedFile(t *testing.T) {
	cases := map[string]func(path string) error{
		"the file is removed":      os.Remove,
		"the directory is removed": func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
		"the directory is another": func(path string) error {
			dir := filepath.Dir(path)
			return errors.Join(os.Rename(dir, dir+".away"), os.Mkdir(dir, 0o700))
		},
	}
	for name, remove := range cases {
		t.Run(name, func(t *testing.T) {
			path := pathOf(t)
			r := start(t, path)
			r.accept(t, "a", "b")
			must(t, r.Take(t0, "a"))
			must(t, remove(path))
			r.accept(t, "c")
			epoch, last := r.log.Epoch(), r.log.Last()
			r.end()
			r = start(t, path)
			defer r.end()
			if got := fmt.Sprint(r.heads(), len(r.interrupted)); got != "[b c] 1" || r.past.Epoch != epoch || r.past.Last != last {
				t.Errorf("%s, %+v; want b and c, one interrupted, epoch %s, last %d", got, r.past, epoch, last)
			}
		})
	}
}

// TestReplacedFile: what stands in the place of the journal is left alone, and nothing accepted,
// until it is moved away and the name is nobody else's.
func TestReplacedFile(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"a file":      func(path string) error { return os.WriteFile(path, []byte("another"), 0o600) },
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"a link":      func(path string) error { return os.Symlink("elsewhere", path) },
		"an owner":    func(string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			path := pathOf(t)
			j, _, err := Open(path, nil)
			must(t, err)
			defer j.Close() // all of it is tested before
			said := func(seq int64) []queue.Change {
				return []queue.Change{{Entry: queue.Entry{Seq: seq, Type: protocol.TypeRelayCommand, Frame: []byte("{}\n")}}}
			}
			must(t, errors.Join(j.Commit(said(1)), os.Remove(path), replace(path)))
			want, before := errReplaced, stat(path)
			if before == nil {
				want = errors.New("held by another")
				j.mine = func() error { return want }
			}
			if err := j.Commit(said(2)); !errors.Is(err, want) {
				t.Errorf("committed: %v, want %v", err, want)
			}
			if after := stat(path); before != nil && (after == nil || !os.SameFile(before, after)) {
				t.Error("it was not left alone")
			}
			j.mine = func() error { return nil }
			if err := errors.Join(os.RemoveAll(path), j.Commit(said(2))); err != nil {
				t.Errorf("moved away: %v", err)
			}
			if kept, err := j.Events(0, 10); err != nil || len(kept) != 2 || stat(path) == nil {
				t.Errorf("kept %+v, %v", kept, err)
			}
		})
	}
}

// stat is what stands at path, nil for nothing.
func stat(path string) os.FileInfo {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	return info
}

// TestDamagedFileStaysUntilThereIsAnother: whatever ends the run in between.
func TestDamagedFileStaysUntilThereIsAnother(t *testing.T) {
	path := pathOf(t)
	r := start(t, path)
	r.accept(t, "a")
	r.end()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	if _, err := f.WriteAt([]byte("damage"), 20); err != nil {
		t.Fatal(err)
	}
	f.Close()
	for range 2 { // the first time the new file cannot be made
		wrong := errors.New("no")
		if _, _, err := Open(path, func() error { return wrong }); !errors.Is(err, wrong) {
			t.Fatal(err)
		}
		for _, name := range []string{path, path + ".damaged"} {
			if _, err := os.Stat(name); err != nil {
				t.Error(err)
			}
		}
	}
	j, past, err := Open(path, nil)
	if err != nil || past.Damaged == "" || len(past.Live) != 1 {
		t.Fatalf("%+v, %v", past, err)
	}
	j.Close() // only read
}

// TestFirstFileThatCannotBeMade: it is told from the start until it can.
func TestFirstFileThatCannotBeMade(t *testing.T) {
	way := filepath.Join(t.TempDir(), "in")
	path := filepath.Join(way, "the", "way", "alice.journal")
	must(t, os.WriteFile(way, nil, 0o600))
	j, past, err := Open(path, nil)
	if err != nil || past.Fault == nil {
		t.Fatalf("%+v, %v", past, err)
	}
	said := []queue.Change{{Entry: queue.Entry{Seq: 1, Type: "relay_command", Frame: []byte("{}\n")}}}
	for _, changes := range [][]queue.Change{nil, said, nil, nil} {
		if err := j.Commit(changes); err == nil {
			t.Fatal("it says that it could write")
		}
	}
	must(t, os.Remove(way))
	must(t, j.Commit(said))
	must(t, j.Close())
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// TestToldBeforeThereIsAFile: from its first moment the file has the events that were told
// before, so that whatever ends this run, the next one in its epoch does not give out their
// numbers again.
func TestToldBeforeThereIsAFile(t *testing.T) {
	path := pathOf(t)
	j, _, err := Open(path, nil)
	must(t, err)
	told := []queue.Change{{Entry: queue.Entry{Seq: 1, Type: "state", Frame: []byte("{}\n")}}}
	must(t, j.Commit(told))
	if _, err := os.Stat(path); err == nil {
		t.Fatal("there is a file, and nothing to promise")
	}
	j.broken = true
	must(t, errors.Join(j.Commit(nil), j.Close())) // and here the power goes
	j, past, err := Open(path, nil)
	if err != nil || past.Last != 1 || past.Damaged != "" {
		t.Fatalf("%+v, %v", past, err)
	}
	defer j.Close() // only read
	if kept, err := j.Events(0, 10); err != nil || len(kept) != 1 || kept[0].Seq != 1 {
		t.Errorf("kept %+v, %v", kept, err)
	}
}

// TestEveryBitFlip: whatever is damaged is told, and loses at most what it hits.
func TestEveryBitFlip(t *testing.T) {
	path := pathOf(t)
	r := start(t, path)
	r.accept(t, "a", "b", "c")
	r.end()
	whole, err := os.ReadFile(path)
	must(t, err)
	dir := t.TempDir()
	step := counts.Runs(61, 1) // a prime: no part of a page is always passed over
	told := 0
	for at := 0; at < len(whole); at += step {
		path := filepath.Join(dir, fmt.Sprint(at))
		hurt := append([]byte(nil), whole...)
		hurt[at] ^= 1 << (at % 8)
		must(t, os.WriteFile(path, hurt, 0o600))
		j, past, err := Open(path, nil)
		if err != nil {
			t.Fatalf("byte %d: %v", at, err)
		}
		j.Close() // only read
		if past.Damaged != "" {
			told++
		}
		if len(past.Live) != 3 && (past.Damaged == "" || len(past.Live) < 2) {
			t.Errorf("byte %d: %d messages left, told %q", at, len(past.Live), past.Damaged)
		}
		for _, r := range past.Live {
			if r.Body != "body of "+r.ID {
				t.Errorf("byte %d: %+v", at, r)
			}
		}
		os.RemoveAll(path)
		os.RemoveAll(path + ".damaged")
	}
	t.Logf("%d bytes, of which %d are noticed", len(whole)/step, told)
}

// TestEveryImage: a copy of the file at any moment holds every message that was accepted
// by then, and knows how those ended that were told to have ended.
func TestEveryImage(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		path := filepath.Join(dir, "alice.journal")
		r := start(t, path)
		told := map[string]string{} // the last that was told, by id
		n := 0
		one := func(status string) string {
			for _, id := range slices.Sorted(maps.Keys(told)) { // in an order that a failure repeats
				if told[id] == status {
					return id
				}
			}
			rt.Skip("none is " + status)
			return ""
		}
		finish := func(from, status string) func(*rapid.T) {
			return func(rt *rapid.T) {
				id := one(from)
				if err := r.Finish(id, queue.Outcome{Status: status}, time.Now()); err != nil {
					rt.Fatal(err)
				}
				told[id] = status
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"accept": func(rt *rapid.T) {
				n++
				msg := message(fmt.Sprint(n))
				msg.Body = strings.Repeat("x", rapid.SampledFrom([]int{1, 200, 5000, 60_000}).Draw(rt, "size"))
				if _, _, err := r.Enqueue(msg, time.Now()); err == queue.ErrFull {
					rt.Skip("full")
				} else if err != nil {
					rt.Fatal(err)
				}
				told[msg.ID] = protocol.StatusQueued
			},
			"take": func(rt *rapid.T) {
				id := one(protocol.StatusQueued)
				if err := r.Take(time.Now(), id); err != nil {
					rt.Fatal(err)
				}
				told[id] = protocol.StatusInjecting
			},
			"return": func(rt *rapid.T) {
				id := one(protocol.StatusInjecting)
				if err := r.Return(id, time.Now()); err != nil {
					rt.Fatal(err)
				}
				told[id] = protocol.StatusQueued
			},
			"deliver": finish(protocol.StatusInjecting, protocol.StatusDelivered),
			"fail":    finish(protocol.StatusQueued, protocol.StatusFailed),
			"crash": func(rt *rapid.T) { // the run dies with what it has not written yet
				image := path + ".image"
				r.journal.mu.Lock() // a copy is not made at once
				b, err := os.ReadFile(path)
				r.journal.mu.Unlock()
				if err != nil {
					rt.Skip("no file yet")
				}
				if err := os.WriteFile(image, b, 0o600); err != nil {
					rt.Fatal(err)
				}
				j, past, err := Open(image, nil)
				if err != nil || past.Damaged != "" {
					rt.Fatalf("%v, %s", err, past.Damaged)
				}
				defer j.Close() // only read
				has := map[string]queue.Record{}
				for _, rec := range past.Live {
					has[rec.ID] = rec
				}
				for id, status := range told {
					rec, alive := has[id]
					gone, ended := j.Find(id)
					switch {
					case !alive && !ended:
						rt.Fatalf("%s, told %s, is lost", id, status)
					case ended && gone.Status != status:
						rt.Fatalf("%s ended as %s, told %s", id, gone.Status, status)
					case status == protocol.StatusInjecting && rec.Status != status:
						rt.Fatalf("%s is %s, and was being typed", id, rec.Status)
					}
				}
			},
		})
		r.end()
	})
}

// TestCommitCutShort: what a crash leaves of a commit is left out without a word, for nobody was
// told of it, and the next one goes in its place.
func TestCommitCutShort(t *testing.T) {
	path := pathOf(t)
	r := start(t, path)
	r.accept(t, "a", "b")
	r.end()
	size := stat(path).Size() - head // without the seal
	r = start(t, path)
	r.accept(t, "c")
	r.end()
	whole, err := os.ReadFile(path)
	must(t, err)
	for n := size; n < stat(path).Size()-head; n++ {
		cut := filepath.Join(t.TempDir(), "alice.journal")
		must(t, os.WriteFile(cut, whole[:n], 0o600))
		r := start(t, cut)
		r.accept(t, "d")
		r.end()
		r = start(t, cut)
		if got := fmt.Sprint(r.heads()); got != "[a b d]" || r.past.Damaged != "" {
			t.Fatalf("cut at byte %d of %d: %s wait, told %q", n, len(whole), got, r.past.Damaged)
		}
		r.end()
	}
}

// TestFileIsWrittenAnewWhenMostOfItIsDead: it stays small, with all that is kept.
func TestFileIsWrittenAnewWhenMostOfItIsDead(t *testing.T) {
	defer func(b int64) { maxBytes = b }(maxBytes)
	maxBytes = 100_000
	path := pathOf(t)
	r := start(t, path)
	r.accept(t, "waits")
	var last string
	for i := range 100 {
		m := message(fmt.Sprint(i))
		m.Body = strings.Repeat("x", 60_000)
		_, _, err := r.Enqueue(m, t0)
		must(t, err)
		must(t, r.Finish(m.ID, queue.Outcome{Status: protocol.StatusFailed}, time.Now()))
		if last = m.ID; stat(path).Size() > slack+4*maxBytes {
			t.Fatalf("%d bytes after %d messages", stat(path).Size(), i+1)
		}
	}
	r.end()
	r = start(t, path)
	defer r.end()
	if got := fmt.Sprint(r.heads()); got != "[waits]" || r.past.Damaged != "" {
		t.Errorf("%s wait, told %q", got, r.past.Damaged)
	}
	for _, id := range []string{"0", last} {
		if rec, ok := r.journal.Find(id); !ok || rec.Status != protocol.StatusFailed {
			t.Errorf("%s: %+v, %v", id, rec, ok)
		}
	}
}

// TestNoJournal: what is no file of ours is neither followed nor read.
func TestNoJournal(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"a link": func(path string) error {
			return errors.Join(os.WriteFile(path+".to", nil, 0o600), os.Symlink(path+".to", path))
		},
		"a pipe":      func(path string) error { return unix.Mkfifo(path, 0o600) },
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		path := filepath.Join(t.TempDir(), "alice.journal")
		must(t, put(path))
		if j, _, err := Open(path, nil); err == nil {
			j.Close() // only read
			t.Errorf("%s: opened", name)
		}
	}
}

// FuzzOpen: whatever a file holds, it is told or taken over, and can be gone on with.
func FuzzOpen(f *testing.F) {
	frame, err := framed(putItem(newFrame(), aState, pack([]byte("e"), number(3), number(0))), []queue.Change{
		{Entry: queue.Entry{Seq: 4, Type: "state", Frame: []byte("{}\n")}, Record: &queue.Record{Message: message("a"), Status: protocol.StatusQueued}}})
	must(f, err)
	closeFrame(frame, 0)
	for _, b := range [][]byte{nil, frame, frame[:len(frame)-1], append(slices.Clone(frame), newFrame()...), append([]byte("x"), frame...)} {
		f.Add(b)
	}
	said := []queue.Change{{Entry: queue.Entry{Seq: 1 << 40, Type: protocol.TypeRelayCommand, Frame: []byte("{}\n")}}}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "alice.journal")
		must(t, os.WriteFile(path, b, 0o600))
		j, _, err := Open(path, nil)
		must(t, err)
		must(t, errors.Join(j.Commit(said), j.Close()))
		j, past, err := Open(path, nil)
		must(t, err)
		defer j.Close() // only read
		if past.Damaged != "" || past.Last < 1<<40 {
			t.Fatalf("%q: %+v", b, past)
		}
	})
}

// TestClosedIsFree: a journal that was closed can be opened, whatever has a copy of its file: a
// process has one for a moment where another thread begins a program.
func TestClosedIsFree(t *testing.T) {
	path := pathOf(t)
	r := start(t, path)
	r.accept(t, "a")
	copied, err := unix.Dup(int(r.journal.file.Fd()))
	must(t, err)
	defer unix.Close(copied)
	r.end()
	start(t, path).end()
}
