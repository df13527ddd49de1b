package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/router"
)

// passing is an agent that passes a task on to another one, and an answer back.
func passing(to string) []string {
	return []string{"sh", "-c", `while read -r x; do case "$x" in
		"[relay "*" from human] "*) set -- $x; task=$2; echo "->relay:` + to + ` <<<${x#*] } $RELAY_AGENT>>>" ;;
		"[relay "*) set -- $x; id=$2 from=${4%]} said=${x#*] }
			if [ -n "$task" ]; then echo "->relay:human [re=$task] <<<$said>>>"; task=
			elif [ "` + to + `" = end ]; then echo "->relay:$from [re=$id] <<<$said $RELAY_AGENT>>>"
			elif [ -z "$asked" ]; then asked=$id asker=$from; echo "->relay:` + to + ` [re=$id] <<<$said $RELAY_AGENT>>>"
			else echo "->relay:$asker [re=$asked] <<<$said>>>"; asked=; fi ;;
		esac; done`}
}

// TestAChainOfThree: a task goes from agent to agent, and the answer comes back the same way.
func TestAChainOfThree(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	u.wraps(ctx, "c", passing("end")...)
	u.wraps(ctx, "b", passing("c")...)
	u.wraps(ctx, "a", passing("b")...)
	if got, want := u.does(ctx, "send", "a", "the task", "--wait"), "the task a b c\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var way []string
	for _, e := range u.log(ctx) {
		if e.Type == router.TypeMessage {
			way = append(way, e.From+">"+e.To)
		}
	}
	if got, want := strings.Join(way, " "), "human>a a>b b>c c>b b>a a>human"; got != want {
		t.Errorf("the way was %s, want %s", got, want)
	}
}

// TestMoreThanAQueueTakes: what a wrapper's queue has no room for waits in the router, in order.
func TestMoreThanAQueueTakes(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	u.wraps(ctx, "bob", "--queue-max", "5", "--prompt-pattern", "^> $", "--", "sh", "-c", `until [ -e go ]; do sleep 0.02; done
		while printf '> '; read -r x; do case "$x" in "[relay "*) echo "${x#*] }" >>got ;; esac; done`)
	const n = 8
	want := ""
	for i := range n {
		body := fmt.Sprintf("message %d", i)
		u.does(ctx, "send", "bob", body)
		want += body + "\n"
	}
	must(t, os.WriteFile(filepath.Join(u.dir, "go"), nil, 0o600))
	left := n
	u.sees(ctx, "the end of all messages", func(e router.Event) bool {
		if e.Type == "inject_result" && e.Status == "delivered" {
			left--
		}
		return left == 0
	})
	if got, err := os.ReadFile(filepath.Join(u.dir, "got")); err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
