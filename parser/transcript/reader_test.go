package transcript_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	claude "relay-pty/inject/agents/claude/log"
	"relay-pty/parser/transcript"
	"relay-pty/protocol/counts"
)

func appendTo(t testing.TB, file, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must(t, err)
	_, err = f.WriteString(text)
	if err2 := f.Close(); err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
}

// said is a row in which the model says text.
func said(uuid, text string) string {
	return fmt.Sprintf(`{"type":"assistant","uuid":%q,"timestamp":"2026-11-21T05:40:30.420Z","message":{"model":"m","content":[{"type":"text","text":%q}]}}`+"\n", uuid, text)
}

// poll returns the texts of the news in file.
func poll(t *testing.T, r *transcript.Reader, file string) string {
	t.Helper()
	got, err := r.Poll(file)
	must(t, err)
	var texts []string
	for _, e := range got {
		texts = append(texts, e.Text)
	}
	return strings.Join(texts, ",")
}

func TestReaderFollowsAFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "t.jsonl")
	r := transcript.NewReader(claude.Format, epoch)
	step := func(what, want string) {
		t.Helper()
		same(t, what, poll(t, r, file), want)
	}
	same(t, "no path", poll(t, r, ""), "")
	step("no file yet", "")
	appendTo(t, file, "")
	step("an empty file", "")
	a, b := said("a", "A"), said("b", "B")
	appendTo(t, file, a[:20])
	step("half a row", "")
	appendTo(t, file, a[20:len(a)-1])
	step("a row without its newline", "")
	appendTo(t, file, "\n"+b+said("c", "C")[:9])
	step("two rows and a bit", "A,B")
	step("nothing new", "")
	appendTo(t, file, said("c", "C")[9:]+"garbage\n\n{\"type\":\"assistant\"}\n"+a+said("d", "D"))
	step("bad rows and a known one", "C,D")
	if r.Bad != 2 {
		t.Errorf("%d bad rows, want 2", r.Bad)
	}

	must(t, os.WriteFile(file, []byte(a+said("e", "E")), 0o600))
	step("truncated", "E")
	next := filepath.Join(dir, "next")
	appendTo(t, next, a+b+said("c", "C")+said("d", "D")+said("e", "E")+said("f", "F"))
	must(t, os.Rename(next, file))
	step("replaced by a longer one", "F")
	must(t, os.WriteFile(file, []byte(said("g", strings.Repeat("G", 5000))+said("h", "H")), 0o600))
	step("rewritten in place and longer", strings.Repeat("G", 5000)+",H")
	must(t, os.Remove(file))
	step("gone", "")
	appendTo(t, file, said("h", "H")+said("i", "I"))
	step("there again", "I")
}

func TestReaderSkipsWhatIsOld(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.jsonl")
	appendTo(t, file, said("a", "A"))
	at := time.Date(2026, 11, 21, 5, 40, 30, 420e6, time.UTC)
	for since, want := range map[time.Time]string{
		at: "A", at.Add(900 * time.Microsecond): "A", at.Add(time.Millisecond): "", at.Add(-time.Hour): "A",
	} {
		same(t, since.String(), poll(t, transcript.NewReader(claude.Format, since), file), want)
	}
}

func TestReaderOfOneRecordingIsTheSameAtEverySplit(t *testing.T) {
	all := string(rows(t, "session.jsonl"))
	want := entries(t, "session.jsonl", epoch)
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		file := filepath.Join(t.TempDir(), "t.jsonl")
		r := transcript.NewReader(claude.Format, epoch)
		var got []transcript.Entry
		for rest := all; rest != ""; {
			n := 1 + rng.IntN(min(len(rest), 3000))
			appendTo(t, file, rest[:n])
			rest = rest[n:]
			news, err := r.Poll(file)
			must(t, err)
			got = append(got, news...)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %d entries, want %d", seed, len(got), len(want))
		}
	}
}

func TestReaderTakesLongRowsAndSkipsEndlessOnes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.jsonl")
	r := transcript.NewReader(claude.Format, epoch)
	most := counts.Runs(8<<20, transcript.MaxRow)
	r.Limit(most)
	long := strings.Repeat("x", 5<<20) // over every buffer
	appendTo(t, file, said("a", long)+said("b", "B"))
	same(t, "long", len(poll(t, r, file)), len(long)+len(",B"))
	if cap(r.Rest()) > transcript.KeptRest {
		t.Errorf("keeps %d bytes", cap(r.Rest()))
	}
	mib := strings.Repeat("x", 1<<20)
	for range most>>20 + 2 {
		appendTo(t, file, mib)
		same(t, "endless", poll(t, r, file), "")
		if len(r.Rest()) > most {
			t.Fatalf("holds %d bytes", len(r.Rest()))
		}
	}
	appendTo(t, file, "\n"+said("c", "C"))
	same(t, "after it", poll(t, r, file), "C")
	if r.Bad != 1 {
		t.Errorf("%d bad rows, want 1", r.Bad)
	}
}

func TestReaderSaysWhyItCannotRead(t *testing.T) {
	dir := t.TempDir()
	if _, err := transcript.NewReader(claude.Format, epoch).Poll(dir); err == nil || !strings.HasPrefix(err.Error(), "open transcript: ") {
		t.Errorf("reading a directory: %v", err)
	}
	if _, err := transcript.NewReader(claude.Format, epoch).Poll(dir + "/\x00"); err == nil {
		t.Error("reading a path with a NUL: no error")
	}
}

func TestPollWithoutNewsReadsNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.jsonl")
	appendTo(t, file, string(rows(t, "session.jsonl")))
	r := transcript.NewReader(claude.Format, epoch)
	poll(t, r, file)
	if n := testing.AllocsPerRun(20, func() { r.Poll(file) }); n > 10 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPoll(b *testing.B) {
	file := filepath.Join(b.TempDir(), "t.jsonl")
	all := strings.Repeat(string(rows(b, "session.jsonl")), 100)
	appendTo(b, file, all)
	b.SetBytes(int64(len(all)))
	for b.Loop() {
		if _, err := transcript.NewReader(claude.Format, epoch).Poll(file); err != nil {
			b.Fatal(err)
		}
	}
}
