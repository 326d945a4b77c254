package page

import (
	"cmp"
	"fmt"
	"slices"

	"ompp-attach/report/words"
)

// joint makes one finding of those of time without a core. On a busy machine all regions have such
// time, for the same reason.
type joint struct {
	wall  int64 // ns
	found []Finding
	names []string // of their places
	rows  []Extreme
}

// add adds a finding at a place, with its time by thread or rank.
func (j *joint) add(f Finding, place string, rows []Extreme) {
	j.found, j.names = append(j.found, f), append(j.names, place)
	for _, r := range rows {
		at := slices.IndexFunc(j.rows, func(x Extreme) bool { return x.Label == r.Label })
		if at < 0 {
			at = len(j.rows)
			j.rows = append(j.rows, Extreme{Label: r.Label})
		}
		j.rows[at].Time += r.Time
	}
}

// among returns the others with the joint finding, the most severe first.
func (j *joint) among(others []Finding, says string) []Finding {
	const most = 3
	if len(j.found) == 0 {
		return others
	}
	order := make([]int, len(j.found))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(j.found[b].Severity, j.found[a].Severity) })
	f := j.found[order[0]]
	if len(order) > 1 {
		names := []string{j.names[order[0]]}
		f.Core = 1 // a region's share is not that of several
		for _, i := range order[1:] {
			x := &j.found[i]
			f.Time, f.Severity, f.Saves = f.Time+x.Time, f.Severity+x.Severity, min(j.wall, f.Saves+x.Saves)
			names = append(names, j.names[i])
		}
		f.Most, f.Least = nil, nil
		f.extremes(j.rows)
		f.Says = fmt.Sprintf(says, words.FirstOf(names, most))
	}
	out := append(slices.Clone(others), f)
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	return out
}
