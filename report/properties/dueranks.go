package properties

import (
	"fmt"
	"strings"

	"ompp-attach/mpi/clocks"
	"ompp-attach/report/words"
	"ompp-attach/severity"
)

// dueToRanks says for which ranks others waited in MPI calls, and where these ranks were.
func (t *text) dueToRanks(f *severity.Finding) string {
	all := t.c.Blamed(f.Property, f.Path)
	var names []string
	for i, b := range all {
		if i >= few || b.Time*20 < all[0].Time {
			names = append(names, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		rank := fmt.Sprintf("rank %d", b.Rank)
		if t.c.Names(b.DueThread) {
			rank += ", thread " + words.Thread(t.c.Threads[b.DueThread].Thread)
		}
		names = append(names, fmt.Sprintf("%s at %s, for which others waited %s sec%s (%s)", rank, lastText(t.c, b.DuePath), t.Seconds(b.Time), bound(b.Bound), times(int64(b.Times))))
	}
	return strings.Join(names, "; ")
}

// bound says how wrong a time may be (ns), as clocks of several nodes were compared.
func bound(ns int64) string {
	if ns == 0 {
		return ""
	}
	return " ± " + clocks.BoundText(ns)
}
