// Command relay-pty-check is what relay-pty --check-profile becomes: a program of its
// own, so that every wrapper is smaller by it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"relay-pty/cmd/relay-pty/check/program"
	"relay-pty/protocol/version"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println(program.Name, version.Release)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
	ended := make(chan syscall.Signal, 1)
	go func() { // it lives as long as we do
		s, _ := (<-signals).(syscall.Signal)
		ended <- s
		cancel()
	}()
	code := program.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	select {
	case s := <-ended:
		code = 128 + int(s)
	default:
	}
	os.Exit(code)
}
