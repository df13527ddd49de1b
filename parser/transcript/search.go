package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Search says which of the messages stand in a turn of any conversation that an agent
// kept beneath its directory since then, whichever process had it. It reads all of the
// logs that changed since, and skips what it cannot read.
func Search(f Format, dir string, since time.Time, ids []string) map[string]bool {
	entries := f.Search
	if entries == nil {
		entries = f.files
	}
	found := map[string]bool{}
	for _, e := range entries(dir, since) {
		for _, id := range ids {
			found[id] = found[id] || Accepted(e, id) || Gave(e, id)
		}
	}
	return found
}

// files is what stands in files that changed since then.
func (f Format) files(dir string, since time.Time) (all []Entry) {
	paths, _ := filepath.Glob(filepath.Join(EscapeGlob(dir), f.All)) // the pattern is well formed
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || info.ModTime().Before(since) {
			continue
		}
		entries, _ := NewReader(f, since).Poll(path) // what was read before an error counts
		all = append(all, entries...)
	}
	return all
}

// EscapeGlob makes a path match itself only.
func EscapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
