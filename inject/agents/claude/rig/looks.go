package rig

import "relay-pty/inject/agents/rig"

// looks are settings, modes and views of Claude Code that change what it draws.
var looks = []rig.Look{
	{Name: "plans", Args: []string{"--permission-mode", "plan"}},
	{Name: "accepts edits", Args: []string{"--permission-mode", "acceptEdits"}},
	{Name: "bypasses permissions", Change: rig.Set(settings, rig.Object{"skipDangerousModePermissionPrompt": true}),
		Args: []string{"--permission-mode", "bypassPermissions"}},
	{Name: "asks never", Args: []string{"--permission-mode", "dontAsk"}},
	{Name: "short name", Args: []string{"-n", "alice"}},
	{Name: "long name in 60 columns", Args: []string{"-n", "My very long session name that goes on and on"}, Rows: 24, Cols: 60},
	{Name: "long name in 40 columns", Args: []string{"-n", "My very long session name that goes on and on"}, Rows: 24, Cols: 40},
	{Name: "name of wide characters", Args: []string{"-n", "会议记录会议记录会议记录会议记录会议记录"}, Rows: 24, Cols: 60},
	{Name: "name with TERM=linux",
		Args: []string{"-n", "My very long session name that goes on and on"}, Env: []string{"TERM=linux"}, Rows: 24, Cols: 60},
	{Name: "vim", Change: rig.Set(settings, rig.Object{"editorMode": "vim"})},
	{Name: "vim without its indicator", Change: rig.Set(settings, rig.Object{"editorMode": "vim", "statusLine": line("vim", true)})},
	{Name: "light theme", Change: theme("light")},
	{Name: "dark theme of 16 colours", Change: theme("dark-ansi")},
	{Name: "light theme of 16 colours", Change: theme("light-ansi")},
	{Name: "daltonized theme", Change: theme("dark-daltonized")},
	{Name: "light daltonized theme", Change: theme("light-daltonized")},
	{Name: "status line", Change: rig.Set(settings, rig.Object{"statusLine": line("model > main", false)})},
	{Name: "status line of many rows",
		Change: rig.Set(settings, rig.Object{"statusLine": line(`one\n──────────────────\n❯ three\n> four`, false)})},
	{Name: "verbose", Args: []string{"--verbose"}},
	{Name: "learning style", Change: rig.Set(settings, rig.Object{"outputStyle": "Learning"})},
	{Name: "reduced motion", Change: rig.Set(settings, rig.Object{"prefersReducedMotion": true, "spinnerTipsEnabled": false})},
	{Name: "timestamps", Change: rig.Set(settings, rig.Object{"showMessageTimestamps": true, "showTurnDuration": true})},
	{Name: "no alternate screen", Env: []string{"CLAUDE_CODE_DISABLE_ALTERNATE_SCREEN=1"}},
	{Name: "tui default", Change: rig.Set(settings, rig.Object{"tui": "default"})},
	{Name: "tui fullscreen", Change: rig.Set(settings, rig.Object{"tui": "fullscreen"})},
	{Name: "no mouse, no title", Env: []string{"CLAUDE_CODE_DISABLE_MOUSE=1", "CLAUDE_CODE_DISABLE_TERMINAL_TITLE=1"}},
	{Name: "native cursor", Env: []string{"CLAUDE_CODE_NATIVE_CURSOR=1"}},
	{Name: "accessibility", Env: []string{"CLAUDE_CODE_ACCESSIBILITY=1"}},
	{Name: "simple", Env: []string{"CLAUDE_CODE_SIMPLE=1"}},
	{Name: "brief", Args: []string{"--brief"}},
	{Name: "safe mode", Args: []string{"--safe-mode"}},
	{Name: "no working directory shown", Env: []string{"CLAUDE_CODE_HIDE_CWD=1"}},
	{Name: "focus view", Change: rig.Set(settings, rig.Object{"viewMode": "focus"})},
	{Name: "screen reader", Args: []string{"--ax-screen-reader"}, Told: "screen reader mode"},
	{Name: "screen reader in 40 columns", Env: []string{"CLAUDE_AX_SCREEN_READER=1"}, Rows: 24, Cols: 40, Told: "screen reader mode"},
	{Name: "screen reader by a setting",
		Change: rig.Set(settings, rig.Object{"axScreenReader": true}), Env: []string{"NO_COLOR=1"}, Told: "screen reader mode"},
	{Name: "shell mode", Keys: []string{"!"}, Back: []string{"\x7f"}, Told: "mode !"},
	{Name: "transcript", Keys: []string{"\x0f"}, Back: []string{"\x0f"}, Told: "transcript"},
	{Name: "shortcuts", Keys: []string{"?"}},
}

// line is a status line that shows text, perhaps instead of vim's modes.
func line(text string, bare bool) rig.Object {
	return rig.Object{"type": "command", "command": "printf '" + text + "'", "hideVimModeIndicator": bare}
}

func theme(name string) rig.Change { return rig.Set(state, rig.Object{"theme": name}) }
