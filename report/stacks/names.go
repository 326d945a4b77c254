package stacks

import (
	"fmt"
	"path"
	"strings"

	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// FrameName is the name of a region's frame: `plate::LOCK 223`, `main::CRITICAL queue 38-~41`,
// `halo::MPI_Send 53`. In a narrow box, pprof's flame graph shows the part of a name behind a dot
// or `::`, and its graph breaks lines there. So the part that says most stands there, and has
// neither. pprof colours boxes by the part before. File and line are the function's.
func FrameName(r *profile.Region) string {
	l := &r.Location
	parts := []string{r.Construct.String()}
	switch {
	case r.Construct == event.MPI:
		parts[0] = words.Clean(r.Name)
	case r.Name != "" && r.Name != l.Function:
		parts = append(parts, words.Clean(r.Name))
	}
	file, place := l.File, words.Mark(l.Mark)+fmt.Sprint(l.Begin)
	switch {
	case file == "" || l.Begin <= 0:
		file, place = l.Object, codePlace(l)
	case l.End > 0 && l.End != l.Begin:
		place += "-" + words.Mark(l.EndMark) + fmt.Sprint(l.End)
	}
	parts = append(parts, place)
	if r.Merged != "" {
		parts = append(parts, "merged with "+words.Clean(r.Merged))
	}
	name := undotted(strings.Join(parts, " "))
	if stem, _, _ := strings.Cut(path.Base(file), "."); file != "" && stem != "" {
		name = words.Clean(stem) + "::" + name
	}
	return name
}

// codePlace names a place without lines by its function and its address in the file.
func codePlace(l *profile.Location) string {
	var parts []string
	if l.Function != "" {
		parts = append(parts, words.Mark(l.Mark)+words.Clean(l.Function))
	}
	if l.Object != "" || l.Offset != 0 {
		parts = append(parts, fmt.Sprintf("%#x", l.Offset))
	}
	if len(parts) == 0 {
		parts = append(parts, "(unknown place)")
	}
	if l.From != "" {
		parts = append(parts, "from "+words.Clean(l.From))
	}
	return strings.Join(parts, " ")
}

// undotted removes the marks at which pprof shortens names.
func undotted(s string) string { return strings.NewReplacer("::", ":", ".", "_").Replace(s) }

// FunctionName is the name of a sampled function in pprof. Compilers append to the names of
// functions that they make of others, such as solve._omp_fn.0 and solve.constprop.0. pprof would
// shorten these names to 0, and also libgomp.so.1.0.0+0x1e2d0 and [libgomp.so.1.0.0]. The
// function's system name is the name as it was.
func FunctionName(symbol string) string {
	name, made, _ := strings.Cut(strings.Trim(symbol, "."), ".")
	switch {
	case made == "" || name == "" || strings.ContainsAny(symbol, "/: (<"): // C++
		return symbol
	case strings.HasPrefix(symbol, "["):
		return name + "]"
	case strings.Contains(made, "+0x"):
		return name + made[strings.Index(made, "+0x"):]
	}
	return name + " (" + strings.Trim(undotted(made), "_") + ")"
}

// systemName tells regions with the same text apart, and refers to the text report. It must differ
// from the frame's name, otherwise pprof tries to demangle it.
func systemName(i int, r *profile.Region) string {
	name := fmt.Sprintf("R%05d", i+1)
	if r.Location.Function != "" {
		name += " in " + r.Location.Function
	}
	return name
}
