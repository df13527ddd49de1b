package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/internal/testrig/term"
)

// pulls asks for messages as the agent and returns those that come, by their ids.
func (c *caller) pulls(pairs ...any) (ids string, texts []string) {
	c.t.Helper()
	f := c.want(fields("pull", pairs...), fields("messages"))
	for _, m := range f.Fields["messages"].([]any) {
		msg := m.(map[string]any)
		ids += " " + msg["id"].(string)
		texts = append(texts, msg["text"].(string))
	}
	return strings.TrimSpace(ids), texts
}

// TestPullWhereNothingCanBeTyped: a question, a draft and a turn keep messages from being typed,
// and none of them is touched by a pull.
func TestPullWhereNothingCanBeTyped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script, keys, waits string }{
		{"dialog", `printf 'Password: '; stty -echo; read x; echo "[$x]"; cat`, "", "dialog"},
		{"draft", `echo ready; read x; echo "[$x]"; cat`, "half a li", "draft"},
		{"turn", `while :; do echo working; sleep 0.1; done`, "", "ready"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, token := startScript(t, c.script)
			a := w.call().become(token)
			if c.keys != "" {
				w.state("ready")
				must(t, w.Type(c.keys))
				must(t, w.WaitText(patience(t, "the draft"), c.keys))
			}
			if c.name == "dialog" {
				w.state("blocked")
			}
			w.inject("m1", "hello")
			w.reason("m1", c.waits, nil)
			if ids, texts := a.pulls("max", 3); ids != "m1" || texts[0] != "[relay m1 from bob] hello\n[end m1 · reply: ->relay:bob [re=m1] <<<…>>>]" {
				t.Errorf("pulled %q %q", ids, texts)
			}
			a.want(fields("queue"), fields("queue", "messages", "[]"))
			a.want(fields("status"), fields("status", "queue_length", 0, "injecting", "<nil>"))
			a.want(fields("pull_ack", "ids", []string{"m1"}), fields("ok"))
			if f := w.delivers("m1", "pulled"); f.Num("attempt") != 1 {
				t.Errorf("delivered: %s", f.Raw)
			}
			if strings.Contains(w.Screen(), "relay m1") {
				t.Errorf("it was typed:\n%s", w.Screen())
			}
			if c.keys == "" {
				return
			}
			must(t, w.Type("ne\r"))
			must(t, w.WaitText(patience(t, "the draft, as it was typed"), "[half a line]"))
		})
	}
}

// TestWaitingPullComesFirst: what somebody waits to pull is not typed, also where it could be.
func TestWaitingPullComesFirst(t *testing.T) {
	t.Parallel()
	w, token := startScript(t, `cat`)
	w.state("ready")
	a, sender := w.call().become(token), w.call()
	for i := range 20 {
		id := fmt.Sprint("m", i)
		must(t, a.Send(fields("pull", "wait_ms", 60000, "modes", []string{"important"}, "req", id)))
		a.want(fields("hello"), fields("hello")) // it ends the wait, in order
		must(t, a.Send(fields("pull", "wait_ms", 60000, "modes", []string{"important"}, "req", id+"w")))
		sender.want(fields("inject", "id", "s-"+id, "from", "bob", "body", "x"), fields("inject_result", "status", "queued"))
		w.delivers("s-"+id, "echo") // other modes are typed as ever
		sender.want(fields("inject", "id", id, "from", "bob", "body", "x", "mode", "important"), fields("inject_result", "status", "queued"))
		f, err := a.Wait(patience(t, "the answer to the pull"), func(f testrig.Frame) bool { return f.Str("req") == id+"w" })
		must(t, err)
		if !strings.Contains(f.Raw, `"id":"`+id+`"`) {
			t.Fatalf("it was not pulled: %s", f.Raw)
		}
		a.want(fields("pull_ack", "ids", []string{id}), fields("ok"))
		w.delivers(id, "pulled")
	}
}

// TestKilledBetweenPullAndAck: what the agent got before is in doubt, and is told so.
func TestKilledBetweenPullAndAck(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	token := filepath.Join(dir, "token")
	waits := []string{"sh", "-c", `echo "$RELAY_TOKEN" > ` + token + `.new; mv ` + token + `.new ` + token + `; stty raw -echo; printf starting; exec tail -f /dev/null`}
	w := startIn(t, dir, term.Options{Argv: waits}, "--prompt-pattern", "^never$")
	must(t, w.WaitText(patience(t, "the agent's start"), "starting"))
	c := w.call()
	for _, id := range []string{"never", "once", "acked", "waits"} {
		redelivery := "never"
		if id == "once" {
			redelivery = "once"
		}
		c.want(fields("inject", "id", id, "from", "bob", "body", "x", "redelivery", redelivery), fields("inject_result", "status", "queued"))
	}
	a := w.call().become(token)
	if ids, _ := a.pulls("max", 3); ids != "never once acked" {
		t.Fatalf("pulled %s", ids)
	}
	a.want(fields("pull_ack", "ids", []string{"acked"}), fields("ok"))
	w.kill()

	got := filepath.Join(dir, "got")
	w = startIn(t, dir, term.Options{Argv: []string{"tee", got}})
	if f := w.ends("never"); f.Str("status") != "unknown" || !strings.Contains(f.Raw, "pulled") {
		t.Errorf("what was pulled: %s", f.Raw)
	}
	w.delivers("once", "echo")
	w.delivers("acked", "pulled")
	w.delivers("waits", "echo")
	read, err := os.ReadFile(got)
	must(t, err)
	if s := string(read); !strings.Contains(s, "[relay once from bob · redelivery] x") || !strings.Contains(s, "[relay waits from bob] x") || strings.Count(s, "[relay ") != 2 {
		t.Errorf("typed was %q", s)
	}
}

// TestAgentThatEndsWithALease: nobody can say whether it got the message.
func TestAgentThatEndsWithALease(t *testing.T) {
	t.Parallel()
	w, token := startScript(t, `stty raw -echo; read x`, "--prompt-pattern", "^never$")
	w.inject("m1", "x")
	w.queued("m1")
	a := w.call().become(token)
	if ids, _ := a.pulls(); ids != "m1" {
		t.Fatalf("pulled %s", ids)
	}
	must(t, w.Type("\n"))
	if f := w.ends("m1"); f.Str("status") != "unknown" {
		t.Errorf("it ended as %s", f.Raw)
	}
	_, err := w.Wait(bounded(t, time.Minute, "the end"))
	must(t, err)
}
