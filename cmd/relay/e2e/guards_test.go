package e2e

import (
	"strings"
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// answering is an agent that answers each message with one that begins so.
func answering(marker string) []string {
	return []string{"sh", "-c", `while read -r x; do case "$x" in
		"[relay "*) set -- $x; id=$2 from=${4%]} ;;
		"[end "*) echo "` + marker + ` <<<and you?>>>" ;;
		esac; done`}
}

// TestTheyAnswerForEver: agents that answer each other for ever, faster than their chain is
// paused, are stopped, and relay events tells who was refused what, and why. The agent hears of it,
// and goes on no further for that.
func TestTheyAnswerForEver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		marker, to string
		agents     int
		code, says string
		most       int // deliveries that are let through
	}{
		"all in a channel":  {"->relay:#x [re=$id]", "#x", 3, router.RateLimited, "within a minute, and more are not let through", 183},
		"all to all":        {"->relay:* [re=$id]", "*", 3, router.RateLimited, "within a minute, and more are not let through", 183},
		"one that is alone": {"->relay:*", "a", 1, router.UnknownAgent, "no agent runs but a", 1},
	} {
		if c.code == router.RateLimited && !testrig.Proving() {
			continue // many messages each; the router's own tests have the limit
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			ctx := testrig.Within(t, patience)
			for i := range c.agents {
				who := string(rune('a' + i))
				u.wraps(ctx, who, answering(c.marker)...)
				u.does(ctx, "join", "#x", "--as", who)
			}
			u.does(ctx, "send", c.to, "begin")
			u.sees(ctx, "a refusal", func(e router.Event) bool { return e.Type == router.TypeRefused && e.Error.Code == c.code })
			u.sees(ctx, "a notice of it, delivered", func(e router.Event) bool {
				return strings.HasSuffix(e.ID, ":refused") && e.Status == protocol.StatusDelivered
			})
			if told := u.does(ctx, "events", "--event", "refused"); !strings.Contains(told, "refused: ") || !strings.Contains(told, c.says) {
				t.Errorf("relay events tells %q, want %q in it", told, c.says)
			}
			n := 0
			for _, e := range u.log(ctx) {
				if e.Type == router.TypeMessage && e.From != router.Relay {
					n += max(1, len(e.Recipients))
				}
			}
			if n > c.most {
				t.Errorf("%d deliveries were let through, want %d at most", n, c.most)
			}
		})
	}
}
