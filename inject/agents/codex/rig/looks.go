package rig

import "relay-pty/inject/agents/rig"

// looks are settings, modes and views of Codex that change what it draws.
var looks = []rig.Look{
	{Name: "no alternate screen", Args: []string{"--no-alt-screen"}},
	{Name: "fullscreen transcript", Args: tui("fullscreen_transcript=true")},
	{Name: "inline transcript", Args: tui("fullscreen_transcript=false")},
	{Name: "no animations", Args: tui("animations=false")},
	{Name: "no tooltips", Args: tui("show_tooltips=false")},
	{Name: "status line of all",
		Args: tui(`status_line=["model-with-reasoning","context-remaining","current-dir","git-branch","codex-version","used-tokens"]`)},
	{Name: "no status line", Args: tui("status_line=[]")},
	{Name: "status line without colours", Args: tui("status_line_use_colors=false")},
	{Name: "title of the agent's own", Args: tui(`terminal_title=["spinner","project-name"]`)},
	{Name: "no title", Args: tui("terminal_title=[]")},
	{Name: "theme", Args: tui(`theme="github"`)},
	{Name: "light theme", Args: tui(`theme="solarized-light"`)},
	{Name: "raw output", Args: tui("raw_output_mode=true")},
	{Name: "no paste bursts", Args: tui("disable_paste_burst=true")},
	{Name: "notifications", Args: tui("notifications=true")},
	{Name: "pet", Args: tui(`pet="codex"`)},
	{Name: "pet at the composer", Args: append(tui(`pet="codex"`), tui(`pet_anchor="composer"`)...)},
	{Name: "details collapsed", Args: tui("collapse_turn_details=true")},
	{Name: "vim", Change: vim},
	{Name: "yolo", Args: []string{"--dangerously-bypass-approvals-and-sandbox"}},
	{Name: "read only, never asks", Args: []string{"--sandbox", "read-only", "--ask-for-approval", "never"}},
	{Name: "approves by itself", Args: []string{"--approve-for-me"}},
	{Name: "personality", Args: []string{"-c", `personality="friendly"`}},
	{Name: "reasoning raw", Args: []string{"-c", "show_raw_agent_reasoning=true", "-c", `model_reasoning_effort="high"`}},
	{Name: "plan mode", Keys: []string{"\x1b[Z"}},
	{Name: "TERM=dumb", Env: []string{"TERM=dumb"}, Back: []string{"y", "\r"}, Told: "Continue anyway?"},
	{Name: "shell mode", Keys: []string{"!"}, Back: []string{"\x7f"}, Told: "mode !"},
	{Name: "command center", Keys: []string{"\x1b[D"}, Back: []string{"\x1b"}, Told: "esc"},
	{Name: "shortcuts", Keys: []string{"?"}, Back: []string{"\x1b"}, Told: "esc close"},
}

// tui is a setting of what Codex draws, as a flag.
func tui(setting string) []string { return []string{"-c", "tui." + setting} }
