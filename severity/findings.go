package severity

import (
	"cmp"
	"slices"
)

// Finding is a property that costs time at a call path.
type Finding struct {
	Property, Path int   // indices in Cube
	Time           int64 // of all threads, ns
	// Threads are those with such time, the longest first.
	Threads []ThreadTime
	Saving  Saving
	// Parts are the times of the more special properties that count with it, in the order of the
	// tree; empty: there are none.
	Parts []Part
	// Estimated: the time holds extrapolated figures.
	Estimated bool

	saves map[int]int64 // by process: what it saves at most, ns; nil: not known
	// By outermost parallel region around the path: what is removed of the times in saves. Findings
	// of one property there cannot save more together than the region leaves.
	removed map[place]removed
}

// Loss is a property with all the call paths at which it costs time.
type Loss struct {
	Property int   // index in Cube.Properties
	Time     int64 // of all threads at all paths, ns
	// Saving is the most time that is saved if the property is mended at all paths. It is the sum
	// over the paths. But it is no more than outermost parallel regions leave besides their other
	// work, and no more than the process took.
	Saving    Saving
	Estimated bool
	Findings  []Finding // the longest time first
}

// Part is a part of a finding's time.
type Part struct {
	Property int   // index in Cube.Properties
	Time     int64 // ns
	Mark     Mark
}

// ThreadTime is the time of a thread, in ns.
type ThreadTime struct {
	Thread int // index in Cube.Threads
	Time   int64
}

// Saving is the wall time that a process would save at most if it did not have the property at the
// path.
type Saving struct {
	Known   bool
	Process int   // the process that would save most: index in Cube.Processes
	Time    int64 // ns
}

// Findings returns the losses, the longest time first. What mending one saves at most is found by
// the property's rule, for each initial thread with its team. A process saves at most the sum over
// its initial threads. The rules:
//
//   - Balance: n threads wait for the last one, in all for w. With the same work for each, an
//     instance would end (longest - mean) earlier, which is its w / n. So the sum is w / n, if all
//     n threads were in all instances. Otherwise n is 2, the smallest team that waits. Completing a
//     barrier is no part of w, where it is known, unless threads execute tasks meanwhile.
//   - Spread: of n threads, some are idle, in all for w. If all of them worked, the time would end
//     w / n earlier.
//   - Absence: of n threads, one is in a call that the others cannot share, and they are idle, in
//     all for w. The call takes w / (n - 1).
//   - Sharing: one of n threads works alone for w. If all shared this work, the work would take
//     w / n, and end w - w / n earlier. The rule supposes that the others are idle meanwhile.
//   - Removal: the time of all threads. Of the outermost parallel region, at least the team's other
//     work is left: computation and management. However threads share it, n of them take work / n.
//     The longest time of one thread is no bound: in other executions others may be the slowest.
//
// Waits between processes have the rule Removal, since no better one is known. If a finding is
// mended in one process, others may wait less for that process. This saving is not counted.
func (c *Cube) Findings() []Finding {
	reported := make([]int, len(c.Properties)) // by property: the one that it counts with
	for i := range c.Properties {
		if reported[i] = i; !c.Properties[i].Reported {
			reported[i] = -1
			if up := c.Above(i); up >= 0 {
				reported[i] = reported[up]
			}
		}
	}
	s := newSavings(c)
	found := map[[2]int]map[int]int64{}
	estimated := map[[2]int]bool{}
	for _, v := range c.Values {
		at := [2]int{reported[v.Property], v.Path}
		if at[0] < 0 || v.V <= 0 {
			continue
		}
		if found[at] == nil {
			found[at] = map[int]int64{}
		}
		found[at][v.Thread] += v.V
		if v.Property != at[0] {
			s.part(at, v)
		}
		estimated[at] = estimated[at] || v.Mark&Estimated != 0
	}
	var out []Finding
	for at, threads := range found {
		f := Finding{Property: at[0], Path: at[1], Estimated: estimated[at]}
		for t, ns := range threads {
			f.Threads = append(f.Threads, ThreadTime{t, ns})
			f.Time += ns
		}
		slices.SortFunc(f.Threads, byTime)
		f.Parts = s.partsOf(at)
		f.saves = s.of(&f)
		f.Saving = c.most(f.saves)
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Property, b.Property), cmp.Compare(a.Path, b.Path))
	})
	return out
}

// Losses groups findings by property: the property that costs most comes first.
func (c *Cube) Losses(found []Finding) (out []Loss) {
	at := map[int]int{} // by property: index in out
	saves := map[int]map[int]int64{}
	within := map[int]map[place]removed{} // by property
	for i := range found {
		f := &found[i]
		k, ok := at[f.Property]
		if !ok {
			k = len(out)
			at[f.Property], saves[f.Property], within[f.Property] = k, map[int]int64{}, map[place]removed{}
			out = append(out, Loss{Property: f.Property})
		}
		l := &out[k]
		l.Time += f.Time
		l.Estimated = l.Estimated || f.Estimated
		l.Findings = append(l.Findings, *f)
		for process, ns := range f.saves {
			saves[f.Property][process] += ns
		}
		for at, r := range f.removed {
			within[f.Property][at] = within[f.Property][at].and(r)
		}
	}
	for i := range out {
		for at, r := range within[out[i].Property] {
			saves[out[i].Property][at.process] -= r.beyond()
		}
		out[i].Saving = c.most(saves[out[i].Property])
	}
	slices.SortStableFunc(out, func(a, b Loss) int { return cmp.Compare(b.Time, a.Time) })
	return out
}
