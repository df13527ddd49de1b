package e2e

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/agents"
	"relay-pty/cmd/internal/testrig/term"
)

// A script is what a human does with a program, once without the wrapper and
// once with it. Both runs see the same files, environment, size and answers of
// the terminal; keys are typed when the expected output is there.
type script struct {
	name  string
	needs string   // a program that need not be installed; the script is left out without it
	argv  []string // run by `run`, which is where the wrapper comes in
	// direct leaves `run` to the script's own words, typed into argv.
	direct  bool
	env     []string // replaces or, as "NAME", removes variables
	fake    string   // the fake agent that runs in place of argv; its input log is compared
	streams func(*stage, *term.Options)
	acts    func(*stage)
	// byEye compares what a human sees, at the moments that acts chooses, in place of the output's
	// bytes: for programs that repaint as they find time to.
	byEye bool
	after func(*stage) // the end, for what only shows then
}

// stage is one run of a script.
type stage struct {
	*term.Term
	t       *testing.T
	home    string
	wrapped bool
	mark    int      // output before it is not looked at again
	seen    []string // what a human saw
}

// performance is what a run left.
type performance struct {
	output, input []byte
	look          string
	status        int
	modes         term.Modes
}

// types types keys once all that was to be seen is there.
func (s *stage) types(keys string) {
	s.t.Helper()
	s.mark = len(s.Output())
	must(s.t, s.Type(keys))
}

// sees waits until the output since the last keys holds all parts, in order,
// and ends with the last one.
func (s *stage) sees(parts ...string) {
	s.t.Helper()
	err := s.WaitOutput(patience(s.t), func(out []byte) bool {
		out = out[s.mark:]
		last := []byte(parts[len(parts)-1])
		for _, p := range parts {
			_, rest, found := bytes.Cut(out, []byte(p))
			if !found {
				return false
			}
			out = rest
		}
		return len(out) == 0 || bytes.HasSuffix(out, last)
	})
	if err != nil {
		s.t.Fatalf("%s: no %q: %v\nsince the last keys: %q\nscreen:\n%s", s.name(), parts, err, s.Output()[s.mark:], s.Screen())
	}
}

// shows waits until the screen holds text.
func (s *stage) shows(text string) {
	s.t.Helper()
	if err := s.WaitText(patience(s.t), text); err != nil {
		s.t.Fatalf("%s: %v\nscreen:\n%s", s.name(), err, s.Screen())
	}
}

// resizes changes the terminal's size.
func (s *stage) resizes(rows, cols int) {
	s.t.Helper()
	s.mark = len(s.Output())
	must(s.t, s.Resize(rows, cols))
}

func (s *stage) name() string {
	if s.wrapped {
		return "wrapped"
	}
	return "bare"
}

// perform runs the script in home, which it makes anew, with one of the runners.
func (sc script) perform(t *testing.T, home, run string) performance {
	t.Helper()
	s := &stage{t: t, home: home, wrapped: filepath.Base(run) == "wrapped"}
	must(t, os.RemoveAll(home))
	furnish(t, home, run)
	opts := term.Options{Argv: sc.argv, Dir: home, Answers: true, Env: environ(home, sc.env)}
	if sc.fake != "" {
		fake, err := testrig.Agent(home, sc.fake, agents.Config{BusyMS: 1, Greeting: "ready"})
		must(t, err)
		opts.Argv = fake.EnvArgv()
	}
	if !sc.direct {
		opts.Argv = append([]string{filepath.Join(home, "bin", "run")}, opts.Argv...)
	}
	if sc.streams != nil {
		sc.streams(s, &opts)
	}
	s.Term = testrig.StartTerm(t, opts)
	if sc.acts != nil {
		sc.acts(s)
	}
	status, err := s.Wait(patience(t, "the end of the program"))
	if err != nil {
		t.Fatalf("%s: end: %v\nscreen:\n%s", s.name(), err, s.Screen())
	}
	p := performance{output: s.Output(), status: status}
	p.modes, err = s.Modes()
	must(t, err)
	if p.input, err = os.ReadFile(filepath.Join(home, "bytes")); err != nil && sc.fake != "" {
		t.Fatal(err)
	}
	if sc.after != nil {
		sc.after(s)
	}
	if sc.byEye {
		p.look, p.output = strings.Join(s.seen, "\n---\n"), nil
	}
	return p
}

// environ is the whole environment of a script.
func environ(home string, changes []string) []string {
	env := []string{
		"PATH=" + filepath.Join(home, "bin") + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "TERM=xterm-256color", "LANG=C.UTF-8",
		"PS1=$ ", "XDG_RUNTIME_DIR=" + filepath.Dir(home), "XDG_STATE_HOME=" + filepath.Dir(home), "TMUX_TMPDIR=" + home, "TMPDIR=" + home, "GIT_CONFIG_NOSYSTEM=1", "SHELL=/bin/sh",
	}
	for _, c := range changes {
		name, _, set := strings.Cut(c, "=")
		kept := env[:0:0]
		for _, kv := range env {
			if !strings.HasPrefix(kv, name+"=") {
				kept = append(kept, kv)
			}
		}
		if set {
			kept = append(kept, c)
		}
		env = kept
	}
	return env
}

// runners writes the two kinds of `run`, named bare and wrapped, into dir.
func runners(t *testing.T, dir string) {
	t.Helper()
	wrapped := binary(t) + ` --name r$$ --socket "$XDG_RUNTIME_DIR/r$$" --` // the name differs in a wrapper within a wrapper
	for name, how := range map[string]string{"bare": "", "wrapped": wrapped} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nexec "+how+" \"$@\"\n"), 0o700))
	}
}

// furnish fills home with the files of the scripts and with `run`.
func furnish(t *testing.T, home, run string) {
	t.Helper()
	must(t, os.CopyFS(home, os.DirFS("testdata/transparent")))
	var long strings.Builder
	for i := range 300 {
		fmt.Fprintf(&long, "line %03d %s%s\n", i+1, strings.Repeat("x", i%90), map[bool]string{true: " needle"}[i%57 == 56])
	}
	r := rand.NewChaCha8([32]byte{1})
	noise := make([]byte, 64<<10)
	r.Read(noise) // never fails
	must(t, os.Mkdir(filepath.Join(home, "bin"), 0o700))
	must(t, os.Symlink(run, filepath.Join(home, "bin", "run")))
	for name, content := range map[string]string{"long.txt": long.String(), "random": string(noise)} {
		must(t, os.WriteFile(filepath.Join(home, name), []byte(content), 0o700))
	}
}

// TestRealProgramsDoNotNoticeTheWrapper compares what the human's terminal gets and what
// the program reads, byte by byte, without the wrapper and with it.
func TestRealProgramsDoNotNoticeTheWrapper(t *testing.T) {
	t.Parallel()
	var alike, ran, byEye atomic.Int32
	t.Cleanup(func() {
		if exact := ran.Load() - byEye.Load(); exact < 30 {
			t.Errorf("only %d scripts were compared byte by byte, want 30", exact)
		}
		shown(t, "transparency: scripts whose byte logs under the wrapper equal the bare ones", "%d of %d; and the screens of %d more that repaint as they find time",
			alike.Load()-byEye.Load(), ran.Load()-byEye.Load(), byEye.Load())
	})
	run := scratch(t)
	runners(t, run)
	for _, sc := range scripts {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			if sc.needs != "" {
				_, err := exec.LookPath(sc.needs)
				testrig.Require(t, sc.needs, err)
			}
			ran.Add(1)
			if sc.byEye {
				byEye.Add(1)
			}
			home := filepath.Join(scratch(t), "home")
			bare := sc.perform(t, home, filepath.Join(run, "bare"))
			wrapped := sc.perform(t, home, filepath.Join(run, "wrapped"))
			bare.compare(t, wrapped)
			if !t.Failed() {
				alike.Add(1)
			}
		})
	}
}

func (p performance) compare(t *testing.T, q performance) {
	t.Helper()
	if p.status != q.status {
		t.Errorf("exit status %d bare, %d wrapped", p.status, q.status)
	}
	if p.modes != q.modes {
		t.Errorf("terminal modes afterwards\n%+v bare,\n%+v wrapped", p.modes, q.modes)
	}
	if p.look != q.look {
		t.Errorf("bare, the human sees\n%s\nwrapped\n%s", p.look, q.look)
	}
	differ(t, "output", p.output, q.output)
	differ(t, "input", p.input, q.input)
}

// differ tells the first difference of two byte logs.
func differ(t *testing.T, what string, bare, wrapped []byte) {
	t.Helper()
	if bytes.Equal(bare, wrapped) {
		return
	}
	i := 0
	for i < min(len(bare), len(wrapped)) && bare[i] == wrapped[i] {
		i++
	}
	around := func(b []byte) []byte { return b[max(0, min(i-80, len(b))):min(i+160, len(b))] }
	t.Errorf("%s differs at byte %d of %d bare and %d wrapped:\nbare    …%q…\nwrapped …%q…", what, i, len(bare), len(wrapped), around(bare), around(wrapped))
}

// TestALotOfOutputPassesUnchanged sends text, colours and random bytes through:
// all of it arrives, and the wrapper does not grow on the way.
func TestALotOfOutputPassesUnchanged(t *testing.T) {
	first := runs(8, 32) << 20
	dir := scratch(t)
	block := assorted()
	must(t, os.WriteFile(filepath.Join(dir, "block"), block, 0o600))
	times := runs(24, 1024) * (1 << 20) / len(block)
	want := sha256.New()
	for range times {
		want.Write(block)
	}
	var (
		got           = sha256.New()
		total         int
		before, after int // PSS in KiB, when the first were through and at the end
		w             *testrig.Term
		started       = make(chan struct{})
	)
	w = testrig.StartTerm(t, term.Options{
		Dir: dir, Env: environ(filepath.Join(dir, "home"), nil),
		Argv: []string{binary(t), "--name", "alice", "--socket", filepath.Join(dir, "s"), "--", "sh", "-c",
			fmt.Sprintf(`stty raw -echo; for i in $(seq %d); do echo block; done | xargs -n 100 cat; read x`, times)},
		Sink: func(p []byte) {
			<-started
			got.Write(p)
			last := total
			if total += len(p); last < first && total >= first {
				before = testrig.Memory(t, w.Pid())
			}
			if total == times*len(block) {
				after = testrig.Memory(t, w.Pid())
				w.Type("\n")
			}
		},
	})
	close(started)
	if code, err := w.Wait(bounded(t, time.Duration(runs(2, 10))*time.Minute, "the end of the output")); code != 0 || err != nil {
		t.Fatalf("exit %d, %v", code, err)
	}
	if total != times*len(block) || !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
		t.Errorf("%d bytes of %d arrived, or they differ", total, times*len(block))
	}
	if after-before > 4<<10 {
		t.Errorf("memory grew from %d to %d KiB, want at most 4 MiB more", before, after)
	}
	shown(t, "transparency: bulk output, hash-equal; the wrapper's memory (PSS) on the way and at the end", "%d MiB; after %d MiB %d KiB, at the end %d KiB", total>>20, first>>20, before, after)
}

// assorted is a piece of output of every kind.
func assorted() []byte {
	r := rand.New(rand.NewPCG(3, 7))
	var b bytes.Buffer
	for i := 0; b.Len() < 1<<20; i++ {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, "%d plain words of text that scroll by\r\n", i)
		case 1:
			fmt.Fprintf(&b, "\x1b[38;5;%dm\x1b[%d;%dHcolour\x1b[m", r.IntN(256), r.IntN(30), r.IntN(100))
		case 2:
			fmt.Fprintf(&b, "│ 漢字 🚢 e\u0301 %c ─╯\r\n", rune(0x100+r.IntN(0x2000)))
		case 3:
			for range 40 {
				b.WriteByte(byte(r.Uint32()))
			}
		}
	}
	return b.Bytes()
}
