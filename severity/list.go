package severity

import (
	"cmp"
	"slices"
)

// Little is the share of all threads' time below which texts and pages only count findings.
const Little = 0.001

// Entry is a line of the list of findings: a finding at a call path, or the sum of several.
type Entry struct {
	Finding
	Places []Finding // that are joined, the longest first; empty: it is a single finding
}

// List returns the entries of the list that reports have of some findings, the longest time first.
// On a busy machine all regions lack cores, for one reason. So this is one entry, unless there is
// little of it or each finding is wanted. Where times cannot be told (CannotTell), time without a
// core is left, since probes do not change that time.
func (c *Cube) List(found []Finding, each bool) (out []Entry) {
	noCore := c.Property(NoCore)
	var sum Loss // of time without a core
	for _, l := range c.Losses(found) {
		if l.Property == noCore {
			sum = l
		}
	}
	join := !each && len(sum.Findings) > 1 && float64(sum.Time) >= Little*float64(c.ThreadTime)
	if join {
		out = append(out, c.joined(&sum))
	}
	untold := c.CannotTell() != ""
	for _, f := range found {
		if f.Property == noCore && !join || f.Property != noCore && !untold {
			out = append(out, Entry{Finding: f})
		}
	}
	slices.SortStableFunc(out, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Property, b.Property), cmp.Compare(a.Path, b.Path))
	})
	return out
}

// joined makes one entry of the findings of a property. Its path is that of the longest.
func (c *Cube) joined(l *Loss) Entry {
	all := Finding{Property: l.Property, Path: l.Findings[0].Path, Time: l.Time, Saving: l.Saving, Estimated: l.Estimated}
	by := map[int]int{}
	for i := range l.Findings {
		for _, x := range l.Findings[i].Threads {
			k, ok := by[x.Thread]
			if !ok {
				k = len(all.Threads)
				by[x.Thread], all.Threads = k, append(all.Threads, ThreadTime{Thread: x.Thread})
			}
			all.Threads[k].Time += x.Time
		}
	}
	slices.SortFunc(all.Threads, byTime)
	return Entry{all, l.Findings}
}

func byTime(a, b ThreadTime) int {
	return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Thread, b.Thread))
}
