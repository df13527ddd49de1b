package api

import (
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
)

// TestWhoIsCalledStopped: a router that was seen stopped twice in a row, and nobody else, however
// late the router answers; a request that is answered is not looked at any more.
func TestWhoIsCalledStopped(t *testing.T) {
	const n = 4 // looks, after which the router answers
	for name, c := range map[string]struct {
		seen [n]bool
		told bool
	}{
		"one that is slow":               {[n]bool{}, false},
		"one that is stopped again soon": {[n]bool{true, false, true, false}, false},
		"one that is stopped":            {[n]bool{true, true}, true},
		"one that is stopped later":      {[n]bool{false, false, true, true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("unix", filepath.Join(testrig.Dir(t), "router.sock"))
			must(t, err)
			looked := make(chan struct{})
			srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				select {
				case <-looked:
				case <-r.Context().Done():
				}
				tellJSON(w, http.StatusOK, Health{OK: true})
			})}
			served := make(chan error, 1)
			go func() { served <- srv.Serve(l) }()
			client, looks := NewClient(l.Addr().String(), ""), 0
			client.every, client.again = time.Millisecond, time.Millisecond
			client.stopped = func(pid int) bool {
				if pid != os.Getpid() {
					t.Errorf("it looks at %d", pid)
				}
				looks++
				if looks == n+1 { // the router must not answer between the last look and what follows from it
					close(looked)
				}
				return looks <= n && c.seen[looks-1]
			}
			_, err = client.Health(t.Context())
			var stopped *StoppedError
			if errors.As(err, &stopped) != c.told || c.told && (stopped.PID != os.Getpid() || errors.Is(err, ErrLost)) || !c.told && err != nil {
				t.Errorf("it is told: %v", err)
			}
			srv.Close()
			<-served
		})
	}
}
