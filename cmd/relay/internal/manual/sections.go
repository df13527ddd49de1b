package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// entry is a term of a section, and what it means.
type entry struct{ term, text string }

// section is a part of a page that no program says of itself.
type section struct {
	head    string
	entries []entry
}

const seeAlso = ".SH SEE ALSO\n"

// sections are the further parts of pages, in the order of man-pages(7).
var sections = map[string][]section{
	"relay.1": {
		{"EXIT STATUS", []entry{
			{"0", "done"},
			{"1", "the command failed, or the message did not get as far as was asked"},
			{"2", "the command line is wrong"},
			{"3", "there is no such agent"},
			{"124", "the time is over; the message goes on its way, and its id is printed"},
			{"128 + n", "signal n ended the command"},
		}},
		{"ENVIRONMENT", []entry{
			{"RELAY_AGENT, RELAY_SOCKET, RELAY_TOKEN", "inside an agent: its name, its wrapper's socket and its secret; commands there speak as the agent"},
			{"RELAY_DM_EXPIRY, RELAY_RETAIN and so on", "settings, by their names in capitals (relay-settings(1)); they count more than the file"},
			{"RELAY_DEMO", "builtin: relay demo takes the built-in agents"},
			{"XDG_RUNTIME_DIR, XDG_STATE_HOME, XDG_CONFIG_HOME", "where FILES are"},
			{"NO_COLOR, TZ", "no colours; the time zone of times that are printed"},
		}},
		{"FILES", []entry{
			{"~/.config/relay/config.toml", "settings (relay-settings(1)), below $XDG_CONFIG_HOME where that is set"},
			{"~/.local/state/relay", "the router's log and state, and router.log, which is emptied at 1 MiB (router.log.old has what it held before); damaged-TIME is what relay doctor --fix put aside; below $XDG_STATE_HOME where that is set"},
			{"$XDG_RUNTIME_DIR/relay/router.sock", "the router's socket, for HTTP; http.token beside it is the secret for TCP; /tmp/relay-UID without $XDG_RUNTIME_DIR"},
			{"$XDG_RUNTIME_DIR/relay/agents", "a file for each wrapper that runs"},
		}},
	},
	"relay-pty.1": {
		{"EXIT STATUS", []entry{
			{"the agent's own", "the agent ended; 128 + n when signal n ended it"},
			{"125", "the command line is wrong, or the wrapper failed: a name that is taken, no terminal"},
			{"126", "the command cannot be run"},
			{"127", "there is no such command"},
		}},
		{"ENVIRONMENT", []entry{
			{"RELAY_AGENT, RELAY_SOCKET, RELAY_TOKEN", "are set for the command: its name, the socket and its secret"},
			{"XDG_RUNTIME_DIR, XDG_STATE_HOME", "where FILES are"},
		}},
		{"FILES", []entry{
			{"/tmp/relay-pty-NAME.sock", "the socket, unless --socket says another path"},
			{"$XDG_RUNTIME_DIR/relay/agents/NAME.json", "tells routers of the wrapper while it runs; /tmp/relay-UID/agents without $XDG_RUNTIME_DIR"},
			{"~/.local/state/relay-pty/NAME.journal", "messages and events; below $XDG_STATE_HOME where that is set, or --state-dir"},
		}},
	},
}

// related are the pages that a page names in SEE ALSO beside those that its writer put there.
var related = map[string]string{
	"relay.1":        "relay-pty(1), relay-settings(1), relay-receiving(1), relay-pty-protocol(7)",
	"relay-run.1":    "relay-pty(1), relay-wait(1), relay-mcp(1)",
	"relay-recv.1":   "relay-receiving(1)",
	"relay-events.1": "relay-receiving(1)",
	"relay-keys.1":   "relay-screen(1), relay-pty(1)",
	"relay-hook.1":   "relay-mcp(1)",
	"relay-mcp.1":    "relay-skill(1), relay-hook(1)",
}

// complete adds to the pages in dir what stands in sections and related.
func complete(dir string) error {
	pages, err := filepath.Glob(filepath.Join(dir, "*.[17]"))
	if err != nil {
		return err
	}
	for _, path := range pages {
		name := filepath.Base(path)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		body, links, found := strings.Cut(string(text), seeAlso)
		if !found {
			body, links = body+"\n", "relay(1)\n"
		}
		var b strings.Builder
		b.WriteString(body)
		for _, s := range sections[name] {
			s.write(&b)
		}
		b.WriteString(seeAlso + strings.TrimRight(links, "\n"))
		if more := related[name]; more != "" {
			b.WriteString(", " + roff.Replace(more))
		}
		b.WriteString("\n")
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// write writes the section as tagged paragraphs of groff_man(7).
func (s section) write(b *strings.Builder) {
	fmt.Fprintf(b, ".SH %s\n", s.head)
	for _, e := range s.entries {
		fmt.Fprintf(b, ".TP\n%s\n%s\n", roff.Replace(e.term), roff.Replace(e.text))
	}
}
