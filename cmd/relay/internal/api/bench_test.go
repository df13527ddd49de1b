package api

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/hub"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store"
)

// BenchmarkSend is how many messages a second are accepted over a socket, and on disk then, by
// how many senders at once, in one process with them.
func BenchmarkSend(b *testing.B) {
	for _, senders := range []int{1, 64} {
		b.Run(strconv.Itoa(senders), func(b *testing.B) {
			log, err := store.Open(b.Context(), b.TempDir(), store.Limit{Age: time.Hour, Bytes: 1 << 30})
			must(b, err)
			defer log.Close()
			var n, sent atomic.Int64
			h, err := hub.New(b.Context(), log, router.Rules{PairMost: 1 << 30}, func() string { return fmt.Sprint("m-", n.Add(1)) })
			must(b, err)
			go h.Keep(b.Context(), time.Hour)
			go h.Run(b.Context())
			socket := filepath.Join(testrig.Dir(b), "s")
			l, err := net.Listen("unix", socket)
			must(b, err)
			defer l.Close()
			go http.Serve(l, (&Server{Hub: h}).Handler())
			b.ResetTimer()
			done := make(chan error)
			for range senders {
				go func() {
					c := NewClient(socket, "")
					for sent.Add(1) <= int64(b.N) {
						if _, err := c.Send(b.Context(), Send{From: "ci", To: router.Human, Body: "hello, this is a message of some words"}); err != nil {
							done <- err
							return
						}
					}
					done <- nil
				}()
			}
			for range senders {
				if err := <-done; err != nil {
					b.Error(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
