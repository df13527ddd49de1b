package main

import (
	"cmp"
	"fmt"
	"os"

	"relay-pty/cmd/relay/internal/peer"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// me is the agent in which we run, else the human.
func me() string {
	if peer.Token() == "" {
		return router.Human
	}
	return cmp.Or(os.Getenv("RELAY_AGENT"), router.Human)
}

// speaker is who asks: the agent in which we run, or outside of one whom --as names.
func speaker(command, as string) (name string, err error) {
	is := me()
	switch {
	case is != router.Human && as != "" && as != is:
		return "", usage{fmt.Errorf("%s: this is inside of %s, and --as says %s", command, is, as)}
	case as != "" && as != router.Human && protocol.ValidName(as) != nil:
		return "", usage{fmt.Errorf("%s: --as: %w", command, protocol.ValidName(as))}
	}
	return cmp.Or(as, is), nil
}
