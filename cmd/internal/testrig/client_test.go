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
