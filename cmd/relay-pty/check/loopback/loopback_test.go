package loopback

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come; only a failure takes that long.
const patience = time.Minute

var errOver = errors.New("the test is over")

// dial serves h and connects to it.
func dial(t *testing.T, h Handler) *net.TCPConn {
	t.Helper()
	s, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, h) }()
	addr := strings.TrimPrefix(s.URL(), "http://")
	if !strings.HasPrefix(addr, "127.0.0.1:") {
		t.Fatalf("listens on %s, want loopback", addr)
	}
	nc, err := net.Dial("tcp4", addr)
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		nc.Close()
		stop(errOver)
		select {
		case err = <-served:
		case <-time.After(patience):
			err = fmt.Errorf("the end of Serve: not within %v", patience)
		}
		if !errors.Is(err, errOver) {
			t.Errorf("Serve: %v, want its context's cause", err)
		}
	})
	return nc.(*net.TCPConn)
}

// echo answers with what it was asked.
func echo(_ context.Context, r Request, w *Response) error {
	if err := w.Head(200, "text/plain"); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s %s %q", r.Method, r.Path, r.Body)
	return err
}

// response is what the server sends to an answer of one chunk.
func response(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
}

func TestRequestsOfOneConnection(t *testing.T) {
	nc := dial(t, echo)
	in := bufio.NewReader(nc)
	for _, c := range []struct{ name, ask, want string }{
		{"without a body", "GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n", response(`GET /a ""`)},
		{"with a length", "POST /b HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc", response(`POST /b "abc"`)},
		{"in chunks", "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n", response(`POST / "abc0123456789"`)},
		{"bare newlines", "POST / HTTP/1.1\nContent-Length: 1\n\nx", response(`POST / "x"`)},
		{"asks for leave", "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx", "HTTP/1.1 100 Continue\r\n\r\n" + response(`POST / "x"`)},
		{"two at once", "GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n", response(`GET /1 ""`) + response(`GET /2 ""`)},
		{"a head alone", "HEAD /h HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nCache-Control: no-cache\r\n\r\n"},
		{"a long body", "POST / HTTP/1.1\r\nContent-Length: 600000\r\n\r\n" + strings.Repeat("x", 600000), response(fmt.Sprintf("POST / %q", strings.Repeat("x", 600000)))},
		{"the last one", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n", response(`GET / ""`)},
	} {
		go io.WriteString(nc, c.ask) // the answer may begin before all is sent
		got := make([]byte, len(c.want))
		if _, err := io.ReadFull(in, got); err != nil || string(got) != c.want {
			t.Fatalf("%s: got %.300q, %v; want %.300q", c.name, got, err, c.want)
		}
	}
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("after the last one: %q, %v", rest, err)
	}
}

func TestBadRequestsAreRefused(t *testing.T) {
	for _, ask := range []string{
		"\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nno field\r\n\r\n", "GET / HTTP/1.1\r\n: x\r\n\r\n",
		"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: 1e3\r\n\r\n",
		"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
		"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc",
		"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n",
		"GET /" + strings.Repeat("x", maxLine) + " HTTP/1.1\r\n\r\n",
		"GET / HTTP/1.1\r\n" + strings.Repeat("A: "+strings.Repeat("x", 1000)+"\r\n", 200) + "\r\n",
	} {
		nc := dial(t, echo)
		go io.WriteString(nc, ask) // the refusal may come before all is sent
		head, err := bufio.NewReader(nc).ReadString('\n')
		if err != nil && head == "" || head != "HTTP/1.1 400 Bad Request\r\n" {
			t.Errorf("%.60q: %q, %v; want it refused", ask, head, err)
		}
	}
}

// A client that hangs up ends its handler, and one that fails ends the connection.
func TestHangingUp(t *testing.T) {
	ended := make(chan error, 1)
	nc := dial(t, func(ctx context.Context, r Request, w *Response) error {
		if r.Path == "/fails" {
			return errors.New("no")
		}
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return ctx.Err()
	})
	if _, err := io.WriteString(nc, "GET /waits HTTP/1.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	nc.Close()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatalf("the end of the handler: not within %v", patience)
	}
	nc = dial(t, func(context.Context, Request, *Response) error { return errors.New("no") })
	if _, err := io.WriteString(nc, "GET / HTTP/1.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(nc); err != nil || len(got) > 0 {
		t.Errorf("got %q, %v; want the connection closed", got, err)
	}
}

// FuzzRequest: whatever comes, it is a bounded request or an error, and what is
// read as one body is read so in chunks, too.
func FuzzRequest(f *testing.F) {
	f.Add([]byte("POST /b?x HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"))
	f.Add([]byte("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nA: b\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var w Response // no leave to send: it has no connection
		if bytes.Contains(bytes.ToLower(data), []byte("expect")) {
			return
		}
		r, err := readRequest(bufio.NewReader(bytes.NewReader(data)), &w)
		if err != nil {
			return
		}
		if r.Method == "" || strings.Contains(r.Path, "?") || len(r.Body) > len(data) || r.length > 0 && int64(len(r.Body)) != r.length {
			t.Fatalf("%q is %+v", data, r)
		}
		chunked := fmt.Sprintf("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(r.Body), r.Body)
		if len(r.Body) == 0 {
			return
		}
		again, err := readRequest(bufio.NewReader(strings.NewReader(chunked)), &w)
		if err != nil || !bytes.Equal(again.Body, r.Body) {
			t.Fatalf("%q in chunks is %q, %v", r.Body, again.Body, err)
		}
	})
}
