// Package gemini is what is known of the Gemini CLI, as data.
package gemini

import (
	"time"

	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
)

// Profile is the Gemini CLI, measured on 0.61.0. It tells its state in the window
// title. Ctrl-Y must never be typed to it: it turns off all questions.
var Profile = profile.Profile{
	Name:     "gemini",
	Title:    "Gemini CLI",
	Commands: []string{"gemini"},
	Packages: "@google/gemini-cli",
	Marks:    `GEMINI_CLI`,
	Usage: &profile.Usage{
		Commands: `extension extensions gemma hook hooks mcp skill skills`,
		Once:     `-p --prompt --acp --experimental-acp -l --list-extensions --list-sessions --delete-session -v --version -h --help`,
		Lenient: `--approval-mode -i --prompt-interactive -m --model -o --output-format -r --resume --session-file --session-id
			-w --worktree`,
		Greedy: `--admin-policy --allowed-mcp-server-names --allowed-tools -e --extensions --include-directories --policy`,
	},
	Composer: &profile.Composer{
		Chips:  profile.Pasted,
		Prompt: rx("^ [>*] "), Modes: []*profile.Pattern{rx("^ ! ")}, // the star: it asks nothing (YOLO)
		Above: 8, Modal: vim, Edge: rx("^(▄{8,}|▀{8,}|─{8,})$"), // lines where its background has no colour
		Box: profile.Bare{Footed: &profile.Footed{Tall: 10, Hang: 3, Park: true}},
		Unseen: "in its screen reader mode it shows none (--screen-reader: leave it out), " +
			"nor without colours where its footer is hidden, too (ui.hideFooter: leave it out)",
		Placeholder: rx(`^(Type your (message|shell command)|Press '(Esc|i)' for (NORMAL|INSERT) mode)\b`),
	},
	BusyTitle: "✦",
	AskTitle:  rx(`^✋`),
	Says: []profile.Saying{
		{Note: 0, Pattern: rx(`^◇`), State: ready.Ready},
	},
	Busy: []*profile.Pattern{
		rx(`^ ?([\x{2800}-\x{28FF}] .*)?\(esc to cancel\b`), // what was said before stands further right
	},
	Queued: rx(`^  Queued \(press ↑ to edit\):$`), // until its MCP servers have started, for one
	Dialogs: []*profile.Pattern{
		rx(`^[ │?]*(Allow|Apply|Do you|How would you like)\b.*\?`),
		rx(`^ *│ +(Usage limit reached for |We are currently experiencing high demand|It seems like you don't have access to |Model ".*" (was|is) not )`),
		rx(`^[ │]*● \d+\. `),
		rx(`\([Uu]se Enter to select`),
		rx(`\b[Ee]nter to (confirm|select|continue|submit)\b`),
		rx(`\b[Ee]sc to (go back|close|exit)\b`),
		rx(`\bResume: Enter\b`),
		rx(`^ \(r:\) `),
	},
	Overlays: []*profile.Pattern{
		rx(`^ Tab focus UI$`), // the last row of the shortcuts
	},
	Rules: ready.Rules{
		HasComposer: true,
		Settle:      150 * time.Millisecond,  // the title says ready between a turn and a queued message
		First:       1500 * time.Millisecond, // it asks for trust up to 0.4 s after its first composer, and its title says ready
		TakeUp:      2 * time.Second,
	},
	Typing: profile.Typing{
		PasteBytes: 500, PasteLines: 5, PasteAll: true, Newline: "\n", Submit: "\r",
		EnterDelay: 250 * time.Millisecond,      // an Enter close behind text becomes a newline
		Clear:      []string{profile.KillLines}, // Ctrl-C would end its turn if the box were empty by then
		Queue:      "\r", Interrupt: []string{"\x1b"},
		Echo: 30 * time.Second, KeyWait: time.Second, // as it starts on a busy machine it stands still for 14 s
		Confirm: 10 * time.Second, Again: 500 * time.Millisecond,
		SlowText: 16 << 10, SlowTurn: 3 * time.Minute, // a line of 64 KB takes it 46 s
	},
	// It has no MCP: its system's settings, which a variable could bring, count only where each
	// directory above them is root's alone.
	Log: &profile.Log{Format: "gemini", HomeEnv: "GEMINI_CLI_HOME", Within: ".gemini", Home: ".gemini"},
}

var vim = &profile.Modal{Insert: rx(`^ \[INSERT\]`), Normal: rx(`^ \[NORMAL\]`), Leave: "\x1b", Back: "i", Append: "a", Rest: 500 * time.Millisecond}

var rx = profile.NewPattern
