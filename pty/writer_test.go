package pty

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// record starts an agent that notes what it reads, and returns it and a function that ends it and
// returns the note.
func record(t testing.TB) (r *run, note func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "keys")
	cfg := role(t, "record")
	cfg.Env = append(cfg.Env, "RECORD_TO="+file)
	r = begin(t, cfg)
	r.says("ready")
	return r, func() string {
		t.Helper()
		if err := r.Keys([]byte(endMark)); err != nil {
			t.Fatalf("Keys: %v", err)
		}
		r.finish()
		got, err := os.ReadFile(file)
		must(t, err)
		return strings.TrimSuffix(string(got), endMark)
	}
}

// mustBegin opens a transaction.
func mustBegin(t testing.TB, s *Session) *Tx {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), patience, fmt.Errorf("not within %v", patience))
	defer cancel()
	tx, err := s.Begin(ctx)
	if err != nil {
		t.Fatalf("Begin: %v", err)
	}
	return tx
}

func TestKeysDuringATransactionComeAfterIt(t *testing.T) {
	r, note := record(t)
	ctx := context.Background()
	r.Keys([]byte("before "))
	tx := mustBegin(t, r.Session)
	if n, since := tx.Held(); n != 0 || !since.IsZero() {
		t.Errorf("held %d since %v at the start", n, since)
	}
	tx.Write(ctx, []byte("MESS"))
	start := time.Now()
	for _, k := range []string{"held1 ", "held2 "} {
		if err := r.Keys([]byte(k)); err != nil {
			t.Errorf("Keys: %v", err)
		}
	}
	if n, since := tx.Held(); n != 12 || since.Before(start) || since.After(time.Now()) {
		t.Errorf("held %d since %v, want 12", n, since)
	}
	if n, err := tx.Write(ctx, []byte("AGE ")); n != 4 || err != nil {
		t.Errorf("Write = %d, %v", n, err)
	}
	for range 2 {
		if err := tx.End(); err != nil {
			t.Errorf("End: %v", err)
		}
	}
	if n, err := tx.Write(ctx, []byte("X")); n != 0 || !errors.Is(err, ErrTxEnded) {
		t.Errorf("Write after End = %d, %v", n, err)
	}
	r.Keys([]byte("after "))
	tx = mustBegin(t, r.Session)
	tx.Write(ctx, []byte("NEXT"))
	tx.End()
	if got, want := note(), "before MESSAGE held1 held2 after NEXT"; got != want {
		t.Errorf("the agent read %q, want %q", got, want)
	}
}

func TestTooManyHeldKeysBlockUntilTheEnd(t *testing.T) {
	r, note := record(t)
	tx := mustBegin(t, r.Session)
	keys := bytes.Repeat([]byte("0123456789"), heldMax/10+1000)
	typed := make(chan error, 1)
	go func() { typed <- r.Keys(keys) }()
	becomes(t, "a full store", func() bool { n, _ := tx.Held(); return n == heldMax })
	select {
	case err := <-typed:
		t.Fatalf("Keys = %v, before there was room", err)
	default:
	}
	tx.Write(context.Background(), []byte("MESSAGE"))
	tx.End()
	if err := soon(t, "Keys after the transaction", typed); err != nil {
		t.Errorf("Keys: %v", err)
	}
	if got, want := note(), "MESSAGE"+string(keys); got != want {
		t.Errorf("the agent read %d bytes, want %d in order", len(got), len(want))
	}
}

func TestWriteToADeafAgentReturns(t *testing.T) {
	t.Parallel() // it mostly waits
	r := begin(t, role(t, "deaf"))
	r.says("ready")
	told, tell := context.WithCancelCause(context.Background())
	cause := errors.New("a human came")
	defer tell(cause)
	big := make([]byte, 1<<20)
	tx := mustBegin(t, r.Session)
	// Long enough to write something in on any machine: the agent's tty is empty.
	short, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		some bool
		want error
	}{
		{"deadline of the context", short, true, context.DeadlineExceeded},
		{"default deadline", context.Background(), false, os.ErrDeadlineExceeded},
		{"cancelled while blocked", told, false, cause},
		{"cancelled before", told, false, cause},
	} {
		if c.name == "cancelled while blocked" {
			time.AfterFunc(30*time.Millisecond, func() { tell(cause) })
		}
		within(t, c.name, func() {
			n, err := tx.Write(c.ctx, big)
			if !errors.Is(err, c.want) || n >= len(big) || c.some && n == 0 {
				t.Errorf("%s: Write = %d, %v, want some %v, %v", c.name, n, err, c.some, c.want)
			}
		})
	}
	r.Keys([]byte("kept"))
	within(t, "End", func() { tx.End() }) // although the keys cannot be typed
	if _, err := r.Begin(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Begin during a blocked replay: %v", err)
	}
	within(t, "Keys during a blocked replay", func() { r.Keys([]byte("more")) })
	r.Signal(syscall.SIGKILL)
	if err := r.end(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestWritersEndWithTheAgent(t *testing.T) {
	r := begin(t, role(t, "deaf"))
	r.says("ready")
	ctx := context.Background()
	typed := make(chan error, 1)
	go func() { typed <- r.Keys(make([]byte, 1<<20)) }()
	becomes(t, "a full tty", func() bool { tty, err := r.TTY(); return err == nil && tty.Unread == 4095 })
	begun := make(chan error, 1)
	go func() { _, err := r.Begin(ctx); begun <- err }()
	r.Signal(syscall.SIGKILL)
	within(t, "a blocked Keys or Begin", func() {
		if err := <-typed; !errors.Is(err, ErrEnded) {
			t.Errorf("Keys: %v", err)
		}
		if err := <-begun; !errors.Is(err, ErrEnded) {
			t.Errorf("Begin: %v", err)
		}
	})
	r.end()
	if err := r.Keys([]byte("x")); !errors.Is(err, ErrEnded) {
		t.Errorf("Keys after the end: %v", err)
	}

	r = begin(t, role(t, "deaf"))
	r.says("ready")
	tx := mustBegin(t, r.Session)
	long, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	wrote := make(chan error, 1)
	go func() { _, err := tx.Write(long, make([]byte, 1<<20)); wrote <- err }()
	becomes(t, "a full tty", func() bool { tty, err := r.TTY(); return err == nil && tty.Unread == 4095 })
	go func() { typed <- r.Keys(make([]byte, heldMax+1)) }()
	becomes(t, "a full store", func() bool { n, _ := tx.Held(); return n == heldMax })
	r.Signal(syscall.SIGKILL)
	within(t, "a blocked transaction or Keys", func() {
		if err := <-wrote; !errors.Is(err, ErrEnded) {
			t.Errorf("Write: %v", err)
		}
		if err := <-typed; !errors.Is(err, ErrEnded) {
			t.Errorf("Keys: %v", err)
		}
	})
	if err := tx.End(); !errors.Is(err, ErrEnded) {
		t.Errorf("End: %v", err)
	}
	r.end()
}

func TestBeginWaitsForAHumanWrite(t *testing.T) {
	r := begin(t, sh("stty raw -echo; echo up; kill -STOP $$; head -c100000 | wc -c; head -c4"))
	r.says("up")
	soon(t, "a stop", r.Stops())
	typed := make(chan error, 1)
	go func() { typed <- r.Keys(make([]byte, 100000)) }()
	becomes(t, "a full tty", func() bool { tty, err := r.TTY(); return err == nil && tty.Unread == 4095 })
	short, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := r.Begin(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Begin beside a human write: %v", err)
	}
	r.Signal(unix.SIGCONT)
	tx := mustBegin(t, r.Session)
	if err := soon(t, "Keys before the transaction", typed); err != nil {
		t.Errorf("Keys: %v", err)
	}
	tx.Write(context.Background(), []byte("LAST"))
	tx.End()
	if _, out := r.finish(); !strings.Contains(out, "100000") || !strings.HasSuffix(out, "LAST") {
		t.Errorf("output %q", out)
	}
}

// TestHumanAndTransactionsNeverMix lets a human and an injector write at once, in random pieces:
// what the agent reads must be the human's bytes in order, with each transaction in one piece.
func TestHumanAndTransactionsNeverMix(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		keys := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,40}`), 1, 30).Draw(rt, "keys")
		txs := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(1, 5000), 0, 4), 1, 6).Draw(rt, "transactions")
		r, note := record(t)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for _, k := range keys {
				r.Keys([]byte(k))
			}
		}()
		var whole []string
		for i, pieces := range txs {
			tx := mustBegin(t, r.Session)
			text := ""
			for j, n := range pieces {
				piece := fmt.Sprintf("<%d.%d %s>", i, j, strings.Repeat("X", n))
				if m, err := tx.Write(context.Background(), []byte(piece)); m != len(piece) || err != nil {
					rt.Fatalf("Write = %d, %v", m, err)
				}
				text += piece
			}
			tx.End()
			whole = append(whole, text)
		}
		soon(t, "all keys typed", done)
		got := note()
		for _, text := range whole {
			if text != "" && strings.Count(got, text) != 1 {
				rt.Errorf("a transaction is not in one piece")
			}
			got = strings.Replace(got, text, "", 1)
		}
		if want := strings.Join(keys, ""); got != want {
			rt.Errorf("human bytes %q, want %q", got, want)
		}
	})
}

func BenchmarkKeyRoundTrip(b *testing.B) {
	arrived := make(chan struct{}, 1)
	cfg := role(b, "echo")
	cfg.Tap = func([]byte) { arrived <- struct{}{} }
	r := begin(b, cfg)
	<-arrived // its first words
	for b.Loop() {
		r.Keys([]byte("k"))
		<-arrived
	}
}

func BenchmarkPassThrough(b *testing.B) {
	const mebibytes = 128
	b.SetBytes(mebibytes << 20)
	for b.Loop() {
		cfg := role(b, "text", fmt.Sprint(mebibytes))
		var out tally
		cfg.Output = &out
		r := begin(b, cfg)
		if status, _ := r.finish(); out != mebibytes<<20 {
			b.Fatalf("%d bytes arrived, want %d; %+v", out, mebibytes<<20, status)
		}
	}
}

// TestAnswersOfTheTerminalPass: what the terminal answers or reports is no key that waits, and an
// answer need not wait for the transaction's end; keys come behind it all the same.
func TestAnswersOfTheTerminalPass(t *testing.T) {
	r, note := record(t)
	ctx := context.Background()
	tx := mustBegin(t, r.Session)
	tx.Write(ctx, []byte("a"))
	r.Reports([]byte("<focus>"))
	r.Answers([]byte("<first>"))
	if n, since := tx.Held(); n != 0 || !since.IsZero() {
		t.Errorf("held %d since %v, but no key", n, since)
	}
	if err := tx.Pass(ctx); err != nil {
		t.Errorf("Pass: %v", err)
	}
	r.Keys([]byte("k"))
	r.Answers([]byte("<second>"))
	if n, since := tx.Held(); n != len("<focus>k") || since.IsZero() {
		t.Errorf("held %d since %v", n, since)
	}
	tx.Write(ctx, []byte("b"))
	tx.End()
	r.Keys([]byte("l"))
	if got, want := note(), "a<first>b<second><focus>kl"; got != want {
		t.Errorf("the agent read %q, want %q", got, want)
	}
}

// TestAStoppedAgentsTimeStandsStill: what is being typed when it stops is typed to its end when it
// goes on.
func TestAStoppedAgentsTimeStandsStill(t *testing.T) {
	t.Parallel() // it mostly waits
	r, note := record(t)
	must(t, r.Signal(syscall.SIGSTOP))
	becomes(t, "it is stopped", r.Stopped)
	text := strings.Repeat("typed while it is stopped ", 2000)
	tx := mustBegin(t, r.Session)
	done := make(chan error, 1)
	go func() {
		n, err := tx.Write(context.Background(), []byte(text))
		if n != len(text) && err == nil {
			err = fmt.Errorf("wrote %d of %d", n, len(text))
		}
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("a stopped agent took it: %v", err)
	case <-time.After(chunkWait * 5 / 4): // longer than a chunk may take
	}
	must(t, r.Signal(syscall.SIGCONT))
	within(t, "Write", func() {
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	tx.End()
	if got := note(); got != text {
		t.Errorf("read %d bytes, want %d", len(got), len(text))
	}
}
