// Package qwen is what is known of Qwen Code, as data.
package qwen

import (
	"time"

	"relay-pty/inject/profile"
	"relay-pty/inject/ready"
)

// Profile is Qwen Code, measured on 0.24.4. It tells work and questions in the window title. Ctrl-Y
// must never be typed to it: it retries.
var Profile = profile.Profile{
	Name:     "qwen",
	Title:    "Qwen Code",
	Commands: []string{"qwen"},
	Packages: "@qwen-code/qwen-code",
	Marks: `QWEN_CODE QWEN_CODE_AGENT_ID QWEN_CODE_CLI QWEN_CODE_LAUNCHER_PID QWEN_CODE_MANAGED_NPM_* QWEN_CODE_MODEL QWEN_CODE_MODEL_IDENTITY
		QWEN_CODE_PRIVATE_RELAUNCH_ENV_PROVENANCE QWEN_CODE_PROJECT_DIR QWEN_CODE_PROMPT_ID QWEN_CODE_SESSION_ID QWEN_CODE_STARTUP_VERSION`,
	Usage: &profile.Usage{
		Commands: `auth board channel extension extensions hooks mcp review sandbox serve sessions update`,
		Once:     `-p --prompt --acp --experimental-acp -l --list-extensions --input-format --json-schema -v --version -h --help`,
		Answers:  true, // and with -i it goes on
		Valued: `-i --prompt-interactive -m --model --approval-mode --system-prompt --append-system-prompt --output-style
			-o --output-format --channel --mcp-config --session-id --auth-type --openai-api-key --openai-base-url
			--openai-logging-dir --proxy --sandbox-image --json-fd --json-file --input-file --max-session-turns --max-wall-time
			--max-tool-calls --max-subagent-depth --telemetry-target --telemetry-otlp-endpoint --telemetry-otlp-protocol
			--telemetry-outfile`,
		Greedy: `--fallback-model --allowed-mcp-server-names --allowed-tools -e --extensions --include-directories --add-dir
			--core-tools --exclude-tools --disabled-slash-commands`,
		Lenient: `-r --resume --worktree`,
	},
	Composer: &profile.Composer{
		Chips:  profile.Pasted,
		Prompt: rx("^[>*] "), Modes: []*profile.Pattern{rx("^! "), rx(`^\(r:\) `)}, // the star: it asks nothing (YOLO)
		Above: 8, Box: profile.Ruled{Tall: 10},
		Unseen:      "in its screen reader mode it shows none (--screen-reader: leave it out)",
		Tint:        rx(`(?i)\(shift \+ tab `),
		Placeholder: rx(`^(Type your message or @path|Press 'i' for INSERT)`),
	},
	BusyTitle: "◐",
	AskTitle:  rx(`^✳`),
	Busy: []*profile.Pattern{
		rx(`^ {2}([\x{2800}-\x{28FF}].*\((\d[\w ]*s · .*)?|\(\d[\w ]*s · .*)[Ee]sc to cancel\)`),
	},
	Queued: rx(`^ {2}Ctrl\+Q to queue · ↑ to edit queued messages`), // until it has begun, for one
	Dialogs: []*profile.Pattern{
		rx(`^[ │?]*(Allow|Apply|Do you|Would you|How would you like)\b.*\?`),
		rx(`^[ │]*› \d+\. `),
		rx(`\b[Ee]nter to (confirm|select|continue|submit)\b`),
		rx(`\b[Ee]sc(ape)? to (cancel|go back|back|close|exit)\b`),
		rx(`Waiting for user confirmation`),
	},
	Rules: ready.Rules{
		HasComposer: true,
		Settle:      150 * time.Millisecond,
		First:       time.Second,
		TakeUp:      2 * time.Second,
	},
	Typing: profile.Typing{
		PasteBytes: 1000, PasteLines: 10, PasteAll: true, Newline: "\n", Submit: "\r",
		Clear: []string{profile.KillLines}, // Ctrl-C would ask for one more to end it if the box were empty by then
		// Nothing interrupts it: Esc gives the prompt back into the composer, and once a reply has
		// begun Qwen Code also remembers it, so what would submit it again would say it twice.
		Queue: "\r",
		Echo:  30 * time.Second, KeyWait: time.Second,
		Confirm: 10 * time.Second, Again: 500 * time.Millisecond,
		SlowText: 16 << 10, SlowTurn: 3 * time.Minute, // 32 KB take it 7 s of a processor, 64 KB four times that
	},
	// It has no MCP: --mcp-config may stand once, so ours would be in the way of a user's own, and
	// with the setting tools.executionSandbox it does not start with one.
	Log: &profile.Log{Format: "qwen", HomeEnv: "QWEN_HOME", Home: ".qwen"},
}

var rx = profile.NewPattern
