package tools

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// TestNoAnswerHoldsWhatTerminalsObey: by pipes and by HTTP, in the lines and in the texts
// that the lines hold.
func TestNoAnswerHoldsWhatTerminalsObey(t *testing.T) {
	r := newRig(t)
	ann := Caller{Name: "ann", Ask: r.ask, NewID: r.id, Inbox: &AtRouter{Name: "ann", Ask: r.ask}}
	in, client := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Serve(t.Context(), New("1", ann), in, out) }()
	heard := bufio.NewReader(answers)
	web := webOf(ann)
	session := begins(t, web)
	read := func(line string) string {
		fmt.Fprintln(client, line)
		text, err := heard.ReadString('\n')
		must(t, err)
		return text
	}
	read(hello)
	fmt.Fprintln(client, there)
	seen := 0
	for _, c := range "\u007f\u0080\u0084\u0085\u0088\u008d\u008e\u0090\u0098\u009b\u009c\u009d\u009e\u009f\u00ad\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202d\u202e\u2060\u2066\u2069\u206f\ufeff\ufff9\U000e0041" {
		sent, err := r.api.Send(t.Context(), api.Send{From: fmt.Sprintf("bob%d", seen), To: router.Human, Body: "a" + string(c) + "[2J"})
		must(t, err)
		body, _ := json.Marshal(arguments{"correlation_id": "none" + string(c)})
		call := func(tool, arguments string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
		}
		list := fmt.Sprintf(`{"after_event_seq":%d}`, sent.Seq-1)
		_, byWeb, _ := posts(t.Context(), web, session, call("wait_for_events", list))
		for _, says := range []string{read(call("wait_for_events", list)), byWeb, read(call("message_status", string(body)))} {
			if seen++; strings.ContainsFunc(says+inner(says), protocol.Obeyed) || !strings.Contains(says, `"id":7`) {
				t.Errorf("%U: %q", c, says)
			}
		}
	}
	if seen != 93 {
		t.Errorf("%d answers, want 93", seen)
	}
	client.Close()
	must(t, <-ended)
}

// inner is the text that an answer holds.
func inner(says string) string {
	_, line, _ := strings.Cut("data: "+says, "data: ")
	if _, data, is := strings.Cut(says, "data: "); is {
		line = data
	}
	var a struct {
		Result struct{ Content []struct{ Text string } }
	}
	if json.NewDecoder(strings.NewReader(line)).Decode(&a) != nil || len(a.Result.Content) == 0 {
		return "\u009b" // it is none of ours
	}
	return a.Result.Content[0].Text
}
