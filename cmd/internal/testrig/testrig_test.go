package testrig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) { Main(m) }

// deadline bounds a test that fails; no test that passes comes near it.
func deadline(t *testing.T) context.Context {
	t.Helper()
	return Within(t, time.Minute)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestClientRefusesALineThatIsNoJSON(t *testing.T) {
	ctx := deadline(t)
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	must(t, err)
	defer ln.Close()
	go func() {
		if conn, err := ln.Accept(); err == nil {
			io.WriteString(conn, "{]\n")
		}
	}()
	c, err := Dial(ctx, path)
	must(t, err)
	defer c.Close()
	if err := c.WaitEOF(ctx); err == nil || !strings.Contains(err.Error(), `{]`) {
		t.Errorf("got %v, want the bad line", err)
	}
}

// verdict is a test that tells how it was ended.
type verdict struct{ testing.TB }

func (v *verdict) Helper()                      {}
func (v *verdict) Fatalf(f string, args ...any) { panic("failed: " + fmt.Sprintf(f, args...)) }
func (v *verdict) Skipf(f string, args ...any)  { panic("skipped: " + fmt.Sprintf(f, args...)) }

func TestRequire(t *testing.T) {
	required := func(err error) (says any) {
		defer func() { says = recover() }()
		Require(&verdict{}, "claude", err)
		return nil
	}
	for e2e, want := range map[string]any{"": "skipped: NOT RUN: claude: not there", "require": "failed: claude: not there"} {
		t.Setenv("RELAY_E2E", e2e)
		if got := required(errors.New("not there")); got != want || required(nil) != nil {
			t.Errorf("RELAY_E2E=%s: %v, want %v", e2e, got, want)
		}
	}
}
