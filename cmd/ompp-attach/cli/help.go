package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// Manual is the annotation of a command with the text that only its manual page has.
const Manual = "manual"

// The columns of help texts. On a terminal they are its columns, within these bounds; elsewhere
// plainColumns.
const (
	minColumns, maxColumns = 60, 100
	plainColumns           = 80
)

// WrapHelp makes the help texts of root and its commands fit the terminal.
func WrapHelp(root *cobra.Command) { wrapHelp(root, columns()) }

func wrapHelp(root *cobra.Command, columns int) {
	cobra.AddTemplateFunc("usages", usages)
	template := root.UsageTemplate()
	template = strings.ReplaceAll(template, "Flags:\n{{.LocalFlags.FlagUsages ", fmt.Sprintf("{{usages .LocalFlags %d ", columns))
	template = strings.ReplaceAll(template, ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", columns))
	root.SetUsageTemplate(template)
}

func columns() int {
	size, err := unix.IoctlGetWinsize(int(os.Stdout.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 {
		return plainColumns
	}
	return min(max(int(size.Col), minColumns), maxColumns)
}
