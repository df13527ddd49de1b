package e2e

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"relay-pty/cmd/relay/internal/router"
)

// rows notes when numbers that agents write to each other first stand in their logs.
type rows struct {
	dirs []string

	mu sync.Mutex
	at map[int]int64 // Unix milliseconds
}

var numbered = regexp.MustCompile(`->relay:(?:alice|bob) <<<(\d+)>>>`)

// follow reads the agents' logs until it is stopped.
func (r *rows) follow(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	reading.Go(func() { r.read(ctx) })
	return func() { cancel(); reading.Wait() }
}

// read reads the agents' logs as they grow, each millisecond, until ctx ends.
func (r *rows) read(ctx context.Context) {
	files := map[string]int{} // bytes that were read
	look, find := time.NewTicker(time.Millisecond), time.NewTicker(100*time.Millisecond)
	defer look.Stop()
	defer find.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-find.C:
			for _, dir := range r.dirs {
				filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
					if _, known := files[path]; err == nil && !known && filepath.Ext(path) == ".jsonl" {
						files[path] = 0
					}
					return nil // what goes meanwhile is no log
				})
			}
		case <-look.C:
			for path, from := range files {
				if info, err := os.Stat(path); err == nil && int(info.Size()) > from {
					files[path] = r.note(path, from)
				}
			}
		}
	}
}

// note reads the whole rows of a file from an offset on, and returns where they end.
func (r *rows) note(path string, from int) (to int) {
	text, err := os.ReadFile(path)
	now := time.Now().UnixMilli()
	end := bytes.LastIndexByte(text, '\n') + 1
	if err != nil || end < from {
		return from
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range numbered.FindAllSubmatch(text[from:end], -1) {
		n, err := strconv.Atoi(string(m[1]))
		if err == nil && r.at[n] == 0 {
			r.at[n] = now
		}
	}
	return end
}

// quick reports how long it took from the agents' logs to their messages' acceptance, and, where
// the other agent was at rest, to its terminal, which it returns, too: the median in milliseconds.
func (r *rows) quick(t *testing.T, events []router.Event) int64 {
	numbers := map[string]int{}
	var accepted, typed []int64
	for _, e := range events {
		n, known := numbers[e.ID]
		if e.Type == router.TypeMessage && e.To != router.Human {
			if n, _ = strconv.Atoi(e.Body); r.at[n] > 0 {
				numbers[e.ID] = n
				accepted = append(accepted, e.Timestamp-r.at[n])
			}
		}
		if known && e.Status == "injecting" && e.Agent == "bob" { // who is at rest when alice writes
			typed = append(typed, e.Timestamp-r.at[n])
		}
	}
	if len(accepted) == 0 || len(typed) == 0 {
		t.Errorf("%d messages were seen in the logs, and %d typed after that", len(accepted), len(typed))
		return 0
	}
	slices.Sort(accepted)
	slices.Sort(typed)
	a, b := accepted[len(accepted)/2], typed[len(typed)/2]
	shows(t, "%d markers in the logs of Claude Code and Codex, median: accepted after %d ms, at the other agent after %d ms",
		len(accepted), a, b)
	return b
}
