// Package loopback serves HTTP/1.1 on 127.0.0.1 for one local program that is
// given the address: POST bodies with a length or in chunks, answers in chunks,
// connections that live on. It is there because net/http would double the size of
// the wrapper, and with it the memory of every wrapped agent; for the same reason
// it does without package net.
//
// It is no server for strangers: requests are bounded in size and number, and
// nothing but the handler reads them.
package loopback

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// maxConns is how many connections are served at a time; more wait.
const maxConns = 64

// Handler answers one request. Its ctx ends when the client hangs up or the
// server ends; after an error the connection is closed.
type Handler func(ctx context.Context, r Request, w *Response) error

// Server is a listening server.
type Server struct {
	f   *os.File
	url string
}

// Listen takes a free port of 127.0.0.1.
func Listen() (*Server, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	port, err := listen(fd)
	if err != nil {
		syscall.Close(fd) // nobody uses it
		return nil, os.NewSyscallError("listen on loopback", err)
	}
	return &Server{f: os.NewFile(uintptr(fd), "loopback"), url: "http://127.0.0.1:" + strconv.Itoa(port)}, nil
}

func listen(fd int) (port int, err error) {
	syscall.CloseOnExec(fd)
	if err := syscall.SetNonblock(fd, true); err != nil { // or the runtime's poller would not serve it
		return 0, err
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, err
	}
	if err := syscall.Listen(fd, maxConns); err != nil {
		return 0, err
	}
	at, err := syscall.Getsockname(fd)
	if in, ok := at.(*syscall.SockaddrInet4); ok {
		return in.Port, err
	}
	return 0, errors.Join(err, syscall.EAFNOSUPPORT)
}

// URL is the server's base URL.
func (s *Server) URL() string { return s.url }

// Serve answers requests until ctx ends, whose cause it returns; by then all
// connections are closed and all handlers have returned. It is called once.
func (s *Server) Serve(ctx context.Context, h Handler) error {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(ctx, func() { s.f.Close() }) // ends accept
	defer stop()
	var conns sync.WaitGroup
	room := make(chan struct{}, maxConns)
	for {
		nc, err := s.accept()
		if err != nil {
			cancel(err) // unless ctx has ended, and is why
			conns.Wait()
			s.f.Close() // it may be already
			return context.Cause(ctx)
		}
		room <- struct{}{}
		conns.Go(func() {
			defer func() { <-room }()
			serve(ctx, nc, h)
		})
	}
}

// accept waits for a connection.
func (s *Server) accept() (*os.File, error) {
	raw, err := s.f.SyscallConn()
	if err != nil {
		return nil, err
	}
	nfd := -1
	rerr := raw.Read(func(fd uintptr) bool {
		syscall.ForkLock.RLock() // no child may inherit it in between
		defer syscall.ForkLock.RUnlock()
		nfd, _, err = syscall.Accept(int(fd))
		if err == nil {
			syscall.CloseOnExec(nfd)
		}
		return err != syscall.EAGAIN && err != syscall.ECONNABORTED && err != syscall.EINTR
	})
	if err == nil && rerr == nil {
		err = syscall.SetNonblock(nfd, true)
	}
	if rerr != nil || err != nil {
		return nil, os.NewSyscallError("accept", errors.Join(rerr, err))
	}
	return os.NewFile(uintptr(nfd), "connection"), nil
}

// serve answers the requests of one connection.
func serve(ctx context.Context, nc *os.File, h Handler) {
	ctx, hungUp := context.WithCancelCause(ctx)
	defer hungUp(nil)
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	defer stop()
	defer nc.Close() // whatever is left unread
	in := bufio.NewReader(nc)
	for {
		w := &Response{nc: nc}
		req, err := readRequest(in, w)
		if err != nil {
			w.refuse(err) // a client that is gone needs none
			return
		}
		next := make(chan error, 1)
		go func() {
			_, err := in.Peek(1) // the next request, or the client's end
			if err != nil {
				hungUp(err)
			}
			next <- err
		}()
		w.bodiless = req.Method == "HEAD"
		err = h(ctx, req, w)
		if err == nil {
			err = w.end()
		}
		if err != nil || req.close {
			nc.Close() // ends the look for a next request
		}
		if perr := <-next; perr != nil || err != nil {
			return
		}
	}
}

// Response is the answer to one request.
type Response struct {
	nc       *os.File
	out      []byte // not sent yet
	begun    bool
	bodiless bool
}

// Head begins the answer.
func (w *Response) Head(status int, contentType string) error {
	if w.begun {
		return errors.New("the answer has begun")
	}
	w.begun = true
	coding := "Transfer-Encoding: chunked\r\n"
	if w.bodiless {
		coding = ""
	}
	w.out = fmt.Appendf(w.out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nCache-Control: no-cache\r\n%s\r\n",
		status, statusText(status), contentType, coding)
	return nil
}

// Write adds p to the body, as one chunk.
func (w *Response) Write(p []byte) (int, error) {
	if len(p) == 0 || w.bodiless { // an empty chunk would be the end
		return len(p), nil
	}
	w.out = fmt.Appendf(w.out, "%x\r\n%s\r\n", len(p), p)
	return len(p), nil
}

// writeWait is how long a client may take to read a piece of an answer.
const writeWait = 30 * time.Second

// Flush sends what was written.
func (w *Response) Flush() error {
	w.nc.SetWriteDeadline(time.Now().Add(writeWait)) // fails on a closed connection, as the write will
	_, err := w.nc.Write(w.out)
	w.out = nil
	return err
}

func (w *Response) end() error {
	if !w.begun {
		return errors.New("no answer")
	}
	if !w.bodiless {
		w.out = append(w.out, "0\r\n\r\n"...)
	}
	return w.Flush()
}

// refuse tells the client what is bad about its request.
func (w *Response) refuse(err error) {
	if errors.Is(err, errBad) {
		w.out = fmt.Appendf(w.out, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(err.Error()), err)
		w.Flush() // a client that is gone needs none
	}
}

func statusText(status int) string {
	switch status {
	case 200:
		return "OK"
	case 400:
		return "Bad Request"
	case 404:
		return "Not Found"
	}
	return "Status"
}
