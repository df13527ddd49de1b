package peer

import (
	"os"
	"slices"
	"strings"

	"relay-pty/protocol/process"
)

// Token is the token of the agent in which we run; "" outside of one. An agent may take it out of
// the environment of its servers for what the name looks like, as Gemini CLI 0.61 does: then it is
// what a process above us was started with.
func Token() string {
	name, token := os.Getenv("RELAY_AGENT"), os.Getenv("RELAY_TOKEN")
	if name == "" || token != "" {
		return token
	}
	for _, above := range process.Descent(os.Getppid(), 1) {
		env := process.Environ(above.PID)
		at := slices.IndexFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "RELAY_TOKEN=") })
		if at >= 0 && slices.Contains(env, "RELAY_AGENT="+name) {
			return strings.TrimPrefix(env[at], "RELAY_TOKEN=")
		}
	}
	return ""
}
