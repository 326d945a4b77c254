package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/results"
	"ompp-attach/version"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages",
		Long:    "man writes a manual page for ompp-attach and for each of its subcommands into DIR.",
		Example: "  ompp-attach man /usr/local/share/man/man1",
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return writeMan(c.Root(), args[0]) },
	}
}

func writeMan(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot make %s: %w", dir, results.Reason(err))
	}
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		c.Long = strings.TrimSuffix(c.Long, flagsText) + c.Annotations[cli.Manual]
	}
	tool, built := version.Of()
	header := doc.GenManHeader{Section: "1", Source: "ompp-attach " + tool, Manual: "ompp-attach"}
	// The commit's date rather than today's: the same source gives the same pages.
	if date, err := time.Parse(time.RFC3339, built); err == nil {
		header.Date = &date
	}
	if err := doc.GenManTree(root, &header, dir); err != nil {
		return fmt.Errorf("cannot write manual pages to %s: %w", dir, results.Reason(err))
	}
	return nil
}
