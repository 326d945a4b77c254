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
	efficiency.TeamIdle: "idle in no team", efficiency.Ended: "other ranks ran longer",
}

// Short returns the useful share and its parts in one line, and the lost share and its parts, the
// greatest first and with the regions that take most, in another; the latter is empty if next to
// nothing is lost.
func Short(r *efficiency.Run) (useful, lost string) {
	whole := r.Whole()
	if whole.Sum() == 0 {
		return "", ""
	}
	var work, losses []string
	parts := make([]efficiency.Part, efficiency.NumParts)
	for i := range parts {
		parts[i] = efficiency.Part(i)
	}
	slices.SortStableFunc(parts, func(a, b efficiency.Part) int { return cmp.Compare(whole[b], whole[a]) })
	for _, p := range parts {
		text := fmt.Sprintf("%s %s", shortNames[p], percent(whole.Share(p)))
		switch {
		case p.Useful():
			work = append(work, text)
		case whole.Share(p) >= little:
			if most, _ := r.Most(p); most != nil {
				text += fmt.Sprintf(" (R%05d)", most.Number)
			}
			losses = append(losses, text)
		}
	}
	useful = fmt.Sprintf("%s = %s", percent(whole.Efficiency()), strings.Join(work, " + "))
	if len(losses) > 0 {
		lost = fmt.Sprintf("%s = %s", percent(1-whole.Efficiency()), strings.Join(losses, " + "))
	}
	return useful, lost
}
