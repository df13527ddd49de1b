// Command receive prints the messages to a name, one by one, as a program does that consumes them:
// it asks the router's socket for what came after a cursor, and moves the cursor behind what it has
// done. It needs nothing but the standard library.
//
//	receive NAME CURSORFILE
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// batch is what the router answers: messages as they came, and how many older ones it left out; or
// why not.
type batch struct {
	Messages []struct {
		ID, From, Body string
		Seq            int64
	}
	Older         int
	Code, Message string
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: receive NAME CURSORFILE")
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, "receive:", receive(os.Args[1], os.Args[2]))
	os.Exit(1)
}

// receive returns why it cannot go on.
func receive(name, file string) error {
	cursor, err := load(file)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket())
	}}}
	for {
		b, err := next(client, name, cursor)
		switch {
		case err != nil:
			return err // no router: relay send or relay serve starts one
		case b.Code == "cursor_gone":
			fmt.Fprintln(os.Stderr, "receive:", b.Message)
			cursor = 0
			continue
		case b.Code != "":
			return errors.New(b.Message)
		case b.Older > 0:
			fmt.Fprintln(os.Stderr, "receive:", b.Older, "older messages are left out")
		}
		for _, m := range b.Messages {
			fmt.Printf("%s %s: %s\n", m.ID, m.From, m.Body) // the work; the cursor moves behind it
			cursor = m.Seq
			if err := save(file, cursor); err != nil {
				return err
			}
		}
	}
}

// next waits for messages, half a minute at most.
func next(client *http.Client, name string, cursor int64) (b batch, err error) {
	q := url.Values{"to": {name}, "after": {strconv.FormatInt(cursor, 10)}, "last": {"20"}, "wait": {"30000"}}
	answer, err := client.Get("http://router/v1/messages?" + q.Encode())
	if err != nil {
		return b, err
	}
	defer answer.Body.Close()
	return b, json.NewDecoder(answer.Body).Decode(&b)
}

// socket is where the router listens.
func socket() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "relay", "router.sock")
	}
	return fmt.Sprintf("/tmp/relay-%d/router.sock", os.Getuid())
}

func load(file string) (int64, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
}

// save writes the cursor so that it is the old or the new one whenever we die.
func save(file string, cursor int64) error {
	if err := os.WriteFile(file+".new", []byte(strconv.FormatInt(cursor, 10)+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
