package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/preflight"
	"ompp-attach/probes/disasm"
)

func checkCommand() *cobra.Command {
	var pid int
	c := &cobra.Command{
		Use:   "check [--pid PID]",
		Short: "Tell what can be measured here, or in a process",
		Long: `check tells what this machine and this user may measure, and how to get what is
missing. With --pid it tells in addition which OpenMP runtimes and MPI libraries
a running process uses and what a report on it would show exactly,
approximately or not at all, and what measuring would cost it; the process is
not touched. The exit status is 0 if a measurement would work, else 1.`,
		Example: "  ompp-attach check\n  ompp-attach check --pid 4711",
		Args:    byFlag,
		RunE: func(c *cobra.Command, _ []string) error {
			return check(c.OutOrStdout(), pid, c.Flags().Changed("pid"))
		},
	}
	c.Flags().IntVarP(&pid, "pid", "p", 0, "process to look at")
	return c
}

func check(w io.Writer, pid int, process bool) error {
	var in *target.Inspection
	if process {
		fetchesDebugFiles(func(s string) { fmt.Fprintln(w, s) })
		var err error
		if in, err = target.Inspect(pid); err != nil {
			return err
		}
	}
	m := preflight.Look(preflight.Root())
	trial := preflight.Try()
	var b strings.Builder
	b.WriteString(preflight.Format(m.Lines(trial)))
	works := trial.Works()
	if in != nil {
		ls := processLines(in, m.SeccompKills(trial.Mode))
		b.WriteString("\n" + preflight.Format(ls))
		works = works && !slices.ContainsFunc(ls, func(l preflight.Line) bool { return l.State == preflight.Problem })
		b.WriteString("\n" + verdict(works, fmt.Sprintf("process %d", pid)))
	} else {
		b.WriteString("\n" + verdict(works, "programs"))
	}
	b.WriteString(scope(in))
	if trial.Works() {
		b.WriteString("\n" + prediction(in))
	}
	if _, err := io.WriteString(w, pasteable(b.String())); err != nil {
		return err
	}
	if !works {
		return &exitError{exitFailure, nil}
	}
	return nil
}

func verdict(works bool, what string) string {
	if works {
		return fmt.Sprintf("ompp-attach can measure %s here.\n", what)
	}
	return fmt.Sprintf("ompp-attach cannot measure %s here; see the problems above.\n", what)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// scope says what a report shows: of what was found in a process, or in general.
func scope(in *target.Inspection) string {
	gomp, kmpc, calls := in == nil, in == nil, in == nil
	if in != nil {
		for _, r := range in.Runtimes {
			gomp = gomp || r.Kind == event.Gomp
			kmpc = kmpc || r.Kind == event.Kmpc
		}
		calls = len(in.MPI) > 0
		if !gomp && !kmpc && !calls {
			return ""
		}
	}
	var b strings.Builder
	row := func(what, text string) { fmt.Fprintf(&b, "  %-14s %s\n", what, text) }
	b.WriteString("A report shows\n")
	exactly := "exactly"
	if gomp || kmpc {
		row(exactly, "counts and times of what the runtime is called for: parallel regions, worksharing,")
		row("", "barriers, criticals, locks, singles, ordered, tasks, teams; what a report could not")
		row("", "observe in a program it names, construct by construct")
		exactly = ""
	}
	if calls {
		row(exactly, "MPI calls: counts, times and volumes by call site")
	}
	row("approximately", "places (marked ~) where line information or the source is missing; a region")
	row("", "that was under way when attach began; times, from which the probes' own is taken out")
	if gomp {
		row("  with GCC", "static loops, master and single nowait make no call: found in the program's own code,")
		row("", "on x86-64, but for a few shapes; atomics on request (--probe-atomics); flush not at all")
	}
	if kmpc {
		row("  with Clang", "atomics on request (--probe-atomics); the change from one section to the next makes no")
		row("", "call: times of sections are derived")
	}
	if in == nil {
		row("not at all", "runtimes that are linked in statically and stripped; 32-bit programs")
	}
	return b.String()
}

// processLines describes and judges what was found in a process. A line that is a problem means
// that the process cannot be measured. seccompKills says that a seccomp filter is such a problem on
// this kernel.
func processLines(in *target.Inspection, seccompKills bool) []preflight.Line {
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
		ls = append(ls, preflight.Line{What: "callers", State: preflight.Note, Consequence: "no file that is mapped imports an entry point of the runtime: it may be called through pointers, or not at all"})
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
		ls = append(ls, preflight.Line{What: "volumes", State: preflight.Note, Consequence: "calls and their times are exact, volumes are not known: " + lib.Unknown.Error()})
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
			costs = append(costs, fmt.Sprintf("%d %s", n, disasm.Cost(c)))
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
			ls = append(ls, preflight.Line{What: "source", State: preflight.Note, Consequence: s.File + " is newer than the program and not trusted: regions end at their last line that has code (~)", Remedy: "rebuild"})
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

// diagnose turns an error at the start of a measurement into one sentence with the reason and the
// remedy.
func diagnose(err error) error {
	var known *target.AttachError
	if err == nil || errors.As(err, &known) {
		return err
	}
	m := preflight.Look(preflight.Root())
	return m.Explain(err)
}
