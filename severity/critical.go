package severity

import (
	"cmp"
	"slices"
)

// CriticalPath is the tree of the critical path; CriticalRest is below it.
const (
	CriticalPath = "critical_path"
	CriticalRest = "critical_path_rest"
)

// outermost returns for each path the outermost path around that starts a team; -1: none.
func (c *Cube) outermost() []int {
	out := make([]int, len(c.Paths))
	for i, p := range c.Paths {
		out[i] = -1
		if p.Parent < 0 {
			continue
		}
		if out[i] = out[p.Parent]; out[i] < 0 && c.Regions[p.Region].Construct.IsParallel() {
			out[i] = i
		}
	}
	return out
}

// criticalPath completes the critical path. The profile has the part of the path in teams.
// criticalPath adds the times of initial threads outside of teams, or in teams of one thread, and
// the rest of each region's time.
func (w *walker) criticalPath() {
	outer, execution, path := w.outermost(), w.Property(Execution), w.Property(CriticalPath)
	wall, known, team := map[place]int64{}, map[place]int64{}, map[place]bool{}
	var primary []Value
	for _, v := range w.values {
		at := place{outer[v.Path], w.group(v.Thread)}
		switch {
		case v.Property == path:
			known[at] += v.V
		case !w.Below(v.Property, execution):
		case w.Threads[v.Thread].Num != 0:
			team[at] = true
		default:
			primary = append(primary, v)
			wall[at] += v.V
		}
	}
	for _, v := range primary {
		if at := (place{outer[v.Path], w.group(v.Thread)}); at.path < 0 || !team[at] && known[at] == 0 {
			w.put(path, v.Path, v.Thread, v.V, v.Mark)
			continue
		} else if rest := wall[at] - known[at]; rest > 0 {
			w.add(CriticalRest, at.path, v.Thread, rest, 0)
			wall[at] = 0 // each region counts once
		}
	}
}

// Critical is a call path's part of the critical path.
type Critical struct {
	Path int
	Time int64 // ns, of all processes
	// Saving is what a process saves at most if all threads of the team had the same work here. It
	// is not known outside of teams, and where teams nest.
	Saving Saving
}

// Critical returns the call paths on the critical path, the longest time first. With perfect
// balance, each thread would spend the mean of all threads' times without waits. The last thread
// spent more, or less. The sum of this difference over all barriers is what balance saves at most.
// Waits for locks are taken to stay as they are.
func (c *Cube) Critical() (out []Critical) {
	outer := c.outermost()
	threads := map[group]int64{}
	for i := range c.Threads {
		threads[c.group(i)]++
	}
	type at struct {
		path int
		group
	}
	on, busy := map[at]int64{}, map[at]int64{}
	execution, waits, join := c.Property(Execution), c.Property("omp_synchronisation"), c.Property("omp_join")
	for _, v := range c.Values {
		x := at{v.Path, c.group(v.Thread)}
		switch {
		case v.Property == c.Property(CriticalPath):
			on[x] += v.V
		case c.Below(v.Property, execution) && !c.Below(v.Property, waits) && v.Property != join:
			busy[x] += v.V
		}
	}
	times, saves := map[int]int64{}, map[int]map[int]int64{}
	for x, ns := range on {
		times[x.path] += ns
		if outer[x.path] < 0 || c.team(x.path) != outer[x.path] || c.Level != ByThread {
			continue
		}
		if saves[x.path] == nil {
			saves[x.path] = map[int]int64{}
		}
		saves[x.path][x.process] += max(0, ns-busy[x]/threads[x.group])
	}
	for path, ns := range times {
		out = append(out, Critical{path, ns, c.most(saves[path])})
	}
	slices.SortFunc(out, func(a, b Critical) int { return cmp.Or(cmp.Compare(b.Time, a.Time), a.Path-b.Path) })
	return out
}
