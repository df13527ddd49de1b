package home

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestToken: it is made once, whoever asks first, for its owner alone, and what somebody else may
// know is none.
func TestToken(t *testing.T) {
	h := Home{Socket: filepath.Join(t.TempDir(), "router.sock")}
	var all [8]string
	var asking sync.WaitGroup
	for i := range all {
		asking.Go(func() {
			var err error
			if all[i], err = h.Token(); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	for _, token := range all {
		if token != all[0] || len(token) != 2*tokenBytes {
			t.Errorf("the tokens are %q", all)
		}
	}
	path := h.TokenFile()
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
	for name, spoil := range map[string]func() error{
		"others may read it": func() error { return os.Chmod(path, 0o640) },
		"it is a link": func() error {
			return os.Symlink(path+".other", path)
		},
		"it is empty":  func() error { return os.WriteFile(path, nil, 0o600) },
		"it is no hex": func() error { return os.WriteFile(path, []byte(strings.Repeat("x", 64)), 0o600) },
		"it is short":  func() error { return os.WriteFile(path, []byte(all[0][2:]), 0o600) },
	} {
		if name != "others may read it" {
			must(t, os.RemoveAll(path))
		}
		must(t, spoil())
		if token, err := h.Token(); err == nil || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%s: %q, %v", name, token, err)
		}
		must(t, os.Remove(path))
		if token, err := h.Token(); err != nil || token == all[0] {
			t.Errorf("%s: afterwards %q, %v", name, token, err)
		}
	}
}
