package api

import (
	"net/http"
	"runtime"
	"strconv"
	"time"

	"relay-pty/cmd/relay/internal/hub"
	"relay-pty/cmd/relay/internal/metrics"
)

// began is when this router did.
var began = time.Now()

// metrics tells numbers as Prometheus reads them (text format 0.0.4). Counters begin with the
// router, but for relay_events_total, which is the log's.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	var p metrics.Page
	p.Family("relay_build_info", "gauge", "The program, whose value is always 1.")
	p.Sample("", 1, "version", s.Version, "go", runtime.Version())
	p.One("relay_start_time_seconds", "gauge", "When the router began, Unix time.", float64(began.UnixMilli())/1000)
	counts, err := s.Hub.Count(r.Context())
	if err != nil {
		respond(w, nil, err)
		return
	}
	p.By("relay_messages", "Messages that are known, by status.", "status", counts.Messages)
	p.By("relay_messages_waiting", "Messages that have not ended, by what they wait for.", "for", counts.Waiting)
	p.By("relay_agents", "Agents that are known, by state.", "state", counts.Agents)
	meter := s.Hub.Meter()
	spread(&p, "relay_delivery_seconds", "From the acceptance of a message to its delivery.", meter.Delivery)
	spread(&p, "relay_append_seconds", "What an event takes to be on disk.", meter.Append)
	degraded := 0.0
	if s.Hub.Full() {
		degraded = 1
	}
	p.One("relay_degraded", "gauge", "1 while the log takes no more.", degraded)
	p.One("relay_events_total", "counter", "Events that the log has had.", float64(s.last()))
	if s.Log != nil {
		events, size, err := s.Log.Size(r.Context())
		if err != nil {
			respond(w, nil, err)
			return
		}
		p.One("relay_log_events", "gauge", "Events that the log keeps.", float64(events))
		p.One("relay_log_bytes", "gauge", "What they take on the disk.", float64(size))
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	p.One("relay_goroutines", "gauge", "Goroutines of the router.", float64(runtime.NumGoroutine()))
	p.One("relay_heap_bytes", "gauge", "Memory that the router has in use.", float64(memory.HeapAlloc))
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Write(p.Bytes()) // fails only when the client has gone
}

func spread(p *metrics.Page, name, help string, s hub.Spread) {
	p.Family(name, "histogram", help)
	var upTo uint64
	for i, bound := range hub.Bounds {
		upTo += s.Buckets[i]
		p.Sample("_bucket", float64(upTo), "le", strconv.FormatFloat(bound.Seconds(), 'g', -1, 64))
	}
	p.Sample("_bucket", float64(s.Count), "le", "+Inf")
	p.Sample("_sum", s.Sum.Seconds())
	p.Sample("_count", float64(s.Count))
}
