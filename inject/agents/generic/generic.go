// Package generic is what is known of any program that nobody has described, as data.
package generic

import (
	"time"

	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
)

// Undescribed is generic for a program that nobody has said anything of.
var Undescribed = reserved(Profile)

func reserved(p profile.Profile) profile.Profile {
	p.Rules.Reserved = true
	return p
}

// Profile is any program: a prompt before the cursor or silence means ready.
// Measures: busy TUIs were seen silent for up to 1 s, so raw-mode programs wait 2.
var Profile = profile.Profile{
	Name:   "generic",
	Title:  "anything else",
	Prompt: `^[>$%#] $`,
	Questions: []*profile.Pattern{
		rx(`(?i)(password|passphrase|passcode|verification code|\bpin\b|\botp\b|\buser ?name\b|\blogin\b).{0,80}:\s*$`),
		rx(`(?i)[\[(]y(es)?/n(o)?(/\S*)?[\])]\s*[?:]?\s*$`),
		rx(`(?i)press (any key|enter|return)[^.]{0,40}\.*\s*$`),
	},
	Dialogs: []*profile.Pattern{
		rx(`^\W{0,4}[❯›▸►●◉] ?\d+[.)] `),
		rx(`(?i)\besc(ape)?:? (to )?(cancel|go back|close|exit|dismiss)\b`),
		rx(`(?i)\benter:? (to )?(confirm|select|choose|accept)\b`),
		rx(`\bAllow\b.{1,60}\bDeny\b`),
		rx(`(?i)\[y\].{1,40}\[n\]`),
		rx(`(?i)\bany other key\b`),
		rx(`^\W{0,4}(Do you (want|trust)|Would you like|Are you sure|Allow)\b.*\?\W{0,4}$`),
	},
	Rules: ready.Rules{
		Quiet: 500 * time.Millisecond, RawQuiet: 2 * time.Second,
		PromptRest: 40 * time.Millisecond,
	},
	Typing: profile.Typing{
		Newline: "\n", Submit: "\r",
		Echo: 400 * time.Millisecond, KeyWait: time.Second,
		Confirm: 3 * time.Second,
	},
}

var rx = profile.NewPattern
