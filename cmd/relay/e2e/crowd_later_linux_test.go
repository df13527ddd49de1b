package e2e

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// notified are flags of some of the messages: their senders want notices.
func notified(n int) []string {
	switch n % 7 {
	case 2:
		return []string{"--notify-on-delivery"}
	case 4:
		return []string{"--notify-on-delivery", "--notify-after", "400ms"}
	case 5:
		return []string{"--notify-after", "5ms"} // often before the answer
	}
	return nil
}

// remind sets reminders of agents, and of who has no wrapper, until sending ends.
func (c *crowd) remind(ctx, sending context.Context, i int) {
	who := "s" + strconv.Itoa(i)
	if i < len(c.names) {
		who = c.names[i]
	}
	pace := time.NewTicker(3 * time.Second)
	defer pace.Stop()
	for n := 0; ; n++ {
		id, verb := fmt.Sprintf("r-%d-%d", i, n), []string{"remind", "wake"}[n%2]
		delay := strconv.Itoa(100+700*(n%4)) + "ms"
		if out, errs, err := c.try(ctx, verb, delay, strconv.Itoa(n), "--as", who, "--id", id); !strings.HasPrefix(out, id+" ") {
			c.t.Errorf("%s was not set: %v: %s", id, err, errs)
		}
		c.accepted(id)
		select {
		case <-pace.C:
		case <-sending.Done():
			return
		}
	}
}

// checkLater holds the books of what was to come later: each reminder came once and not before its
// time, and a notice once where what it tells is so, else never.
func (c *crowd) checkLater(ctx context.Context) {
	t := c.t
	due, came, notices := map[string]int64{}, map[string]int{}, map[string]int{}
	for _, e := range c.log(ctx) {
		switch {
		case e.Type == router.TypeReminder:
			due[e.ID] = e.DueAt
		case e.Type == router.TypeMessage && e.From == router.Relay:
			if came[e.ID]++; e.Timestamp < due[e.ID] {
				t.Errorf("%s came at %d, and was due at %d", e.ID, e.Timestamp, due[e.ID])
			}
			if e.About != "" {
				notices[e.ID]++
			}
		}
	}
	for id := range due {
		if came[id] != 1 {
			t.Errorf("the reminder %s came %d times", id, came[id])
		}
	}
	all := c.adds(ctx)
	for id, m := range c.ends(all) {
		arrived := m.Status == protocol.StatusDelivered || m.Status == router.StatusReplied
		told, late := came[id+":delivered"], came[id+":reminder"]
		switch {
		case told > 1 || late > 1:
			t.Errorf("%s: %d notices of its delivery, %d that there is no answer", id, told, late)
		case (told == 1) != (arrived && m.NotifyOnDelivery):
			t.Errorf("%s is %s: %d notices of its delivery", id, m.Status, told)
		case late == 1 && !(arrived && m.NotifyAfterMS > 0):
			t.Errorf("%s is %s: a notice that there is no answer", id, m.Status)
		case late == 0 && arrived && m.NotifyAfterMS > 0 && len(m.Replies) == 0:
			t.Errorf("%s is %s and was not answered: no notice says so", id, m.Status)
		}
	}
	if len(due) == 0 || len(notices) == 0 {
		t.Errorf("%d reminders, %d notices", len(due), len(notices))
	}
	t.Logf("%d reminders and %d notices came, each once", len(due), len(notices))
}
