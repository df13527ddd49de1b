package profile

import (
	"time"

	"relay-pty/inject/ready"
)

// undescribed is generic for a program that nobody has said anything of.
var undescribed = reserved(generic)

func reserved(p Profile) Profile {
	p.Rules.Reserved = true
	return p
}

// generic is any program: a prompt before the cursor or silence means ready.
// Measures: busy TUIs were seen silent for up to 1 s, so raw-mode programs wait 2.
var generic = Profile{
	Name:   "generic",
	Prompt: `^[>$%#] $`,
	Questions: []pattern{
		rx(`(?i)(password|passphrase|passcode|verification code|\bpin\b|\botp\b|\buser ?name\b|\blogin\b).{0,80}:\s*$`),
		rx(`(?i)[\[(]y(es)?/n(o)?(/\S*)?[\])]\s*[?:]?\s*$`),
		rx(`(?i)press (any key|enter|return)[^.]{0,40}\.*\s*$`),
	},
	Dialogs: []pattern{
		rx(`^\W{0,4}[❯›▸►●◉] ?\d+[.)] `),
		rx(`\b[Ee]sc(ape)? to (cancel|go back|close|exit|dismiss)\b`),
		rx(`\b[Ee]nter to (confirm|select)\b`),
		rx(`^\W{0,4}(Do you (want|trust)|Would you like|Are you sure|Allow)\b.*\?\W{0,4}$`),
	},
	Rules: ready.Rules{
		Quiet: 500 * time.Millisecond, RawQuiet: 2 * time.Second,
		PromptRest: 40 * time.Millisecond,
	},
	Typing: Typing{
		Newline: "\n", Submit: "\r",
		Echo: 400 * time.Millisecond, KeyWait: time.Second,
		Confirm: 3 * time.Second,
	},
}
