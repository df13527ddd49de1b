// Package claude is what is known of Claude Code, as data.
package claude

import (
	"strings"
	"time"

	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
)

// Profile is Claude Code, measured on 2.1.197 and 2.1.329. The no-break space after its prompt,
// which is > with TERM=linux, tells the composer from lists and history, which use a blank.
var Profile = profile.Profile{
	Name:     "claude",
	Title:    "Claude Code",
	Commands: []string{"claude"},
	Packages: "@anthropic-ai/claude-code", Installed: rx(`/claude/versions/[^/]+$`),
	Marks: `CLAUDECODE CLAUDE_CODE_CHILD_SESSION CLAUDE_CODE_CHILD_NOTES_DIR CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_EXECPATH
		CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS CLAUDE_CODE_MESSAGING_SOCKET CLAUDE_CODE_MESSAGING_TOKEN CLAUDE_CODE_SESSION_ATTENDED
		CLAUDE_CODE_SESSION_ID CLAUDE_CODE_SESSION_KIND CLAUDE_PID CLAUDE_EFFORT CLAUDE_JOB_DIR CLAUDE_BG_* AI_AGENT=claude-code*`,
	Sets: "CLAUDE_CODE_DISABLE_AGENT_VIEW=1", // its agents view moves a session into a daemon that serves others, too
	Shared: &profile.Shared{
		What:    "background session",
		Daemons: []profile.Words{"daemon run", "bg-pty-host", "--bg-pty-host", "bg-spare", "--bg-spare"},
		Job:     "CLAUDE_JOB_DIR",
		Instead: alone,
	},
	Usage: &profile.Usage{
		Commands: `agents attach auth auto-mode bridge daemon design-login doctor edit-chrome-settings edit-hook
			edit-memory-settings edit-permission-rules edit-sandbox-settings edit-skill-overrides gateway import
			import-conversations install kill logs mcp plugin plugins project purge rc remote remote-control respawn rm
			sandbox self-hosted-runner setup-token stop sync ultrareview update upgrade workspace-trust worktree-hook`,
		Once: `-p --print -h --help -v --version --bg --background --cloud --desktop --environment --init-only --remote
			--update --upgrade`,
		Valued: `--advisor --agent --agent-color --agent-id --agent-name --agent-type --agents --append-subagent-system-prompt
			--append-subagent-system-prompt-file --append-system-prompt --append-system-prompt-file --autocompact --client-data-url
			--debug-file --effort --fallback-model --fast-mode --input-format --json-schema --managed-settings --max-budget-usd
			--max-thinking-tokens --max-turns --model -n --name --output-format --parent-session-id --permission-mode
			--permission-prompt-tool --permission-prompts --plan-mode-instructions --plugin-dir --plugin-dir-no-mcp --plugin-url
			--prefill --remote-control-session-name-prefix --resume-session-at --rewind-files --sdk-url --session-id
			--setting-sources --settings --system-prompt --system-prompt-file --system-prompt-snapshot --task-budget --team-name
			--teammate-mode --thinking --thinking-display --workload`,
		Greedy: `--add-dir --allowedTools --allowed-tools --betas --channels --dangerously-load-development-channels
			--disallowedTools --disallowed-tools --file --mcp-config --tools`,
		Lenient: `-d --debug --from-pr --prompt-suggestions --rc --remote-control -r --resume --teleport -w --worktree`,
	},
	Composer: &profile.Composer{
		Chips:  profile.Pasted,
		Prompt: rx("^[❯>]\u00a0"), Modes: []*profile.Pattern{rx("^!\u00a0"), rx("^#\u00a0")},
		Unseen: "in its screen reader mode it shows none (--ax-screen-reader, CLAUDE_AX_SCREEN_READER: leave them out)",
		Modal:  vim, Box: profile.Ruled{More: rx(`↑ \d+ more`)},
	},
	BusyTitle: "⠂⠐◐◑",
	Busy: []*profile.Pattern{
		rx(`\besc to interrupt\b`),
	},
	Tries: []*profile.Pattern{rx(`^\S .*· [Rr]etrying in \d+\w* · attempt \d+/\d+$`)},
	Dialogs: []*profile.Pattern{
		rx(`^\s*(Do you (want|trust)\b.*|What do you want to do)\?`), // the second when a limit is reached
		rx(`^\s*(Choose the text style\b|Accessing workspace:)`),
		rx(`\b[Ee]sc to (cancel|clear|go back|close|exit)\b`),
		rx(`\bEnter to (confirm|select|continue)\b`),
		rx(`^\s*[❯>] \d+\. `),
		rx(`Showing detailed transcript`),
	},
	Overlays: []*profile.Pattern{
		rx(`\bsearch prompts:`),
	},
	Rules: ready.Rules{
		HasComposer: true,
		Rows:        8,
		Settle:      150 * time.Millisecond, // idle shows for 7 ms between a turn and its queued successor
		Grace:       2 * time.Second,        // its session file comes 0.1 s after the composer
		TakeUp:      2 * time.Second,
		StaleBusy:   10 * time.Second, // the longest silence seen in a turn was 1 s
		Alone:       alone,
	},
	Typing: profile.Typing{
		// A paste is text in all of its vim mode; keys are commands in NORMAL.
		PasteBytes: 800, PasteLines: 3, PasteRows: 10, PasteAll: true, Newline: "\n", Submit: "\r",
		// In its vim mode Esc leaves INSERT and clears nothing; Ctrl-U kills what is left of the
		// cursor in a line, or what parts it from the line before.
		Clear: []string{killAll, "\x1b\x1b"}, // on an empty box the second opens a dialog: pressed only on what is seen to be ours
		Queue: "\r", Interrupt: []string{"\x1b"}, Returns: true, Stash: "\x13", StashShown: rx(`(?i)\bstashed\b`),
		Echo: 10 * time.Second, KeyWait: time.Second,
		Confirm: 10 * time.Second, Again: 500 * time.Millisecond,
	},
	Log: &profile.Log{
		Format: "claude", HomeEnv: "CLAUDE_CONFIG_DIR", Home: ".claude",
		Words: map[string]ready.State{"idle": ready.Ready, "busy": ready.Busy, "waiting": ready.Blocked},
	},
	// Further --mcp-config add up; the flag takes all words behind it that are no flags, unless it
	// is joined.
	MCP: &profile.MCP{
		Words: []string{`--mcp-config={"mcpServers":{"relay":{"type":"stdio","command":%s,"args":["mcp"]}}}`},
		Setup: "claude mcp add --scope user relay -- relay mcp",
		Not:   []string{"/etc/claude-code/managed-mcp.json", "/Library/Application Support/ClaudeCode/managed-mcp.json"},
	},
	// A session that starts, or starts anew, is not ready yet, so that moment says nothing of its
	// state. An urgent message is not waited for: it interrupts, which a hook cannot. Context of
	// more than 10,000 characters it puts into a file, and shows its beginning.
	Hooks: &profile.Hooks{Flag: "--settings", Since: [3]int{2, 1, 197}, Events: []profile.Hook{
		{Event: "SessionStart", Waits: []string{"important"}},
		{Event: "UserPromptSubmit", Signal: "turn_start"},
		{Event: "PostToolUse", Modes: []string{"urgent", "important"}, Bytes: 9000},
		{Event: "Notification", Kind: "permission_prompt", Signal: "blocked"},
		{Event: "Stop", Signal: "turn_end", Waits: []string{"important"}},
	}},
}

// alone is how its sessions stay in its own process, measured on 2.1.329 and 2.1.332.
const alone = "end claude, and resume that session with CLAUDE_CODE_DISABLE_AGENT_VIEW=1, which is set unless you set it"

// vim is its vim mode, which shows nothing in NORMAL.
var vim = &profile.Modal{
	Insert: rx(`^\s*-- INSERT --`), Select: rx(`^\s*-- VISUAL( LINE)? --`),
	Leave: "\x1b", Back: "i", Append: "a",
}

// killAll empties the composer from the cursor back: Ctrl-U takes a line up to it, or what parts
// the line from the one before. It heeds 63 of them that come at once, and none of 64.
var killAll = strings.Repeat("\x15", 32)

var rx = profile.NewPattern
