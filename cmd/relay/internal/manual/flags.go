package manual

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// notOfRun are relay-pty's flags that are of no use behind relay run.
var notOfRun = []string{"--name", "--check-profile", "--version"}

// WrapperFlags are the lines of relay-pty's help that tell the flags which relay run takes, too.
func WrapperFlags(ctx context.Context, wrapper string) (lines []string, err error) {
	help, err := exec.CommandContext(ctx, wrapper, "--help").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --help: %w", wrapper, err)
	}
	_, text, _ := strings.Cut(string(help), "\n  --")
	text, _, _ = strings.Cut("  --"+text, "\n\n")
	keep := true
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "  --") {
			keep = !slices.Contains(notOfRun, strings.Fields(line)[0])
		}
		if keep {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return lines, nil
}
