// Command relay routes messages between agents that run under relay-pty, and is the command line to
// send, follow and look.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"relay-pty/cmd/relay/internal/home"
	"relay-pty/cmd/relay/internal/hook"
	"relay-pty/cmd/relay/internal/near"
	"relay-pty/cmd/relay/internal/paper"
	"relay-pty/cmd/relay/internal/router"
	"relay-pty/protocol"
	"relay-pty/protocol/signals"
	"relay-pty/protocol/version"
)

// Exit statuses of the contract.
const (
	exitFailed  = 1
	exitUsage   = 2
	exitNoAgent = 3
	exitTimeout = 124
)

// exit ends the command with a status; what there was to say has been said.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usage is an error of whoever typed the command.
type usage struct{ error }

func (u usage) Unwrap() error { return u.error }

func main() {
	if len(os.Args) > 1 && os.Args[1] == hookName && !slices.Contains(os.Args, "--help") {
		os.Exit(hook.Ours().Run(os.Args[2:])) // an agent waits for it, so nothing else is made first
	}
	os.Exit(run(signals.End(context.Background()), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// json prints a value on a line.
func (s streams) json(v any) error {
	return json.NewEncoder(protocol.Escaping{Writer: s.out}).Encode(v)
}

func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	s := streams{in, paper.New(out), paper.New(errs)}
	errs = s.err
	if err := checkWait(args); err != nil {
		return status(errs, usage{err})
	}
	root := newRoot(s)
	root.SetArgs(args)
	ran, err := root.ExecuteContextC(ctx)
	if refused := refusal(err); refused != nil && wantsJSON(ran) {
		s.json(refused) // whoever cannot be told finds the exit status
	}
	return status(errs, err)
}

// sayWhere tells where agents are looked for, and who runs elsewhere.
func sayWhere(errs io.Writer) {
	h, err := home.Look("")
	if err != nil {
		return // which nobody asked about
	}
	fmt.Fprintf(errs, "relay: hint: agents that run are looked for in %s (%s)\n", h.Agents, h.Because())
	for _, stray := range h.Strays() {
		fmt.Fprintln(errs, "relay: hint:", stray)
	}
}

// jsonFlag has a command asked for JSON.
func jsonFlag(c *cobra.Command) { c.Flags().Bool("json", false, "print JSON") }

// wantsJSON reports whether a command was asked for JSON.
func wantsJSON(c *cobra.Command) bool {
	f := c.Flags().Lookup("json")
	return f != nil && f.Value.String() == "true"
}

// newRoot is all commands.
func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use: "relay", Short: "Messages between coding agents, and to them", Long: intro, Version: version.Release,
		SilenceErrors: true, SilenceUsage: true, Args: noCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if err := s.checkFlags(c.Flags()); err != nil {
				return usage{fmt.Errorf("%s: %w", c.Name(), err)}
			}
			return checkWords(c)
		},
	}
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Agents:", []*cobra.Command{
			runCommand(s), lsCommand(s), statusCommand(s), explainCommand(s), screenCommand(s), queueCommand(s),
			waitCommand(s), pauseCommand(s), resumeCommand(s), keysCommand(s),
		}},
		{"Messages:", []*cobra.Command{
			sendCommand(s), replyCommand(s), recvCommand(s), showCommand(s), cancelCommand(s),
			redeliverCommand(s), remindCommand(s), joinCommand(s), leaveCommand(s),
		}},
		{"History:", []*cobra.Command{logCommand(s), eventsCommand(s)}},
		{"More:", []*cobra.Command{doctorCommand(s), demoCommand(s), mcpCommand(s), skillCommand(s), serveCommand(s), hookCommand(), manCommand()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	root.AddCommand(receivingTopic(), settingsTopic())
	root.SetHelpCommandGroupID("More:")
	root.SetCompletionCommandGroupID("More:")
	cobra.EnableCommandSorting = false // they stand as they are used
	ofCommand := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		switch {
		case c == root:
			overview(s.out, root)
		case c.Name() == "run":
			runHelp(s, c)
		default:
			ofCommand(c, args)
		}
	})
	completions(root)
	strictly(root)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage{flagError(err)} })
	return root
}

// flagError tells of a flag's value without the words of the library that reads it.
func flagError(err error) error {
	var value *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &value) {
		return err
	}
	cause := value.Unwrap()
	if errors.As(err, &number) {
		cause = fmt.Errorf("%q is no whole number", value.GetValue())
		if errors.Is(err, strconv.ErrRange) {
			cause = fmt.Errorf("%s is too far from 0", value.GetValue())
		}
	}
	return fmt.Errorf("--%s: %w", value.GetFlag().Name, cause)
}

// noCommand refuses what is no command, and names one that is like it.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, o := range c.Commands() {
		if o.IsAvailableCommand() || o.IsAdditionalHelpTopicCommand() && !o.Hidden {
			names = append(append(names, o.Name()), o.Aliases...)
		}
	}
	err := fmt.Errorf("unknown command %q; relay --help lists them", args[0])
	if like := near.Names(args[0], names); len(like) > 0 {
		err = fmt.Errorf("unknown command %q: did you mean %s?", args[0], strings.Join(like, " or "))
	}
	return usage{err}
}

const intro = `relay lets coding agents and scripts write to each other. In one terminal each:

  relay run alice -- claude
  relay run bob -- codex

Alice's model writes ->relay:bob <<<please review>>>, and Bob reads it when he is ready.
From a shell:

  relay send bob "please review" --wait    prints Bob's reply
  relay events --follow                    shows all that happens`

// overview prints what relay is for, and its commands, on one screen.
func overview(w io.Writer, root *cobra.Command) {
	fmt.Fprintln(w, intro)
	for _, g := range root.Groups() {
		fmt.Fprintln(w, "\n"+g.Title)
		for _, c := range root.Commands() {
			if c.GroupID == g.ID && c.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-12s %s\n", c.Name(), c.Short)
			}
		}
	}
	fmt.Fprintln(w, "\nMore: relay COMMAND --help, relay help receiving, relay help settings.")
}

// refusal is the error as programs read it, by its code; nil where it has none.
func refusal(err error) *router.ErrorValue {
	var refused *router.ErrorValue
	var coded interface{ Code() string }
	if !errors.As(err, &refused) && errors.As(err, &coded) {
		refused = &router.ErrorValue{Code: coded.Code(), Message: err.Error()}
	}
	return refused
}

// status tells an error, and makes an exit status of it.
func status(errs io.Writer, err error) int {
	var code exit
	var wrong usage
	refused := refusal(err)
	var hint interface{ Hint() string }
	var by signals.Stopped
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	if refused != nil {
		fmt.Fprintf(errs, "relay: %s: %v\n", refused.Code, err)
	} else {
		fmt.Fprintf(errs, "relay: %v\n", err)
	}
	if errors.As(err, &hint) {
		fmt.Fprintf(errs, "relay: hint: %s\n", hint.Hint())
	}
	if refused != nil && refused.Code == router.UnknownAgent && len(refused.Candidates) == 0 {
		sayWhere(errs)
	}
	switch {
	case errors.As(err, &wrong), refused != nil && refused.Code == string(protocol.BadField):
		return exitUsage
	case refused != nil && refused.Code == router.UnknownAgent:
		return exitNoAgent
	case errors.As(err, &by):
		return 128 + int(by.Signal)
	}
	return exitFailed
}
