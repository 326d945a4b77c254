package severity

import (
	"maps"
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/profile"
)

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
	// By path: the innermost parallel region around it is not the outermost one.
	nested  []bool
	regions map[place]*region
	// By reported property and path: the times of the more special properties, and by thread those
	// of completing a barrier.
	parts map[[2]int]map[int]Part
	done  map[[2]int][]ThreadTime
	tasks map[int]bool // by path: threads executed tasks while they waited there
}

// place is an outermost parallel region of an initial thread.
type place struct {
	path int
	group
}

// region has the time of an outermost parallel region (ns).
type region struct {
	wall    int64 // of its primary thread
	work    int64 // of all its threads, without nested teams: computation and management
	threads map[int]bool
}

func newSavings(c *Cube) *savings {
	s := &savings{c: c, threads: map[group][]int{}, visits: map[[2]int]int64{}, teams: make([]int, len(c.Paths)),
		nested: make([]bool, len(c.Paths)), regions: map[place]*region{}, parts: map[[2]int]map[int]Part{},
		done: map[[2]int][]ThreadTime{}, tasks: map[int]bool{}}
	for i := range c.Threads {
		if c.Threads[i].Num != profile.UnknownNum { // that row is of threads that have others, too
			s.threads[c.group(i)] = append(s.threads[c.group(i)], i)
		}
	}
	for i, p := range c.Paths {
		s.teams[i] = -1
		if p.Parent < 0 {
			continue
		}
		s.teams[i], s.nested[i] = s.teams[p.Parent], s.nested[p.Parent]
		switch parallel := c.Regions[p.Region].Construct.IsParallel(); {
		case parallel && s.teams[i] < 0:
			s.teams[i] = i
		case parallel:
			s.nested[i] = true
		}
	}
	for _, v := range c.Of(c.Property(Visits)) {
		s.visits[[2]int{v.Path, v.Thread}] = v.V
	}
	for _, v := range c.Of(c.Property(ExecutedTasks)) {
		s.tasks[v.Path] = true
	}
	s.addRegions()
	return s
}

// addRegions finds the time of outermost parallel regions. It is not known of regions that were
// under way when measurement began.
func (s *savings) addRegions() {
	execution, computation, management := s.c.Property(Execution), s.c.Property(Computation), s.c.Property(Management)
	for _, v := range s.c.Values {
		team := s.teams[v.Path]
		if team < 0 || !s.c.Below(v.Property, execution) || s.c.Regions[s.c.Paths[team].Region].Construct == event.Unknown {
			continue
		}
		at := place{team, s.c.group(v.Thread)}
		r := s.regions[at]
		if r == nil {
			r = &region{threads: map[int]bool{}}
			s.regions[at] = r
		}
		if s.c.Threads[v.Thread].Num == 0 {
			r.wall += v.V
		}
		if s.nested[v.Path] {
			continue // rows hold the times of several threads
		}
		r.threads[v.Thread] = true
		if s.c.Below(v.Property, computation) || s.c.Below(v.Property, management) {
			r.work += v.V
		}
	}
}

func (s *savings) part(at [2]int, v Value) {
	if s.parts[at] == nil {
		s.parts[at] = map[int]Part{}
	}
	sum := s.parts[at][v.Property]
	s.parts[at][v.Property] = Part{v.Property, sum.Time + v.V, sum.Mark | v.Mark}
	if strings.HasSuffix(s.c.Properties[v.Property].ID, completing) {
		s.done[at] = append(s.done[at], ThreadTime{v.Thread, v.V})
	}
}

func (s *savings) partsOf(at [2]int) (out []Part) {
	for _, p := range slices.Sorted(maps.Keys(s.parts[at])) {
		out = append(out, s.parts[at][p])
	}
	return out
}

// of returns for each process the most that it saves without a finding (ns); nil: not known.
func (s *savings) of(f *Finding) map[int]int64 {
	gain := s.c.Properties[f.Property].Gain
	if gain == NoGain || s.c.Level != ByThread {
		return nil
	}
	times := map[group]int64{}
	for _, t := range f.Threads {
		times[s.c.group(t.Thread)] += t.Time
	}
	if gain == Balance && !s.tasks[f.Path] {
		for _, t := range s.done[[2]int{f.Property, f.Path}] {
			times[s.c.group(t.Thread)] -= t.Time
		}
	}
	saves := map[int]int64{} // by process
	for g, w := range times {
		switch gain {
		case Balance:
			w /= s.team(f.Path, g)
		case Spread:
			w /= max(1, int64(len(s.threads[g])))
		case Absence:
			w /= max(1, int64(len(s.threads[g]))-1)
		case Sharing:
			w -= w / max(1, int64(len(s.threads[g])))
		case Removal:
			w = s.removal(f, g, w)
		}
		saves[g.process] += w
	}
	return saves
}

// most returns the largest saving of a process.
func (c *Cube) most(saves map[int]int64) (out Saving) {
	for process, most := range saves {
		if wall := c.Processes[process].Wall; wall > 0 {
			most = min(most, wall)
		}
		if !out.Known || most > out.Time || most == out.Time && process < out.Process {
			out = Saving{true, process, most}
		}
	}
	return out
}

// removed is what findings of one property save at most in an outermost parallel region (ns).
type removed struct {
	saves int64 // the sum over the findings
	own   int64 // of the region's work: the findings' times
	in    *region
}

// and adds other findings of the property in the region.
func (r removed) and(x removed) removed { return removed{r.saves + x.saves, r.own + x.own, x.in} }

// bound is the most that the region leaves to save: its other work stays.
func (r removed) bound() int64 {
	most := r.in.wall
	if n := int64(len(r.in.threads)); n > 0 {
		most = min(most, r.in.wall-(r.in.work-r.own)/n)
	}
	return max(0, most)
}

// beyond is by how much the sum over the findings is more than that.
func (r removed) beyond() int64 { return max(0, r.saves-r.bound()) }

// removal returns what an initial thread saves at most if a time w of its team goes away (ns).
func (s *savings) removal(f *Finding, g group, w int64) int64 {
	at := place{s.teams[f.Path], g}
	r := s.regions[at]
	if r == nil || r.wall == 0 {
		return w
	}
	x := removed{in: r}
	if !s.nested[f.Path] && s.c.Below(f.Property, s.c.Property(Management)) {
		x.own = w
	}
	x.saves = max(0, min(w, x.bound()))
	if f.removed == nil {
		f.removed = map[place]removed{}
	}
	f.removed[at] = x
	return x.saves
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
