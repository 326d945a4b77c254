package outlook

import (
	"fmt"
	"path/filepath"
	"strings"

	"ompp-attach/collect/target"
	"ompp-attach/preflight"
	"ompp-attach/probes/disasm/points"
)

// ProcessLines describes and judges what was found in a process. If a line is a problem, the
// process cannot be measured. seccompKills: on this kernel a seccomp filter is such a problem.
func ProcessLines(in *target.Inspection, seccompKills bool) []preflight.Line {
	p := in.Process
	ls := []preflight.Line{{What: "process", Consequence: fmt.Sprintf("%d runs %s with %s and %s", p.PID, in.Path, count(p.Threads, "thread", "threads"), count(in.Libraries, "library", "libraries"))}}
	if p.Seccomp && seccompKills {
		ls = append(ls, preflight.Line{What: "seccomp", State: preflight.Problem,
			Consequence: "a filter is on the process, and this kernel may kill it at a return probe",
			Remedy:      "use a kernel from 6.14 on, or run it without the filter (containers: --security-opt seccomp=unconfined)"})
	}
	if in.NoOpenMP != "" {
		reason, _, _ := strings.Cut(in.NoOpenMP, "; `")
		ls = append(ls, preflight.Line{What: "runtime", State: preflight.Problem, Consequence: reason})
	}
	for _, r := range in.Runtimes {
		ls = append(ls, runtimeLines(&r)...)
	}
	for _, lib := range in.MPI {
		ls = append(ls, mpiLines(&lib)...)
	}
	if len(in.Runtimes) > 0 && len(in.Users) == 0 {
		ls = append(ls, preflight.Line{What: "callers", State: preflight.Note, Consequence: "no mapped file imports an entry point of the runtime: it is called through pointers, or not at all"})
	}
	for _, u := range in.Users {
		ls = append(ls, userLines(&u)...)
	}
	if in.Unread != nil {
		ls = append(ls, preflight.Line{What: "unread files", State: preflight.Note, Consequence: strings.ReplaceAll(in.Unread.Error(), "\n", "; ")})
	}
	return ls
}

func mpiLines(lib *target.InspectedMPI) []preflight.Line {
	if lib.Err != nil {
		return []preflight.Line{{What: "MPI", State: preflight.Problem, Consequence: lib.Path + ": its calls cannot be measured: " + lib.Err.Error(),
			Remedy: "please report this with the library's version"}}
	}
	ls := []preflight.Line{{What: "MPI", Consequence: fmt.Sprintf("%s, %s: %d functions would be probed", lib.Name, lib.Path, lib.Probes)}}
	if lib.Unknown != nil {
		ls = append(ls, preflight.Line{What: "volumes", State: preflight.Note, Consequence: "calls and their times are exact, volumes are not known: " + strings.ReplaceAll(lib.Unknown.Error(), "\n", "; ")})
	}
	return ls
}

func runtimeLines(r *target.InspectedRuntime) []preflight.Line {
	what := r.Path
	if r.Static {
		what += " (linked in statically)"
	}
	for _, s := range []struct{ name, value string }{{"version", r.Version}, {"build-id", r.BuildID}} {
		if s.value == "" {
			s.value = "not told by the file"
		}
		what += fmt.Sprintf(", %s %s", s.name, s.value)
	}
	ls := []preflight.Line{{What: r.Name, Consequence: what}}
	if r.Replaced {
		ls = append(ls, preflight.Line{What: "file", State: preflight.Note, Consequence: r.Path + " was replaced or removed since the program started; the mapped one is used"})
	}
	if r.Err != nil {
		return append(ls, preflight.Line{What: "probes", State: preflight.Problem,
			Consequence: "cannot be placed: " + r.Err.Error(), Remedy: "please report this with the runtime's version; another build of the runtime may do"})
	}
	var costs []string
	for c, n := range r.Costs {
		if n > 0 {
			costs = append(costs, fmt.Sprintf("%d %s", n, points.Cost(c)))
		}
	}
	ls = append(ls, preflight.Line{What: "probes", Consequence: fmt.Sprintf("%d would be placed (%s), %d of them with a return probe", r.Probes, strings.Join(costs, ", "), r.Returns)})
	for _, m := range r.Missing {
		ls = append(ls, preflight.Line{What: "no probe", State: preflight.Note, Consequence: m})
	}
	return ls
}

// userLines says what reports can name of a module that uses OpenMP.
func userLines(u *target.RuntimeUser) []preflight.Line {
	name := filepath.Base(u.Path)
	id := ""
	if u.BuildID != "" {
		id = ", build-id " + u.BuildID
	}
	ls := []preflight.Line{{What: "caller", Consequence: u.Path + id}}
	switch {
	case u.Lines && !u.Stripped:
		ls = append(ls, preflight.Line{What: "symbols", Consequence: name + " has symbols and line information: regions are shown by file and line"})
	case u.Lines:
		ls = append(ls, preflight.Line{What: "symbols", State: preflight.Note, Consequence: name + " has line information, but its symbols are stripped: named criticals lose their names", Remedy: "do not strip, or " + debugSymbols(u)})
	case u.Stripped:
		ls = append(ls, preflight.Line{What: "symbols", State: preflight.Note, Consequence: name + " is stripped: regions are shown as " + name + "+offset, named criticals lose their names", Remedy: "build with -g and do not strip, or " + debugSymbols(u)})
	default:
		ls = append(ls, preflight.Line{What: "symbols", State: preflight.Note, Consequence: name + " has symbols but no line information: regions are shown as function+offset", Remedy: "build with -g (optimisation may stay), or " + debugSymbols(u)})
	}
	for _, s := range u.Sources {
		switch s.State {
		case target.SourceFound:
			ls = append(ls, preflight.Line{What: "source", Consequence: s.File + ": regions have exact lines"})
		case target.SourceMissing:
			ls = append(ls, preflight.Line{What: "source", State: preflight.Note, Consequence: s.File + " is not here: regions end at their last line that has code (~)", Remedy: "put the source at this path"})
		case target.SourceNewer:
			ls = append(ls, preflight.Line{What: "source", State: preflight.Note, Consequence: s.File + " is not used, because it is newer than the program: regions end at their last line with code (~)", Remedy: "rebuild"})
		}
	}
	return ls
}

// debugSymbols says how to get the separate debug file of a module.
func debugSymbols(u *target.RuntimeUser) string {
	text := "install its debug symbols"
	switch {
	case u.Debug != "":
		text += " (package " + u.Debug + ")"
	case u.DebugLink != "":
		text += " (" + u.DebugLink + ")"
	}
	if u.BuildID != "" {
		text += ", or set DEBUGINFOD_URLS to have them fetched by the build-id"
	}
	return text
}
