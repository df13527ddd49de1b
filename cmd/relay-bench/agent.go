package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// agent is a program that reads lines on its terminal and tells at the socket, in nanoseconds of
// the system's monotonic clock, when it has got each message. One that begins with "say " it passes
// on by a marker, as "TO WORDS" behind it says.
func agent(socket string, in io.Reader, out io.Writer) error {
	tell, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer tell.Close()
	var say string
	for lines := bufio.NewScanner(in); lines.Scan(); {
		at, line := now(), lines.Text()
		if strings.HasPrefix(line, "[end ") {
			if to, words, ok := strings.Cut(say, " "); ok {
				at := now()
				if _, err := fmt.Fprintf(out, "->relay:%s <<<%s>>>\n", to, words); err != nil {
					return err
				}
				fmt.Fprintf(tell, "said %s %d\n", words, at) // nobody listens: the measurement is over
			}
			say = ""
			continue
		}
		if _, body, ok := strings.Cut(line, "] "); ok && strings.HasPrefix(line, "[relay ") {
			line = body
		}
		if words, ok := strings.CutPrefix(line, "say "); ok {
			say = words
			continue
		}
		fmt.Fprintf(tell, "got %s %d\n", line, at)
	}
	return nil
}

// now is the time of a clock that is the same in all processes.
func now() time.Duration {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // fails for no clock that there is
	return time.Duration(t.Nano())
}
