package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Manual pages have each paragraph by itself, and show tables as they are written. A line that
// begins with a space, outside of a table, would be filled with the words of the next line.
func TestManualPages(t *testing.T) {
	dir := t.TempDir()
	if err := writeMan(root(), dir); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d manual pages (%v)", len(pages), err)
	}
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		asWritten := false
		for line := range strings.Lines(string(b)) {
			switch {
			case line == ".EX\n", line == ".EE\n":
				asWritten = line == ".EX\n"
			case strings.HasPrefix(line, " ") && !asWritten:
				t.Errorf("%s: a line of a table among those of a paragraph: %q", filepath.Base(page), line)
			}
		}
	}
	report, err := os.ReadFile(filepath.Join(dir, "ompp-attach-report.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		".PP\nThe formats of --format:\n\n.EX\nof a process or rank: ", "xml\n.EE\n\n.PP\nWithout --format,",
	} {
		if !strings.Contains(string(report), want) {
			t.Errorf("the page of report lacks %q:\n%s", want, report)
		}
	}
}
