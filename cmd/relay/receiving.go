package main

import (
	_ "embed" // the example
	"strings"

	"github.com/spf13/cobra"

	"relay-pty/cmd/relay/internal/manual"
	"relay-pty/cmd/relay/internal/settings"
)

//go:embed examples/receive.sh
var receiveScript string

// receivingTopic is a page of help, no command: what whoever consumes messages can rely on.
func receivingTopic() *cobra.Command {
	return &cobra.Command{
		Use: "receiving", Short: "What programs that consume messages can rely on",
		Long: manual.Receiving + "\n\n  " + strings.ReplaceAll(strings.TrimSpace(receiveScript), "\n", "\n  "),
	}
}

// settingsTopic is a page about what can be set.
func settingsTopic() *cobra.Command {
	return &cobra.Command{Use: "settings", Short: "What can be set once for all, and where", Long: settings.Help()}
}
