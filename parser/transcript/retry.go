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
			return next(time.Date(now.Year(), at.Month(), at.Day(), hour, minute, 0, 0, now.Location()), now, 1, 0)
		}
		return next(time.Date(now.Year(), now.Month(), now.Day(), hour, minute, 0, 0, now.Location()), now, 0, 1)
	}
	return time.Time{}
}

// next is at, or what is so many years or days behind it where that has passed. Agents leave the
// seconds out, so one that has passed just now is the minute in which the limit ends: the next
// minute is no longer in it.
func next(at, now time.Time, years, days int) time.Time {
	switch passed := now.Sub(at); {
	case passed <= 0:
		return at
	case passed < 2*time.Minute: // the agent may have said it some seconds before
		return at.Add(time.Minute)
	}
	return at.AddDate(years, 0, days)
}
