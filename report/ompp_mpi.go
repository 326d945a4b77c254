package report

import (
	"cmp"
	"fmt"
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// The parts of a report that only MPI processes have (Fürlinger and Moore, Figs. 5 to 7), and call
// sites, which ompP lacks.

// usesMPI tells whether the process is one of an MPI job.
func usesMPI(p *profile.Profile) bool {
	return p.Meta.MPI != nil || analysis.Sum(&p.Nodes[0]).MPI != nil
}

// totalMPI is what all threads did in MPI.
func totalMPI(p *profile.Profile) *profile.MPIStats {
	return analysis.Sum(&p.Nodes[0]).MPI.Plus(&profile.MPIStats{})
}

// mpiHeader writes ompP's header lines on MPI, and some more.
func (o *ompp) mpiHeader(key func(name, format string, args ...any)) {
	job := o.p.Meta.MPI
	if job == nil {
		job = &profile.MPIJob{Rank: -1}
	}
	known := func(n int, is bool) string {
		if !is {
			return "unknown"
		}
		return fmt.Sprint(n)
	}
	m := totalMPI(o.p)
	key("MPI my rank", "%s", known(job.Rank, job.Rank >= 0))
	key("MPI num procs", "%s", known(job.Size, job.Size > 0))
	key("MPI hostname", "%s", orUnknown(o.p.Meta.Host))
	key("MPI time", "%f", float64(m.T)/1e9)
	key("MPI bytes in", "%s", volumeText(o, &inV, m))
	key("MPI bytes out", "%s", volumeText(o, &outV, m))
	key("MPI recv calls", "%d", m.Recvs)
	key("MPI send calls", "%d", m.Sends)
	key("MPI collectives", "%d", m.Colls)

	if ends := analysis.MPIStartEnd(o.p); ends.T > 0 {
		key("MPI time split", "%s", words.SplitText(func(ns int64) string { return fmt.Sprintf("%f", float64(ns)/1e9) }, m.T-ends.T, ends.T, ends.Operations))
	}
	key("MPI all calls", "%d", m.Calls)
	if m.Read > 0 || m.Written > 0 {
		key("MPI file bytes", "%d read, %d written", m.Read, m.Written)
	}
	key("MPI accounting", "%s", o.Volumes)
	key("MPI library", "%s", orUnknown(job.Library))
	key("MPI thread level", "%s", orUnknown(job.Level))
	if job.Job != "" {
		key("MPI job", "%s", job.Job)
	}
}

// The columns on MPI: ompP's, those of MPI-IO, and those of call sites.
var (
	mpiT  = column{title: "mpiT", time: func(r *analysis.ThreadFigures) int64 { return mpiOf(r).T }}
	inV   = column{title: "inV", bytes: func(o *ompp, m *profile.MPIStats) uint64 { return m.In[o.Volumes] }}
	outV  = column{title: "outV", bytes: func(o *ompp, m *profile.MPIStats) uint64 { return m.Out[o.Volumes] }}
	recvC = column{title: "recvC", count: func(r *analysis.ThreadFigures) uint64 { return mpiOf(r).Recvs }}
	sendC = column{title: "sendC", count: func(r *analysis.ThreadFigures) uint64 { return mpiOf(r).Sends }}
	collC = column{title: "collC", count: func(r *analysis.ThreadFigures) uint64 { return mpiOf(r).Colls }}

	readV  = column{title: "readV", bytes: func(_ *ompp, m *profile.MPIStats) uint64 { return m.Read }}
	writeV = column{title: "writeV", bytes: func(_ *ompp, m *profile.MPIStats) uint64 { return m.Written }}

	sumB = column{title: "bytes", bytes: func(o *ompp, m *profile.MPIStats) uint64 {
		return m.In[o.Volumes] + m.Out[o.Volumes] + m.Read + m.Written
	}}
	minB  = column{title: "minB", each: true, bytes: func(o *ompp, m *profile.MPIStats) uint64 { return m.Min[o.Volumes] }}
	maxB  = column{title: "maxB", each: true, bytes: func(o *ompp, m *profile.MPIStats) uint64 { return m.Max[o.Volumes] }}
	meanB = column{title: "meanB", each: true, bytes: func(o *ompp, m *profile.MPIStats) uint64 {
		return sumB.bytes(o, m) / max(1, m.Sized)
	}}
)

func mpiOf(r *analysis.ThreadFigures) profile.MPIStats {
	if r.MPI == nil {
		return profile.MPIStats{}
	}
	return *r.MPI
}

// mpiColumns returns the columns on MPI of a region in which it occurred.
func mpiColumns(c event.Construct, sum *profile.MPIStats) []column {
	switch {
	case sum == nil:
		return nil
	case c != event.MPI && sum.Read == 0 && sum.Written == 0:
		return []column{mpiT, inV, outV, recvC, sendC, collC}
	case c != event.MPI:
		return []column{mpiT, inV, outV, recvC, sendC, collC, readV, writeV}
	case sum.Sized > 0 || sum.Unknown > 0:
		return []column{sumB, minB, meanB, maxB}
	}
	return nil // moves no data
}

// volumeText is a volume, with a + if there is more that is not known, and -
// if nothing is.
func volumeText(o *ompp, c *column, m *profile.MPIStats) string {
	if m == nil {
		return "0"
	}
	v := c.bytes(o, m)
	switch {
	case m.Unknown == 0 || c.each && m.Sized > 0:
		return fmt.Sprint(v)
	case v == 0:
		return "-"
	}
	return fmt.Sprintf("%d+", v)
}

// callSites writes where MPI was called, an addition: the most time first.
func (o *ompp) callSites() {
	var sites []analysis.Block
	for _, b := range analysis.Flat(o.p) {
		if o.p.Regions[b.Region].Construct == event.MPI {
			sites = append(sites, b)
		}
	}
	if len(sites) == 0 {
		return
	}
	slices.SortStableFunc(sites, func(a, b analysis.Block) int { return cmp.Compare(b.Sum.Exec.T, a.Sum.Exec.T) })
	o.banner("MPI Call Sites")
	ends := analysis.MPIStartEnd(o.p)
	what := ""
	if ends.T > 0 {
		what = ", but in its start and end"
	}
	o.printf("App: of duration x threads. MPI: of all time in MPI%s.\n", what)
	at := make([]int, len(sites))
	for i := range at {
		at[i] = i
	}
	communication, startEnd := analysis.Apart(at, func(i int) *profile.Region { return &o.p.Regions[sites[i].Region] })
	o.callTable(sites, communication, totalMPI(o.p).T-ends.T)
	if len(startEnd) > 0 {
		o.printf("Start and end of MPI, which are no communication. MPI: of these.\n")
		o.callTable(sites, startEnd, ends.T)
	}
}

// callTable lists call sites of one sort, which together took all.
func (o *ompp) callTable(sites []analysis.Block, which []int, all int64) {
	if len(which) == 0 {
		return
	}
	rows := [][]string{{"", "Operation", "Site", "Count", "Time (s)", "App (%)", "MPI (%)", "Mean (us)", "Bytes", "Min", "Mean", "Max"}}
	app := analysis.ThreadTime(o.p)
	others := 0
	for _, i := range which {
		if !o.outline.regions[sites[i].Region] {
			others++
			continue
		}
		r, s := &o.p.Regions[sites[i].Region], &sites[i].Sum
		line := []string{fmt.Sprintf("R%05d", sites[i].Region+1), words.Clean(r.Name), words.Location(&r.Location), fmt.Sprint(s.Exec.C),
			o.Seconds(s.Exec.T, 0), percent(analysis.Ratio(s.Exec.T, app)), percent(analysis.Ratio(s.Exec.T, all)),
			words.Decimal(analysis.Ratio(s.Exec.T, int64(s.Exec.C))/1e3, 0, 1)}
		for _, c := range []column{sumB, minB, meanB, maxB} {
			if mpiColumns(event.MPI, s.MPI) == nil {
				line = append(line, "")
				continue
			}
			line = append(line, volumeText(o, &c, s.MPI))
		}
		rows = append(rows, line)
	}
	o.aligned(rows, make([]int, len(rows[0])), 0)
	o.printf("\n")
	o.rest(others, "call site")
	o.printf("\n")
}

// mpiNotes say how to read what the report tells of MPI.
func (o *ompp) mpiNotes() []string {
	if !o.mpi {
		return nil
	}
	items := []string{"mpiT, inV, outV (bytes), recvC, sendC and collC are what a thread did in MPI while it was in the region, inner regions and tasks that it executed in the region's waits included. " +
		"Volumes follow from each call's arguments: of a receive, what was asked for, which can be more than came; of a collective operation, by the " + o.Volumes.String() + " accounting (see --volumes)."}
	if o.Rules == analysis.Disjoint {
		items = append(items, "Overhead class MPI is the time in MPI calls in parallel regions; what is MPI is in no other class. --classic-overheads shows ompP's own figures.")
	} else {
		items = append(items, "The overhead classes are those of ompP itself (--classic-overheads): MPI calls that lie in a time of another class are in both.")
	}
	if n := analysis.Threads(o.p); n > 1 {
		items = append(items, fmt.Sprintf("Times of the callgraph are sums over threads divided by %d, the number of threads, and percentages of MPI call sites are of that sum: "+
			"where one thread calls MPI and the others have nothing to do meanwhile, the wall time is %d times what they say.", n, n))
	}
	if note := unknownVolumes(o.p); note != "" {
		items = append(items, note+" Figures with a + are without them, - stands where none is known.")
	}
	return items
}

// unknownVolumes says how many calls' volumes are not known, and why.
func unknownVolumes(p *profile.Profile) string {
	n := totalMPI(p).Unknown
	if n == 0 {
		return ""
	}
	note := fmt.Sprintf("The volumes of %s are not known.", words.Plural(int(n), "MPI call"))
	if job := p.Meta.MPI; job != nil && job.Volumes != "" {
		note += " " + job.Volumes
	}
	return note
}
