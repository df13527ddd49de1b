package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"
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
