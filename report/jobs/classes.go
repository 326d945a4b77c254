package jobs

import (
	"cmp"
	"fmt"
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/job"
	"ompp-attach/report/words"
)

// overheadHead returns the column titles of the tables of overhead classes.
func (t *jobText) overheadHead() []string {
	head := []string{"total", "ovhds", "(%)", "synch", "(%)", "imbal", "(%)", "limpar", "(%)", "mgmt", "(%)", "mpi", "(%)"}
	if t.noCore {
		head = append(head, "no core", "(%)")
	}
	return head
}

func (t *jobText) overheadCells(total float64, parts ...float64) []string {
	var sum float64
	for _, p := range parts {
		sum += p
	}
	cells := []string{t.sec(total)}
	if !t.noCore {
		parts = parts[:len(parts)-1]
	}
	for _, p := range append([]float64{sum}, parts...) {
		cells = append(cells, t.sec(p), jobShare(p, total))
	}
	return cells
}

// classes writes the overheads by rank and by region.
func (t *jobText) classes() {
	j := t.j
	t.section("Which overheads, from where?")
	if j.Efficiency().Hidden() != nil {
		t.sentence("The program's own overheads cannot be told: the next section says why.")
	}
	t.sentence("Overheads of each rank, in and outside of parallel regions, in seconds summed over threads and in percent of its thread time.")
	ranks, titles := t.chosenRanks()
	t.printf("\n")
	tab := table{head: append([]string{"rank"}, t.overheadHead()...)}
	var sum analysis.Classes
	var total float64
	for i := range j.Ranks {
		sum.Add(j.Ranks[i].Overheads)
		total += float64(j.Ranks[i].ThreadTime)
	}
	for i, at := range ranks {
		r := &j.Ranks[at]
		tab.add(append([]string{titles[i]}, t.classCells(float64(r.ThreadTime), r.Overheads)...)...)
	}
	tab.add(append([]string{"SUM"}, t.classCells(total, sum)...)...)
	tab.withoutZeros(4, len(tab.head))
	tab.write(t)
	t.printf("\n")

	var regions []int
	for i, g := range j.Regions {
		if s := g.Stats(job.Overhead); s.Total() >= words.LeastShare*total && g.Construct != event.MPI {
			regions = append(regions, i)
		}
	}
	byTotal(j, regions, job.Overhead)
	if len(regions) == 0 {
		t.sentence("No region has overheads worth mentioning, MPI calls apart.")
		t.printf("\n")
		return
	}
	t.sentence("Regions whose overhead is at least 0.05%% of all thread time, over all ranks: their own, without that of regions inside; in percent of all thread time. " +
		"total is inclusive execT; max: the rank that has most of the overhead. MPI calls are in the next section; classes that are 0 everywhere are left out.")
	t.printf("\n")
	tab = table{head: append(append([]string{"region"}, t.overheadHead()...), "max", "rank")}
	for _, i := range regions[:min(2*mostRegions, len(regions))] {
		g := j.Regions[i]
		cells := []string{t.jobRegion(i)}
		exec, over := g.Stats(job.ExecT), g.Stats(job.Overhead)
		cells = append(cells, t.sec(exec.Total()))
		figures := []job.Figure{job.Overhead, job.Synch, job.Imbal, job.Limpar, job.Mgmt, job.MPIOver, job.NoCore}
		if !t.noCore {
			figures = figures[:len(figures)-1]
		}
		for _, f := range figures {
			s := g.Stats(f)
			cells = append(cells, t.sec(s.Total()), jobShare(s.Total(), total))
		}
		tab.add(append(cells, t.sec(float64(over.Max)), rankNum(over.MaxRank))...)
	}
	tab.withoutZeros(4, len(tab.head)-2)
	tab.write(t)
	if more := len(regions) - 2*mostRegions; more > 0 {
		t.sentence("%s more in the csv and json formats.", words.Plural(more, "region"))
	}
	t.printf("\n")
}

func (t *jobText) classCells(total float64, c analysis.Classes) []string {
	return t.overheadCells(total, float64(c.Synch), float64(c.Imbal), float64(c.Limpar), float64(c.Mgmt), float64(c.MPI), float64(c.NoCore))
}

// chosenRanks returns all ranks of a small job. Of a large job it returns the ranks at the
// quantiles of the overhead.
func (t *jobText) chosenRanks() (ranks []int, titles []string) {
	j := t.j
	if len(j.Ranks) <= mostRanks {
		for i := range j.Ranks {
			ranks, titles = append(ranks, i), append(titles, fmt.Sprint(j.Ranks[i].Rank))
		}
		return ranks, titles
	}
	order := make([]int, len(j.Ranks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(j.Ranks[a].Overheads.Sum(), j.Ranks[b].Overheads.Sum())
	})
	t.sentence("There are more than %d ranks: shown are those at the quantiles of the overhead, the least and the greatest "+
		"few. All are in the csv and json formats.", mostRanks)
	const ends = 4
	last := len(order) - 1
	add := func(at int, what string) {
		ranks = append(ranks, order[at])
		titles = append(titles, fmt.Sprintf("%d%s", j.Ranks[order[at]].Rank, what))
	}
	for i := range ends {
		add(i, " (least)")
	}
	for _, q := range []int{5, 25, 50, 75, 95} {
		if at := last * q / 100; at >= ends && at <= last-ends {
			add(at, fmt.Sprintf(" (%d%%)", q))
		}
	}
	for i := ends - 1; i >= 0; i-- {
		add(last-i, " (greatest)")
	}
	return ranks, titles
}

// byTotal orders regions by a figure summed over ranks, the largest first.
func byTotal(j *job.Job, regions []int, f job.Figure) {
	slices.SortStableFunc(regions, func(a, b int) int {
		x, y := j.Regions[a].Stats(f), j.Regions[b].Stats(f)
		return y.Sum.Cmp(x.Sum)
	})
}
