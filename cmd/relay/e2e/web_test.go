package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/daemon"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"relay-pty/cmd/relay/internal/router"
)

// overTCP runs a router that answers at a port, too, until the test ends.
func (u *user) overTCP(ctx context.Context) (url, token string) {
	u.t.Helper()
	cmd := u.command(ctx, "serve", "--http", "127.0.0.1:0")
	errs, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	must(u.t, err)
	u.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait() // however it ended
	})
	said := bufio.NewReader(errs)
	for line := ""; !strings.Contains(line, "router at"); {
		if line, err = said.ReadString('\n'); err != nil {
			u.t.Fatalf("the router says %q: %v", line, err)
		}
		if at, file, ok := strings.Cut(line, ", token in "); ok {
			url = strings.TrimPrefix(at, "relay: ")
			b, err := os.ReadFile(strings.TrimSpace(file))
			must(u.t, err)
			token = strings.TrimSpace(string(b))
		}
	}
	go io.Copy(io.Discard, said) // ends with the router
	return url, token
}

// bearer adds a token to requests.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// web starts a session over HTTP.
func (u *user) web(ctx context.Context, url string, by http.RoundTripper) toolbox {
	u.t.Helper()
	return u.connects(ctx, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: by}})
}

// TestToolsOverHTTP: an agent's token makes a session the agent's, whose messages come from its
// wrapper; the router's own makes it whose the address says, else the human's.
func TestToolsOverHTTP(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ctx := testrig.Within(t, patience)
	url, token := u.overTCP(ctx)
	u.runs(ctx, "bob", "", nil, "--prompt-pattern", "^never$", "--", "sh", "-c", `echo "$RELAY_TOKEN" >token.new; mv token.new token; exec cat`)
	u.becomes(ctx, "bob's token", func() bool { _, err := os.Stat(filepath.Join(u.dir, "token")); return err == nil })
	bobs, err := os.ReadFile(filepath.Join(u.dir, "token"))
	must(t, err)
	u.does(ctx, "send", "bob", "look", "--id", "m-1", "--until", "queued")
	bob := u.web(ctx, url+daemon.ToolsPath, bearer{strings.TrimSpace(string(bobs))})
	list, err := bob.ListTools(ctx, nil)
	if err != nil || len(list.Tools) != 8 {
		t.Errorf("%d tools, %v", len(list.Tools), err)
	}
	if got := bob.calls(ctx, "list_agents", nil); !strings.Contains(got, `{"you":"bob"`) || !strings.Contains(got, "[relay m-1 from human] look\n") {
		t.Errorf("bob reads %s", got)
	}
	if got := bob.calls(ctx, "reply_to_caller", map[string]any{"reply_message": "seen"}); !strings.Contains(got, `"to":"human"`) {
		t.Errorf("bob answers: %s", got)
	}
	u.sees(ctx, "the message to be pulled", func(e router.Event) bool { return e.ID == "m-1" && e.Evidence == "pulled" })

	ann := u.web(ctx, url+daemon.ToolsPath+"?as=ann", bearer{token})
	if got := ann.calls(ctx, "send_message", map[string]any{"to": "bob", "body": "hello"}); !strings.Contains(got, `"to":"bob"`) {
		t.Errorf("ann sends: %s", got)
	}
	human := u.web(ctx, "http://router"+daemon.ToolsPath, &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(u.dir, "relay", "router.sock"))
	}})
	if got := human.calls(ctx, "check_inbox", nil); !strings.Contains(got, `"you":"human"`) || !strings.Contains(got, "from bob] seen") {
		t.Errorf("over the socket comes %s", got)
	}
	u.knocks(ctx, url, token, strings.TrimSpace(string(bobs)), bob.ID())
}

// knocks makes requests that are refused.
func (u *user) knocks(ctx context.Context, url, token, bobs, session string) {
	u.t.Helper()
	for name, c := range map[string]struct {
		path, token, session, origin, host string
		status                             int
		says                               string
	}{
		"no token":                  {"", "", "", "", "", 401, "http.token"},
		"a wrong token":             {"", "x", "", "", "", 401, "not_authorized"},
		"a foreign page":            {"", token, "", "http://evil.example", "", 403, "another origin"},
		"another host":              {"", token, "", "", "evil.example", 403, "evil.example"},
		"in another name":           {"?as=ann", bobs, "", "", "", 403, "the token is of bob"},
		"in no name":                {"?as=a/b", token, "", "", "", 400, "bad_field"},
		"another's session":         {"", token, session, "", "", 404, "session not found"},
		"another's, in their name":  {"?as=bob", token, session, "", "", 404, "session not found"},
		"a session that never was":  {"", bobs, "x", "", "", 404, "session not found"},
		"a session that was forged": {"", bobs, session + "0", "", "", 404, "session not found"},
		"its own session":           {"", bobs, session, "", "", 200, `"tools"`},
	} {
		body := strings.NewReader(`{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{}}`)
		r, err := http.NewRequestWithContext(ctx, "POST", url+daemon.ToolsPath+c.path, body)
		must(u.t, err)
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		for key, value := range map[string]string{"Origin": c.origin, "Mcp-Session-Id": c.session} {
			if value != "" {
				r.Header.Set(key, value)
			}
		}
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		r.Host = c.host
		answer, err := http.DefaultClient.Do(r)
		must(u.t, err)
		b, err := io.ReadAll(answer.Body)
		answer.Body.Close() // it is read
		if err != nil || answer.StatusCode != c.status || !bytes.Contains(b, []byte(c.says)) {
			u.t.Errorf("%s: %s, want %d and %s\n%s", name, answer.Status, c.status, c.says, errors.Join(err, errors.New(string(b))))
		}
	}
}
