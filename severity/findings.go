package severity

import (
	"cmp"
	"maps"
	"slices"
	"strings"
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
// the property's rule, for each initial thread with its team:
//
//   - Balance: n threads wait for the last one, in all for w. With the same work for each, an
//     instance would end (longest - mean) earlier, which is its w / n. So the sum is w / n, if all
//     n threads were in all instances. Otherwise n is 2, the smallest team that waits. Completing a
//     barrier is no part of w, where it is known.
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
		slices.SortFunc(f.Threads, func(a, b ThreadTime) int {
			return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Thread, b.Thread))
		})
		f.Parts = s.partsOf(at)
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
	threads map[group][]int
	visits  map[[2]int]int64 // by path and thread
	teams   []int            // by path: the outermost parallel region around it; -1: none
	wall    map[[2]int]int64 // by outermost parallel region and primary thread
	initial map[group]int
	// By reported property and path: the times of more special properties, and those of waiting
	// for the last thread by thread.
	parts map[[2]int]map[int]Part
	waits map[[2]int][]ThreadTime
}

func (s *savings) part(at [2]int, v Value) {
	if s.parts[at] == nil {
		s.parts[at] = map[int]Part{}
	}
	sum := s.parts[at][v.Property]
	s.parts[at][v.Property] = Part{v.Property, sum.Time + v.V, sum.Mark | v.Mark}
	if strings.HasSuffix(s.c.Properties[v.Property].ID, waiting) {
		s.waits[at] = append(s.waits[at], ThreadTime{v.Thread, v.V})
	}
}

func (s *savings) partsOf(at [2]int) (out []Part) {
	for _, p := range slices.Sorted(maps.Keys(s.parts[at])) {
		out = append(out, s.parts[at][p])
	}
	return out
}

func newSavings(c *Cube) *savings {
	s := &savings{c: c, threads: map[group][]int{}, visits: map[[2]int]int64{}, teams: make([]int, len(c.Paths)),
		wall: map[[2]int]int64{}, initial: map[group]int{}, parts: map[[2]int]map[int]Part{}, waits: map[[2]int][]ThreadTime{}}
	for i := range c.Threads {
		s.threads[c.group(i)] = append(s.threads[c.group(i)], i)
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
	times, threads := map[group]int64{}, f.Threads
	if waits := s.waits[[2]int{f.Property, f.Path}]; waits != nil && gain == Balance {
		threads = waits
	}
	for _, t := range threads {
		times[s.c.group(t.Thread)] += t.Time
	}
	for g, w := range times {
		var saves int64
		switch gain {
		case Balance:
			saves = w / s.team(f.Path, g)
		case Spread:
			saves = w / int64(len(s.threads[g]))
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
	for _, i := range s.threads[g] {
		v := s.visits[[2]int{path, i}]
		if v == 0 {
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
