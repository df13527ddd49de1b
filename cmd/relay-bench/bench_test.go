package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
)

// TestMeasures: each thing is measured, and nothing is left.
func TestMeasures(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN with -short: builds and times whole programs")
	}
	bin := testrig.Dir(t)
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin+"/", ".", "../relay", "../relay-pty")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	tmp := filepath.Join(testrig.Dir(t), "t")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "relay-bench"), "-n", "2")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, &errs)
	}
	t.Logf("%s", out)
	for _, m := range measures {
		if !regexp.MustCompile(regexp.QuoteMeta(string(m.measure)) + ` +([0-9]+\.[0-9] +){3}|not measured`).Match(out) {
			t.Errorf("%s was not measured", m.measure)
		}
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

func TestReport(t *testing.T) {
	list := func(ms ...int) (d []time.Duration) {
		for _, n := range ms {
			d = append(d, time.Duration(n)*time.Millisecond)
		}
		return d
	}
	for name, c := range map[string]struct {
		warm, keys []time.Duration
		want       string
	}{
		"within the bound":             {list(30, 14, 2), nil, ""},
		"the median is over":           {list(30, 16, 2), nil, "over the bound: relay send, a router runs: 16.0 ms"},
		"a quick machine, and over":    {list(16), list(1), "over the bound: relay send, a router runs: 16.0 ms"},
		"a slow machine, and within":   {list(16), list(9, 3, 2), ""},
		"a slow machine, and yet over": {list(18), list(9, 3, 2), "over the bound: relay send, a router runs: 18.0 ms"},
	} {
		var out bytes.Buffer
		got := ""
		if err := report(&out, map[measure][]time.Duration{sendWarm: c.warm, sendKeys: c.keys}, true); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q\n%s", name, got, c.want, &out)
		}
	}
	if err := report(&bytes.Buffer{}, map[measure][]time.Duration{sendWarm: list(16)}, false); err != nil {
		t.Errorf("it was not asked to assert: %v", err)
	}
}

func TestWrongArguments(t *testing.T) {
	for _, n := range []int{0, 31} {
		if err := run(t.Context(), n, false, &bytes.Buffer{}); err == nil {
			t.Errorf("%d rounds are taken", n)
		}
	}
}
