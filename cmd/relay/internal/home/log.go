package home

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"relay-pty/protocol/own"
)

const (
	// logMost is how many bytes of router.log are kept, and as many of what it held before.
	logMost = 1 << 20
	// logLook is how often it is looked how large it is.
	logLook = time.Minute
	// wordsMost is how much of its end tells of the last router, in bytes.
	wordsMost = 2 << 10

	logAdvice = "move it away, or choose another --store"
)

// Log is where a router that was started by need tells why it ends.
func (h Home) Log() string { return filepath.Join(h.Store, "router.log") }

// Told is the end of the router's log.
func (h Home) Told() (string, error) {
	text, err := own.Tail(h.Log(), logAdvice, wordsMost)
	return string(text), err
}

// openLog opens the router's log behind its last line.
func (h Home) openLog() (*os.File, error) {
	if err := os.MkdirAll(h.Store, 0o700); err != nil {
		return nil, err
	}
	if err := own.Trust(h.Store, "--store"); err != nil {
		return nil, err
	}
	if err := h.cutLog(); err != nil {
		return nil, err
	}
	return own.Open(h.Log(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, logAdvice)
}

// cutLog empties a log that is too large; router.log.old has the end of it then. It stays the same
// file, for routers that have it open write behind its end, wherever that is.
func (h Home) cutLog() error {
	if info, err := os.Lstat(h.Log()); err != nil || info.Size() <= logMost {
		return nil // whatever else is wrong is told when it is opened
	}
	text, err := own.Tail(h.Log(), logAdvice, logMost)
	if err == nil {
		err = own.Write(h.Log()+".old", text)
	}
	if err != nil {
		return err
	}
	f, err := own.Open(h.Log(), os.O_WRONLY, logAdvice)
	if err != nil {
		return err
	}
	defer f.Close() // nothing is left to write
	return f.Truncate(0)
}

// CutLog keeps the router's log small until ctx ends.
func (h Home) CutLog(ctx context.Context) error {
	for {
		select {
		case <-time.After(logLook):
			h.cutLog() // else the disk is full, which is told elsewhere, or it is tried again
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
