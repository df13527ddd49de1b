package transcript

import (
	"os"
	"path/filepath"
	"time"
)

// Search says which of the messages stand in a turn of any conversation that an agent
// kept beneath its directory since then, whichever process had it. It reads all of the
// logs that changed since, and skips what it cannot read. Of OpenCode, which keeps its
// conversations in a database for all, it knows none.
func Search(f Format, dir string, since time.Time, ids []string) map[string]bool {
	found := map[string]bool{}
	if f.all == "" {
		return found
	}
	paths, _ := filepath.Glob(filepath.Join(dir, f.all)) // the pattern is well formed
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || info.ModTime().Before(since) {
			continue
		}
		entries, _ := NewReader(f, since).Poll(path)
		for _, e := range entries {
			for _, id := range ids {
				found[id] = found[id] || Accepted(e, id)
			}
		}
	}
	return found
}
