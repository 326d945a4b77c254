package severity

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite docs/properties.md")

// TestDocumented: docs/properties.md has what the catalogue says.
func TestDocumented(t *testing.T) {
	const file, mark = "../docs/properties.md", "<!-- `go test ./severity -update` writes the rest. -->\n"
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(old), mark)
	if !ok {
		t.Fatalf("%s lacks the line %q", file, mark)
	}
	want := head + mark + document()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		old = []byte(want)
	}
	if d := cmp.Diff(want, string(old)); d != "" {
		t.Errorf("%s differs (-want +got); -update rewrites it:\n%s", file, d)
	}
}

// document describes the catalogue.
func document() string {
	var b strings.Builder
	depth := map[string]int{}
	for _, p := range Catalogue() {
		if depth[p.ID] = 0; p.Parent != "" {
			depth[p.ID] = depth[p.Parent] + 1
		}
		level := min(6, 2+depth[p.ID])
		name := p.Name
		if p.OmpP != "" {
			name += ": " + p.OmpP
		}
		fmt.Fprintf(&b, "\n%s %s\n", strings.Repeat("#", level), name)
		line := func(key, text string) {
			if text != "" {
				wrap(&b, "- **"+key+"** "+text)
			}
		}
		id := fmt.Sprintf("- `%s`", p.ID)
		if p.Parent != "" {
			id += fmt.Sprintf(", below `%s`", p.Parent)
		}
		wrap(&b, fmt.Sprintf("%s; unit %s; source %s", id, p.Unit, p.Source))
		line("Meaning", p.Description)
		line("Formula", p.Formula)
		line("Look at", p.Diagnosis)
		line("What helps", p.Helps)
		line("Saves at most", gains[p.Gain])
	}
	return b.String()
}

var gains = map[Gain]string{Balance: "time / threads of the team", Spread: "time / threads", Absence: "time / (threads - 1)", Removal: "time, and wall time of the region - other work / threads"}

// wrap writes a line of a list in lines of at most 100 columns.
func wrap(b *strings.Builder, text string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > 100 {
			fmt.Fprintln(b, line)
			line = " "
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(b, line)
}
