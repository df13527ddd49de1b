// Package codex is what is known of the Codex CLI, as data.
package codex

import (
	"time"

	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
)

// Profile is the Codex CLI, measured on 0.169.0. It tells its state by OSC 7501,
// from the first prompt on; while it streams, its screen looks as at rest.
var Profile = profile.Profile{
	Name:     "codex",
	Title:    "Codex CLI",
	Commands: []string{"codex"},
	Packages: "@openai/codex",
	// Variables of its sandbox are no marks: what it starts is in there still.
	Marks: `CODEX_APPLY_PATCH_PRESERVE_LINE_ENDINGS CODEX_CI CODEX_SESSION_ID CODEX_THREAD_ID CODEX_TOOL_CALL_ID CODEX_VERSION`,
	Shared: &profile.Shared{
		What:    "background server",
		Daemons: []profile.Words{"app-server --managed-daemon"},
		Instead: "start codex by relay run, or with --no-daemon",
	},
	Usage: &profile.Usage{
		Commands: `a app-server apply archive cloud completion debug delete doctor e exec exec-server execpolicy features help
			login logout mcp migrate-nfs-db migrate-rollouts plugin queue remote-control responses-api-proxy review sandbox
			stdio-to-uds unarchive update`,
		Sessions: `agents fork resume`,
		Once:     `-h --help -V --version`,
		Valued: `--add-dir -a --ask-for-approval -C --cd -c --config --disable --enable --local-provider -m --model -p --profile
			--remote --remote-auth-token-env -s --sandbox`,
		Greedy: `-i --image`,
	},
	Composer: &profile.Composer{
		Chips:  profile.Pasted,
		Prompt: rx("^› "), Modes: []*profile.Pattern{rx("^! ")}, Above: 2, Modal: vim,
		Box: profile.Bare{Footed: &profile.Footed{More: rx(` *↑$`)}},
	},
	BusyTitle: "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏",
	AskTitle:  rx(`^\[ [!.] \] Action Required`),
	Says: []profile.Saying{
		{Note: 7501, Pattern: rx(`\bstate=working\b`), State: ready.Busy},
		{Note: 7501, Pattern: rx(`\bstate=blocked\b.*\bkind=(\w+)`), State: ready.Blocked},
		{Note: 7501, Pattern: rx(`\bstate=(?:done|idle)\b`), State: ready.Ready},
	},
	Busy: []*profile.Pattern{
		rx(`^[•◦] .*\((press |\d[\w ]* • )esc to interrupt\b`), // what was said before has these words further right, or without the time
	},
	Tries: []*profile.Pattern{rx(`^[•◦] Reconnecting\.\.\. \d+/\d+ \(`)},
	Dialogs: []*profile.Pattern{
		rx(`^\s*(Would you like to|Do you (want|trust)|Trust this folder|Hooks need review)\b`),
		rx(`^\s*(Approaching rate limits|You've reached your workspace credit limit|Usage limit reached)$`),
		rx(`\b[Pp]ress enter to\b`),
		rx(`\b[Ee]sc (to )?(cancel|go back|back|close|dismiss|exit)\b`),
		rx(`^[›>] \d+\. `),
		rx(`\breverse-i-search:`),
		rx(`^Continue anyway\? \[y/N\]`), // with TERM=dumb, before its composer
	},
	Overlays: []*profile.Pattern{rx(`^ +enter/tab insert · esc close`)},
	Rules: ready.Rules{
		HasComposer: true,
		Settle:      150 * time.Millisecond,
		First:       time.Second,
		TakeUp:      2 * time.Second,
	},
	Typing: profile.Typing{
		PasteBytes: 1000, PasteLines: 30, PasteAll: true, Newline: "\n", Submit: "\r",
		// The first does nothing in its vim mode NORMAL. With an empty box the second asks for one
		// more to end Codex: it is pressed only on what is seen to be ours.
		Clear: []string{profile.KillLines, "\x03"},
		Queue: "\t", Interrupt: []string{"\x1b"},
		Stash: "\x03", Unstash: "\x1b[A\x1b[A", // a draft that is cleared becomes the newest of the history, and our message the next
		Echo: 10 * time.Second, KeyWait: time.Second,
		Confirm: 10 * time.Second, Again: 500 * time.Millisecond,
	},
	// It gives servers nothing of its environment but what is named.
	MCP: &profile.MCP{Setup: "the lines for Codex in the README, \"Tools for agents\"", Words: []string{"-c", `mcp_servers.relay={command=%s,args=["mcp"],env_vars=["RELAY_AGENT",` +
		`"RELAY_SOCKET","RELAY_TOKEN","XDG_RUNTIME_DIR","XDG_STATE_HOME","XDG_CONFIG_HOME"]}`}},
	Log: &profile.Log{Format: "codex", HomeEnv: "CODEX_HOME", Home: ".codex", Remote: "with --remote its server keeps the log: start codex without"},
}

// vim is its vim mode; whenever something is submitted it goes to INSERT.
var vim = &profile.Modal{Insert: rx(`\bVim: Insert\b`), Leave: "\x1b", Back: "i", Append: "a"}

var rx = profile.NewPattern
