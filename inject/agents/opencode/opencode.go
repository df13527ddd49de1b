// Package opencode is what is known of OpenCode, as data.
package opencode

import (
	"time"

	"relay-pty/inject/draft"
	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
)

func byColumn(c draft.Chips) draft.Chips {
	c.ByColumn = true
	return c
}

// Profile is OpenCode, measured on 1.18.33. All of its composer's rows have a
// border at the left; the last two are empty and the model's name.
var Profile = profile.Profile{
	Name:     "opencode",
	Title:    "OpenCode",
	Commands: []string{"opencode"},
	Packages: "opencode-ai opencode-linux-x64 opencode-linux-arm64 opencode-darwin-arm64 opencode-darwin-x64",
	Marks:    `OPENCODE OPENCODE_PID AGENT=1`,
	Usage: &profile.Usage{
		Commands: `acp agent auth completion db debug export generate github import mcp models plug plugin providers run serve
			session stats uninstall upgrade web`,
		Sessions: `attach pr`,
		Once:     `-h --help -v --version`,
		Lenient: `--agent --hostname --log-level --mdns-domain -m --model -p --password --port --prompt --replay-limit
			-s --session -u --username --dir`,
		Greedy: `--cors`,
	},
	Composer: &profile.Composer{
		Chips:  byColumn(profile.Pasted),
		Prompt: rx("^ *┃  "),
		Unseen: "its minimal interface shows none (--mini: leave it out)",
		Box: profile.Floored{
			Lid: rx(`^  [^ ┃╹].*\d\.\d+\.\d+$`), Room: 17, // its page without a conversation
			Floor: rx("^ *╹▀{8,}"), Under: 2, Shell: rx("^ *┃  Shell$"), Tall: 6,
			Question: rx("^ *┃ +△ "),                                                      // stands before the title of each of its own
			Keys:     rx(`^ *┃ +(.*\benter (submit|confirm|toggle)\b|.*\besc dismiss\b)`), // its model's questions
		},
		Placeholder: rx(`^(Ask anything|Run a command)… "`),
	},
	Busy: []*profile.Pattern{
		rx(`\besc (again to )?interrupt\b`),
		rx(`^ +[■⬝]`), // where the terminal is too narrow for the words, or a failure covers them
	},
	Tries: []*profile.Pattern{
		rx(`\bretrying (in [\dhms ]+ )?attempt #\d+\]$`),
		rx(`\[retrying( in [\dhms ]+)?$`),                         // a long failure is folded
		rx(`^ +[■⬝].*\bretrying (in [\dhms ]+ )?attempt #\d+\] `), // where "esc interrupt", or some of it, stands in the same row
	},
	Dialogs: []*profile.Pattern{
		rx(`\S {6,}esc(/enter)?( {2}|$)`), // a list's head; behind a failure there stands "esc interrupt"
	},
	Rules: ready.Rules{
		HasComposer: true,
		Rows:        17, // less in a conversation
		Settle:      150 * time.Millisecond,
		First:       time.Second,
		TakeUp:      10 * time.Second, // its first turn changes the page, and what is typed meanwhile is lost
	},
	Typing: profile.Typing{
		PasteBytes: 150, PasteLines: 2, PasteAll: true, PasteTrims: true, Newline: "\n", Submit: "\r",
		Clear: []string{"\x1b[1;2H\x7f"},     // marks all before the cursor; Ctrl-C would end it if the box were empty by then
		Start: "\x1b[1;2H", End: "\x1b[1;2F", // they mark what they pass, and unmark it; without Shift they scroll the conversation
		Queue: "\r", Interrupt: []string{"\x1b", "\x1b"}, Armed: rx(`\besc again to interrupt\b`),
		Echo: 10 * time.Second, KeyWait: time.Second,
		Confirm: 10 * time.Second, Again: 500 * time.Millisecond,
	},
	MCP: &profile.MCP{
		Variable: "OPENCODE_CONFIG_CONTENT", // it comes on top of all files
		Settings: `{"mcp":{"relay":{"type":"local","command":[%s,"mcp"]}}}`,
		Ends:     "opencode", // 0.1 to 0.8 s after the answer, which its model has by then
	},
	Log: &profile.Log{
		Format: "opencode", HomeEnv: "XDG_DATA_HOME", Within: "opencode", Home: ".local/share/opencode",
		Remote: "with opencode attach its server keeps the log: start opencode itself",
	},
}

var rx = profile.NewPattern
