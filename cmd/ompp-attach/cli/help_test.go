package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpOf returns the help text of a subcommand, after wrap was called with the root command. Each
// of the two has a flag with a description of 40 words.
func helpOf(t *testing.T, wrap func(root *cobra.Command)) string {
	t.Helper()
	long := strings.Repeat("word ", 40)
	root := &cobra.Command{Use: "tool"}
	root.PersistentFlags().String("everywhere", "", long)
	c := &cobra.Command{Use: "part", Example: "  tool part --number 3", Run: func(*cobra.Command, []string) {}}
	c.Flags().Int("number", 2, long)
	c.Flags().Bool("other", false, "short")
	root.AddCommand(c)
	wrap(root)
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs([]string{"part", "--help"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// widest returns the number of columns that a text takes.
func widest(text string) (n int) {
	for line := range strings.Lines(text) {
		n = max(n, len(strings.TrimRight(line, "\n")))
	}
	return n
}

// Help fits the columns and fills them. Only the descriptions of flags are wrapped, those of the
// command and of its parent.
func TestWrapHelp(t *testing.T) {
	const word = len("word ")
	for _, columns := range []int{minColumns, plainColumns, maxColumns} {
		text := helpOf(t, func(root *cobra.Command) { wrapHelp(root, columns) })
		if n := widest(text); n > columns || n < columns-3*word {
			t.Errorf("%d columns: the help has %d:\n%s", columns, n, text)
		}
		if n := strings.Count(text, "word"); n != 2*40 {
			t.Errorf("%d columns: %d words of the descriptions, want 80:\n%s", columns, n, text)
		}
		for _, part := range []string{"(default 2)", "--other", "  tool part --number 3", "--everywhere"} {
			if !strings.Contains(text, part) {
				t.Errorf("%d columns: %q is missing:\n%s", columns, part, text)
			}
		}
	}
	if text := helpOf(t, WrapHelp); widest(text) > columns() {
		t.Errorf("the help has %d columns, and the terminal %d:\n%s", widest(text), columns(), text)
	}
	if text := helpOf(t, func(*cobra.Command) {}); widest(text) < 40*word {
		t.Errorf("without being wrapped, the help has %d columns: the test shows nothing", widest(text))
	}
}

// A help text of many flags shows them in groups, each flag once.
func TestGroupsOfFlags(t *testing.T) {
	for _, many := range []bool{false, true} {
		var flags pflag.FlagSet
		names := strings.Fields("all output counters raw hidden")
		for i := range fewFlags {
			if many {
				names = append(names, fmt.Sprint("other", i))
			}
		}
		for _, name := range names {
			flags.Bool(name, false, "words on it")
		}
		flags.Lookup("hidden").Hidden = true
		text := usages(&flags, plainColumns)
		for _, name := range names {
			if n, want := strings.Count(text, "--"+name+" "), 1-strings.Count(name, "hidden"); n != want {
				t.Errorf("--%s is shown %d times:\n%s", name, n, text)
			}
		}
		at := func(s string) int { return strings.Index(text, s) }
		in := at("Flags:\n") == 0 && at("--output") < at("\nCounters and samples:\n") && at("\nCounters and samples:\n") < at("--counters") &&
			at("--counters") < at("\nWhat reports show:\n") && at("\nWhat reports show:\n") < at("--all") && at("--all") < at("--raw")
		if in != many || strings.Contains(text, "Cost for the program") {
			t.Errorf("in groups: %t\n%s", in, text)
		}
	}
}
