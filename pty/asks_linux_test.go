package pty

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// TestAsks: a program that waits in a read of its terminal asks.
func TestAsks(t *testing.T) {
	r := begin(t, sh("exec cat"))
	becomes(t, "cat asks", r.WaitsInRead)
	must(t, r.Keys([]byte("a line\n")))
	becomes(t, "it has read the line and asks again", func() bool {
		tty, err := r.TTY()
		return err == nil && tty.Unread == 0 && r.WaitsInRead()
	})
}

// TestReadPlace: a shell without a line editor of its own waits at one place, its builtin read at
// another.
func TestReadPlace(t *testing.T) {
	needs(t, "dash")
	r := begin(t, Config{Args: []string{"dash"}, Env: append(os.Environ(), "PS1=# ")})
	becomes(t, "dash asks", r.WaitsInRead)
	prompt := r.ReadPlace()
	for range 2 {
		must(t, r.Keys([]byte("read v\n")))
		becomes(t, "its builtin asks in another way", func() bool { how := r.ReadPlace(); return how != "" && how != prompt })
		must(t, r.Keys([]byte("x\n")))
		becomes(t, "it asks as before", func() bool { return r.ReadPlace() == prompt })
	}
}

// TestWhoDoesNotAsk: one that waits for anything else does not, and nobody asks after its end.
func TestWhoDoesNotAsk(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	for name, script := range map[string]string{
		"reads a pipe":     `mkfifo "$0"; exec 3<>"$0"; echo up; exec cat <&3`,
		"sleeps":           "echo up; exec sleep 1000",
		"has a child read": "echo up; cat; true",
	} {
		t.Run(name, func(t *testing.T) {
			cfg := sh(script)
			cfg.Args = append(cfg.Args, fifo)
			r := begin(t, cfg)
			r.says("up")
			// It is between system calls while it gets there, and waits for ever then.
			becomes(t, "it waits", func() bool { return sleeping(t, r.PID()) })
			for range 100 {
				if r.WaitsInRead() {
					t.Fatal("it asks")
				}
			}
			if child := name == "has a child read"; child {
				becomes(t, "its child reads", r.Reads)
			} else if r.Reads() {
				t.Error("it reads the terminal")
			}
			r.Signal(9)
			r.finish()
			if r.WaitsInRead() {
				t.Error("it asks after its end")
			}
		})
	}
}

// sleeping reports whether a process waits for something, see proc_pid_syscall(5).
func sleeping(t *testing.T, pid int) bool {
	t.Helper()
	call, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "syscall"))
	return err == nil && len(call) > 0 && string(call) != "running\n"
}
