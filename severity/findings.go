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
	// Estimated: the time holds extrapolated figures.
	Estimated bool
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
// the property's rule, for each initial thread with its team:
//
//   - Balance: n threads wait for the last one, in all for w. With the same work for each, an
//     instance would end (longest - mean) earlier, which is its w / n. So the sum is w / n, if all
//     n threads were in all instances. Otherwise n is 2, the smallest team that waits.
//   - Spread: of n threads, some are idle, in all for w. If all of them worked, the time would end
//     w / n earlier.
//   - Removal: the time of all threads, but no more than the wall time of the parallel region.
//
// For waits between processes, nothing better than Removal is known.
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
		estimated[at] = estimated[at] || v.Estimated
	}
	s := newSavings(c)
	var out []Finding
	for at, threads := range found {
		f := Finding{Property: at[0], Path: at[1], Estimated: estimated[at]}
		for t, ns := range threads {
			f.Threads = append(f.Threads, ThreadTime{t, ns})
			f.Time += ns
		}
		slices.SortFunc(f.Threads, func(a, b ThreadTime) int {
			return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Thread, b.Thread))
		})
		f.Saving = s.of(&f)
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Property, b.Property), cmp.Compare(a.Path, b.Path))
	})
	return out
}

// group names an initial thread and its workers.
type group struct{ process, root int }

func (c *Cube) group(thread int) group {
	t := &c.Threads[thread]
	return group{t.Process, t.Root}
}

// savings finds what mending a property saves at most.
type savings struct {
	c       *Cube
	threads map[group]int
	visits  map[[2]int]int64 // by path and thread
	teams   []int            // by path: the outermost parallel region around it; -1: none
	wall    map[[2]int]int64 // by outermost parallel region and primary thread
	initial map[group]int
}

func newSavings(c *Cube) *savings {
	s := &savings{c: c, threads: map[group]int{}, visits: map[[2]int]int64{}, teams: make([]int, len(c.Paths)),
		wall: map[[2]int]int64{}, initial: map[group]int{}}
	for i := range c.Threads {
		s.threads[c.group(i)]++
		if c.Threads[i].Num == 0 {
			s.initial[c.group(i)] = i
		}
	}
	for i, p := range c.Paths {
		s.teams[i] = -1
		if p.Parent < 0 {
			continue
		}
		if s.teams[i] = s.teams[p.Parent]; s.teams[i] < 0 && c.Regions[p.Region].Construct.IsParallel() {
			s.teams[i] = i
		}
	}
	for _, v := range c.Of(c.Property(Visits)) {
		s.visits[[2]int{v.Path, v.Thread}] = v.V
	}
	execution := c.Property(Execution)
	for _, v := range c.Values {
		if team := s.teams[v.Path]; team >= 0 && c.Threads[v.Thread].Num == 0 && c.Below(v.Property, execution) {
			s.wall[[2]int{team, v.Thread}] += v.V
		}
	}
	return s
}

func (s *savings) of(f *Finding) (out Saving) {
	gain := s.c.Properties[f.Property].Gain
	if gain == NoGain || s.c.Level != ByThread {
		return out
	}
	times := map[group]int64{}
	for _, t := range f.Threads {
		times[s.c.group(t.Thread)] += t.Time
	}
	for g, w := range times {
		var saves int64
		switch gain {
		case Balance:
			saves = w / s.team(f.Path, g)
		case Spread:
			saves = w / int64(s.threads[g])
		case Removal:
			saves = w
			if team := s.teams[f.Path]; team >= 0 {
				if wall, ok := s.wall[[2]int{team, s.initial[g]}]; ok {
					saves = min(saves, wall)
				}
			}
		}
		if wall := s.c.Processes[g.process].Wall; wall > 0 {
			saves = min(saves, wall)
		}
		if !out.Known || saves > out.Time || saves == out.Time && g.process < out.Process {
			out = Saving{true, g.process, saves}
		}
	}
	return out
}

// team returns the number of threads that were in all instances of a construct; 2 if threads
// differ.
func (s *savings) team(path int, g group) (n int64) {
	executions := int64(-1)
	for i := range s.c.Threads {
		v := s.visits[[2]int{path, i}]
		if s.c.group(i) != g || v == 0 {
			continue
		}
		if executions >= 0 && v != executions {
			return 2
		}
		executions = v
		n++
	}
	return max(2, n)
}
