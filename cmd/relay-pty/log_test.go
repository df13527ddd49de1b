package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"relay-pty/protocol/own"
)

// TestLogHasMilliseconds: what an agent does within a second is told in its order, with its gaps.
func TestLogHasMilliseconds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	log, closeLog, err := openLog(config{Name: "alice", LogFile: file, LogLevel: zerolog.InfoLevel})
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now().Truncate(time.Millisecond)
	log.Info().Msg("hello")
	closeLog()
	line, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Level, Agent, Time, Message string }
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	at, err := time.Parse(logTime, got.Time)
	if err != nil || at.Before(before) || at.After(time.Now()) || got.Agent != "alice" || got.Level != "info" || got.Message != "hello" {
		t.Errorf("the log says %s (%v), want a time from %v on", line, err, before)
	}
}

// TestLogIsAFileOfOurs: what somebody else may have put in its place is told at once, and not used.
func TestLogIsAFileOfOurs(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"a link":      func(path string) error { return os.Symlink(path+".else", path) },
		"a fifo":      func(path string) error { return unix.Mkfifo(path, 0o600) },
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "log")
			if err := put(file); err != nil {
				t.Fatal(err)
			}
			_, _, err := openLog(config{Name: "alice", LogFile: file})
			var way *own.PathError
			if !errors.As(err, &way) || way.Hint() != "choose another --log-file" {
				t.Errorf("got %v", err)
			}
			if _, err := os.Lstat(file + ".else"); err == nil {
				t.Error("the link was followed")
			}
		})
	}
}
