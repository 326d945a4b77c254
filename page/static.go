package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"ompp-attach/job"
	"ompp-attach/report/words"
)

// The largest numbers of rows that a page shows without scripts.
const (
	mostStaticRegions = 200
	mostStaticRanks   = 64
)

// classes are the parts of a time, in the order in which bars show them. web/classes.ts has the
// same list.
var classes = []struct {
	key, name string
	of        func(*Parts) int64
}{
	{"work", "Work", func(p *Parts) int64 { return p.Work }},
	{"serial", "Serial code", func(p *Parts) int64 { return p.Serial }},
	{"idle", "Idle workers", func(p *Parts) int64 { return p.Idle }},
	{"synch", "Synchronisation", func(p *Parts) int64 { return p.Synch }},
	{"imbal", "Imbalance", func(p *Parts) int64 { return p.Imbal }},
	{"limpar", "Limited parallelism", func(p *Parts) int64 { return p.Limpar }},
	{"mgmt", "Management", func(p *Parts) int64 { return p.Mgmt }},
	{"mpi", "MPI", func(p *Parts) int64 { return p.MPI }},
	{"no_core", "No core", func(p *Parts) int64 { return p.NoCore }},
}

func className(key string) string {
	for _, c := range classes {
		if c.key == key {
			return c.name
		}
	}
	return key
}

// share is a part of a whole.
type share struct {
	Key, Name string
	Time      int64
	Share     float64
}

// Shares returns the parts of a time that are not 0, with their shares. The template calls it.
func (p Parts) Shares() (out []share) {
	whole := p.Sum()
	for _, c := range classes {
		if t := c.of(&p); t != 0 && whole > 0 {
			out = append(out, share{c.key, c.name, t, float64(t) / float64(whole)})
		}
	}
	return out
}

// barSVG draws the parts of a time as one bar. The full width stands for the time scale (ns), or
// for the sum of the parts if scale is 0.
func barSVG(p Parts, scale int64) template.HTML {
	const width = 1000
	if scale <= 0 {
		scale = p.Sum()
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="bar" viewBox="0 0 %d 20" preserveAspectRatio="none" aria-hidden="true">`, width)
	at := 0.0
	for _, c := range classes {
		t := c.of(&p)
		if t <= 0 || scale <= 0 {
			continue
		}
		w := width * float64(t) / float64(scale)
		fmt.Fprintf(&b, `<rect class="c-%s" x="%.3f" y="0" width="%.3f" height="20"/>`, c.key, at, w)
		at += w
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

func seconds(ns int64) string { return words.Time(float64(ns)) }

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// ByTime returns the regions with most exclusive time, the longest first. The template calls it.
func (p *Process) ByTime() []Region {
	out := slices.Clone(p.Regions)
	slices.SortStableFunc(out, func(a, b Region) int { return cmp.Compare(b.Exclusive, a.Exclusive) })
	return out[:min(len(out), mostStaticRegions)]
}

// Longest returns the longest exclusive time of a region, ns. The template calls it.
func (p *Process) Longest() (t int64) {
	for i := range p.Regions {
		t = max(t, p.Regions[i].Exclusive)
	}
	return t
}

type staticRegion struct {
	Number           int
	Construct, Place string
	Parts            Parts // inclusive
	Exec             float64
	Min, Max         int64
	MinRank, MaxRank int
}

type staticRank struct {
	Rank  int
	Host  string
	Whole Parts
}

func (s *static) jobRegions(j *job.Job) {
	for i, g := range j.Regions {
		x := g.Stats(job.ExecT)
		sum := func(f job.Figure) int64 { v := g.Stats(f); return int64(v.Total()) }
		s.Regions = append(s.Regions, staticRegion{Number: i + 1, Construct: g.Construct.String(), Place: s.Job.Places[i], Exec: x.Total(),
			Min: x.Min, MinRank: x.MinRank, Max: x.Max, MaxRank: x.MaxRank,
			Parts: Parts{Work: sum(job.WorkT), Synch: sum(job.SynchT), Imbal: sum(job.ImbalT), Limpar: sum(job.LimparT),
				Mgmt: sum(job.MgmtT), MPI: sum(job.MPIT), NoCore: sum(job.NoCoreT)}})
	}
	slices.SortStableFunc(s.Regions, func(a, b staticRegion) int { return cmp.Compare(b.Exec, a.Exec) })
	s.Regions = s.Regions[:min(len(s.Regions), mostStaticRegions)]
	for i := range j.Ranks[:min(len(j.Ranks), mostStaticRanks)] {
		r := &j.Ranks[i]
		s.Ranks = append(s.Ranks, staticRank{r.Rank, clean(r.Host), partsOfRank(r)})
	}
}

// LongestRegion returns the longest time of a region of the job, ns. The template calls it.
func (s *static) LongestRegion() (t int64) {
	for i := range s.Regions {
		t = max(t, s.Regions[i].Parts.Sum())
	}
	return t
}
