package main

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/daemon"
	"relay-pty/cmd/relay/internal/settings"
	"relay-pty/protocol/version"
)

// onDemand is the flag of a router that was started by need.
const onDemand = "on-demand"

func serveCommand(s streams) *cobra.Command {
	o := daemon.Daemon{Version: version.Release, NewID: newID, Errs: s.err}
	c := &cobra.Command{
		Use: "serve", Short: "Run the router in the foreground", Args: noArgs,
		Long: "serve runs the router in the foreground. Usually nobody needs to: relay run and relay send start a\nrouter if none runs, and that router ends when nothing is left to do.\n\n" + overHTTP,
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := settings.Loopback(o.HTTP); o.HTTP != "" && err != nil {
				return usage{fmt.Errorf("serve: --http: %w", err)}
			}
			return o.Run(c.Context())
		},
	}
	c.Flags().StringVar(&o.HTTP, "http", "", "serve the API over TCP, too, at a port of this machine (127.0.0.1:PORT)")
	c.Flags().StringVar(&o.Store, "store", "", "`FILE` of the log, SQLite's, or a directory for it (default ~/.local/state/relay)")
	c.Flags().BoolVar(&o.OnDemand, onDemand, false, "end when nothing is wrapped and nothing waits")
	c.Flags().MarkHidden(onDemand) // it exists
	return c
}

const overHTTP = `With --http, or the setting http_addr, what is asked over the router's socket can be asked over
TCP, by programs of this machine:

  curl -H "Authorization: Bearer $(cat $XDG_RUNTIME_DIR/relay/http.token)" localhost:PORT/v1/agents

Whoever has the token acts as the human, or as whom "from" says. An agent's own token makes it that
agent. Requests of web pages from elsewhere are refused. At /mcp are the tools of relay mcp, for
agents that take them by HTTP; /mcp?as=NAME speaks as NAME.`

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage{fmt.Errorf("%s takes no arguments, got %q", c.Name(), args[0])}
	}
	return nil
}

var letters = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// newID is short, for agents have to repeat it.
func newID() string {
	var b [5]byte
	rand.Read(b[:]) // never fails
	return "m-" + strings.ToLower(letters.EncodeToString(b[:]))
}
