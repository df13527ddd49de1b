// Package clock says when something was or will be, and how long something takes, to people: in the
// time zone of whoever asks (TZ).
package clock

import (
	"fmt"
	"strings"
	"time"
)

// At is a time in Unix milliseconds: a time of today, else a date and a time.
func At(ms int64) string { return at(ms, time.Now(), time.TimeOnly) }

// Precisely is At with milliseconds.
func Precisely(ms int64) string { return at(ms, time.Now(), time.TimeOnly+".000") }

func at(ms int64, now time.Time, layout string) string {
	is := time.UnixMilli(ms).In(now.Location())
	if is.Format(time.DateOnly) != now.Format(time.DateOnly) {
		layout = time.DateOnly + " " + layout
	}
	return is.Format(layout)
}

// Ago is how long it is since a time, in one unit.
func Ago(at int64) string {
	if at <= 0 {
		return "-" // nobody has noted it
	}
	return Short(time.Since(time.UnixMilli(at))) + " ago"
}

// Millis is a length of time in milliseconds, in one unit.
func Millis(ms int64) string { return Short(time.Duration(ms) * time.Millisecond) }

// Exact is a length of time in milliseconds as somebody would write it: 5m, not 5m0s.
func Exact(ms int64) string {
	text := (time.Duration(ms) * time.Millisecond).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if rest, ok := strings.CutSuffix(text, zero); ok {
			text = rest + zero[:1]
		}
	}
	return text
}

// Short is a length of time in one unit. What is to come was a moment ago: the clock was set back.
func Short(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
