package hub

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"relay-pty/cmd/relay/internal/router"
	disk "relay-pty/cmd/relay/internal/store"
	"relay-pty/cmd/relay/internal/store/storerig"
)

// slowly is a hub whose writes wait until they may be done. sizes are those of the batches.
func slowly(t *testing.T) (h *Hub, store *storerig.Store, may chan struct{}, sizes *[]int) {
	store = storerig.Open(t, "")
	h = aHub(t, store)
	h.mustUp(t, "bob")
	may, sizes = make(chan struct{}), new([]int)
	store.Before(func(events []disk.Entry) {
		*sizes = append(*sizes, len(events))
		<-may
	})
	return h, store, may, sizes
}

// send sends messages at once, and tells how each ended.
func (h *Hub) send(t *testing.T, n int) chan error {
	ended := make(chan error, n)
	for range n {
		go func() {
			_, err := h.Send(t.Context(), hi("bob"))
			ended <- err
		}()
	}
	synctest.Wait()
	return ended
}

// TestWhatComesInMeanwhileIsWrittenAtOnce: while one batch is written the next one gathers. Nobody
// is answered, and nobody sees a message, before it is on disk.
func TestWhatComesInMeanwhileIsWrittenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, may, sizes := slowly(t)
		first := h.send(t, 1)
		rest := h.send(t, 20)
		seen := make(chan int, 1)
		go func() {
			n := 0
			h.View(func(s *router.State, _ func(string) bool) { n = len(inboxOf(s, "bob")) })
			seen <- n
		}()
		synctest.Wait()
		if len(first)+len(rest)+len(seen) != 0 {
			t.Errorf("before it is on disk %d and %d are answered, and %d have seen it", len(first), len(rest), len(seen))
		}
		may <- struct{}{}
		synctest.Wait()
		if len(first) != 1 || len(rest)+len(seen) != 0 {
			t.Errorf("behind the first batch %d and %d are answered, and %d have seen the second", len(first), len(rest), len(seen))
		}
		may <- struct{}{}
		synctest.Wait()
		for range 20 {
			must(t, <-rest)
		}
		if n := <-seen; n != 21 || fmt.Sprint(*sizes) != "[1 20]" {
			t.Errorf("%d are seen, batches have %v", n, *sizes)
		}
	})
}

// TestABatchThatCannotBeWrittenIsTakenBack, with all that was decided since.
func TestABatchThatCannotBeWrittenIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, store, may, _ := slowly(t)
		store.Fail(disk.ErrFull, false)
		first := h.send(t, 1)
		rest := h.send(t, 5)
		may <- struct{}{}
		synctest.Wait()
		for _, err := range []error{<-first, <-rest, <-rest, <-rest, <-rest, <-rest} {
			if !errors.Is(err, disk.ErrFull) {
				t.Errorf("it is answered with %v", err)
			}
		}
		store.Before(nil)
		h.View(func(s *router.State, _ func(string) bool) {
			if left := inboxOf(s, "bob"); len(left) != 0 || s.Last != 1 {
				t.Errorf("left are %v, up to %d", left, s.Last)
			}
		})
		must(t, <-h.send(t, 1))
		if n := store.Count(t); n != 2 {
			t.Errorf("the log has %d events", n)
		}
	})
}
