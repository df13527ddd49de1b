package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"relay-pty/cmd/internal/testrig"
)

// TestOneOfManyStartsTheRouter: of all commands that find none at the same moment, as after a
// crash, one starts it. Each more would be a whole process that opens the log for nothing.
func TestOneOfManyStartsTheRouter(t *testing.T) {
	t.Parallel()
	u, ctx := newUser(t), testrig.Within(t, patience)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { u.does(ctx, "ls") })
	}
	all.Wait()
	told, err := os.ReadFile(filepath.Join(u.dir, "state", "relay", "router.log"))
	if err != nil || strings.Count(string(told), "\n") != 1 || !strings.HasPrefix(string(told), "relay: router at ") {
		t.Errorf("routers told, %v:\n%s", err, told)
	}
}
