package sock

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/protocol"
)

func TestAnswersInOrder(t *testing.T) {
	path := in(dir(t), "s")
	serve(t, listen(t, path), answer)
	c := dial(t, path)
	const n = 500
	var lines bytes.Buffer
	for i := range n {
		if i%3 == 0 {
			fmt.Fprintf(&lines, `{"type":"nonsense","req":"%d"}`+"\n", i)
		} else {
			fmt.Fprintf(&lines, `{"type":"status","req":"%d"}`+"\r\n", i)
		}
	}
	lines.WriteString(`{"type":"status","req":"last"}`) // no newline, as from printf
	c.SendLine(lines.Bytes())
	c.CloseWrite()
	for i := range n {
		want := `"hello"`
		if i%3 == 0 {
			want = `"unknown_type"`
		}
		expect(t, c, want, fmt.Sprintf(`"req":"%d"`, i))
	}
	expect(t, c, `"req":"last"`)
	if _, err := c.NextLine(t.Context()); err != io.EOF {
		t.Errorf("got %v, want the end", err)
	}
}

// TestHalfClose: what is outstanding still goes out, and then the connection ends.
func TestHalfClose(t *testing.T) {
	path := in(dir(t), "s")
	outstanding := make(chan struct{})
	serve(t, listen(t, path), func(ctx context.Context, c *Conn) {
		for range c.Incoming() {
		}
		c.Answer(&protocol.Exit{Code: 1})
		select {
		case <-outstanding:
			c.Answer(&protocol.Exit{Code: 2})
		case <-ctx.Done():
			t.Errorf("ended by %v", context.Cause(ctx))
		}
	})
	c := dial(t, path)
	c.SendLine([]byte(`{"type":"status"}` + "\n"))
	c.CloseWrite()
	expect(t, c, `"code":1`)
	close(outstanding)
	expect(t, c, `"code":2`)
	expectEnd(t, c)
}

// TestGoneClientFreesItsPlace: also one that half-closed before, and when nothing happens.
func TestGoneClientFreesItsPlace(t *testing.T) {
	path := in(dir(t), "s")
	lines, closed, ended := make(chan struct{}, 2), make(chan struct{}, 2), make(chan error, 2)
	serve(t, listen(t, path), func(ctx context.Context, c *Conn) {
		for range c.Incoming() {
			lines <- struct{}{}
		}
		closed <- struct{}{}
		<-ctx.Done()
		ended <- context.Cause(ctx)
	})
	for _, half := range []bool{true, false} {
		c := dial(t, path)
		c.SendLine([]byte(`{"type":"subscribe"}` + "\n"))
		soon(t, "a line", lines)
		if half {
			c.CloseWrite()
			soon(t, "the end of its requests", closed)
		}
		c.Close()
		if !half {
			soon(t, "the end of its requests", closed)
		}
		if err := soon(t, "the end of its handler", ended); err != ErrGone {
			t.Errorf("half-closed %v: got %v, want %v", half, err, ErrGone)
		}
	}
}

// TestRequestsOfAClientThatLeft: it wrote, closed, and never read an answer.
func TestRequestsOfAClientThatLeft(t *testing.T) {
	path := in(dir(t), "s")
	seen := make(chan string, 100)
	serve(t, listen(t, path), func(ctx context.Context, c *Conn) {
		for in := range c.Incoming() {
			c.Answer(&protocol.Exit{})
			seen <- in.Request.Tag()
		}
	})
	c := dial(t, path)
	for i := range 100 {
		c.SendLine(fmt.Appendf(nil, `{"type":"status","req":"%d"}`+"\n", i))
	}
	c.Close()
	for i := range 100 {
		if got := soon(t, fmt.Sprintf("request %d", i), seen); got != fmt.Sprint(i) {
			t.Fatalf("got %s, want %d", got, i)
		}
	}
}

func TestLongLine(t *testing.T) {
	path := in(dir(t), "s")
	serve(t, listen(t, path), answer)
	fits := dial(t, path)
	pad := strings.Repeat(" ", protocol.MaxLine-len(`{"type":"status"}`))
	fits.SendLine([]byte(`{"type":"status"}` + pad + "\n" + `{"type":"hello"}` + "\n"))
	expect(t, fits, `"name":"status"`)
	expect(t, fits, `"name":"hello"`)

	over := dial(t, path)
	var sending sync.WaitGroup
	sending.Go(func() { over.SendLine([]byte(`{"type":"status"} ` + pad + "\n" + `{"type":"hello"}` + "\n")) })
	expect(t, over, `"line_too_large"`)
	expectEnd(t, over)
	ends(t, "sending", &sending)
}

// TestLongLineEndsASubscription: also where the handler has more to say.
func TestLongLineEndsASubscription(t *testing.T) {
	path := in(dir(t), "s")
	ended := make(chan error, 1)
	serve(t, listen(t, path), func(ctx context.Context, c *Conn) {
		for in := range c.Incoming() {
			c.Refuse(in.Error)
		}
		<-ctx.Done()
		ended <- context.Cause(ctx)
	})
	c := dial(t, path)
	var sending sync.WaitGroup
	sending.Go(func() { c.SendLine(bytes.Repeat([]byte("x"), protocol.MaxLine+readerBytes)) })
	expect(t, c, `"line_too_large"`)
	expectEnd(t, c)
	ends(t, "sending", &sending)
	if err := soon(t, "the end of its handler", ended); err != ErrBroken {
		t.Errorf("ended by %v, want %v", err, ErrBroken)
	}
}

// TestEndlessLineCostsLittle: a client without newlines does not make us keep it all.
func TestEndlessLineCostsLittle(t *testing.T) {
	path := in(dir(t), "s")
	serve(t, listen(t, path), answer)
	c := dial(t, path)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var sending sync.WaitGroup
	sending.Go(func() {
		chunk := bytes.Repeat([]byte("x"), 64<<10)
		for range 64 << 20 / len(chunk) {
			if c.SendLine(chunk) != nil {
				return
			}
		}
	})
	expect(t, c, `"line_too_large"`)
	expectEnd(t, c)
	ends(t, "sending", &sending)
	runtime.ReadMemStats(&after)
	if grew := after.TotalAlloc - before.TotalAlloc; grew > 10<<20 {
		t.Errorf("allocated %d bytes", grew)
	}
}

// TestSlowReader: one that never reads is dropped, the others get everything.
func TestSlowReader(t *testing.T) {
	path := in(dir(t), "s")
	type client struct {
		c    *Conn
		done chan error
	}
	conns := make(chan client, 2)
	serve(t, listen(t, path), func(ctx context.Context, c *Conn) {
		me := client{c, make(chan error, 1)}
		conns <- me
		<-ctx.Done()
		me.done <- context.Cause(ctx)
	})
	slow, fast := dial(t, path), dial(t, path)
	a, b := soon(t, "a connection", conns), soon(t, "another connection", conns)
	frame := append(bytes.Repeat([]byte("x"), 1000), '\n')
	var reading sync.WaitGroup
	const n = 5000
	got := make(chan struct{}, n)
	reading.Go(func() {
		for range n {
			if _, err := fast.NextLine(t.Context()); err != nil {
				t.Error(late(err))
				break
			}
			got <- struct{}{}
		}
		close(got)
	})
	sentBy := map[*Conn]int{}
	for i := range int64(n) {
		for _, c := range []*Conn{a.c, b.c} {
			if c.SendEvent(i+1, frame) {
				sentBy[c]++
			}
		}
		if _, ok := <-got; !ok { // the fast one keeps up by construction
			break
		}
	}
	ends(t, "reading", &reading)
	lagging := a
	if sentBy[b.c] < sentBy[a.c] {
		lagging = b
	}
	if err := soon(t, "the end of the one that lags", lagging.done); err != ErrLagged {
		t.Errorf("ended by %v, want %v", err, ErrLagged)
	}
	most := maxQueued/len(frame) + 1<<20/len(frame) // queued, and in the kernel's buffers
	if sent := sentBy[lagging.c]; sent < maxQueued/(len(frame)+perFrame) || sent > most {
		t.Errorf("%d frames accepted for one that never reads, want at most %d", sent, most)
	}
	if lagging.c.Send(frame) {
		t.Error("still takes frames")
	}
	slow.Close()
}

// TestLaggedLine: a slow reader that reads after all learns where to go on.
func TestLaggedLine(t *testing.T) {
	path := in(dir(t), "s")
	sent := make(chan int64, 1)
	serve(t, listen(t, path), func(ctx context.Context, c *Conn) {
		frame := append(bytes.Repeat([]byte("x"), 1000), '\n')
		seq := int64(1)
		for ; seq <= 20; seq++ {
			c.SendEvent(seq, frame)
		}
		for c.Pending() > 0 { // until the kernel has them
			select {
			case <-c.Room():
			case <-ctx.Done():
				return
			}
		}
		for c.SendEvent(seq, frame) {
			seq++
		}
		sent <- seq // the first that was not accepted
		<-ctx.Done()
	})
	c := dial(t, path)
	total := soon(t, "a frame too many", sent)
	var whole int64
	for {
		line, err := c.NextLine(t.Context())
		if err != nil {
			t.Fatalf("no lagged line: %v", late(err))
		}
		if line[0] == '{' {
			want := fmt.Sprintf(`"seq":%d,`, whole)
			if !bytes.Contains(line, []byte(`"type":"lagged"`)) || !bytes.Contains(line, []byte(want)) ||
				!bytes.Contains(line, fmt.Appendf(nil, `"dropped":%d`, total-whole)) {
				t.Errorf("got %s, want %s and %d dropped", line, want, total-whole)
			}
			break
		}
		whole++
	}
	expectEnd(t, c)
}

// TestPacedSender: whoever heeds Pending and Room can send any amount.
func TestPacedSender(t *testing.T) {
	path := in(dir(t), "s")
	const n = 8000
	serve(t, listen(t, path), func(ctx context.Context, c *Conn) {
		frame := append(bytes.Repeat([]byte("x"), 1000), '\n')
		for range n {
			for c.Pending() > maxQueued/4 {
				select {
				case <-c.Room():
				case <-ctx.Done():
					return
				}
			}
			if !c.Send(frame) {
				t.Error("frame not taken")
				return
			}
		}
		c.Lag()
		c.Lag()
	})
	c := dial(t, path)
	got := 0
	for {
		line, err := c.NextLine(t.Context())
		if err != nil {
			t.Fatal(late(err))
		}
		if line[0] == '{' {
			break
		}
		got++
	}
	if got < n-maxQueued/4/1000-1 {
		t.Errorf("got %d frames", got)
	}
	expectEnd(t, c)
}

func TestTooManyConnections(t *testing.T) {
	path := in(dir(t), "s")
	serve(t, listen(t, path), answer)
	ask := func(c *Client) string {
		c.SendLine([]byte(`{"type":"hello"}` + "\n"))
		line, _ := c.NextLine(t.Context())
		return string(line)
	}
	var clients []*Client
	for range 300 {
		clients = append(clients, dial(t, path))
	}
	served := 0
	for i, c := range clients {
		switch line := ask(c); {
		case strings.Contains(line, `"hello"`):
			served++
		case strings.Contains(line, `"too_many_connections"`):
			expectEnd(t, c)
		default:
			t.Errorf("connection %d: %q", i, line)
		}
	}
	if served != MaxConns {
		t.Errorf("%d served, want %d", served, MaxConns)
	}
	for _, c := range clients {
		c.Close()
	}
	for start := time.Now(); time.Since(start) < patience; { // places come free as the ends are noticed
		c := dial(t, path)
		line := ask(c)
		c.Close()
		if strings.Contains(line, `"hello"`) {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("a place for one more: not within %v", patience)
}

func TestSilentNewcomerIsDropped(t *testing.T) {
	path := in(dir(t), "s")
	l := listen(t, path)
	l.firstLine = 50 * time.Millisecond
	serve(t, l, answer)
	var early *Client
	start := time.Now()
	for err := io.EOF; err != nil; { // again, should this machine be slower than that
		if time.Since(start) > patience {
			t.Fatalf("an answer to a first line: not within %v", patience)
		}
		early = dial(t, path)
		early.SendLine([]byte(`{"type":"hello"}` + "\n"))
		_, err = early.NextLine(t.Context())
	}
	silent, half := dial(t, path), dial(t, path)
	half.SendLine([]byte(`{"type":`))
	expectEnd(t, silent)
	expectEnd(t, half)
	early.SendLine([]byte(`{"type":"status"}` + "\n")) // long after its first line
	expect(t, early, `"status"`)
}

func TestServeEnds(t *testing.T) {
	d := dir(t)
	l := listen(t, in(d, "s"))
	started := make(chan struct{}, 5)
	stop := serve(t, l, func(ctx context.Context, c *Conn) {
		started <- struct{}{}
		<-ctx.Done()
		c.Answer(&protocol.Exit{Code: 7})
	})
	var clients []*Client
	for range 5 {
		clients = append(clients, dial(t, l.Path()))
		soon(t, "its handler", started)
	}
	stop()
	for _, c := range clients {
		expect(t, c, `"code":7`)
		expectEnd(t, c)
	}
	l.Close()
	if _, err := Dial(t.Context(), l.Path()); err == nil {
		t.Error("still there")
	}
}

// TestShortOfDescriptors: the pauses grow, and end with the shortage or the context.
func TestShortOfDescriptors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		var at []time.Duration
		failure := func(err error) error { return &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", err)} }
		accept := func() (*net.UnixConn, error) {
			at = append(at, time.Since(start))
			switch len(at) {
			case 12:
				return nil, nil // one connection
			case 14:
				cancel()
			}
			return nil, failure(unix.EMFILE)
		}
		admitted := 0
		err := acceptLoop(ctx, accept, func(*net.UnixConn) { admitted++ })
		if err != context.Canceled || admitted != 1 {
			t.Errorf("got %v, %d admitted", err, admitted)
		}
		var pauses []time.Duration
		for i := range at[1:] {
			pauses = append(pauses, (at[i+1]-at[i])/time.Millisecond)
		}
		if want := []time.Duration{5, 10, 20, 40, 80, 160, 320, 640, 1000, 1000, 1000, 0, 5}; !slices.Equal(pauses, want) {
			t.Errorf("paused %d ms, want %d", pauses, want)
		}
		if err := acceptLoop(t.Context(), func() (*net.UnixConn, error) { return nil, failure(unix.EBADF) }, nil); err == nil {
			t.Error("a broken listener is not the end")
		}
	})
}
