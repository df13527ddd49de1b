package e2e

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"relay-pty/cmd/internal/testrig"
)

// TestRouterIsNoChildOfAWrapper: nobody would wait for it when it ends.
func TestRouterIsNoChildOfAWrapper(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	u.wraps(ctx, "bob", "cat")
	routers, wrappers := running(u.dir, "serve\x00--on-demand"), running(u.dir, "relay-pty\x00--name\x00bob")
	if len(routers) != 1 || len(wrappers) == 0 {
		t.Fatalf("the routers are %v, the wrappers %v", routers, wrappers)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", routers[0]))
	must(t, err)
	for _, wrapper := range wrappers {
		if strings.Contains(string(status), "\nPPid:\t"+strconv.Itoa(wrapper)+"\n") {
			t.Errorf("the router %d is a child of the wrapper %d", routers[0], wrapper)
		}
	}
}
