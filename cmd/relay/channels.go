package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/api"
	"relay-pty/cmd/relay/internal/paper"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
)

// membership is a command by which a name joins a channel or leaves it.
func membership(s streams, verb, short, long string, joins bool) *cobra.Command {
	var as string
	c := &cobra.Command{
		Use: verb + " '#CHANNEL'", Short: short, Long: long,
		Example: fmt.Sprintf("  relay %s '#review'            inside of an agent: itself\n  relay %s '#review' --as bob", verb, verb),
		RunE: func(c *cobra.Command, args []string) error {
			name, err := channelOf(args)
			if err != nil {
				return usage{fmt.Errorf("%s: %w", verb, err)}
			}
			ask := func(r *api.Client) (api.Channel, error) { return r.Member(c.Context(), name, as, joins) }
			return answered(c, s, ask, func(channel api.Channel) error {
				return showChannels(paper.New(s.out), []api.Channel{channel})
			})
		},
	}
	c.Flags().StringVar(&as, "as", "", "who, outside of an agent: the agent or script `NAME` (default human)")
	jsonFlag(c)
	return c
}

func joinCommand(s streams) *cobra.Command {
	return membership(s, "join", "Join a channel", `join makes an agent, a script or you a member of a channel. Each
message to the channel is delivered to all members except its sender. Memberships outlive agents and
the router; a member that doesn't run gets the messages when it runs again. Messages from before the
membership are not delivered; relay recv --after 0 shows them. Any name makes a channel; put it in
quotes for the shell.`, true)
}

func leaveCommand(s streams) *cobra.Command {
	return membership(s, "leave", "Leave a channel", `leave ends a membership. Messages that were sent before are still delivered.`, false)
}

// channelOf is the one argument, without its '#'.
func channelOf(args []string) (string, error) {
	if len(args) != 1 {
		return "", errors.New("say which channel, in quotes: '#review'")
	}
	name, ok := strings.CutPrefix(args[0], "#")
	if err := protocol.ValidTarget(args[0]); err != nil || !ok {
		return "", fmt.Errorf("%q is no channel: '#' and a name, as '#review'", args[0])
	}
	return name, nil
}

// showChannels prints each channel and who is in it.
func showChannels(p paper.Paper, list []api.Channel) error {
	var rows [][]string
	for _, c := range list {
		members := strings.Join(c.Members, ", ")
		if members == "" {
			members = "(nobody)"
		}
		rows = append(rows, []string{c.Name, members})
	}
	return p.Table(rows)
}

// unanswering are those whose run has ended without an answer.
func unanswering(m api.Message) string {
	return strings.Join(m.Whom(func(d router.Delivery) bool { return d.Abandoned }), ", ")
}

// by names who answered a message to several.
func by(m api.Message) string {
	if len(m.Recipients) == 0 {
		return ""
	}
	return " by " + m.Replies[0].From
}
