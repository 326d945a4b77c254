package outlook

import (
	"fmt"
	"strings"

	"ompp-attach/collect/target"
	"ompp-attach/event"
)

// Verdict says whether a process, or programs here, can be measured.
func Verdict(works bool, what string) string {
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

// Scope says what a report would show of the things found in a process, or of any program.
func Scope(in *target.Inspection) string {
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
		row("", "barriers, criticals, locks, singles, ordered, tasks, teams; a report names each")
		row("", "construct of the program that it could not observe")
		exactly = ""
	}
	if calls {
		row(exactly, "MPI calls: counts, times and volumes by call site")
	}
	row("approximately", "places (marked ~) where line information or the source is missing; a region that")
	row("", "was under way when attach began; times, from which the time of probes is taken out")
	if gomp {
		row("  with GCC", "static loops, master and single nowait, which make no call: found in the program's own")
		row("", "code on x86-64, but for a few forms; atomics and flush on request (--probe-atomics)")
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
