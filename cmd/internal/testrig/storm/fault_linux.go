package storm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"relay-pty/cmd/internal/testrig/books"
	"relay-pty/cmd/internal/testrig/storm/slot"
)

// systemStrikes are those that only this system can have.
var systemStrikes = map[string]strike{diskFull: strikeDisk, syncError: strikeSync}

// diskSize is that of a slot's own disk: a journal at its bounds, and once more.
const diskSize = "96m"

// ownDisk puts a disk of its own at dir, which needs root.
func ownDisk(dir string) error {
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+diskSize); err != nil {
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
func strikeDisk(ctx context.Context, p *place, l *slot.Life, rnd *rand.Rand) error {
	path := filepath.Join(p.State, "filler")
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
func (p *place) inTrouble(ctx context.Context, l *slot.Life, rnd *rand.Rand) error {
	pause(ctx, rnd, 200, 1500)
	if rnd.IntN(4) > 0 {
		return nil
	}
	p.storm.struck(books.Fault{Agent: p.Name, Life: l.N, Kind: killWrapper})
	err := l.Kill(ctx)
	pause(ctx, rnd, 0, 1500)
	return err
}

// strikeSync makes the wrapper's writes reach no disk for a while.
func strikeSync(ctx context.Context, p *place, l *slot.Life, rnd *rand.Rand) error {
	var said bytes.Buffer
	cmd := exec.Command("strace", "-f", "-q", "-o", "/dev/null", "-e", "trace=fdatasync,fsync", "-e", "inject=fdatasync,fsync:error=EIO", "-p", strconv.Itoa(l.Term.Pid()))
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("strace: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return fmt.Errorf("strace: %w: %s", err, said.Bytes())
	case <-time.After(100 * time.Millisecond): // time to attach; no matter if it takes longer
	}
	err := p.inTrouble(ctx, l, rnd)
	for _, sig := range []os.Signal{os.Interrupt, os.Interrupt, os.Kill} { // it may be deaf while it attaches
		cmd.Process.Signal(sig) // gone already, if the wrapper is
		select {
		case <-ended:
			return err
		case <-time.After(straceEnd / 3):
		}
	}
	return errors.Join(err, fmt.Errorf("the end of strace: not within %v", straceEnd))
}

// straceEnd is how long strace may take to let go of a wrapper; it takes some milliseconds.
const straceEnd = 30 * time.Second
