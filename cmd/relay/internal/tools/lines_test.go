package tools

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// TestABadLineIsAnswered: whatever is no message is refused by itself, and the session goes on.
func TestABadLineIsAnswered(t *testing.T) {
	in, client := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Serve(t.Context(), New("1", Caller{Name: "ann"}), in, out) }()
	heard := bufio.NewScanner(answers)
	ask := func(line, want string) {
		t.Helper()
		if _, err := fmt.Fprintln(client, line); err != nil {
			t.Fatal(err)
		}
		if !heard.Scan() || !strings.Contains(heard.Text(), want) {
			t.Errorf("%s: got %s, %v, want %s", line, heard.Text(), heard.Err(), want)
		}
	}
	none := func(code int) string { return fmt.Sprintf(`{"error":{"code":%d,`, code) }
	ask("hello", none(parseError))
	ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, `"id":1,"result":{`)
	fmt.Fprintln(client, `{"jsonrpc":"2.0","method":"notifications/initialized"}`) // the next line tells
	ask(`{"jsonrpc":"2.0","id":2,"method"`, `"id":null`)
	ask(`{"a":1} {"b":2}`, none(parseError))
	ask("\xff", none(parseError))
	ask(`{"jsonrpc":"2.0","id":9,"method":"`+"\xff"+`"}`, none(parseError))
	ask("\n5", none(invalidRequest))
	ask(`[]`, none(invalidRequest))
	ask(`{"jsonrpc":"1.0","id":"x","method":"ping"}`, `"id":"x"`)
	ask(`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `"id":null`)
	ask(`[{"jsonrpc":"2.0","id":3,"method":"ping"}]`, `"id":3,"result":{}`)
	ask(`{"jsonrpc":"2.0","id":4,"method":"ping"}`, `"id":4,"result":{}`)
	client.Close() // which is no error
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestACallThatIsCancelledBehindItsAnswer: whoever cancels drops the answer, so the next call does
// not say that what it showed was read.
func TestACallThatIsCancelledBehindItsAnswer(t *testing.T) {
	for _, c := range []struct {
		client  string
		cancels bool
		read    []string
	}{{"t", false, []string{"m-1"}}, {"t", true, nil}, {"opencode", true, []string{"m-1"}}} { // which cancels each at its end
		b := &box{letter: []Letter{{"m-1", "one"}}}
		in, client := io.Pipe()
		answers, out := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- Serve(t.Context(), New("1", Caller{Name: "ann", Inbox: b}), in, out) }()
		heard := bufio.NewScanner(answers)
		ask := func(line string) {
			fmt.Fprintln(client, line) // one that did not come is not answered
			if !heard.Scan() || !strings.Contains(heard.Text(), `"result":{`) {
				t.Errorf("%s: got %s, %v", line, heard.Text(), heard.Err())
			}
		}
		ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"` + c.client + `","version":"1"}}}`)
		fmt.Fprintln(client, `{"jsonrpc":"2.0","method":"notifications/initialized"}`) // the next line tells
		ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"check_inbox","arguments":{}}}`)
		if c.cancels {
			fmt.Fprintln(client, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		}
		ask(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"check_inbox","arguments":{}}}`)
		client.Close()
		if err := <-ended; err != nil || !slices.Equal(b.read, c.read) {
			t.Errorf("%s, cancelled %t: %v was read, want %v; it ended with %v", c.client, c.cancels, b.read, c.read, err)
		}
	}
}

// TestALineThatIsTooLong is passed over whole, and takes no memory.
func TestALineThatIsTooLong(t *testing.T) {
	r := bufio.NewReaderSize(strings.NewReader(strings.Repeat("x", 100)+"\nshort\nrest"), 16)
	for _, want := range []struct {
		line string
		long bool
	}{{"", true}, {"short\n", false}, {"rest", false}} {
		if line, long, _ := readLine(r, 50); string(line) != want.line || long != want.long {
			t.Errorf("got %q, %t, want %+v", line, long, want)
		}
	}
}
