package home

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"relay-pty/cmd/internal/testrig"
)

// envDies makes a router of this program: the file there, one line a start, is how each ends.
const envDies = "RELAY_TEST_DIES"

func TestMain(m *testing.M) {
	if file := os.Getenv(envDies); file != "" {
		dies(file)
	}
	os.Exit(m.Run())
}

// dies is a router that ends as the first line says, which it takes away.
func dies(file string) {
	text, _ := os.ReadFile(file) // empty: it has nothing to say
	how, rest, _ := strings.Cut(string(text), "\n")
	os.WriteFile(file, []byte(rest), 0o600) // else the test fails
	if how == "killed" {
		syscall.Kill(os.Getpid(), syscall.SIGKILL) // it never returns
	}
	fmt.Fprint(os.Stderr, strings.ReplaceAll(how, "|", "\n"))
	os.Exit(1)
}

// TestRouterThatCannotStart: what it died of is told at once, and no other one is tried in vain.
func TestRouterThatCannotStart(t *testing.T) {
	const unsaid = "relay: long ago: it rained\n"
	for name, c := range map[string]struct {
		ends []string
		want string
		way  string
	}{
		"it says why": {[]string{"relay: store /x: it is full!|relay: hint: make room|"},
			"(exit status 1): see %s: store /x: it is full!", "make room"},
		"it notes something": {[]string{"relay: port 7 is taken|relay: note: the log is old|"}, "(exit status 1): see %s: port 7 is taken", ""},
		"it crashes":         {[]string{"panic: no more|goroutine 1|"}, "(exit status 1): see %s: panic: no more", ""},
		"it is killed, and the next one says why": {[]string{"killed", "killed", "relay: so be it"}, "(exit status 1): see %s: so be it", ""},
		"it says nothing":                         {[]string{"|"}, "(exit status 1): see %s", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := testrig.Dir(t)
			h := Home{Socket: filepath.Join(dir, "router.sock"), Store: filepath.Join(dir, "store")}
			must(t, os.MkdirAll(h.Store, 0o700))
			must(t, os.WriteFile(h.Log(), []byte(unsaid), 0o600))
			how := filepath.Join(dir, "how")
			must(t, os.WriteFile(how, []byte(strings.Join(append(c.ends, "relay: one too many"), "\n")), 0o600))
			t.Setenv(envDies, how)
			_, err := h.Client(t.Context(), "")
			left, _ := os.ReadFile(how) // empty: more were started
			want := "the router ends as soon as it is started " + fmt.Sprintf(c.want, h.Log())
			if err == nil || err.Error() != want {
				t.Fatalf("got %v, want %s", err, want)
			}
			if hint := err.(*endsError).hint; hint != c.way {
				t.Errorf("the way out is %q, want %q", hint, c.way)
			}
			if string(left) != "relay: one too many" {
				t.Errorf("more were started than %d: left is %q", len(c.ends), left)
			}
		})
	}
}
