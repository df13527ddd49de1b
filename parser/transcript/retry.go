package transcript

import (
	"strings"
	"time"
)

// At is the next moment after now that a clock shows as text says it, in one of the layouts of
// package time: with a day, without its year, or as the time of a day alone. It is zero where text
// says none.
func At(text string, now time.Time, layouts ...string) time.Time {
	for _, layout := range layouts {
		at, err := time.ParseInLocation(layout, text, now.Location())
		if err != nil {
			continue
		}
		hour, minute, _ := at.Clock()
		switch {
		case strings.Contains(layout, "2006"):
			return at
		case strings.Contains(layout, "Jan"):
			if at = time.Date(now.Year(), at.Month(), at.Day(), hour, minute, 0, 0, now.Location()); at.Before(now) {
				at = at.AddDate(1, 0, 0)
			}
			return at
		}
		if at = time.Date(now.Year(), now.Month(), now.Day(), hour, minute, 0, 0, now.Location()); at.Before(now) {
			at = at.AddDate(0, 0, 1)
		}
		return at
	}
	return time.Time{}
}
