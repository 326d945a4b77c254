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

// List returns the entries by which reports list findings, the longest time first. On a busy
// machine, all regions lack cores for one reason. So all findings of time without a core are one
// entry, unless each is wanted, or their sum is below Little. If times cannot be told (CannotTell),
// only time without a core is listed, since probes do not change that time.
func (c *Cube) List(found []Finding, each bool) (out []Entry) {
	noCore := c.Property(NoCore)
	var coreless []Finding
	for _, f := range found {
		if f.Property == noCore {
			coreless = append(coreless, f)
		}
	}
	join := false
	if !each && len(coreless) > 1 {
		all := c.Losses(coreless)[0]
		if join = float64(all.Time) >= Little*float64(c.ThreadTime); join {
			out = append(out, c.joined(&all))
		}
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
