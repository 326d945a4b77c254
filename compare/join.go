package compare

import (
	"cmp"
	"maps"
	"slices"

	"ompp-attach/event"
	"ompp-attach/job"
	"ompp-attach/profile"
)

// place is where a region is: what must be equal for two regions of one build to be one.
type place struct {
	construct      event.Construct
	name, function string
	// The base name: a build may have its files elsewhere. Of a region without lines, the object's.
	file       string
	lines      bool
	begin, end int
	offset     uint64
	merged     string
}

func placeOf(r *profile.Region) place {
	l := &r.Location
	p := place{construct: r.Construct, name: r.Name, function: l.Function, merged: r.Merged}
	if l.File != "" && l.Begin > 0 {
		p.file, p.lines, p.begin, p.end = base(l.File), true, l.Begin, l.End
	} else {
		p.file, p.offset = base(l.Object), l.Offset
	}
	return p
}

// lineOf is the part of a place that an inserted line changes.
func lineOf(r *profile.Region) [3]uint64 {
	p := placeOf(r)
	return [3]uint64{uint64(p.begin), uint64(p.end), p.offset}
}

// sameKind tells whether two regions can be one: they do the same.
func sameKind(x, y *profile.Region) bool { return x.Construct == y.Construct && x.Name == y.Name }

// joiner joins the regions of one run after the other.
type joiner struct {
	c       *Comparison
	regions []*Region
	last    map[*Region]*profile.Region // as the last run that has the region has it
	builds  map[string]map[string]bool  // object to the build ids that were seen
}

// join fills in c.Regions.
func (c *Comparison) join() {
	paths := newPathJoiner(c)
	j := &joiner{c: c, last: map[*Region]*profile.Region{}, builds: map[string]map[string]bool{}}
	for side, runs := range c.Sides {
		for n, run := range runs {
			figures := figuresOf(run.Job)
			fresh := make([]*profile.Region, len(run.Job.Regions))
			for i, g := range run.Job.Regions {
				fresh[i] = &g.Region
			}
			known := make([]*profile.Region, len(j.regions))
			for i, r := range j.regions {
				known[i] = j.last[r]
			}
			at := match(known, fresh, j.sameBuild(run.Job))
			joined := make([]*Region, len(fresh))
			for i := range fresh {
				r := j.region(at[i])
				joined[i] = r
				r.At[side], j.last[r] = fresh[i], fresh[i]
				for f := range NumFigures {
					r.values[f][side][n] = figures[i][f]
				}
				r.addCounters(side, run.Job.Regions[i])
			}
			paths.join(side, n, run.Job.Paths, joined)
			for object, id := range run.Job.Builds {
				if j.builds[object] == nil {
					j.builds[object] = map[string]bool{}
				}
				j.builds[object][id] = true
			}
		}
	}
	paths.finish()
	c.Regions = j.regions
}

// region returns the region with that number; -1 stands for a further one.
func (j *joiner) region(number int) *Region {
	if number >= 0 {
		return j.regions[number]
	}
	r := &Region{alpha: j.c.Alpha, counters: map[string]*values{}}
	for f := range r.values {
		for side, runs := range j.c.Sides {
			r.values[f][side] = make([]float64, len(runs))
		}
	}
	j.regions = append(j.regions, r)
	return r
}

func (r *Region) addCounters(side int, g *job.Region) {
	for _, s := range g.Counters() {
		if r.counters[s.Name] == nil {
			r.counters[s.Name] = &values{}
		}
		v := r.counters[s.Name]
		v[side] = append(v[side], s.Total())
	}
}

// sameBuild returns the objects whose build all runs have had until now.
func (j *joiner) sameBuild(run *job.Job) map[string]bool {
	same := map[string]bool{}
	for object, id := range run.Builds {
		seen := j.builds[object]
		same[object] = id != "" && len(seen) == 1 && seen[id]
	}
	return same
}

// match finds the number of the known region that each new one is; -1: none. Regions of one build
// are one if they are at one place. Of other builds, regions of one function are matched in their
// order, because lines above a function shift all of them. Then come regions of a function in
// another file, and at last those of a function with another name.
func match(known, fresh []*profile.Region, same map[string]bool) []int {
	m := &matcher{known: known, fresh: fresh, at: make([]int, len(fresh)), taken: make([]bool, len(known))}
	at := map[place]int{}
	for i, r := range known {
		at[placeOf(r)] = i
	}
	for i, r := range fresh {
		m.at[i] = -1
		if k, ok := at[placeOf(r)]; ok && same[base(r.Location.Object)] {
			m.pair(k, i)
		}
	}
	// Where the build is the same, an unmatched region is one that earlier runs did not execute.
	free := func(r *profile.Region) bool { return !same[base(r.Location.Object)] }
	m.align(free, func(p place) place { return place{file: p.file, function: p.function, lines: p.lines} })
	m.align(func(r *profile.Region) bool { return free(r) && r.Location.Function != "" },
		func(p place) place { return place{function: p.function} })
	m.align(func(r *profile.Region) bool { return free(r) && placeOf(r).lines },
		func(p place) place { return place{file: p.file, begin: p.begin, end: p.end, lines: p.lines} })
	return m.at
}

type matcher struct {
	known, fresh []*profile.Region
	at           []int  // by new region
	taken        []bool // by known region
}

// pair notes that a known region and a new one are the same.
func (m *matcher) pair(known, fresh int) { m.at[fresh], m.taken[known] = known, true }

// align matches, in their order, regions that are left and whose places lie together.
func (m *matcher) align(wanted func(*profile.Region) bool, together func(place) place) {
	type group struct{ known, fresh []int }
	groups := map[place]*group{}
	at := func(r *profile.Region) *group {
		k := together(placeOf(r))
		if groups[k] == nil {
			groups[k] = &group{}
		}
		return groups[k]
	}
	for i, r := range m.known {
		if !m.taken[i] && wanted(r) {
			g := at(r)
			g.known = append(g.known, i)
		}
	}
	for i, r := range m.fresh {
		if m.at[i] < 0 && wanted(r) {
			g := at(r)
			g.fresh = append(g.fresh, i)
		}
	}
	for g := range maps.Values(groups) {
		if len(g.known) == 0 || len(g.fresh) == 0 {
			continue
		}
		inSource(g.known, m.known)
		inSource(g.fresh, m.fresh)
		for _, pair := range alignment(pick(m.known, g.known), pick(m.fresh, g.fresh)) {
			m.pair(g.known[pair[0]], g.fresh[pair[1]])
		}
	}
}

func pick(regions []*profile.Region, numbers []int) (out []*profile.Region) {
	for _, n := range numbers {
		out = append(out, regions[n])
	}
	return out
}

func inSource(numbers []int, regions []*profile.Region) {
	slices.SortStableFunc(numbers, func(a, b int) int {
		x, y := &regions[a].Location, &regions[b].Location
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Begin, y.Begin), cmp.Compare(y.End, x.End), cmp.Compare(x.Offset, y.Offset),
			cmp.Compare(regions[a].Construct, regions[b].Construct), cmp.Compare(regions[a].Name, regions[b].Name))
	})
}
