// Package manual writes the manual pages of relay, relay-pty and the wire format, from what the
// programs say of themselves.
package manual

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"relay-pty/protocol"
	"relay-pty/protocol/version"
)

// Write writes the pages of all commands below root, of the wrapper at that path, and of what is
// told nowhere else, into a directory. The same program writes the same pages.
func Write(ctx context.Context, root *cobra.Command, wrapper, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	help, err := exec.CommandContext(ctx, wrapper, "--help").Output()
	if err != nil {
		return fmt.Errorf("ask %s for help: %w", wrapper, err)
	}
	pages := []page{
		{"relay-pty", "1", "wrap an agent, and type messages into it when it is ready", string(help)},
		{"relay-pty-check", "1", "see whether a profile still holds for the installed agent", check},
		{"relay-pty-protocol", "7", "the wire format of a wrapper's socket", protocol.Manual()},
	}
	for _, topic := range root.Commands() {
		if topic.IsAdditionalHelpTopicCommand() { // cobra writes pages of commands alone
			pages = append(pages, page{"relay-" + topic.Name(), "1", topic.Short, topic.Long})
		}
	}
	for _, p := range pages {
		if err := p.write(dir); err != nil {
			return err
		}
	}
	root.DisableAutoGenTag = true
	asMarkdown(root)
	err = doc.GenManTree(root, &doc.GenManHeader{
		Title: "RELAY", Section: "1", Source: "relay " + version.Release, Manual: "relay",
	}, dir)
	if err != nil {
		return err
	}
	return complete(dir)
}

const check = `relay-pty-check is what this becomes, and is not called by hand:

  relay-pty --check-profile [AGENT] [-- COMMAND]

It starts the agent in a home of its own, offline, against a model on this machine, types a message
into it, and tells for each thing that the profile knows of the agent whether it still holds.
relay-pty finds it beside itself, or in PATH.`

// asMarkdown changes the descriptions of commands, which are plain text, so that they stand in the
// page as they are: to the writer of pages they are Markdown, and it takes <<<…>>> for HTML.
// That of completion, which cobra brings, is Markdown.
func asMarkdown(c *cobra.Command) {
	if c.Name() == "completion" {
		return
	}
	for _, below := range c.Commands() {
		asMarkdown(below)
	}
	c.Short, c.Long = escaped.Replace(c.Short), markdown(c.Long)
}

// escaped takes characters out of Markdown's hands.
var escaped = strings.NewReplacer(
	`\`, `\\`, "<", `\<`, ">", `\>`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "#", `\#`,
)

// markdown is text, of which indented lines are examples.
func markdown(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "  ") {
			lines[i] = "    " + line[2:]
		} else {
			lines[i] = escaped.Replace(line)
		}
	}
	return strings.Join(lines, "\n")
}

// page is one whose text is shown as it stands.
type page struct{ name, section, short, text string }

// roff takes characters out of the formatter's hands.
var roff = strings.NewReplacer(`\`, `\e`, "-", `\-`)

func (p page) write(dir string) error {
	var b strings.Builder
	title, name, short := roff.Replace(strings.ToUpper(p.name)), roff.Replace(p.name), roff.Replace(p.short)
	fmt.Fprintf(&b, ".TH %s %s \"\" \"relay %s\" \"relay\"\n", title, p.section, version.Release)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n", name, short)
	for line := range strings.Lines(roff.Replace(p.text)) {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			b.WriteString(`\&`) // else it would be a request
		}
		b.WriteString(line)
	}
	b.WriteString("\n.fi\n" + seeAlso + "relay(1), relay\\-pty(1), relay\\-pty\\-protocol(7)\n")
	return os.WriteFile(filepath.Join(dir, p.name+"."+p.section), []byte(b.String()), 0o644)
}
