package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ompp-attach/cmd/ompp-attach/cli"
)

// foreignFlags are flags of other programs that the documents name.
var foreignFlags = map[string]string{
	"allow-run-as-root": "mpirun", "bind-to": "mpirun", "host": "mpirun",
}

// commands calls visit for each command that users see.
func commands(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			commands(sub, visit)
		}
	}
}

// documents returns the texts for users: the documents by path, and the help texts by command.
func documents(t *testing.T) (written, help map[string]string) {
	t.Helper()
	written, help = map[string]string{}, map[string]string{}
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(paths, "../../README.md") {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		written[p] = string(b)
	}
	commands(root(), func(c *cobra.Command) {
		texts := []string{c.Short, c.Long, c.Annotations[cli.Manual], c.Example}
		c.Flags().VisitAll(func(f *pflag.Flag) { texts = append(texts, f.Usage) })
		help[c.CommandPath()] = strings.Join(texts, "\n")
	})
	return written, help
}

var flagName = regexp.MustCompile(`(?:^|[^\w-])--([a-z][a-z0-9-]*)`)

// flagsIn returns the flags that a text names.
func flagsIn(text string) map[string]bool {
	names := map[string]bool{}
	for _, m := range flagName.FindAllStringSubmatch(text, -1) {
		names[m[1]] = true
	}
	return names
}

// Each flag that --help shows is named in a document. All flags in the documents and help texts
// exist.
func TestFlagsDocumented(t *testing.T) {
	written, help := documents(t)
	exist := map[string]bool{"help": true, "version": true}
	named := map[string]bool{}
	for _, text := range written {
		maps.Copy(named, flagsIn(text))
	}
	commands(root(), func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			exist[f.Name] = true
			if !f.Hidden && !named[f.Name] {
				t.Errorf("%s --%s is in no document", c.CommandPath(), f.Name)
			}
		})
	})
	for name, of := range foreignFlags {
		if exist[name] || !named[name] {
			t.Errorf("--%s is listed as a flag of %s: exists here: %t, in a document: %t", name, of, exist[name], named[name])
		}
	}
	maps.Copy(written, help)
	for where, text := range written {
		for _, name := range slices.Sorted(maps.Keys(flagsIn(text))) {
			if !exist[name] && foreignFlags[name] == "" {
				t.Errorf("%s names --%s, which does not exist", where, name)
			}
		}
	}
}

// commandLine is a call of the tool in a document: in a line of code, or in quotes.
var commandLine = regexp.MustCompile("(?m)(?:^    .*?|^ +|`)ompp-attach ([a-z]+)([^`\n]*)")

// The command lines in documents and examples give each command only flags that it has.
func TestCommandLinesDocumented(t *testing.T) {
	written, help := documents(t)
	maps.Copy(written, help)
	checked := 0
	for where, text := range written {
		for _, m := range commandLine.FindAllStringSubmatch(text, -1) {
			c, _, err := root().Find(m[1:2])
			if err != nil {
				t.Errorf("%s: %s: %v", where, m[0], err)
				continue
			}
			c.InitDefaultHelpFlag()
			for _, name := range wrongFlags(c, strings.Fields(m[2])) {
				t.Errorf("%s: %s: it has no flag %s", where, strings.TrimSpace(m[0]), name)
			}
			checked++
		}
	}
	if checked < 50 {
		t.Errorf("only %d command lines were found", checked)
	}
}

// wrongFlags returns the flags that a command does not have, up to the first word that belongs to
// the program that the command runs.
func wrongFlags(c *cobra.Command, words []string) (wrong []string) {
	for i := 0; i < len(words); i++ {
		word := words[i]
		name, isFlag := strings.CutPrefix(word, "--")
		switch {
		case word == "--" || strings.HasPrefix(word, "#") || strings.ContainsAny(word, "|;"):
			return wrong
		case !isFlag && !strings.HasPrefix(word, "-"):
			if c.Name() == "run" || c.Name() == "top" {
				return wrong
			}
			continue
		case !isFlag:
			continue
		}
		name, _, hasValue := strings.Cut(strings.TrimRight(name, ".,:)"), "=")
		f := c.Flags().Lookup(name)
		if f == nil {
			wrong = append(wrong, word)
			continue
		}
		if !hasValue && f.NoOptDefVal == "" {
			i++
		}
	}
	return wrong
}

// Help texts leave out a default that means that no value was given.
func TestDefaultsMean(t *testing.T) {
	commands(root(), func(c *cobra.Command) {
		if usages := c.Flags().FlagUsages(); strings.Contains(usages, "(default -1)") || strings.Contains(usages, "(default )") {
			t.Errorf("%s: %s", c.CommandPath(), usages)
		}
	})
}

// The help of run shows its flags in groups. Their flags exist, and few flags belong to none.
func TestHelpInGroups(t *testing.T) {
	run, _, err := root().Find([]string{"run"})
	if err != nil {
		t.Fatal(err)
	}
	text := run.UsageString()
	first, _, _ := strings.Cut(text[strings.Index(text, "\nFlags:"):], "\n\n")
	if n := strings.Count(first, "--"); n > 10 {
		t.Errorf("%d flags in no group:\n%s", n, first)
	}
	for _, g := range cli.FlagGroups {
		if !strings.Contains(text, "\n\n"+g.Title+":\n") {
			t.Errorf("no group %s:\n%s", g.Title, text)
		}
		for name := range strings.FieldsSeq(g.Names) {
			if run.Flags().Lookup(name) == nil {
				t.Errorf("%s: run has no flag --%s", g.Title, name)
			}
		}
	}
}

// The help describes each flag in one sentence of at most 20 words, and fits 82 columns. Manual
// pages and docs/ say more.
func TestHelpIsShort(t *testing.T) {
	commands(root(), func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if n := len(strings.Fields(f.Usage)); !f.Hidden && (n > 20 || strings.Contains(f.Usage, ". ")) {
				t.Errorf("%s --%s has %d words, or several sentences: %s", c.CommandPath(), f.Name, n, f.Usage)
			}
		})
		for line := range strings.Lines(c.Long) {
			if len(line) > 83 {
				t.Errorf("%s: a line of %d columns: %s", c.CommandPath(), len(line), line)
			}
		}
	})
}
