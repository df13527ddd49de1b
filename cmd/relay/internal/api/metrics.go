package api

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"time"

	"relay-pty/cmd/relay/internal/hub"
	"relay-pty/cmd/relay/internal/router"
)

// began is when this router did.
var began = time.Now()

// metrics tells numbers as Prometheus reads them (text format 0.0.4). Counters begin with the
// router, but for relay_events_total, which is the log's.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	var p page
	p.family("relay_build_info", "gauge", "The program, whose value is always 1.")
	p.sample("", 1, "version", s.Version, "go", runtime.Version())
	p.one("relay_start_time_seconds", "gauge", "When the router began, Unix time.", float64(began.UnixMilli())/1000)
	var counts router.Counts
	var last int64
	s.Hub.View(func(state *router.State, running func(string) bool) {
		counts, last = state.Count(running), state.Last
	})
	p.by("relay_messages", "Messages that are known, by status.", "status", counts.Messages)
	p.by("relay_messages_waiting", "Messages that have not ended, by what they wait for.", "for", counts.Waiting)
	p.by("relay_agents", "Agents that are known, by state.", "state", counts.Agents)
	meter := s.Hub.Meter()
	p.spread("relay_delivery_seconds", "From the acceptance of a message to its delivery.", meter.Delivery)
	p.spread("relay_append_seconds", "What an event takes to be on disk.", meter.Append)
	degraded := 0.0
	if s.Hub.Full() {
		degraded = 1
	}
	p.one("relay_degraded", "gauge", "1 while the log takes no more.", degraded)
	p.one("relay_events_total", "counter", "Events that the log has had.", float64(last))
	if s.Log != nil {
		events, size, err := s.Log.Size(r.Context())
		if err != nil {
			respond(w, nil, err)
			return
		}
		p.one("relay_log_events", "gauge", "Events that the log keeps.", float64(events))
		p.one("relay_log_bytes", "gauge", "What they take on the disk.", float64(size))
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	p.one("relay_goroutines", "gauge", "Goroutines of the router.", float64(runtime.NumGoroutine()))
	p.one("relay_heap_bytes", "gauge", "Memory that the router has in use.", float64(memory.HeapAlloc))
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Write(p.Bytes()) // fails only when the client has gone
}

// page is written family by family; samples are of the newest one.
type page struct {
	bytes.Buffer
	name string
}

func (p *page) family(name, kind, help string) {
	p.name = name
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// sample writes a value with labels, which are names and values by turns.
func (p *page) sample(suffix string, value float64, labels ...string) {
	p.WriteString(p.name + suffix)
	for i := 0; i < len(labels); i += 2 {
		// What Go quotes beyond the format's own three are control characters, which no label has.
		fmt.Fprintf(p, "%c%s=%s", "{,"[min(i, 1)], labels[i], strconv.Quote(labels[i+1]))
	}
	if len(labels) > 0 {
		p.WriteByte('}')
	}
	p.WriteString(" " + strconv.FormatFloat(value, 'g', -1, 64) + "\n")
}

func (p *page) one(name, kind, help string, value float64) {
	p.family(name, kind, help)
	p.sample("", value)
}

func (p *page) by(name, help, label string, counts map[string]int) {
	p.family(name, "gauge", help)
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		p.sample("", float64(counts[key]), label, key)
	}
}

func (p *page) spread(name, help string, s hub.Spread) {
	p.family(name, "histogram", help)
	var upTo uint64
	for i, bound := range hub.Bounds {
		upTo += s.Buckets[i]
		p.sample("_bucket", float64(upTo), "le", strconv.FormatFloat(bound.Seconds(), 'g', -1, 64))
	}
	p.sample("_bucket", float64(s.Count), "le", "+Inf")
	p.sample("_sum", s.Sum.Seconds())
	p.sample("_count", float64(s.Count))
}
