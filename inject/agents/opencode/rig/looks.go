package rig

import (
	"path/filepath"

	"relay-pty/inject/agents/rig"
)

// looks are settings, modes and views of OpenCode that change what it draws.
var looks = []rig.Look{
	{Name: "plans", Args: []string{"--agent", "plan"}},
	{Name: "plans by a key", Keys: []string{"\t"}},
	{Name: "asks nothing", Args: []string{"--auto"}},
	{Name: "mini", Args: []string{"--mini"}, Told: "minimal interface"},
	{Name: "theme of the terminal", Change: draws(rig.Object{"theme": "system"})},
	{Name: "theme matrix", Change: draws(rig.Object{"theme": "matrix"})},
	{Name: "theme github", Change: draws(rig.Object{"theme": "github"})},
	{Name: "theme gruvbox", Change: draws(rig.Object{"theme": "gruvbox"})},
	{Name: "theme catppuccin", Change: draws(rig.Object{"theme": "catppuccin"})},
	{Name: "low prompt", Change: draws(rig.Object{"prompt": rig.Object{"max_height": 2}})},
	{Name: "lowest prompt", Change: draws(rig.Object{"prompt": rig.Object{"max_height": 1}})},
	{Name: "tall prompt", Change: draws(rig.Object{"prompt": rig.Object{"max_height": 12}})},
	{Name: "wide prompt", Change: draws(rig.Object{"prompt": rig.Object{"max_width": 120}}), Rows: 40, Cols: 160},
	{Name: "narrow prompt", Change: draws(rig.Object{"prompt": rig.Object{"max_width": 40}}), Rows: 40, Cols: 160},
	{Name: "prompt as wide as the terminal", Change: draws(rig.Object{"prompt": rig.Object{"max_width": "auto"}}), Rows: 40, Cols: 160},
	{Name: "stacked diffs", Change: draws(rig.Object{"diff_style": "stacked", "scroll_acceleration": rig.Object{"enabled": true}})},
	{Name: "cursor as a line", Change: draws(rig.Object{"cursor": rig.Object{"style": "line", "blinking": true}})},
	{Name: "no mouse", Change: draws(rig.Object{"mouse": false})},
	{Name: "no tips", Change: keeps(rig.Object{"tips_hidden": true})},
	{Name: "no animations", Change: keeps(rig.Object{"animations_enabled": false})},
	{Name: "timestamps and details",
		Change: keeps(rig.Object{"timestamps": "show", "tool_details_visibility": false, "scrollbar_visible": true})},
	{Name: "no metadata", Change: keeps(rig.Object{"assistant_metadata_visibility": false, "thinking_mode": "show"})},
	{Name: "sidebar", Change: keeps(rig.Object{"sidebar": "show"}), Rows: 40, Cols: 160},
	{Name: "no sidebar", Change: keeps(rig.Object{"sidebar": "hide"}), Rows: 40, Cols: 160},
	{Name: "no title", Change: keeps(rig.Object{"terminal_title_enabled": false})},
	{Name: "pastes in full", Change: keeps(rig.Object{"paste_summary_enabled": false})},
	{Name: "light mode", Change: keeps(rig.Object{"theme_mode": "light", "theme_mode_lock": "light"})},
	{Name: "12 rows", Rows: 12, Cols: 80, Told: "make it taller"},
	{Name: "shell mode", Keys: []string{"!"}, Back: []string{"\x1b"}, Told: "mode !"},
	{Name: "list of commands", Keys: []string{"\x10"}, Back: []string{"\x1b"}, Told: "Commands"},
}

// draws are settings of the file for what OpenCode draws.
func draws(v rig.Object) rig.Change {
	return func(h rig.Home, env []string) ([]string, error) { return env, h.Write(config+"/tui.json", v) }
}

// keeps are what OpenCode keeps of choices in its menus.
func keeps(v rig.Object) rig.Change {
	return func(h rig.Home, env []string) ([]string, error) {
		return append(env, "XDG_STATE_HOME="+filepath.Join(h.Path, "state")), h.Write("state/opencode/kv.json", v)
	}
}
