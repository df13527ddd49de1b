package api

import (
	"bytes"
	"context"
	"io"
	"net/http"
)

// Local asks a router of the same process, as the agent of that token if it is not empty. What
// waits is answered when ctx ends, too. It follows no streams.
func Local(ctx context.Context, h http.Handler, token string) *Client {
	return &Client{http: http.Client{Transport: local{ctx, h}}, token: token}
}

// local hands requests to a handler.
type local struct {
	ends    context.Context
	handler http.Handler
}

// RoundTrip implements [http.RoundTripper].
func (l local) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(l.ends, cancel)()
	w := &written{header: http.Header{}, status: http.StatusOK}
	l.handler.ServeHTTP(w, r.WithContext(ctx))
	return &http.Response{
		StatusCode: w.status, Status: http.StatusText(w.status), Header: w.header, Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: io.NopCloser(&w.body),
	}, nil
}

// written keeps an answer.
type written struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *written) Header() http.Header         { return w.header }
func (w *written) Write(p []byte) (int, error) { return w.body.Write(p) }
func (w *written) WriteHeader(status int)      { w.status = status }
