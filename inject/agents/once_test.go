package agents

import (
	"strings"
	"testing"
)

func TestOnce(t *testing.T) {
	for line, want := range map[string]bool{
		"claude": false, "claude fix~it": false, "claude -c": false, "claude --resume X": false, "claude -r": false,
		"claude --resume doctor": false, "claude -r mcp": false, "claude fix doctor": false, "claude --model=opus": false,
		"claude --model mcp": false, "claude -nmcp": false, "claude -n -p": false, "claude --append-system-prompt -p": false,
		"claude --add-dir a mcp": false, "claude --": false, "claude -- -p": false, "claude -- fix~it -p": false, "claude -": false,
		"claude -d mcp": false, "claude ''": false, "claude -c -d --verbose": false, "claude --teleport": false, "claude --printing": false,
		"claude -p": true, "claude -p hello": true, "claude hello --print": true, "claude -cp": true, "claude -pc": true, "claude -dp": false,
		"claude --print=x": true, "claude -r -p": true, "claude --resume X -p hello": true, "claude --add-dir a b -p": true, "claude -- mcp list": true,
		"claude --model opus -p": true, "claude --model=opus mcp list": true, "claude -c doctor": true, "claude --version": true,
		"claude -v": true, "claude --help": true, "claude fix --help": true, "claude mcp list": true, "claude daemon status": true,
		"claude remote-control": true, "claude attach x": true, "claude update": true, "claude --bg fix~it": true, "/opt/claude -p": true,

		"codex": false, "codex fix~it": false, "codex resume --last": false, "codex fork": false, "codex agents": false, "codex resume exec": false,
		"codex -c a=b": false, "codex -p work": false, "codex --profile exec": false, "codex -i a.png exec": false, "codex -pexec": false,
		"codex -m gpt -p": false, "codex --oss": false, "codex exec fix": true, "codex e fix": true, "codex -c a=b exec": true, "codex -i a.png -c b=c exec": true,
		"codex review": true, "codex --oss exec": true, "codex mcp list": true, "codex a x": true, "codex resume --help": true, "codex -V": true,
		"codex -pwork exec": true, "codex --config=a=b login": true,

		"gemini": false, "gemini fix~it": false, "gemini -i hello": false, "gemini -r latest": false, "gemini -y": false, "gemini -m pro": false,
		"gemini -m mcp": false, "gemini -w mcp": false, "gemini -e none mcp": false, "gemini -p hello": true, "gemini --prompt hello": true,
		"gemini --prompt=hello": true, "gemini -yp hello": true, "gemini -m pro -p": true, "gemini mcp list": true, "gemini --list-sessions": true,
		"gemini -w -p hello": true, "gemini --acp": true, "gemini -e none -l": true,

		"opencode": false, "opencode .": false, "opencode -c": false, "opencode --prompt run": false, "opencode -s run": false,
		"opencode attach http://x": false, "opencode pr 3": false, "opencode run hello": true, "opencode --print-logs run": true,
		"opencode -m a/b run": true, "opencode auth list": true, "opencode serve": true, "opencode -v": true, "opencode pr --help": true,

		"qwen": false, "qwen -c": false, "qwen -i hello": false, "qwen -r X": false, "qwen -m mcp -y": false, "qwen -e none mcp": false,
		"qwen fix~it": true, "qwen -y fix~it": true, "qwen -- hello": true, "qwen -p hello": true, "qwen mcp list": true,
		"qwen serve": true, "qwen --acp": true, "qwen -v": true,

		"cat -p": false, "bash -c x": false, "node --version": false,
	} {
		if got := Once("", words2(line)...); got != want {
			t.Errorf("%s: got %t, want %t", line, got, want)
		}
	}
}

// words2 are the words of a line, in which a ~ is a blank, and two quotes are a word of nothing.
func words2(line string) []string {
	argv := strings.Fields(line)
	for i, w := range argv {
		argv[i] = strings.ReplaceAll(strings.Trim(w, "'"), "~", " ")
	}
	return argv
}

// TestOnceByItsName: what --agent names is what the command line is read as.
func TestOnceByItsName(t *testing.T) {
	for _, c := range []struct {
		agent, line string
		want        bool
	}{
		{"claude", "cc-dev -p hello", true}, {"claude", "cc-dev", false}, {"claude", "cc-dev mcp list", true},
		{"generic", "claude -p hello", false}, {"nosuch", "claude -p", false}, {"mine.json", "claude -p", false},
	} {
		if got := Once(c.agent, strings.Fields(c.line)...); got != c.want {
			t.Errorf("%s as %s: got %t, want %t", c.line, c.agent, got, c.want)
		}
	}
}
