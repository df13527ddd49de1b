package signals

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// TestAct: the kernel acts at a signal that the runtime was asked to catch, until that is undone.
func TestAct(t *testing.T) {
	caught := make(chan os.Signal, 10)
	signal.Notify(caught, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(caught)
	undo := Act(Ignore, syscall.SIGUSR1)
	send := func(sig syscall.Signal) {
		if err := syscall.Kill(os.Getpid(), sig); err != nil {
			t.Fatal(err)
		}
	}
	send(syscall.SIGUSR1) // nobody hears it
	undo()
	for range 2 { // two, since the runtime tells of each once
		send(syscall.SIGUSR2)
		hears(t, caught, syscall.SIGUSR2)
		send(syscall.SIGUSR1)
		hears(t, caught, syscall.SIGUSR1)
	}
}

func hears(t *testing.T, caught <-chan os.Signal, want os.Signal) {
	t.Helper()
	select {
	case got := <-caught:
		if got != want {
			t.Errorf("caught %v, want %v", got, want)
		}
	case <-time.After(time.Minute):
		t.Fatalf("not within a minute: %v", want)
	}
}

// TestSettle: it comes back while signals come without end, and leaves none waiting.
func TestSettle(t *testing.T) {
	caught, over := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(caught, syscall.SIGUSR1)
	defer signal.Stop(caught)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-over:
				return
			default:
				syscall.Kill(os.Getpid(), syscall.SIGUSR1) // our own process: it can
			}
		}
	}()
	for range 50 {
		if err := Settle(); err != nil {
			t.Fatal(err)
		}
	}
	close(over)
	<-done
}
