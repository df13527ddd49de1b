package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
)

// TestWhatIsNotReadIsNotConsumed: of three messages the reader of a pipe reads one and goes away.
// That one is delivered; another may have been written by then, and none of them is acknowledged.
func TestWhatIsNotReadIsNotConsumed(t *testing.T) {
	reader, out, err := os.Pipe()
	must(t, err)
	defer out.Close()
	acknowledged, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		bufio.NewScanner(reader).Scan()
		<-acknowledged
		reader.Close()
	}()
	given := 0
	var taken []string
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/agents/ci/pull", func(w http.ResponseWriter, _ *http.Request) {
		list := api.Messages{Messages: []api.Message{}}
		if given++; given <= 3 {
			list.Messages = append(list.Messages, message(router.Delivery{ID: fmt.Sprint("m", given)}))
		}
		json.NewEncoder(w).Encode(list)
	})
	mux.HandleFunc("POST /v1/agents/ci/pull_ack", func(w http.ResponseWriter, r *http.Request) {
		var ask api.PullAck
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
			t.Error(err)
		}
		if taken = append(taken, ask.IDs...); len(taken) == 1 {
			close(acknowledged)
		}
		<-gone // so long the disk may take
		fmt.Fprint(w, "{}")
	})
	socket := filepath.Join(testrig.Dir(t), "s")
	srv := httptest.NewUnstartedServer(mux)
	srv.Listener.Close() // not that one
	if srv.Listener, err = net.Listen("unix", socket); err != nil {
		t.Fatal(err)
	}
	srv.Start()
	defer srv.Close()
	f := receiving{consume: true, json: true}
	f.To = "ci"
	asked := &asking{}
	asked.client.Store(api.NewClient(socket, ""))
	n, err := f.consumeNext(t.Context(), streams{strings.NewReader(""), out, out}, asked, 0)
	if err == nil || n != 1 || !slices.Equal(taken, []string{"m1"}) {
		t.Errorf("%d messages, %v; taken are %q", n, err, taken)
	}
}
