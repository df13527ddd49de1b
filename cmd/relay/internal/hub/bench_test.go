package hub

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store"
	"relay-pty/protocol/registry"
)

// BenchmarkSend is how many messages a second are accepted, which are on disk then, by how many
// senders at once.
func BenchmarkSend(b *testing.B) {
	for _, senders := range []int{1, 16, 64} {
		b.Run(strconv.Itoa(senders), func(b *testing.B) {
			log, err := store.Open(b.Context(), b.TempDir(), store.Limit{Age: time.Hour, Bytes: 1 << 30})
			must(b, err)
			defer log.Close()
			var n atomic.Int64
			h, err := New(b.Context(), log, router.Rules{}, func() string { return fmt.Sprint("m-", n.Add(1)) })
			must(b, err)
			for i := range 20 {
				must(b, h.Up(b.Context(), registry.Record{Name: fmt.Sprint("agent", i), PID: i + 1}))
			}
			go h.Keep(b.Context(), time.Hour)
			go h.Run(b.Context())
			var sent atomic.Int64
			b.SetParallelism(max(1, senders/2)) // times two processors
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					i := sent.Add(1)
					// Few messages a minute are let through from one to another.
					m := router.Message{From: fmt.Sprint("ci", i/400), To: fmt.Sprint("agent", i%20), Body: "hello, this is a message of some words"}
					if _, err := h.Send(b.Context(), m); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
