package efficiencies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ompp-attach/efficiency"
)

// shortNames are the parts' names in the short forms.
var shortNames = [efficiency.NumParts]string{
	efficiency.Work: "parallel work", efficiency.Serial: "serial work",
	efficiency.Synch: "synchronisation", efficiency.Imbal: "imbalance", efficiency.Limpar: "limited parallelism", efficiency.Mgmt: "management",
	efficiency.MPI: "MPI in regions", efficiency.NoCore: "no core", efficiency.SerialMPI: "MPI outside", efficiency.SerialWait: "waits outside",
	efficiency.SerialIdle: "idle in serial code", efficiency.MPIIdle: "idle while the primary thread is in MPI",
	efficiency.TeamIdle: "idle in no team", efficiency.Unknown: "not known", efficiency.Ended: "other ranks ran longer",
}

// Short returns the useful share of a run's time and the lost share, each with its parts. The
// greatest part comes first, and each part has the region that takes most of it. Either is empty if
// there is next to nothing.
func Short(r *efficiency.Run) (useful, lost string) {
	whole := r.Whole()
	work, losses := shares(r, &whole)
	if len(work) > 0 {
		useful = fmt.Sprintf("%s%s = %s (e_mt %s)", extrapolated(r), percent(whole.Efficiency()), strings.Join(work, " + "), emt(&whole))
	}
	if len(losses) > 0 {
		lost = fmt.Sprintf("%s%s = %s", extrapolated(r), percent(1-whole.Efficiency()), strings.Join(losses, " + "))
	}
	return useful, lost
}

// WriteShort writes what Short returns, as a section of a text report.
func WriteShort(printf func(format string, args ...any), r *efficiency.Run) {
	if h := r.Hidden(); h != nil {
		printf("Useful time of all threads  : %s\n\n", h.Says())
		return
	}
	useful, lost := Short(r)
	if useful != "" {
		printf("Useful time of all threads  : %s\n", useful)
	}
	if lost != "" {
		printf("Lost                        : %s\n", lost)
	}
	if r.StartsEnds() {
		whole := r.Whole()
		printf("(Shares of %s thread-sec: without the start and end of MPI. report --efficiency has more.)\n\n", sec(whole.Sum()))
		return
	}
	printf("(report --efficiency has more.)\n\n")
}

// Brief returns the same in half a line, with a few losses only.
func Brief(r *efficiency.Run) string {
	if h := r.Hidden(); h != nil {
		return h.Says()
	}
	const few = 3
	whole := r.Whole()
	_, losses := shares(r, &whole)
	of := "the threads' time"
	if r.StartsEnds() {
		of += " without the start and end of MPI"
	}
	text := fmt.Sprintf("%s%s of %s was useful", extrapolated(r), percent(whole.Efficiency()), of)
	if len(losses) > 0 {
		text += "; most lost: " + strings.Join(losses[:min(few, len(losses))], ", ")
	}
	return text
}

// shares names the parts with their shares, the greatest first.
func shares(r *efficiency.Run, whole *efficiency.Parts) (work, losses []string) {
	parts := make([]efficiency.Part, efficiency.NumParts)
	for i := range parts {
		parts[i] = efficiency.Part(i)
	}
	slices.SortStableFunc(parts, func(a, b efficiency.Part) int { return cmp.Compare(whole[b], whole[a]) })
	for _, p := range parts {
		if whole.Share(p) < little {
			continue
		}
		text := shortNames[p] + " " + percent(whole.Share(p))
		if p.Useful() {
			work = append(work, text)
			continue
		}
		if most, _ := r.Most(p); most != nil {
			text += fmt.Sprintf(" (R%05d)", most.Number)
		}
		losses = append(losses, text)
	}
	return work, losses
}
