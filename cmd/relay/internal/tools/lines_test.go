package tools

import (
	"bufio"
	"fmt"
	"io"
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
