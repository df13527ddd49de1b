package api

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"relay-pty/protocol/registry"
)

// TestDoor: over TCP a request needs a token, has to have come to this machine by its own name, and
// must not be a foreign web page's.
func TestDoor(t *testing.T) {
	r := start(t)
	door := Door{Server: &Server{Hub: r.hub, Agents: registry.At(r.dir)}, Token: "the token"}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		door.Guard(door.Server.Handler()).ServeHTTP(w, q)
	}))
	t.Cleanup(srv.Close)
	door.Addr = srv.Listener.Addr().(*net.TCPAddr).AddrPort()
	here := door.Addr.String()
	_, port, _ := net.SplitHostPort(here) // it has one
	const good = "Bearer the token"
	for name, c := range map[string]struct {
		host, auth string
		header     http.Header
		status     int
		says       string
	}{
		"the token":                  {here, good, nil, 200, `"from":"human"`},
		"by name":                    {"localhost:" + port, good, nil, 200, `"from":"human"`},
		"an agent's token":           {here, "Bearer " + carolsToken, nil, 200, `"from":"carol"`},
		"a page of the router's own": {here, good, http.Header{"Origin": {"http://" + here}, "Sec-Fetch-Site": {"same-origin"}}, 200, ""},
		"typed by a person":          {here, good, http.Header{"Sec-Fetch-Site": {"none"}}, 200, ""},

		"no token":                   {here, "", nil, 401, "http.token"},
		"an empty token":             {here, "Bearer ", nil, 401, "not_authorized"},
		"a wrong token":              {here, "Bearer the tokem", nil, 401, "not_authorized"},
		"a part of the token":        {here, "Bearer the toke", nil, 401, "not_authorized"},
		"more than the token":        {here, good + "s", nil, 401, "not_authorized"},
		"another scheme":             {here, "Basic the token", nil, 401, "not_authorized"},
		"the token alone":            {here, "the token", nil, 401, "not_authorized"},
		"the token in the address":   {here, "", nil, 401, "not_authorized"}, // all have it there
		"a name that was bent to us": {"evil.example:" + port, good, nil, 403, "evil.example"},
		"the address, no port":       {"127.0.0.1", good, nil, 403, "not_authorized"},
		"another port":               {"127.0.0.1:1", good, nil, 403, "not_authorized"},
		"another name of loopback":   {"127.0.0.2:" + port, good, nil, 403, "not_authorized"},
		"a name that begins so":      {"localhost:" + port + ".evil.example", good, nil, 403, "not_authorized"},
		"a foreign page":             {here, good, http.Header{"Origin": {"http://evil.example"}}, 403, "another origin"},
		"a page without origin":      {here, good, http.Header{"Origin": {"null"}}, 403, "another origin"},
		"a page of another scheme":   {here, good, http.Header{"Origin": {"https://" + here}}, 403, "another origin"},
		"a page of another port":     {here, good, http.Header{"Origin": {"http://127.0.0.1:1"}}, 403, "another origin"},
		"a page of our other name":   {here, good, http.Header{"Origin": {"http://localhost:" + port}}, 403, "another origin"},
		"two origins":                {here, good, http.Header{"Origin": {"http://" + here, "http://evil.example"}}, 403, "another origin"},
		"a browser says so":          {here, good, http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403, "another origin"},
		"a page of this machine":     {here, good, http.Header{"Sec-Fetch-Site": {"same-site"}}, 403, "another origin"},
	} {
		body := `{"to":"bob","body":"hi from ` + name + `"}`
		q, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL+"/v1/messages?token=the+token", strings.NewReader(body))
		must(t, err)
		q.Host = c.host
		for k, v := range c.header {
			q.Header[k] = v
		}
		if c.auth != "" {
			q.Header.Set("Authorization", c.auth)
		}
		answer, err := srv.Client().Do(q)
		must(t, err)
		b, err := io.ReadAll(answer.Body)
		answer.Body.Close() // it is read
		if err != nil || answer.StatusCode != c.status || !strings.Contains(string(b), c.says) {
			t.Errorf("%s: %s, want %d and %s\n%s", name, answer.Status, c.status, c.says, b)
		}
		if asks := answer.Header.Get("WWW-Authenticate"); (c.status == 401) != (asks != "") {
			t.Errorf("%s: %s with WWW-Authenticate %q", name, answer.Status, asks)
		}
	}
	list, err := r.Newest(t.Context(), Query{}, 0)
	if err != nil || len(list.Messages) != 5 {
		t.Errorf("%d messages were accepted, %v", len(list.Messages), err)
	}
	for _, path := range []string{"/", "/healthz", "/v1/agents", "/v1/events", "/v1/openapi.json", "/metrics"} {
		answer, err := srv.Client().Get(srv.URL + path)
		must(t, err)
		answer.Body.Close() // its status says it
		if answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s without a token: %s", path, answer.Status)
		}
	}
}
