package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"relay-pty/cmd/internal/testrig"
)

// checkWrapperCompletions: each flag that relay-pty's help names is completed in every shell, and
// what may follow one, and the command behind --.
func checkWrapperCompletions(t *testing.T, bin string, read func(path string) string, share string) {
	help, err := exec.Command(filepath.Join(bin, "relay-pty"), "--help").Output()
	must(t, err)
	zsh, fish := read("zsh/site-functions/_relay-pty"), read("fish/vendor_completions.d/relay-pty.fish")
	for _, flag := range regexp.MustCompile(`--[a-z][a-z-]+`).FindAllString(string(help), -1) {
		if !regexp.MustCompile(flag + `[\[}]`).MatchString(zsh) {
			t.Errorf("zsh does not complete %s", flag)
		}
		if !regexp.MustCompile(`(-l |')` + flag[2:] + `[ |]`).MatchString(fish) {
			t.Errorf("fish does not complete %s", flag)
		}
	}
	ask := func(shell string, argv ...string) string {
		_, err := exec.LookPath(shell)
		testrig.Require(t, shell, err)
		cmd := exec.Command(shell, argv...)
		cmd.Env = append(os.Environ(), environment(testrig.Dir(t), bin)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s %q: %v\n%s", shell, argv, err, out)
		}
		return string(out)
	}
	bash := func(words string) string {
		return ask("bash", "--norc", "-c", `. "$1"; COMP_WORDS=($2 ""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _relay_pty; printf '%s\n' "${COMPREPLY[@]}"`,
			"bash", filepath.Join(share, "bash-completion/completions/relay-pty"), words)
	}
	inFish := func(line string) string {
		return ask("fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", filepath.Join(share, "fish/vendor_completions.d/relay-pty.fish"), line)
	}
	for got, want := range map[string]string{
		bash("relay-pty"):                         "--name",
		bash("relay-pty --agent"):                 "opencode",
		bash("relay-pty --markers"):               "stream",
		bash("relay-pty --name a --"):             "relay-pty",
		inFish("relay-pty --na"):                  "--name",
		inFish("relay-pty --notice "):             "osc9",
		inFish("relay-pty --name a -- relay-pty"): "relay-pty",
		ask("zsh", "-fnc", zsh):                   "", // it is read
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not among what is offered: %.300q", want, got)
		}
	}
}
