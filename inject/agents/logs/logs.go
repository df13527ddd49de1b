// Package logs is the list of the formats in which agents keep logs; profiles name them.
package logs

import (
	"slices"

	"relay-pty/parser/transcript"
)

// Named is the format of that name.
func Named(name string) (transcript.Format, bool) {
	at := slices.IndexFunc(all, func(f transcript.Format) bool { return f.Name == name })
	if at < 0 {
		return transcript.Format{}, false
	}
	return all[at], true
}
