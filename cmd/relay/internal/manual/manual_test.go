package manual

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestTextsStandInThePagesAsTheyAre: what programs say of themselves is plain text. It is neither
// Markdown nor HTML, and no line of it is a request to the formatter of manual pages.
func TestTextsStandInThePagesAsTheyAre(t *testing.T) {
	texts := []string{
		`A marker reads ->relay:NAME <<<…>>>, also with [re=ID] and *stars*.`,
		`# a_name, a\backslash and ` + "`ticks`",
		`  relay send bob "<b>" --wait`,
		`.TH is no request here`,
		`'nor is this`,
	}
	plain := strings.Join(texts, "\n") + "\n"
	dir := t.TempDir()
	wrapper := filepath.Join(dir, "wrapper")
	if err := os.WriteFile(wrapper, []byte("#!/bin/sh\ncat <<'END'\n"+plain+"END\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	root := &cobra.Command{Use: "relay", Short: "messages", Long: strings.Join(texts, "\n\n")}
	root.AddCommand(
		&cobra.Command{Use: "send", Short: "send <<<…>>>", Long: strings.Join(texts, "\n\n"), Run: func(*cobra.Command, []string) {}},
		&cobra.Command{Use: "receiving", Short: "what readers can rely on", Long: plain},
	)
	pages := filepath.Join(dir, "pages")
	if err := Write(t.Context(), root, wrapper, pages); err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"relay-pty.1", "relay-receiving.1", "relay-send.1", "relay.1"} {
		text, err := os.ReadFile(filepath.Join(pages, page))
		if err != nil {
			t.Fatal(err)
		}
		shown := formatted(string(text))
		for _, line := range texts {
			if !strings.Contains(shown, "\n"+strings.TrimSpace(line)+"\n") {
				t.Errorf("%s does not show %q:\n%s", page, line, text)
			}
		}
	}
}

// TestPagesTellOfFilesAndEnvironment: the pages of both programs have these sections before SEE
// ALSO, whatever wrote the page, and each page names others.
func TestPagesTellOfFilesAndEnvironment(t *testing.T) {
	dir := t.TempDir()
	wrapper := filepath.Join(dir, "wrapper")
	if err := os.WriteFile(wrapper, []byte("#!/bin/sh\necho usage\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	root := &cobra.Command{Use: "relay", Short: "messages"}
	root.AddCommand(&cobra.Command{Use: "run", Short: "run", Run: func(*cobra.Command, []string) {}})
	pages := filepath.Join(dir, "pages")
	if err := Write(t.Context(), root, wrapper, pages); err != nil {
		t.Fatal(err)
	}
	for page, heads := range map[string][]string{
		"relay.1":              {"EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"},
		"relay-pty.1":          {"EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"},
		"relay-run.1":          {"SEE ALSO"},
		"relay-pty-protocol.7": {"SEE ALSO"},
	} {
		text, err := os.ReadFile(filepath.Join(pages, page))
		if err != nil {
			t.Fatal(err)
		}
		rest := string(text)
		for _, head := range heads {
			found := false
			if _, rest, found = strings.Cut(rest, "\n.SH "+head+"\n"); !found {
				t.Errorf("%s has no section %s behind the others:\n%s", page, head, text)
			}
		}
		if !strings.Contains(rest, "relay") || strings.Contains(rest, ".SH") {
			t.Errorf("%s does not end with the pages to see: %q", page, rest)
		}
	}
}

// formatted is what a formatter makes of a page's lines: requests are left out, escapes are read.
// See groff_char(7) and groff(7).
func formatted(page string) string {
	read := strings.NewReplacer(`\&`, "", `\-`, "-", `\e`, `\`, `\\`, `\`, `\(aq`, "'", `\(ga`, "`", `\[dq]`, `"`)
	var b strings.Builder
	for line := range strings.Lines("\n" + page) {
		if !strings.HasPrefix(line, ".") && !strings.HasPrefix(line, "'") {
			b.WriteString(strings.TrimSpace(read.Replace(line)) + "\n")
		}
	}
	return b.String()
}
