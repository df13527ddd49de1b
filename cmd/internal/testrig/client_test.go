package testrig

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// serveLines answers each line on the first connection with what reply makes
// of it, and returns a client of it.
func serveLines(t *testing.T, ctx context.Context, reply func(line string) string) *Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	must(t, err)
	t.Cleanup(func() { ln.Close() })
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		for sc := bufio.NewScanner(conn); sc.Scan(); {
			fmt.Fprint(conn, reply(sc.Text())) // a client gone ends the scan
		}
	}()
	c, err := Dial(ctx, path)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// echoReq answers with lines in which REQ stands for the request's req.
func echoReq(lines string) func(string) string {
	return func(line string) string {
		_, after, _ := strings.Cut(line, `"req":"`)
		req, _, _ := strings.Cut(after, `"`)
		return strings.ReplaceAll(lines, "REQ", req)
	}
}

func TestRequestTakesTheAnswerToItsOwnReq(t *testing.T) {
	ctx := deadline(t)
	c := serveLines(t, ctx, echoReq(`{"type":"state","state":"busy"}`+"\n"+`{"type":"ok","req":"another"}`+"\n"+`{"type":"error","code":"unknown_id","req":"REQ"}`+"\n"))
	first, err := c.Cancel(ctx, "m1")
	must(t, err)
	second, err := c.Cancel(ctx, "m1")
	must(t, err)
	if first.Str("code") != "unknown_id" || first.Str("req") == second.Str("req") {
		t.Errorf("got %s and %s, want each request's own answer", first.Raw, second.Raw)
	}
}

func TestHelloAndSubscribe(t *testing.T) {
	ctx := deadline(t)
	var asked []string
	lines := make(chan string, 8)
	c := serveLines(t, ctx, func(line string) string {
		lines <- line
		typ := "hello"
		if strings.Contains(line, "subscribe") {
			typ = "subscribed"
		}
		return echoReq(`{"type":"` + typ + `","req":"REQ"}` + "\n")(line)
	})
	_, err := c.Hello(ctx, "t0ken")
	must(t, err)
	_, err = c.Hello(ctx, "")
	must(t, err)
	_, err = c.Subscribe(ctx, 0, "state", "exit")
	must(t, err)
	_, err = c.Subscribe(ctx, -1)
	must(t, err)
	for range 4 {
		asked = append(asked, <-lines)
	}
	want := []string{
		`{"req":"rig-1","token":"t0ken","type":"hello"}`, `{"req":"rig-2","type":"hello"}`,
		`{"after":0,"events":["state","exit"],"req":"rig-3","type":"subscribe"}`, `{"req":"rig-4","type":"subscribe"}`,
	}
	if got := strings.Join(asked, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("asked\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	refused := serveLines(t, ctx, echoReq(`{"type":"error","code":"not_authorized","req":"REQ"}`+"\n"))
	if _, err := refused.Hello(ctx, "wrong"); err == nil || !strings.Contains(err.Error(), "not_authorized") {
		t.Errorf("refused: got %v", err)
	}
}

func TestExpectError(t *testing.T) {
	ctx := deadline(t)
	c := serveLines(t, ctx, func(line string) string {
		if line == "{]" {
			return `{"type":"state"}` + "\n" + `{"type":"error","code":"bad_json"}` + "\n"
		}
		return `{"type":"error","code":"unknown_type"}` + "\n"
	})
	f, err := c.ExpectError(ctx, "{]", "bad_json")
	must(t, err)
	if f.Str("code") != "bad_json" || c.Len() != 2 {
		t.Errorf("got %s after %d frames", f.Raw, c.Len())
	}
	if _, err := c.ExpectError(ctx, `{"type":"x"}`, "bad_json"); err == nil || !strings.Contains(err.Error(), "unknown_type") {
		t.Errorf("another code: got %v", err)
	}
	if _, err := c.WaitType(ctx, 1, "error"); err != nil {
		t.Error(err)
	}
}
