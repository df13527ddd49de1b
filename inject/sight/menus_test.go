package sight

import (
	"testing"

	"relay-pty/inject/profile"
)

// TestMenusThatComeWithARefusal: agents whose API refused a turn ask what to do now. Each menu, in
// its agent's own words, is a dialog that is told by its question, whether or not a composer of
// before is left above it.
func TestMenusThatComeWithARefusal(t *testing.T) {
	const box, foot = "╭────────────────────────────────────────╮\n│                                        │\n", "│                                        │\n╰────────────────────────────────────────╯\n"
	for _, c := range []struct {
		name, painted string
		p             *profile.Profile
		want          string
	}{
		{"options of a limit", "  What do you want to do?\n\n❯ 1. Upgrade your plan\n  2. Stop and wait for limit to reset\n\n Enter to confirm · Esc to cancel@", claude, "What do you want to do?"},
		{"the limit is being reset", "  What do you want to do?\n\n  Resetting your 5-hour limit…\n  This usually takes a few seconds.\n@", claude, "What do you want to do?"},
		{"the admin is asked", "  What do you want to do?\n\n  Sending request to your admin…\n@", claude, "What do you want to do?"},
		{"it waits, and continues by itself", "  What do you want to do?\n\n  1. Upgrade your plan\n❯ 2. Wait here, then continue automatically at 7:52pm\n  3. Stop and wait for limit to reset\n\n Esc to cancel@",
			claude, "What do you want to do?"},

		{"rates come near their limit", "  Approaching rate limits\n  Switch to gpt-5-mini for lower credit usage?\n\n› 1. Switch to gpt-5-mini   Uses fewer credits\n  2. Keep current model\n" +
			"  3. Keep current model (never show again)\n\n  Press enter to confirm or esc to go back@\x1b[?25l", codex, "Approaching rate limits"},
		{"the credits of the workspace", "  You've reached your workspace credit limit\n  Your workspace is out of credits. Notify owner?\n\n› 1. Yes\n  2. No\n\n  Press enter to confirm@\x1b[?25l",
			codex, "You've reached your workspace credit limit"},
		{"the limit of the workspace", "  Usage limit reached\n  Request a limit increase from your owner. Request increase?\n\n› 1. Yes\n  2. No@\x1b[?25l", codex, "Usage limit reached"},

		{"a limit", box + "│ Usage limit reached for all Pro models. │\n│ /stats model for usage details          │\n│                                         │\n" +
			"│ ● 1. Switch to gemini-2.5-flash         │\n│   2. Upgrade for higher limits          │\n│   3. Stop                               │\n" + foot + "@", gemini, "Usage limit reached for all Pro models."},
		{"high demand", box + "│ We are currently experiencing high demand. │\n│ /model to switch models.                │\n│                                         │\n" +
			"│ ● 1. Keep trying                        │\n│   2. Switch to gemini-2.5-flash         │\n│   3. Stop                               │\n" + foot + "@", gemini, "We are currently experiencing high demand."},
		{"no such model", box + "│ Model \"x\" was not found or is invalid.  │\n│                                         │\n│ ● 1. Switch to gemini-2.5-flash         │\n" +
			"│   2. Stop                               │\n" + foot + "@", gemini, "Model \"x\" was not found or is invalid."},
		{"credits", "│ You have 40 AI Credits available.       │\n│ How would you like to proceed?          │\n│                                         │\n" +
			"│ ● 1. Use AI Credits - Continue this request (Overage) │\n│   2. Stop - Abort request               │\n" + foot + "@", gemini, "How would you like to proceed?"},

		{"a free limit", "   Free limit reached                       esc\n\n   Subscribe to OpenCode Go for reliable access\n\n" +
			"    don't show again              subscribe@\n\n  ┃\n  ┃  " + openFloor + "\x1b[?25l", opencode, "Free limit reached                       esc"},
	} {
		t.Run(c.p.Name+"/"+c.name, func(t *testing.T) {
			v := Look(c.p, painted(c.painted))
			if v.Dialog != c.want || v.Box.Visible {
				t.Errorf("got dialog %q, composer %v; want %q", v.Dialog, v.Box.Visible, c.want)
			}
		})
	}
}
