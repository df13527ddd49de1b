package storm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/cmd/internal/testrig/books"
)

// systemStrikes are those that only this system can have.
var systemStrikes = map[string]strike{diskFull: strikeDisk, syncError: strikeSync}

// diskSize is that of a slot's own disk: a journal at its bounds, and once more.
const diskSize = "96m"

// ownDisk puts a disk of its own at dir, which needs root.
func ownDisk(dir string) error {
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+diskSize); err != nil {
		return fmt.Errorf("storm: a small disk, which needs root: %w", err)
	}
	return nil
}

// dropDisk takes the disk away; where there is none, well.
func dropDisk(dir string) error {
	if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}

// strikeDisk fills the disk for a while.
func strikeDisk(ctx context.Context, p *place, l *life, rnd *rand.Rand) error {
	path := filepath.Join(p.state, "filler")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	block := make([]byte, 1<<20)
	for len(block) > 0 {
		if _, err := f.Write(block); errors.Is(err, unix.ENOSPC) {
			block = block[:len(block)/2]
		} else if err != nil {
			return errors.Join(err, os.Remove(path))
		}
	}
	err = p.inTrouble(ctx, l, rnd)
	return errors.Join(err, f.Close(), os.Remove(path))
}

// inTrouble lasts as long as a fault of the disk does. At times the wrapper is killed in
// it, and the next one begins in it.
func (p *place) inTrouble(ctx context.Context, l *life, rnd *rand.Rand) error {
	pause(ctx, rnd, 200, 1500)
	if rnd.IntN(4) > 0 {
		return nil
	}
	p.storm.struck(books.Fault{Agent: p.name, Life: l.n, Kind: killWrapper})
	err := l.kill(ctx)
	pause(ctx, rnd, 0, 1500)
	return err
}

// strikeSync makes the wrapper's writes reach no disk for a while.
func strikeSync(ctx context.Context, p *place, l *life, rnd *rand.Rand) error {
	cmd := exec.Command("strace", "-f", "-o", "/dev/null", "-e", "trace=fdatasync,fsync", "-e", "inject=fdatasync,fsync:error=EIO", "-p", strconv.Itoa(l.term.Pid()))
	said, err := cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("strace: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("strace: %w", err)
	}
	attached, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		text := bufio.NewReader(said)
		first, _ := text.ReadString('\n')
		attached <- first
		io.Copy(io.Discard, text) // it says the same of each thread
		ended <- cmd.Wait()
	}()
	// Until it is attached, a signal ends it at once, and the child by which it tries what the
	// kernel can do stays behind, stopped.
	select {
	case first := <-attached:
		if !strings.Contains(first, "attached") {
			return errors.Join(fmt.Errorf("strace: %s", first), cmd.Process.Kill())
		}
	case <-time.After(straceMost):
		return errors.Join(fmt.Errorf("strace to be attached: not within %v", straceMost), cmd.Process.Kill())
	}
	err = p.inTrouble(ctx, l, rnd)
	cmd.Process.Signal(os.Interrupt) // gone already, if the wrapper is
	select {
	case <-ended:
		return err
	case <-time.After(straceMost):
	}
	return errors.Join(err, fmt.Errorf("the end of strace: not within %v", straceMost), cmd.Process.Kill())
}

// straceMost is how long strace may take to seize a wrapper, and to let go of it; it takes some
// milliseconds.
const straceMost = 30 * time.Second
