package severity

import (
	"cmp"
	"slices"
)

// Little is the share of all threads' time below which texts and pages count findings only.
const Little = 0.001

// Entry is a line of the list of findings: a finding at a call path, or the sum of several.
type Entry struct {
	Finding
	Places []Finding // that are joined, the longest first; empty: it is a single finding
}

// List returns the findings as all reports list them, the longest time first. On a busy machine all
// regions lack cores, for one reason: unless each one is wanted, these are one entry. Where nothing
// can be told of the times (CannotTell), time without a core is left, which probes do not change.
func (c *Cube) List(each bool) []Entry {
	noCore, found := c.Property(NoCore), c.Findings()
	if c.CannotTell() != "" {
		found = slices.DeleteFunc(found, func(f Finding) bool { return f.Property != noCore })
	}
	var out []Entry
	for _, l := range c.Losses(found) {
		if l.Property == noCore && len(l.Findings) > 1 && !each {
			out = append(out, c.joined(&l))
			continue
		}
		for _, f := range l.Findings {
			out = append(out, Entry{Finding: f})
		}
	}
	c.sort(out)
	return out
}

func (c *Cube) sort(list []Entry) {
	slices.SortStableFunc(list, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Property, b.Property), cmp.Compare(a.Path, b.Path))
	})
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

// ByRegion adds up the entries of a list that are of one property, and of call paths that end in
// one region. Joined entries stay as they are. Sums have no saving.
func (c *Cube) ByRegion(list []Entry) (out []Entry) {
	at := map[[2]int]int{}
	for _, e := range list {
		place := [2]int{e.Property, c.Paths[e.Path].Region}
		k, ok := at[place]
		switch {
		case len(e.Places) > 0:
			out = append(out, e)
		case !ok:
			at[place] = len(out)
			out = append(out, e)
		default:
			out[k].Time += e.Time
			out[k].Estimated = out[k].Estimated || e.Estimated
			out[k].Saving = Saving{}
		}
	}
	c.sort(out)
	return out
}

func byTime(a, b ThreadTime) int {
	return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Thread, b.Thread))
}
