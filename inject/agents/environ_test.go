package agents

import (
	"slices"
	"testing"
)

const noAgentView = "CLAUDE_CODE_DISABLE_AGENT_VIEW=1"

// TestEnviron: marks of any agent's session go, and what the user has set stays, in its order.
func TestEnviron(t *testing.T) {
	user := []string{
		"CLAUDE_CONFIG_DIR=/c", "CLAUDE_CODE_USE_BEDROCK=1", "ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=u", "CLAUDE_CODE_MAX_OUTPUT_TOKENS=9",
		"CLAUDE_CODE_OAUTH_TOKEN=t", "CLAUDE_CODE_SSE_PORT=7", "CLAUDE_ENV_FILE=/e", "CLAUDECODES=1", "CLAUDE_CODE_TMPDIR=/t", "CLAUDE_CODE_EFFORT_LEVEL=high",
		"CODEX_HOME=/x", "CODEX_API_KEY=k", "CODEX_SANDBOX_NETWORK_DISABLED=1", "GEMINI_API_KEY=k", "GEMINI_CLI_HOME=/g",
		"OPENCODE_CONFIG=/o", "OPENCODE_CONFIG_CONTENT={}", "AGENT=me", "AI_AGENT=mine", "PATH=/bin", "EMPTY=", "odd", "=odd", "A=CLAUDECODE=1",
	}
	marks := []string{
		"CLAUDECODE=1", "CLAUDE_CODE_CHILD_SESSION=1", "CLAUDE_CODE_SESSION_ID=x", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_MESSAGING_TOKEN=t",
		"CLAUDE_PID=1", "CLAUDE_EFFORT=high", "CLAUDE_BG_BACKEND=daemon", "CLAUDE_CODE_SESSION_KIND=bg", "AI_AGENT=claude-code_2-1-329_agent", "CLAUDECODE=",
		"CODEX_CI=1", "CODEX_THREAD_ID=x", "CODEX_SESSION_ID=x", "GEMINI_CLI=1", "OPENCODE=1", "OPENCODE_PID=1", "AGENT=1",
	}
	var mixed []string
	for i := range max(len(user), len(marks)) {
		mixed = append(append(mixed, user[i:min(i+1, len(user))]...), marks[min(i, len(marks)):min(i+1, len(marks))]...)
	}
	if got, want := Environ(mixed, false), append(slices.Clone(user), noAgentView); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got := Environ(mixed, true); !slices.Equal(got, user) {
		t.Errorf("of a command that does one thing: got %q\nwant %q", got, user)
	}
}

func TestAgentViewIsTheUsersToSet(t *testing.T) {
	for _, set := range []string{"CLAUDE_CODE_DISABLE_AGENT_VIEW=0", "CLAUDE_CODE_DISABLE_AGENT_VIEW=", noAgentView} {
		if got := Environ([]string{set}, false); !slices.Equal(got, []string{set}) {
			t.Errorf("%s: got %q", set, got)
		}
	}
}
