package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/bus"
	"relay-pty/cmd/relay/internal/doctor"
	"relay-pty/protocol/version"
)

func doctorCommand(s streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "doctor", Short: "Find what is broken, and the way out", Args: noArgs,
		Long: `doctor looks at programs, settings, directories, disks, the clock, the router and all that is
wrapped. It tells what is wrong, one line each, with the way out, and changes nothing. The exit status
is 1 if something is broken; what may only be tidied up is told, too.`,
		RunE: func(c *cobra.Command, _ []string) error {
			d := doctor.Doctor{Version: version.Release, Layout: bus.Version, Wrapper: findWrapper}
			return tellFindings(s, d.Look(c.Context()), asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// findings are what doctor prints as JSON.
type findings struct {
	OK       bool             `json:"ok"` // nothing is broken
	Findings []doctor.Finding `json:"findings"`
}

func tellFindings(s streams, list []doctor.Finding, asJSON bool) error {
	told := findings{OK: true, Findings: list}
	for _, f := range list {
		told.OK = told.OK && !f.Broken
		if asJSON {
			continue
		}
		word := "note"
		if f.Broken {
			word = "broken"
		}
		if _, err := fmt.Fprintf(s.out, "%s: %s: %s: %s\n", word, f.Check, plain(f.Problem), plain(f.Fix)); err != nil {
			return err
		}
	}
	if asJSON {
		if err := s.json(told); err != nil {
			return err
		}
	}
	switch {
	case !told.OK:
		return exit(exitFailed)
	case len(list) == 0 && !asJSON:
		fmt.Fprintln(s.err, "relay: nothing is broken")
	}
	return nil
}
