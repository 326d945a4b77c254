package report

import (
	"fmt"
	"path"
	"strings"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// frameName is the name of a region's frame: `plate::LOCK 223`, `main::CRITICAL queue 38-~41`,
// `halo::MPI_Send 53`. In a narrow box, pprof's flame graph shows the part of a name behind a dot or
// `::`, and its graph breaks lines there. So the part that says most stands there, and has neither.
// pprof colours boxes by the part before. File and line are the function's.
func frameName(r *profile.Region) string {
	l := &r.Location
	words := []string{r.Construct.String()}
	switch {
	case r.Construct == event.MPI:
		words[0] = clean(r.Name)
	case r.Name != "" && r.Name != l.Function:
		words = append(words, clean(r.Name))
	}
	file, place := l.File, mark(l.Mark)+fmt.Sprint(l.Begin)
	switch {
	case file == "" || l.Begin <= 0:
		file, place = l.Object, codePlace(l)
	case l.End > 0 && l.End != l.Begin:
		place += "-" + mark(l.EndMark) + fmt.Sprint(l.End)
	}
	words = append(words, place)
	if r.Merged != "" {
		words = append(words, "merged with "+clean(r.Merged))
	}
	name := undotted(strings.Join(words, " "))
	if stem, _, _ := strings.Cut(path.Base(file), "."); file != "" && stem != "" {
		name = clean(stem) + "::" + name
	}
	return name
}

// codePlace names a place without lines by its function and its address in the file.
func codePlace(l *profile.Location) string {
	var words []string
	if l.Function != "" {
		words = append(words, mark(l.Mark)+clean(l.Function))
	}
	if l.Object != "" || l.Offset != 0 {
		words = append(words, fmt.Sprintf("%#x", l.Offset))
	}
	if len(words) == 0 {
		words = append(words, "(unknown place)")
	}
	if l.From != "" {
		words = append(words, "from "+clean(l.From))
	}
	return strings.Join(words, " ")
}

// undotted removes the marks at which pprof shortens names.
func undotted(s string) string { return strings.NewReplacer("::", ":", ".", "_").Replace(s) }

// functionName is the name of a sampled function in pprof. Compilers append to the names of functions
// that they make of others, such as solve._omp_fn.0 and solve.constprop.0, and pprof would shorten
// these to 0, as it would libgomp.so.1.0.0+0x1e2d0 and [libgomp.so.1.0.0]. The function's system name
// is the name as it was.
func functionName(symbol string) string {
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
