package severity

import (
	"cmp"
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/profile"
)

// MostValues bounds the values of a run, and thereby the memory of Sum: about a quarter of a
// gigabyte.
const MostValues = 2_000_000

// Sum adds up the severities of the processes of a run.
type Sum struct {
	*builder
	bound int
	at    map[Path]int
	late  blamed
}

// NewSum returns an empty sum of at most so many values. Where there are more, the threads of each
// process are added up, or else all processes (see Level).
func NewSum(bound int) *Sum {
	s := &Sum{builder: newBuilder(Catalogue()), bound: bound, at: map[Path]int{}}
	s.Paths = []Path{{-1, -1}}
	return s
}

// Add adds the severities of a process. region says which number each of its regions has in the
// run.
func (s *Sum) Add(c *Cube, region []int) {
	s.Silent = c.Silent && (s.Silent || len(s.Processes) == 0)
	if s.Program == "" {
		s.Program = c.Program
	}
	s.ThreadTime += c.ThreadTime
	s.Adjusted = s.Adjusted || c.Adjusted
	s.Hidden = s.Hidden.Or(c.Hidden)
	property, path := make([]int, len(c.Properties)), make([]int, len(c.Paths))
	for i, p := range c.Properties {
		property[i] = s.define(p)
	}
	for i, p := range c.Paths {
		if i > 0 {
			path[i] = s.path(Path{path[p.Parent], region[p.Region]})
		}
	}
	for from, waits := range c.Uneven {
		s.Uneven[region[from]] = s.Uneven[region[from]].Plus(waits)
	}
	for from, ends := range c.Ends {
		s.Ends[region[from]] = s.Ends[region[from]].Plus(ends)
	}
	for _, d := range c.Doubts {
		s.doubt(d.Property, region[d.Region], d.Why)
	}
	row := s.rows(c)
	s.blame(c, property, path, row)
	for _, v := range c.Values {
		s.put(property[v.Property], path[v.Path], row[v.Thread], v.V, v.Mark)
	}
	for s.Level < Whole && len(s.values) > s.bound {
		s.coarsen()
	}
}

// rows adds the rows of a process, and returns the row of each of its threads.
func (s *Sum) rows(c *Cube) []int {
	process, row := len(s.Processes), make([]int, len(c.Threads))
	s.Processes = append(s.Processes, c.Processes...)
	for i, t := range c.Threads {
		t.Process += process
		switch s.Level {
		case ByThread:
			row[i] = len(s.Threads)
			s.Threads = append(s.Threads, t)
		case ByProcess:
			row[i] = t.Process
		}
	}
	if s.Level == ByProcess {
		for i := range c.Processes {
			s.Threads = append(s.Threads, Thread{Process: process + i})
		}
	}
	return row
}

func (s *Sum) path(p Path) int {
	i, ok := s.at[p]
	if !ok {
		i = len(s.Paths)
		s.at[p], s.Paths = i, append(s.Paths, p)
	}
	return i
}

// coarsen adds up the threads of each process, or else all processes. The number of values only
// grows, so whether a level is reached does not depend on the order of processes.
func (s *Sum) coarsen() {
	s.Level++
	s.Blames = slices.Clone(s.Blames)
	for i := range s.Blames {
		s.Blames[i].DueThread = -1
	}
	old, threads := s.values, s.Threads
	s.values, s.Threads = map[key]Value{}, nil
	for i := range s.Processes {
		if s.Level == ByProcess {
			s.Threads = append(s.Threads, Thread{Process: i})
		}
	}
	if s.Level == Whole {
		s.Threads = []Thread{{Process: -1}}
	}
	for at, v := range old {
		row := 0
		if s.Level == ByProcess {
			row = threads[at.thread].Process
		}
		s.put(at.property, at.path, row, v.V, v.Mark)
	}
}

// renumbered returns the reasons by the numbers that their regions get.
func renumbered(by map[int]analysis.UnevenWaits, number []int) map[int]analysis.UnevenWaits {
	out := make(map[int]analysis.UnevenWaits, len(by))
	for region, waits := range by {
		out[number[region]] = waits
	}
	return out
}

// Finish returns the sum. regions are those of the run, and number says which of them each region
// that Add named is. Paths are ordered by region, depth first.
func (s *Sum) Finish(regions []profile.Region, number []int) *Cube {
	s.Regions = regions
	for i := range s.Doubts {
		s.Doubts[i].Region = number[s.Doubts[i].Region]
	}
	s.Uneven, s.Ends = renumbered(s.Uneven, number), renumbered(s.Ends, number)
	for i := range s.Paths[1:] {
		p := &s.Paths[i+1]
		p.Region = number[p.Region]
	}
	moved, paths := make([]int, len(s.Paths)), make([]Path, 0, len(s.Paths))
	for _, i := range profile.Preorder(len(s.Paths), func(i int) int { return s.Paths[i].Parent },
		func(a, b int) int { return cmp.Compare(s.Paths[a].Region, s.Paths[b].Region) }) {
		p := s.Paths[i]
		if p.Parent >= 0 {
			p.Parent = moved[p.Parent]
		}
		moved[i] = len(paths)
		paths = append(paths, p)
	}
	old := s.values
	s.values = make(map[key]Value, len(old))
	for at, v := range old {
		s.put(at.property, moved[at.path], at.thread, v.V, v.Mark)
	}
	s.Paths, s.at = paths, nil
	s.Blames = s.late.list(moved, s.Level)
	return s.finish()
}

// Coarser returns the cube, or one of at most so many values in which threads of a process, or else
// all processes, are added up. Paths keep their numbers.
func (c *Cube) Coarser(bound int) *Cube {
	if len(c.Values) <= bound || c.Level == Whole {
		return c
	}
	s := &Sum{builder: newBuilder(c.Properties), bound: bound}
	s.Cube, s.byID = *c, c.byID
	for _, v := range c.Values {
		s.values[key{v.Property, v.Path, v.Thread}] = v
	}
	for s.Level < Whole && len(s.values) > bound {
		s.coarsen()
	}
	return s.finish()
}
