package api

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/hub"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store/storerig"
	"relay-pty/protocol"
	"relay-pty/protocol/registry"
	"relay-pty/protocol/sock"
)

type rig struct {
	*Client
	t      *testing.T
	hub    *hub.Hub
	store  *storerig.Store
	dir    string
	socket string
}

const carolsToken = "carols token"

func start(t *testing.T) *rig {
	t.Helper()
	dir := testrig.Dir(t)
	t.Setenv("XDG_RUNTIME_DIR", dir)
	agents, err := registry.Dir()
	must(t, err)
	r := &rig{t: t, store: storerig.Open(t, ""), dir: agents, socket: filepath.Join(dir, "router")}
	n := 0
	if r.hub, err = hub.New(t.Context(), r.store, router.Rules{Urgent: []string{router.Human}}, func() string { n++; return "id" + strconv.Itoa(n) }); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bob", "carol"} {
		must(t, r.hub.Up(t.Context(), registry.Record{Name: name, Agent: "generic", PID: 1}))
	}
	must(t, r.hub.Missed(t.Context(), func(router.Agent) bool { return false }))
	r.announce("carol", carolsToken)
	l, err := net.Listen("unix", r.socket)
	must(t, err)
	srv := httptest.NewUnstartedServer((&Server{Hub: r.hub, Agents: registry.At(agents)}).Handler())
	srv.Listener.Close() // not that one
	srv.Listener = l
	srv.Start()
	t.Cleanup(srv.Close)
	r.Client = NewClient(r.socket, "")
	t.Cleanup(r.http.CloseIdleConnections)
	return r
}

// announce lists a wrapper that only listens.
func (r *rig) announce(name, token string) {
	r.t.Helper()
	r.wraps(name, token, func(context.Context, *sock.Conn) {})
}

// wraps lists a wrapper that serves its connections so.
func (r *rig) wraps(name, token string, serve func(context.Context, *sock.Conn)) {
	r.t.Helper()
	l, err := sock.Listen(filepath.Join(filepath.Dir(r.socket), name), name)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Serve(ctx, serve)
	}()
	sum := sha256.Sum256([]byte(token))
	listed, err := registry.Announce(r.dir, registry.Record{Name: name, Socket: filepath.Join(filepath.Dir(r.socket), name), PID: os.Getpid(), TokenSHA256: hex.EncodeToString(sum[:])})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { listed.Retire(); cancel(); <-done; l.Close() })
}

// tell says what bob's wrapper would say of a message.
func (r *rig) tell(id, status string) {
	r.t.Helper()
	e := router.Event{Type: "inject_result", Agent: "bob", Message: router.Message{ID: id}, Result: router.Result{Status: status}}
	if err := r.hub.Record(r.t.Context(), e); err != nil {
		r.t.Error(err)
	}
}

// code is that of a refusal.
func code(err error) string {
	var refused *router.ErrorValue
	if errors.As(err, &refused) {
		return refused.Code
	}
	return fmt.Sprint(err)
}

// TestRequests: what is wrong with a request is told by a status, a code and a sentence.
func TestRequests(t *testing.T) {
	r := start(t)
	for _, c := range []struct {
		method, path, token, body string
		status                    int
		says                      string
	}{
		{"GET", "/healthz", "", "", 200, `"ok":true`},
		{"POST", "/healthz", "", "", 405, "/healthz takes GET, and not POST"},
		{"PUT", "/v1/messages", "", "{}", 405, "/v1/messages takes GET or POST, and not PUT"},
		{"GET", "/v1/messages/m/reply", "", "", 405, "takes POST, and not GET"},
		{"POST", "/v1/events", "", "", 405, "takes GET, and not POST"},
		{"GET", "/v1/nothing", "", "", 404, `"unknown_type","message":"there is nothing at /v1/nothing; GET /v1/openapi.json tells what there is"`},
		{"POST", "/v1/messages", "", `{"to":"bob","body":"hi"}`, 200, `"id":"id3","status":"accepted"`},
		{"POST", "/v1/messages", "", `{"to":"bob"`, 400, `{"code":"bad_json","message":"the request: it ends before its JSON object does"}`},
		{"POST", "/v1/messages", "", `{"to":"bob","body":"hi"}{}`, 400, `"bad_json","message":"the request: it is no valid JSON at byte 24"`},
		{"POST", "/v1/messages", "", `{"to":"bob","body":"hi","colour":1}`, 400, "the request: there is no field colour"},
		{"POST", "/v1/messages", "", `{"to":"bob","body":"hi","to":"carol"}`, 400, `"bad_json","message":"the request: the field to stands there twice"`},
		{"POST", "/v1/messages", "", `{"TO":"bob","body":"hi"}`, 400, "TO"},
		{"POST", "/v1/messages", "", `{"to":"bob","body":"hi` + "\xff" + `"}`, 400, "bad_json"},
		{"POST", "/v1/messages", "", `{"to":"bob","body":7}`, 400, `"bad_json","message":"the request: the field body is to be a string"`},
		{"POST", "/v1/messages", "", `[1]`, 400, `"bad_json","message":"the request: it is to be a JSON object"`},
		{"POST", "/v1/messages", "", ``, 400, `"bad_json","message":"the request is empty, and is to be a JSON object"`},
		{"POST", "/v1/messages", "", `{"to":"bob","body":""}`, 400, "bad_field"},
		{"POST", "/v1/messages", "", `{"to":"nobody","body":"hi"}`, 404, "unknown_agent"},
		{"POST", "/v1/messages", "", `{"to":"bop","body":"hi"}`, 404, `"candidates":["bob"]`},
		{"POST", "/v1/messages", "", `{"to":"bob","body":"ho","id":"id3"}`, 409, "duplicate_id"},
		{"POST", "/v1/messages", "", `{"to":"bob","body":"` + strings.Repeat("x", protocol.MaxBody+1) + `"}`, 413, "65536"},
		{"POST", "/v1/messages", "", `{"to":"bob","body":"` + strings.Repeat("x", maxRequest) + `"}`, 413, "message_too_large"},
		{"POST", "/v1/messages", "", `{"to":"bob","body":"hi","until":"soon"}`, 400, "until"},
		{"POST", "/v1/messages", "wrong", `{"to":"bob","body":"hi"}`, 403, "not_authorized"},
		{"POST", "/v1/messages", carolsToken, `{"to":"bob","body":"hi"}`, 200, `"from":"carol"`},
		{"POST", "/v1/messages", carolsToken, `{"to":"bob","body":"hi","from":"carol"}`, 200, `"from":"carol"`},
		{"POST", "/v1/messages", carolsToken, `{"to":"bob","body":"hi","from":"alice"}`, 403, "the token is of carol"},
		{"POST", "/v1/messages", carolsToken, `{"to":"carol","body":"hi"}`, 400, "self_send"},
		{"GET", "/v1/messages/id3", "", "", 200, `"body":"hi"`},
		{"GET", "/v1/messages/none", "", "", 404, "unknown_id"},
		{"GET", "/v1/messages/id3?wait=soon", "", "", 400, "wait"},
		{"GET", "/v1/agents", "", "", 200, `"name":"bob","running":true`},
		{"GET", "/v1/events?after=0&event=message&target=bob", "", "", 200, `"cursor_event_seq"`},
		{"GET", "/v1/events?after=-1", "", "", 400, "after"},
		{"GET", "/v1/events?after=0&event=message,mesage", "", "", 400, `there is no type \"mesage\"; there are message, `},
		{"GET", "/v1/events?target=self", "", "", 403, "nobody knows who asks"},
		{"GET", "/v1/events?target=self&after=0", carolsToken, "", 200, `"agent":"carol"`},
		{"GET", "/v1/events?target=self&after=0", "wrong", "", 403, "not_authorized"},
		{"GET", "/v1/messages?to=bob&last=1", "", "", 200, `"older":`},
		{"GET", "/v1/messages?to=self", "", "", 403, "nobody knows who asks"},
		{"GET", "/v1/messages?last=-1", "", "", 400, "last"},
		{"GET", "/v1/messages/id3?life=true", "", "", 200, `"life":[{"event_id"`},
		{"POST", "/v1/messages/none/reply", "", `{"body":"hi"}`, 404, "unknown_id"},
		{"POST", "/v1/messages/id3/reply", "", `{"body":"hi"}`, 403, "id3 was sent to bob, and human cannot answer it"},
		{"POST", "/v1/messages/id3/reply", carolsToken, `{"body":"hi"}`, 403, "carol cannot answer it"},
		{"POST", "/v1/messages/id3/reply", "", `{"body":"","from":"bob"}`, 400, "bad_field"},
		{"POST", "/v1/messages/id3/reply", "", `{"body":"hi","from":"bob"}`, 200, `"from":"bob","body":"hi"`},
		{"POST", "/v1/messages/none/resume", "", "", 404, "unknown_id"},
		{"DELETE", "/v1/messages/none/chain", "", "", 404, "unknown_id"},
		{"POST", "/v1/messages/id3/resume", "wrong", "", 403, "not_authorized"},
		{"POST", "/v1/messages/id3/resume", carolsToken, "", 403, "carol has no part in the chain of id3"},
		{"DELETE", "/v1/messages/id3/chain", carolsToken, "", 403, "carol has no part in the chain of id3"},
		{"POST", "/v1/messages/id3/resume", "", "", 200, `"id":"id3","changed":false`},
		{"POST", "/v1/messages", carolsToken, `{"to":"bob","body":"hi","id":"c1"}`, 200, `"id":"c1"`},
		{"DELETE", "/v1/messages/c1/chain", carolsToken, "", 200, `"id":"c1","changed":true,"cancelled":["c1"]`},
		{"DELETE", "/v1/messages/c1/chain", carolsToken, "", 200, `"id":"c1","changed":false`},
		{"POST", "/v1/messages/c1/resume", "", "", 409, "too_late"},
		{"DELETE", "/v1/messages/none", "", "", 404, "unknown_id"},
		{"DELETE", "/v1/messages/id3", "", "", 200, `"status":"cancelled"`},
		{"DELETE", "/v1/messages/id3", "", "", 200, `"status":"cancelled"`},
		{"GET", "/v1/agents/bop", "", "", 404, `"candidates":["bob"]`},
		{"GET", "/v1/agents/bob/screen", "", "", 503, "bob does not run"},
		{"GET", "/v1/agents/human/queue", "", "", 200, `"status":"accepted","to":"human"`},
		{"POST", "/v1/agents/human/pull", carolsToken, `{}`, 403, "the token is of carol"},
		{"POST", "/v1/agents/human/pull", "", `{"max":1}`, 200, `"status":"accepted","to":"human"`},
		{"POST", "/v1/agents/human/pull", "", `{"wait_ms":1}`, 200, `"messages":[]`},
		{"POST", "/v1/agents/human/pull_ack", "", `{"ids":["none"]}`, 200, `{"epoch":"`},
		{"POST", "/v1/messages", "", `{"to":"bob","body":"hi","notify_on_delivery":true,"notify_after_ms":1,"id":"n1"}`, 200, `"id":"n1"`},
		{"POST", "/v1/messages", "", `{"to":"bob","body":"hi","notify_after_ms":1,"id":"n1"}`, 409, "duplicate_id"},
		{"POST", "/v1/messages", "", `{"to":"bob","body":"hi","notify_after_ms":-1}`, 400, "notify_after_ms"},
		{"POST", "/v1/messages", "", `{"to":"bob","body":"hi","notify_on_delivery":1}`, 400, "bad_json"},
		{"POST", "/v1/reminders", "", `{"delay_ms":60000,"message":"look","id":"r1"}`, 200, `"id":"r1","status":"scheduled","to":"human","body":"[relay] Scheduled reminder: look"`},
		{"POST", "/v1/reminders", "", `{"delay_ms":60000,"message":"look","id":"r1"}`, 200, `"id":"r1","status":"scheduled"`},
		{"POST", "/v1/reminders", "", `{"delay_ms":1,"message":"look","id":"r1"}`, 409, "duplicate_id"},
		{"POST", "/v1/reminders", carolsToken, `{"delay_ms":60000,"message":"look"}`, 200, `"to":"carol"`},
		{"POST", "/v1/reminders", carolsToken, `{"delay_ms":60000,"message":"look","from":"bob"}`, 403, "the token is of carol"},
		{"POST", "/v1/reminders", "", `{"delay_ms":60000}`, 400, "message: it is empty"},
		{"POST", "/v1/reminders", "", `{"message":"look"}`, 400, "delay_ms: 0"},
		{"POST", "/v1/reminders", "", `{"delay_ms":-1,"message":"look"}`, 400, "delay_ms: -1"},
		{"POST", "/v1/reminders", "", `{"delay_ms":1e30,"message":"look"}`, 400, `"bad_json","message":"the request: the field delay_ms is to be a whole number of 64 bits"`},
		{"POST", "/v1/reminders", "", `{"delay_ms":1,"message":"` + strings.Repeat("x", protocol.MaxBody) + `"}`, 413, "message_too_large"},
		{"GET", "/v1/reminders", "", "", 200, `{"reminders":[{"id":"r1"`},
		{"GET", "/v1/reminders?to=self", carolsToken, "", 200, `{"reminders":[{"id":"id`},
		{"GET", "/v1/reminders?to=self", "", "", 403, "nobody knows who asks"},
		{"GET", "/v1/messages/r1?until=queued&wait=1", "", "", 200, `"status":"scheduled"`},
		{"DELETE", "/v1/messages/r1", "", "", 200, `"status":"cancelled"`},
		{"DELETE", "/v1/messages/r1", "", "", 200, `"status":"cancelled"`},
		{"GET", "/v1/reminders?to=human", "", "", 200, `{"reminders":[],"epoch":"` + r.store.Epoch() + `"}`},
		{"GET", "/v2", "", "", 404, "there is nothing at /v2"},
		{"DELETE", "/v1/agents", "", "", 405, "/v1/agents takes GET, and not DELETE"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, "http://router"+c.path, strings.NewReader(c.body))
		must(t, err)
		if c.token != "" {
			request.Header.Set("Authorization", "Bearer "+c.token)
		}
		answer, err := r.http.Do(request)
		must(t, err)
		b, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != c.status || !bytes.Contains(b, []byte(c.says)) {
			t.Errorf("%s %s %.60s: %s, want %d and %s\n%s", c.method, c.path, c.body, answer.Status, c.status, c.says, b)
		}
	}
}

// TestNoAnswerHoldsWhatTerminalsObey: neither in JSON nor in a stream of events.
func TestNoAnswerHoldsWhatTerminalsObey(t *testing.T) {
	r := start(t)
	const body = "\x1b[2J\u009b2J\u009d52;c;eA==\u009c\u0085\x7f\u202erm\u202c\u2066\u2028\u200b\u00ad\U000e0041"
	sent, err := r.Send(t.Context(), Send{To: "bob", Body: body})
	must(t, err)
	for path, accept := range map[string]string{"/v1/messages/" + sent.ID: "", "/v1/messages?to=bob": "", "/v1/events?after=0": "text/event-stream", "/v1/messages/" + url.PathEscape(body): ""} {
		request, err := http.NewRequestWithContext(t.Context(), "GET", "http://router"+path, nil)
		must(t, err)
		request.Header.Set("Accept", accept)
		answer, err := r.http.Do(request)
		must(t, err)
		heard := bufio.NewScanner(answer.Body)
		said := ""
		for !strings.Contains(said, "[2J") && !strings.Contains(said, `"error"`) && !strings.Contains(said, `"code"`) && heard.Scan() {
			said += heard.Text()
		}
		answer.Body.Close()
		if said == "" || strings.ContainsFunc(said, func(r rune) bool { return unicode.IsControl(r) || protocol.Obeyed(r) }) {
			t.Errorf("%s: %q", path, said)
		}
	}
}

// TestUntil: a request that waits is answered when the message has come so far, or can no more.
func TestUntil(t *testing.T) {
	for name, c := range map[string]struct {
		until string
		tells []string
		want  string
	}{
		"queued":                {router.Queued, []string{"queued"}, "queued"},
		"delivered":             {router.Delivered, []string{"queued", "injecting", "delivered"}, "delivered"},
		"failed in between":     {router.Delivered, []string{"queued", "injecting", "failed"}, "failed"},
		"no answer any more":    {router.Replied, []string{"queued", "expired"}, "expired"},
		"of no level":           {"", nil, "accepted"},
		"answered, though late": {router.Replied, []string{"injecting", "delivered", "reply"}, "replied"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t)
			m, err := r.Send(t.Context(), Send{To: "bob", Body: "hi"})
			must(t, err)
			got := make(chan Message, 1)
			go func() {
				m, err := r.Message(t.Context(), m.ID, c.until, time.Minute)
				if err != nil {
					t.Error(err)
				}
				got <- m
			}()
			for _, status := range c.tells {
				if status != "reply" {
					r.tell(m.ID, status)
				} else if _, err := r.Send(t.Context(), Send{From: "bob", To: "human", Body: "yes", ReplyTo: m.ID}); err != nil {
					t.Error(err)
				}
			}
			if m := <-got; m.Status != c.want {
				t.Errorf("got %s, want %s", m.Status, c.want)
			}
		})
	}
}

// TestEvents: pages follow each other, and whoever waits gets what comes.
func TestEvents(t *testing.T) {
	r := start(t)
	got := make(chan Events, 1)
	go func() {
		e, err := r.Events(t.Context(), Query{After: 2, Types: []string{"message"}, Wait: time.Minute})
		if err != nil {
			t.Error(err)
		}
		got <- e
	}()
	r.tell("none", "queued")
	m, err := r.Send(t.Context(), Send{To: "bob", Body: "hi"})
	must(t, err)
	if e := <-got; len(e.Events) != 1 || e.Events[0].ID != m.ID || e.Cursor != 4 {
		t.Errorf("got %+v", e)
	}
	if e, err := r.Events(t.Context(), Query{After: 4}); err != nil || len(e.Events) != 0 || e.Cursor != 4 {
		t.Errorf("behind all: %+v, %v", e, err)
	}
	for i := range pageMost {
		r.tell("none"+strconv.Itoa(i), "queued")
	}
	seen, at := 0, int64(0)
	for {
		e, err := r.Events(t.Context(), Query{After: at})
		must(t, err)
		if seen += len(e.Events); len(e.Events) == 0 {
			break
		}
		at = e.Cursor
	}
	if seen != pageMost+4 {
		t.Errorf("%d events in pages", seen)
	}
	must(t, r.store.Trim(t.Context(), 2))
	if _, err := r.Events(t.Context(), Query{After: 1}); code(err) != "cursor_gone" {
		t.Errorf("got %v", err)
	}
	if _, err := r.Events(t.Context(), Query{After: at}); err != nil {
		t.Errorf("from the newest event on: %v", err)
	}
	if _, err := r.Events(t.Context(), Query{After: at + 1}); code(err) != "cursor_gone" {
		t.Errorf("a cursor of another log: got %v", err)
	}
}

// TestStream: a stream of events begins behind the last one that its reader has seen, and goes on.
func TestStream(t *testing.T) {
	r := start(t)
	first, err := r.Send(t.Context(), Send{To: "bob", Body: "one"})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "GET", "http://router/v1/events?after=0&event=message", nil)
	must(t, err)
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("Last-Event-ID", "2")
	answer, err := r.http.Do(request)
	must(t, err)
	defer answer.Body.Close()
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("it is %s", kind)
	}
	lines := bufio.NewScanner(answer.Body)
	for _, want := range []Message{first, {Seq: 4}} {
		if want.ID == "" {
			if want, err = r.Send(t.Context(), Send{To: "bob", Body: "two"}); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "data: ") {
			got = append(got, lines.Text())
		}
		if !slices.Contains(got, fmt.Sprintf("id: %d", want.Seq)) || !slices.Contains(got, "event: message") || !strings.Contains(lines.Text(), want.ID) {
			t.Errorf("got %q and %s, want %s", got, lines.Text(), want.ID)
		}
	}
}

// TestLateAnswer: it goes its way, and says that nobody waits for it, also when a wrapper has taken
// it by then.
func TestLateAnswer(t *testing.T) {
	r := start(t)
	for _, from := range []string{router.Human, "carol"} {
		asked, err := r.Send(t.Context(), Send{From: from, To: "bob", Body: "done?", ReplyWithinMS: 1})
		must(t, err)
		for time.Now().UnixMilli() <= asked.AcceptedAt+1 {
			runtime.Gosched()
		}
		answer, want := Answer{ID: "to-" + from, From: "bob", Body: "now"}, router.StatusAccepted
		if from != router.Human {
			answer.Until, answer.WaitMS, want = router.Queued, 60_000, protocol.StatusQueued
			defer meanwhile(func() { r.takes(answer.ID, from) })()
		}
		m, err := r.Reply(t.Context(), asked.ID, answer)
		if err != nil || m.Status != want || m.Error == nil || m.Error.Code != router.AlreadyClosed {
			t.Errorf("got %+v, %v", m, err)
		}
		asked, err = r.Life(t.Context(), asked.ID)
		if err != nil || len(asked.Life) != 2 || asked.Life[1].Body != "now" || asked.Life[1].Error.Code != router.AlreadyClosed {
			t.Errorf("got %+v, %v", asked, err)
		}
	}
}

// meanwhile does what others do beside a test, which waits for the end of it: the last of their
// calls may be answered later than the test that it wakes has all it asks for.
func meanwhile(do func()) (wait func()) {
	var others sync.WaitGroup
	others.Go(do)
	return others.Wait
}

// takes says of a message, when it comes, that a wrapper has taken it.
func (r *rig) takes(id, wrapper string) {
	late := time.After(time.Minute)
	for {
		changed, known := r.hub.Changed(), false
		r.hub.View(func(s *router.State, _ func(string) bool) { _, known = s.Find(id) })
		if known {
			break
		}
		select {
		case <-changed:
		case <-late:
			r.t.Errorf("%s comes: not within a minute", id)
			return
		}
	}
	e := router.Event{Type: "inject_result", Agent: wrapper, Message: router.Message{ID: id}}
	e.Status = protocol.StatusQueued
	if err := r.hub.Record(r.t.Context(), e); err != nil {
		r.t.Error(err)
	}
}

// TestWaitsSince: whoever asks waits for as long as the router says, however late it took the
// request.
func TestWaitsSince(t *testing.T) {
	began := time.Now()
	for name, c := range map[string]struct {
		accepted time.Time
		want     time.Duration
	}{
		"taken late":             {began.Add(time.Second), time.Second},
		"taken at once":          {began, 0},
		"the same message again": {began.Add(-time.Hour), 0},
	} {
		got := Message{AcceptedAt: c.accepted.UnixMilli()}.WaitsSince(began).Sub(began)
		if got < c.want || got > c.want+time.Millisecond {
			t.Errorf("%s: it waits since %v after it began, want %v", name, got, c.want)
		}
	}
}

// TestAWaitOfAnyLength is one, also where its milliseconds are too many for a duration.
func TestAWaitOfAnyLength(t *testing.T) {
	ctx, cancel := within(t.Context(), math.MaxInt64)
	defer cancel()
	if ctx.Err() != nil {
		t.Errorf("it is over at once: %v", ctx.Err())
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
