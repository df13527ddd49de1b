package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/doctor"
	"relay-pty/cmd/relay/internal/home"
	"relay-pty/cmd/relay/internal/paper"
	"relay-pty/cmd/relay/internal/store"
	"relay-pty/protocol/dirwatch"
	"relay-pty/protocol/version"
)

func doctorCommand(s streams) *cobra.Command {
	var asJSON, fix bool
	c := &cobra.Command{
		Use: "doctor", Short: "Find what is broken, and the way out", Args: noArgs,
		Long: `doctor looks at programs, settings, directories, disks, the clock, the router and every wrapper. It
prints one line for each finding, with the way out, and changes nothing. The exit status is 1 if
something is broken, and 0 if something could only be tidied up. With --fix doctor removes the records
and sockets that killed wrappers left, mends a damaged store (it copies the store aside, keeps all that
can be read, and says what is missing; no router may run), and prints the other findings.`,
		RunE: func(c *cobra.Command, _ []string) error {
			d := doctor.Doctor{Version: version.Release, Layout: store.Version, Wrapper: findWrapper, Watches: dirwatch.Left, Mends: fix,
				Store: doctor.Store{Weak: store.Weak, Inspect: store.Inspect, Mend: store.Mend}}
			told := findings{Findings: d.Look(c.Context())}
			if told.Removed = d.Removed; len(d.Removed) > 0 && !asJSON {
				fmt.Fprintln(s.err, "relay: removed what was left of", strings.Join(d.Removed, ", "))
			}
			if told.Mended = d.Mended; !asJSON {
				for _, did := range d.Mended {
					fmt.Fprintln(s.err, "relay: the store:", did)
				}
			}
			return told.tell(s, asJSON)
		},
	}
	c.Flags().BoolVar(&fix, "fix", false, "remove what killed wrappers left, and mend the store")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// findings are what doctor prints as JSON.
type findings struct {
	OK       bool             `json:"ok"` // nothing is broken
	Findings []doctor.Finding `json:"findings"`
	Removed  []string         `json:"removed,omitzero"` // killed wrappers whose remains --fix removed
	Mended   []string         `json:"mended,omitzero"`  // what --fix did to the store
	// Agents is the directory in which wrappers are looked for, and Because why it is that one.
	Agents  string `json:"agents_dir"`
	Because string `json:"agents_dir_because"`
	// Elsewhere are agents that run and are listed in another directory.
	Elsewhere []home.Stray `json:"elsewhere,omitzero"`
}

// places tells where is looked, and who is not found there.
func (f *findings) places(s streams, asJSON bool) {
	h, err := home.Look("")
	if err != nil {
		return // which was found
	}
	f.Agents, f.Because, f.Elsewhere = h.Agents, h.Because(), h.Strays()
	if asJSON {
		return
	}
	fmt.Fprintf(s.err, "relay: wrappers are looked for in %s (%s)\n", f.Agents, f.Because)
	for _, stray := range f.Elsewhere {
		fmt.Fprintln(s.err, "relay:", stray)
	}
}

func (told *findings) tell(s streams, asJSON bool) error {
	told.OK = true
	told.places(s, asJSON)
	p := paper.New(s.out)
	for _, f := range told.Findings {
		told.OK = told.OK && !f.Broken
		if asJSON {
			continue
		}
		word := "note"
		if f.Broken {
			word = "broken"
		}
		where := word + ": " + f.Check + ": "
		if err := p.Printf("%s%s\n", where, p.Behind(f.Problem+": "+f.Fix, len(where))); err != nil {
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
	case len(told.Findings) == 0 && !asJSON:
		fmt.Fprintln(s.err, "relay: nothing is broken")
	}
	return nil
}
