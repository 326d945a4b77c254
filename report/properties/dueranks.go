package properties

import (
	"fmt"
	"strings"

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
		names = append(names, fmt.Sprintf("rank %d at %s, for which others waited %s sec (%s)", b.Rank, lastText(t.c, b.DuePath), t.Seconds(b.Time), times(int64(b.Times))))
	}
	return strings.Join(names, "; ")
}
