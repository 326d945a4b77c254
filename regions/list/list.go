package list

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"ompp-attach/profile"
	"ompp-attach/regions"
)

// Write prints a table of the regions of the file at path.
func Write(w io.Writer, path string, t *regions.Table) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", profile.Pasteable(path), summary(t))
	var reasons []string
	var table *tabwriter.Writer
	file := "\x00"
	for i, n := 0, 1; i < len(t.Regions); i, n = i+n, 1 {
		r := &t.Regions[i]
		for i+n < len(t.Regions) && sameLine(r, &t.Regions[i+n]) {
			n++
		}
		if r.File != file {
			if file = r.File; table != nil {
				table.Flush()
			}
			name := profile.Pasteable(file)
			if name == "" {
				name = "(no source lines known)"
			}
			fmt.Fprintf(&b, "\n%s\n", name)
			table = tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
			fmt.Fprintln(table, "BEGIN\tEND\tTYPE\tSECTIONS\tFUNCTION\tMEASURED\tFOUND BY")
		}
		measured := r.Measure.String()
		if r.Why != "" {
			at := slices.Index(reasons, r.Why)
			if at < 0 {
				at, reasons = len(reasons), append(reasons, r.Why)
			}
			measured += fmt.Sprintf(" (%d)", at+1)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", what(r, n), measured, strings.Join(r.Found.Names(), ", "))
	}
	if table != nil {
		table.Flush()
	}
	if len(reasons) > 0 {
		fmt.Fprintln(&b)
	}
	for i, r := range reasons {
		fmt.Fprintf(&b, "(%d) %s\n", i+1, r)
	}
	if strings.Contains(b.String(), "~") {
		fmt.Fprintln(&b, "~ near: without the source, an end is the last line with code, and some calls have the line before")
	}
	for _, n := range t.Notes {
		fmt.Fprintf(&b, "note: %s\n", profile.Pasteable(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// what returns the first cells of a row: what a region is, and where. n is the number of regions
// that are alike.
func what(r *regions.Region, n int) string {
	begin, end := lineRange(r.Begin, r.BeginLast, r.BeginNear), lineRange(r.EndFirst, r.End, r.EndNear)
	if r.Begin == 0 {
		begin, end = fmt.Sprintf("+%#x", r.First()), ""
	}
	kind := strings.Repeat("  ", r.Depth) + r.Type()
	if r.Name != "" {
		kind += " (" + profile.Pasteable(r.Name) + ")"
	}
	sections := ""
	if r.Sections > 0 {
		sections = strconv.Itoa(r.Sections)
	}
	function := profile.Pasteable(r.Function)
	if n > 1 {
		function += fmt.Sprintf(" (%d copies)", n)
	}
	return strings.Join([]string{begin, end, kind, sections, function}, "\t")
}

// summary counts the constructs by how they are measured.
func summary(t *regions.Table) string {
	var counts [4]int
	total := 0
	for i := range t.Regions {
		if i == 0 || !sameLine(&t.Regions[i-1], &t.Regions[i]) {
			counts[t.Regions[i].Measure&3]++
			total++
		}
	}
	parts := []string{}
	for m, n := range counts {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, regions.Measure(m)))
		}
	}
	return fmt.Sprintf("%d regions, %s", total, strings.Join(parts, ", "))
}

// sameLine tells whether two regions are one construct in several functions, such as a construct in
// an inlined function.
func sameLine(a, b *regions.Region) bool {
	return a.Begin > 0 && a.File == b.File && a.Begin == b.Begin && a.End == b.End && a.Construct == b.Construct && a.Words == b.Words &&
		a.Name == b.Name && a.Function == b.Function && a.Measure == b.Measure && a.Why == b.Why && a.Depth == b.Depth
}

func lineRange(first, last int, near bool) string {
	switch {
	case first == 0:
		return ""
	case near:
		return "~" + strconv.Itoa(first)
	case last > first:
		return fmt.Sprintf("%d-%d", first, last)
	}
	return strconv.Itoa(first)
}
