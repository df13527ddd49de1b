package daemon

import (
	"bufio"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay-pty/cmd/internal/testrig"
	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/cmd/relay/internal/store"
)

// TestWhatIsDamagedIsTold by a router that runs, in its log and by its health, however it was
// found.
func TestWhatIsDamagedIsTold(t *testing.T) {
	dir := testrig.Dir(t)
	for name, value := range map[string]string{"XDG_RUNTIME_DIR": dir, "XDG_STATE_HOME": dir + "/state", "XDG_CONFIG_HOME": dir + "/config", "HOME": dir} {
		t.Setenv(name, value)
	}
	place := filepath.Join(dir, "store")
	s, err := store.Open(t.Context(), place, store.Limit{Age: time.Hour, Bytes: 1 << 30})
	must(t, err)
	_, newest, err := s.Span(t.Context())
	must(t, err)
	for range 5 {
		newest++
		data := fmt.Appendf(nil, `{"type":"gone","timestamp":%d}`, time.Now().UnixMilli()) // else it is dropped for its age
		must(t, s.Commit(t.Context(), []store.Entry{{Seq: newest, Type: "gone", Data: data}}, router.Rows{}))
	}
	s.Close()
	db, err := sql.Open("sqlite", filepath.Join(place, "relay.db"))
	must(t, err)
	_, err = db.Exec(`DELETE FROM events WHERE seq = ?`, newest-1)
	must(t, err)
	_, err = db.Exec(`UPDATE events SET data = '{"type":"went"}' WHERE seq = ?`, newest-3)
	must(t, err)
	must(t, db.Close())

	ctx, cancel := context.WithCancel(t.Context())
	told, errs := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := Daemon{Store: place, NewID: rand.Text, Errs: errs}.Run(ctx)
		errs.Close()
		ended <- err
	}()
	late := time.AfterFunc(time.Minute, func() { told.CloseWithError(errors.New("what it was to tell came not within a minute")) })
	defer late.Stop()
	var lines []string
	for r := bufio.NewScanner(told); r.Scan(); {
		lines = append(lines, r.Text())
		if strings.Contains(r.Text(), "rows of events are damaged") {
			break
		}
	}
	go io.Copy(io.Discard, told) // ends with the router
	is, err := api.NewClient(dir+"/relay/router.sock", "").Health(t.Context())
	cancel()
	all := strings.Join(lines, "\n")
	if !strings.Contains(all, "relay: note: the store: 1 event is missing: ") || !strings.Contains(all, "relay: note: the store: 1 of 4 rows of events are damaged, the first is ") {
		t.Errorf("it told:\n%s", all)
	}
	if err != nil || len(is.Damaged) != 2 || !is.OK || is.Degraded {
		t.Errorf("its health is %+v, %v", is, err)
	}
	must(t, <-ended)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
