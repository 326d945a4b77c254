package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Help fits the columns, and only the flags' descriptions are wrapped.
func TestWrapHelp(t *testing.T) {
	long := strings.Repeat("word ", 40)
	for _, columns := range []int{60, 80, 100} {
		c := &cobra.Command{Use: "tool", Example: "  tool --number 3", Run: func(*cobra.Command, []string) {}}
		c.Flags().Int("number", 2, long)
		c.Flags().Bool("other", false, "short")
		wrapHelp(c, func() int { return columns })
		var out bytes.Buffer
		c.SetOut(&out)
		c.SetArgs([]string{"--help"})
		if err := c.Execute(); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		for line := range strings.Lines(text) {
			if len(strings.TrimRight(line, "\n")) > columns {
				t.Errorf("%d columns: a line has %d: %q", columns, len(line), line)
			}
		}
		if n := strings.Count(text, "word"); n != 40 || !strings.Contains(text, "(default 2)") || !strings.Contains(text, "--other") || !strings.Contains(text, "  tool --number 3") {
			t.Errorf("%d columns: %d words, or a part is missing:\n%s", columns, n, text)
		}
	}
}
