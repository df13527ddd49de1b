package e2e

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"relay-pty/cmd/internal/agentrig"
	"relay-pty/cmd/internal/fakemodel"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/realagent"
	"relay-pty/cmd/internal/testrig/term"
	"relay-pty/inject/agents"
	shadow "relay-pty/inject/draft"
	"relay-pty/inject/sight"
	"relay-pty/pty/screen"
)

// sequence is what a human types at random: words, blanks, and of ten things so
// many editing keys of those given.
func sequence(rnd *rand.Rand, editing int, keys []string) []string {
	var out []string
	for range 1 + rnd.IntN(20) {
		switch n := rnd.IntN(10); {
		case n >= editing && n%2 == 0:
			for _, r := range []string{"hello", "world", "fix the test", "of", "数行の", "ünï", "👍", "a-b_c", "don't"}[rnd.IntN(9)] {
				out = append(out, string(r))
			}
		case n >= editing:
			out = append(out, " ")
		default:
			out = append(out, keys[rnd.IntN(len(keys))])
		}
	}
	return out
}

// followed counts verdicts on drafts.
type followed struct{ all, known int }

func (f *followed) add(known bool) {
	f.all++
	if known {
		f.known++
	}
}

func (f followed) String() string {
	return fmt.Sprintf("%d of %d known (%.1f %%), none wrongly", f.known, f.all, 100*float64(f.known)/float64(f.all))
}

// enough fails when too few of the drafts of ordinary typing were followed. Of a
// few, some more may not be.
func (f followed) enough(t *testing.T) {
	t.Helper()
	want := 95
	if f.all < 100 {
		want = 75
	}
	if f.known*100 < f.all*want {
		t.Errorf("%s, want %d %%", f, want)
	}
}

func bare(s string) string { return strings.Join(strings.Fields(s), "") }

// ordinary are the keys of ordinary typing, rare the others. A composer that
// does not know a key does nothing.
var (
	ordinary = []string{
		"\x7f", "\x7f", "\x7f", "\x1b[D", "\x1b[C", "\x1b[H", "\x1b[F", "\x01", "\x05", "\n", "\\\r", "\x15", "\r", "\x03",
		"\x1b[200~pasted text\x1b[201~", "\x1b[I", "\x1b[O", "\x1b[<35;10;20M",
	}
	rare = []string{
		"\x13", "\x1b[A", "\x1b[B", "\x1bOD", "\x1bOC", "\t", "\x10", "\x0b", "\x17", "\x19", "\x1bb", "\x1b[3~", "\x14", "\x12", "\x1f",
		"\x1b[200~three\nlines\nof it\nor four\x1b[201~", "\x1b[200~" + strings.Repeat("long ", 200) + "\x1b[201~", "\x1b[1;5D", "\x1bd", "\x1b\x7f",
	}
)

func TestShadowFollowsTheComposer(t *testing.T) {
	t.Parallel()
	base := seed(t)
	claude, _ := agents.Named("claude") // what the fake shows for a paste
	for name, keys := range map[string][]string{"ordinary": ordinary, "all": append(rare, ordinary...)} {
		var sum followed
		often := map[string]int{"ordinary": 2, "all": 6}[name]
		for i := range uint64(runs(500, 50000)) {
			rnd := rand.New(rand.NewPCG(base, i))
			s := shadow.Shadow{Chips: claude.Composer.Chips}
			s.Width(80)
			h := newHand(t, rnd, func(string) error { return nil }, fakeHands)
			for n, k := range sequence(rnd, often, keys) {
				h.do(k)
				s.Keys([]byte(k), h.last)
				st := s.State()
				shown, at := h.edit.Shown()
				verdict := st.Against(string(shown), true)
				if bare(string(shown)) != "" || len(shown) == 0 { // nobody sees blanks alone
					sum.add(verdict != shadow.Uncertain)
				}
				wrong := verdict == shadow.Agreed && bare(st.Text) != bare(h.edit.Text()) || verdict == shadow.Empty && bare(h.edit.Text()) != "" || name == "ordinary" && verdict == shadow.Empty && h.edit.Text() != "" ||
					name == "ordinary" && verdict == shadow.Agreed && st.AtEnd && at != len(shown) && bare(string(shown[at:])) != ""
				if wrong {
					t.Fatalf("%s, sequence %d, key %d: verdict %v on %q (cursor at the end: %v), the composer holds %q, cursor at %d; typed %q",
						name, i, n, verdict, st.Text, st.AtEnd, h.edit.Text(), at, h.typed.String())
				}
				s.Seen(string(shown), true, h.last)
			}
		}
		t.Logf("%s keys: %s", name, sum)
		if name == "ordinary" {
			sum.enough(t)
		}
	}
}

func TestRealShadowFollowsReadline(t *testing.T) {
	t.Parallel()
	ordinary := []string{
		"\x7f", "\x1b[D", "\x1b[C", "\x1b[H", "\x1b[F", "\x01", "\x05", "\x15", "\x17", "\x1b[3~", "\x1bb", "\x1bf", "\x1b\x7f",
		"\x1b[200~pasted text\x1b[201~",
	}
	all := append([]string{"\x02", "\x06", "\x0b", "\x15", "\x19", "\x14", "\x1bd", "\x0c", "\x1bOD", "\x1bOC"}, ordinary...)
	pipe := filepath.Join(scratch(t), "line")
	must(t, syscall.Mkfifo(pipe, 0o600))
	f, err := os.OpenFile(pipe, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	lines := bufio.NewReader(f)
	tm := testrig.StartTerm(t, term.Options{
		Argv: []string{"bash", "--norc", "--noprofile", "-i"},
		Env:  append(os.Environ(), "PS1=$ ", "PIPE="+pipe, "HISTFILE=", "INPUTRC=/dev/null", "LC_ALL=C.UTF-8"),
	})
	must(t, tm.WaitText(patience(t), "$"))
	must(t, tm.Type(`bind -x '"\C-x\C-d": printf "%s\0%s\0" "$READLINE_LINE" "$READLINE_POINT" >"$PIPE"'`+"\r"))
	prompt := patience(t, "the prompt behind bind") // before, ^D means something else to a shell that does not edit yet
	must(t, tm.WaitScreen(prompt, func(s *screen.Screen) bool {
		row, _ := s.Cursor()
		return row > 0 && strings.TrimSpace(s.Row(row)) == "$"
	}))
	line := func() (text, point string) {
		must(t, tm.Type("\x18\x04"))
		must(t, f.SetReadDeadline(time.Now().Add(2*time.Minute)))
		for _, s := range []*string{&text, &point} {
			part, err := lines.ReadString(0)
			if err != nil {
				t.Fatalf("bash's line not within 2m0s: %v", err)
			}
			*s = strings.TrimSuffix(part, "\x00")
		}
		return text, point
	}
	line()
	base := seed(t)
	var sums [2]followed // of ordinary typing, and of much editing
	for i := range uint64(runs(40, 2000)) {
		rnd, often := rand.New(rand.NewPCG(base, i)), []int{2, 6}[i%2]
		s := shadow.Shadow{Lines: true}
		var typed []string
		for _, k := range sequence(rnd, often, [][]string{ordinary, all}[i%2]) {
			must(t, tm.Type(k))
			s.Keys([]byte(k), time.Now())
			typed = append(typed, k)
		}
		text, point := line()
		st := s.State()
		sums[i%2].add(st.Known)
		if st.Known && (st.Text != text || st.AtEnd && point != strconv.Itoa(utf8.RuneCountInString(text))) {
			t.Fatalf("sequence %d: the shadow knows %q (at the end: %v), the line is %q, point %s; typed %q", i, st.Text, st.AtEnd, text, point, typed)
		}
		must(t, tm.Type("\x05\x15"))
		if text, _ := line(); text != "" {
			t.Fatalf("Ctrl-E and Ctrl-U left %q", text)
		}
	}
	sums[0].enough(t)
	shown(t, "bash's own line against the shadow of keys", "after ordinary typing %s; after much editing %s", sums[0], sums[1])
}

func TestProveShadowFollowsComposers(t *testing.T) {
	t.Parallel()
	for _, a := range realagent.Tried(agentrig.Claude(agentrig.ClaudeNow), agentrig.Codex()) {
		t.Run(a.Name(), func(t *testing.T) { t.Parallel(); shadowReal(t, a) })
	}
}

// shadowReal types at the agent alone, compares what its composer shows, submits
// and compares what its model got.
func shadowReal(t *testing.T, a agentrig.Agent) {
	real := realagent.SetUp(t, a, scratch(t))
	p, _ := agents.Named(a.Profile)
	tm := testrig.StartTerm(t, term.Options{Argv: real.Argv, Env: real.Env, Dir: real.Dir})
	empty := func(s *screen.Screen) bool {
		l := sight.Look(p, s)
		return l.Box.Visible && l.Box.Text == "" && !l.Working
	}
	must(t, tm.WaitScreen(patience(t, "the agent's empty composer"), empty))
	ordinary := []string{
		"\x7f", "\x7f", "\x7f", "\x1b[D", "\x1b[C", "\x1b[H", "\x1b[F", "\x01", "\x05", "\x15", "\n", "\x1b[200~pasted text\x1b[201~",
		"\x1b[200~two\nlines\x1b[201~", "\x1b[I", "\x1b[<35;10;20M",
	}
	all := append([]string{"\x02", "\x06", "\x0b", "\x17", "\x1b[3~", "\x1bb", "\x1b[1;5D", "\x1b\x7f", "\x1bf", "\x19"}, ordinary...)
	base := seed(t)
	var sums [2]followed
	for i := range uint64(200) {
		rnd, often := rand.New(rand.NewPCG(base, i)), []int{2, 6}[i%2]
		s := shadow.Shadow{Chips: p.Composer.Chips}
		s.Width(80)
		var typed []string
		for _, k := range append([]string{"x"}, sequence(rnd, often, [][]string{ordinary, all}[i%2])...) {
			idle(t, 12*time.Millisecond)                              // faster, it is a paste to some
			tm.WaitScreen(t.Context(), func(sc *screen.Screen) bool { // looks once
				if b := sight.Look(p, sc).Box; b.Visible {
					s.Seen(b.Text, b.Top, time.Now())
				}
				return true
			})
			must(t, tm.Type(k))
			s.Keys([]byte(k), time.Now())
			typed = append(typed, k)
		}
		st := s.State()
		agrees := func(sc *screen.Screen) bool {
			b := sight.Look(p, sc).Box
			return b.Visible && st.Against(b.Text, b.Top) != shadow.Uncertain
		}
		while := 10 * time.Second // a slow machine paints late
		if !st.Known {
			while = time.Second // nothing agrees with that
		}
		ctx, cancel := context.WithTimeout(t.Context(), while)
		agreed := tm.WaitScreen(ctx, agrees) == nil
		cancel()
		if bare(st.Text) != "" { // nobody sees blanks alone
			sums[i%2].add(agreed)
		}
		if !agreed {
			t.Logf("sequence %d: known %v, %q; typed %q; screen\n%s", i, st.Known, st.Text, typed, tm.Screen())
		}
		if agreed && st.Text == "" {
			continue
		}
		if !agreed { // also where a key on an empty composer opened something else, as Codex's list of sessions
			must(t, tm.Type("x"))
			composer := func(sc *screen.Screen) bool { return sight.Look(p, sc).Box.Visible }
			look, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			if err := tm.WaitScreen(look, composer); err != nil {
				must(t, tm.PressUntil(patience(t, "the composer behind Esc"), "\x1b", time.Second, composer))
				must(t, tm.Type("x"))
			}
			cancel()
		}
		n := len(real.API.Turns())
		idle(t, 200*time.Millisecond) // sooner, Enter belongs to what is before it
		must(t, tm.Type("\r"))
		must(t, tm.WaitScreen(patience(t, "an empty composer behind Enter"), empty))
		_, err := real.API.WaitTurn(patience(t), func(fakemodel.Turn) bool { return len(real.API.Turns()) > n })
		if err != nil {
			t.Fatalf("sequence %d: %q was submitted and no turn began: %v; typed %q; screen\n%s", i, st.Text, err, typed, tm.Screen())
		}
		if got := a.Received(real.API.Turns()[n]); agreed && bare(got) != bare(st.Text) {
			t.Fatalf("sequence %d: agreed on %q, the model received %q; typed %q", i, st.Text, got, typed)
		}
	}
	sums[0].enough(t)
	shown(t, a.Name()+": its composer against the shadow of keys; what was agreed on is what the model received",
		"after ordinary typing %s; after much editing %s", sums[0], sums[1])
}
