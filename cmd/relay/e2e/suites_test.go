package e2e

import (
	"context"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/daemon"
)

// suites is where npm has put the protocol's own tests and its inspector, which `make prove` alone
// installs.
func suites(t *testing.T) (node, modules string) {
	t.Helper()
	modules = os.Getenv("RELAY_MCP_SUITES")
	found, _ := filepath.Glob(filepath.Join(modules, "node-*", "bin", "node")) // the pattern is sound
	if modules == "" || len(found) == 0 {
		t.Fatalf("no Node in $RELAY_MCP_SUITES, which is %q: .ci/prove sets it", modules)
	}
	return found[0], modules
}

// strangers are the tests of the protocol that call tools, or read resources and prompts, of a
// server made for these tests, and the one of streams that can be resumed: it recommends them, and
// a session of ours does without, for messages that went with a lost answer come again. All others
// hold.
const strangers = `server:
  - tools-call-simple-text
  - tools-call-image
  - tools-call-audio
  - tools-call-embedded-resource
  - tools-call-mixed-content
  - tools-call-with-logging
  - tools-call-error
  - tools-call-with-progress
  - tools-call-sampling
  - tools-call-elicitation
  - json-schema-2020-12
  - elicitation-sep1034-defaults
  - elicitation-sep1330-enums
  - resources-read-text
  - resources-read-binary
  - resources-templates-read
  - resources-subscribe
  - resources-unsubscribe
  - prompts-get-simple
  - prompts-get-with-args
  - prompts-get-embedded-resource
  - prompts-get-with-image
  - server-sse-polling
`

// TestProveProtocolSuite: what the protocol's own tests ask of any server holds over HTTP.
func TestProveProtocolSuite(t *testing.T) {
	ctx := testrig.Within(t, 3*time.Minute)
	node, modules := suites(t)
	u := newUser(t)
	url, token := u.overTCP(ctx)
	known := filepath.Join(u.dir, "strangers.yml")
	must(t, os.WriteFile(known, []byte(strangers), 0o600))
	suite := filepath.Join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js")
	cmd := exec.CommandContext(ctx, node, suite, "server", "--suite", "all", "--expected-failures", known,
		"--url", withToken(t, url, token)+daemon.ToolsPath)
	cmd.Env, cmd.Dir = u.env, u.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	holds := regexp.MustCompile(`(?m)^✓ \S+: [1-9]`).FindAll(out, -1)
	shows(t, "the protocol's conformance tests of servers (0.1.16), over HTTP => %d hold; %d need "+
		"a server made for them, or streams that are resumed", len(holds), strings.Count(strangers, "\n  - "))
}

// withToken is where whoever has no token to say, as the protocol's tests, reaches a router.
func withToken(t *testing.T, url, token string) string {
	t.Helper()
	there := strings.TrimPrefix(url, "http://")
	_, theirs, _ := net.SplitHostPort(there) // it has a port
	proxy := &httputil.ReverseProxy{FlushInterval: -1}
	srv := httptest.NewServer(proxy)
	t.Cleanup(srv.Close)
	_, ours, _ := net.SplitHostPort(srv.Listener.Addr().String())
	moved := func(name string) string { return strings.Replace(name, ":"+ours, ":"+theirs, 1) }
	proxy.Rewrite = func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", there, moved(r.In.Host)
		if origin := r.In.Header.Get("Origin"); origin != "" {
			r.Out.Header.Set("Origin", moved(origin))
		}
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}
	return "http://localhost:" + ours
}

// inspects runs the inspector's command line, and returns what it prints and whether all went well.
func (u *user) inspects(ctx context.Context, args ...string) (says string, ok bool) {
	u.t.Helper()
	node, modules := suites(u.t)
	inspector := filepath.Join(modules, "@modelcontextprotocol", "inspector")
	launcher := filepath.Join(inspector, "clients", "launcher", "build", "index.js")
	cmd := exec.CommandContext(ctx, node, append([]string{launcher, "--cli"}, args...)...)
	cmd.Env, cmd.Dir = u.env, u.dir
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// inspected are calls of all tools, one of them refused.
var inspected = []struct{ tool, arguments, want string }{
	{"check_inbox", "max=5", "from bob] look"},
	{"send_message", "to=human body=hello", `\"to\":\"human\"`},
	{"respond_direct", "message_id=m-1 response=seen", `\"to\":\"bob\"`},
	{"reply_to_caller", "reply_message=seen correlation_id=m-1", `\"to\":\"bob\"`},
	{"message_status", "id=m-1", `\"status\":\"replied\"`},
	{"list_agents", "", `\"you\":\"ann\"`},
	{"remind_me", "delay=1h message=look", `\"status\":\"scheduled\"`},
	{"wait_for_events", "max_wait_ms=0 after_event_seq=0", `\"cursor_event_seq\":`},
	{"send_message", "to=human", refusedCall},
}

const refusedCall = "missing_field: send_message needs body"

// TestProveInspector: every tool answers the inspector's command line, which also finds no fault
// with their schemas, over stdio, and over HTTP with a token.
func TestProveInspector(t *testing.T) {
	for _, way := range []string{"stdio", "HTTP"} {
		ctx := testrig.Within(t, 3*time.Minute)
		u := newUser(t)
		url, token := u.overTCP(ctx)
		to := []string{
			"--server-url", url + daemon.ToolsPath + "?as=ann", "--transport", "http",
			"--header", "Authorization: Bearer " + token,
		}
		if way == "stdio" {
			to = []string{"--", filepath.Join(u.bin, "relay"), "mcp", "--as", "ann"}
			for _, v := range environment(u.dir, u.bin) {
				to = append([]string{"-e", v}, to...)
			}
		}
		list, ok := u.inspects(ctx, append([]string{"--strict", "--method", "tools/list"}, to...)...)
		if n := strings.Count(list, `"inputSchema"`); !ok || n != 8 {
			t.Errorf("%s: %d tools in\n%s", way, n, list)
		}
		u.does(ctx, "send", "human", "I am here", "--from", "ann")
		u.does(ctx, "send", "ann", "look", "--id", "m-1", "--from", "bob")
		for _, c := range inspected {
			args := []string{"--method", "tools/call", "--tool-name", c.tool}
			for _, pair := range strings.Fields(c.arguments) {
				args = append(args, "--tool-arg", pair)
			}
			got, ok := u.inspects(ctx, append(args, to...)...)
			if ok != (c.want != refusedCall) || !strings.Contains(got, c.want) {
				t.Errorf("%s: %s %s says\n%s\nwant %s", way, c.tool, c.arguments, got, c.want)
			}
		}
		shows(t, "the inspector's command line over %s: the list of tools, and %d calls of all of them "+
			"=> all are answered, and it finds no fault with a schema", way, len(inspected))
	}
}
