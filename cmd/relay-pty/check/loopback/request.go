package loopback

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Bounds of a request, in bytes.
const (
	maxLine = 16 << 10
	maxHead = 128 << 10
	maxBody = 64 << 20
)

// Request is what was asked.
type Request struct {
	Method string
	Path   string // without the query
	Body   []byte

	length  int64 // of the body; -1: in chunks
	expects bool  // the client waits for leave to send it
	close   bool  // the client wants no further one answered
}

// errBad marks what the client is told; other errors are its end.
var errBad = errors.New("bad request")

// readRequest reads the next request; io.EOF when there is none.
func readRequest(in *bufio.Reader, w *Response) (Request, error) {
	r, err := readHead(in)
	if err != nil {
		return r, err
	}
	if r.expects && r.length != 0 {
		w.out = append(w.out, "HTTP/1.1 100 Continue\r\n\r\n"...)
		if err := w.Flush(); err != nil {
			return r, err
		}
	}
	if r.length < 0 {
		r.Body, err = readChunks(in)
		return r, err
	}
	r.Body, err = readN(in, nil, r.length)
	return r, err
}

func readHead(in *bufio.Reader) (Request, error) {
	var r Request
	first, err := readLine(in)
	if err != nil {
		return r, err
	}
	method, rest, _ := strings.Cut(first, " ")
	target, version, ok := strings.Cut(rest, " ")
	if !ok || method == "" || version != "HTTP/1.1" {
		return r, fmt.Errorf("%w: %.60q is no request of HTTP/1.1", errBad, first)
	}
	r.Method = method
	r.Path, _, _ = strings.Cut(target, "?")
	return r, r.readFields(in)
}

func (r *Request) readFields(in *bufio.Reader) error {
	for left := maxHead; ; {
		line, err := readLine(in)
		if err != nil {
			return unexpected(err)
		}
		if line == "" {
			return nil
		}
		if left -= len(line); left < 0 {
			return fmt.Errorf("%w: head of over %d bytes", errBad, maxHead)
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || name == "" || strings.ContainsAny(name, " \t") {
			return fmt.Errorf("%w: %.60q is no header field", errBad, line)
		}
		if err := r.field(name, strings.TrimSpace(value)); err != nil {
			return err
		}
	}
}

// field reads one header field; only few say something to us.
func (r *Request) field(name, value string) error {
	chunked := strings.EqualFold(name, "Transfer-Encoding")
	switch {
	case chunked || strings.EqualFold(name, "Content-Length"):
		n, err := strconv.ParseInt(value, 10, 64)
		if chunked && strings.EqualFold(value, "chunked") {
			n, err = -1, nil
		}
		if err != nil || n < 0 != chunked || n > maxBody || r.length != 0 {
			return fmt.Errorf("%w: the body's length is told as %.60q", errBad, value)
		}
		r.length = n
	case strings.EqualFold(name, "Expect"):
		r.expects = strings.EqualFold(value, "100-continue")
	case strings.EqualFold(name, "Connection"):
		r.close = strings.EqualFold(value, "close")
	}
	return nil
}

// readChunks reads a body in chunks and the trailer behind it.
func readChunks(in *bufio.Reader) ([]byte, error) {
	var body []byte
	for {
		line, err := readLine(in)
		if err != nil {
			return nil, unexpected(err)
		}
		size, _, _ := strings.Cut(line, ";")
		n, err := strconv.ParseUint(strings.TrimSpace(size), 16, 63)
		if err != nil || n > uint64(maxBody-len(body)) {
			return nil, fmt.Errorf("%w: chunk of %.60q bytes", errBad, size)
		}
		if n == 0 {
			var r Request
			return body, r.readFields(in)
		}
		if body, err = readN(in, body, int64(n)); err != nil {
			return nil, err
		}
		if line, err := readLine(in); err != nil || line != "" {
			return nil, errors.Join(unexpected(err), fmt.Errorf("%w: a chunk has no end", errBad))
		}
	}
}

// readN appends n bytes to p. It does not take their number on trust.
func readN(in *bufio.Reader, p []byte, n int64) ([]byte, error) {
	for n > 0 {
		piece := make([]byte, min(n, 256<<10))
		if _, err := io.ReadFull(in, piece); err != nil {
			return nil, unexpected(err)
		}
		p = append(p, piece...)
		n -= int64(len(piece))
	}
	return p, nil
}

// readLine reads a line without its end.
func readLine(in *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxLine {
			return "", fmt.Errorf("%w: line of over %d bytes", errBad, maxLine)
		}
		switch {
		case err == nil:
			return strings.TrimRight(string(line), "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}

// unexpected is an end in the middle.
func unexpected(err error) error {
	if err == nil || err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
