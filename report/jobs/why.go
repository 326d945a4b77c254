package jobs

import (
	"fmt"
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/job"
	"ompp-attach/job/spread"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// why writes, for each region that differs, which of its times differ and what they go with.
func (t *jobText) why() {
	t.section("Is it the MPI-level work division or something else?")
	if len(t.differences) == 0 || len(t.j.Ranks) == 1 {
		t.sentence("There is nothing to explain.")
		t.printf("\n")
		return
	}
	t.exchange()
	if startsEnds(t.j) {
		t.sentence("(MPI time is here without its start and end.)")
	}
	t.printf("\n")
	shares := table{head: []string{"region", "workT", "waitT", "mpiT", "mgmtT", "noCoreT", "between", "within"}}
	if !t.noCore {
		shares.head = slices.Delete(shares.head, 5, 6)
	}
	with := table{head: []string{"region", "execC", "bodyC", "bytes", "work-execC", "work-bodyC", "work-bytes", "work-mpi", "wait-mpi"}}
	explained := map[int]job.Explanation{}
	regions := slices.DeleteFunc(slices.Clone(t.differences), func(d job.Difference) bool { return d.Region.Construct == event.MPI })
	if len(regions) == 0 { // all of an MPI call's time is MPI
		return
	}
	for _, d := range regions {
		e := d.Region.Explain(t.Volumes)
		explained[d.Number] = e
		label := fmt.Sprintf("R%05d", d.Number+1)
		shares.add(append(t.shares(label, &e), t.sec(e.Between), t.sec(e.Within))...)
		with.add(append(t.variations(label, d.Region), coefficient(e.WithExecs), coefficient(e.WithBodies), coefficient(e.WithBytes), coefficient(e.WorkMPI), coefficient(e.WaitMPI))...)
	}
	t.sentence("What execT varies by: the part of its variance over ranks that goes with each part of it (they add up to " +
		"100%%; a part above that is made up for by another); - where execT varies by at most half of what a part does. between: how much more workT the busiest rank has per thread than the " +
		"mean rank; within: how much more a rank's busiest thread has than the mean of its threads, averaged over ranks; in seconds.")
	t.printf("\n")
	shares.write(t)
	t.printf("\n")
	t.sentence("What differs with it. Left: how much counts and bytes vary over ranks (standard deviation over mean). Right: "+
		"correlation of workT with them; work-mpi and wait-mpi: of workT and of waitT with a rank's communication by MPI. - where "+
		"one of the two does not vary, or with fewer than %d ranks.", job.MinRanks)
	t.printf("\n")
	with.write(t)
	t.printf("\n")
	for _, d := range regions {
		t.printf("%s\n", t.jobRegion(d.Number))
		t.sentence("%s", t.reading(explained[d.Number]))
		t.printf("\n")
	}
	t.sentence("(Rule: counts and bytes differ from %.0f%% on; figures are in step from a correlation of %.1f on. Being in step "+
		"is no proof of a cause.)", 100*job.DiffersCount, job.InStep)
	t.printf("\n")
}

// shares begins a row: which share of the variance goes with each part of the time.
func (t *jobText) shares(label string, e *job.Explanation) []string {
	row := []string{label}
	for i, s := range e.Shares {
		switch {
		case job.Parts[i] == job.NoCoreT && !t.noCore:
		case !e.Varies:
			row = append(row, "-")
		default:
			row = append(row, words.Decimal(100*s, 0, 0)+"%")
		}
	}
	return row
}

// variations begins a row: how much a region's counts and bytes vary over ranks.
func (t *jobText) variations(label string, r *job.Region) []string {
	_, _, bytes := job.Volumes(t.Volumes)
	row := []string{label}
	for _, f := range []job.Figure{job.ExecC, job.BodyC, bytes} {
		cell := "-"
		if s := r.Stats(f); s.Max > 0 {
			cell = words.Decimal(100*s.Variation(), 0, 1) + "%"
		}
		row = append(row, cell)
	}
	return row
}

// exchange writes whether MPI time and imbalance make up for each other.
func (t *jobText) exchange() {
	x := t.j.Exchange()
	switch {
	case x.Trade:
		steady := ""
		if x.Steady {
			steady = ", at most half of what one of them does"
		}
		t.sentence("MPI and imbalance trade places: ranks with more imbalance are shorter in MPI (correlation %s). Standard "+
			"deviation of imbalance %s sec, of MPI time %s sec; the sum of all overheads of a rank varies by %s sec%s. Ranks whose "+
			"threads wait for each other come late, and the others wait for them in MPI.", words.Decimal(x.ImbalMPI.R, 0, 2),
			t.sec(x.Imbal.StdDev), t.sec(x.MPI.StdDev), t.sec(x.Sum.StdDev), steady)
	case x.WorkMPI.Known && x.WorkMPI.R <= -job.InStep:
		t.sentence("Ranks that have less to do are longer in MPI: correlation %s of MPI time with the time that is in no overhead "+
			"class. Their MPI time is, at least in part, waiting for the others.", words.Decimal(x.WorkMPI.R, 0, 2))
	case x.MPI.Max == 0 && startsEnds(t.j):
		t.sentence("No rank communicated by MPI while measured: all of the time in MPI is its start and end.")
	case x.MPI.Max == 0:
		t.sentence("No rank was in MPI while measured.")
	case !x.WorkMPI.Known && t.j.Waits != nil:
		t.sentence("How long ranks waited for each other in MPI is in `report --properties`: their calls were recorded.")
	case !x.WorkMPI.Known:
		t.sentence("Whether ranks wait for each other in MPI cannot be told: there are fewer than %d ranks, or one of the times does not vary.", job.MinRanks)
	default:
		t.sentence("Over ranks, MPI time does not grow as other work shrinks (correlation of the two %s; that would be %s or less), nor does it trade places with imbalance.",
			words.Decimal(x.WorkMPI.R, 0, 2), words.Decimal(-job.InStep, 0, 1))
	}
}

func coefficient(c job.Correlation) string {
	if !c.Known {
		return "-"
	}
	return words.Decimal(c.R, 0, 2)
}

// reading puts an explanation into words.
func (t *jobText) reading(e job.Explanation) string {
	switch e.Reading {
	case job.Trade:
		return "MPI time and waiting for threads make up for each other: where threads of a rank wait for each other, the rank is shorter in MPI."
	case job.InNoCore:
		return "The time without a core varies most: threads of some ranks waited for cores. The work itself varies less."
	case job.InMPI:
		return "The time in MPI varies most: transfers, or waiting for ranks that come later; those have their work elsewhere."
	case job.InWait:
		text := "Waiting for threads of the same rank (or for locks) varies most."
		switch c := e.WaitMPI; {
		case c.Known && c.R >= job.InStep:
			text += " Ranks that wait longer here are longer in MPI: the threads may be waiting for one that is in MPI."
		case c.Known && c.R <= -job.InStep:
			text += " Ranks that wait longer here are shorter in MPI, where the others may be waiting for them."
		}
		return text
	case job.ByCounts:
		return "Work division: the work is in step with how often ranks execute it." + others(e)
	case job.ByVolume:
		return "Work division: the work is in step with the bytes that ranks exchange in it." + others(e)
	case job.Loose:
		return "Counts or bytes differ too, but the work is not in step with them: uneven work per execution, or something else." + others(e)
	case job.TimeOnly:
		alike := "counts are alike"
		switch {
		case e.Unknown:
			alike += ", bytes are not known"
		case e.Bytes:
			alike = "counts and bytes are alike"
		}
		return "Only the time differs, " + alike + ". Executions take longer on some ranks; what was counted does not " +
			"tell why (larger parts of the domain, other data, slower or shared cores)." + others(e)
	}
	return fmt.Sprintf("There are fewer than %d ranks: too few to say what it goes with.", job.MinRanks)
}

// others says how ranks with less work spend their time.
func others(e job.Explanation) (text string) {
	if c := e.WorkMPI; c.Known && c.R <= -job.InStep {
		text = " Ranks with less work here are longer in MPI."
	}
	if e.Level {
		text += " The region as a whole takes about as long on all of them."
	}
	return text
}

// calls writes the MPI call sites.
func (t *jobText) calls() {
	sites := callSites(t.j)
	if len(sites) == 0 {
		return
	}
	t.section("MPI call sites, over all ranks")
	t.sentence("Time is that of all ranks and threads; bytes are those of a call in both directions together (%s accounting).", t.Volumes)
	t.printf("\n")
	communication, startEnd := analysis.Apart(sites, func(i int) *profile.Region { return &t.j.Regions[i].Region })
	t.callTable(communication)
	if len(startEnd) > 0 {
		t.sentence("Start and end of MPI, which are no communication; of MPI: of these.")
		t.printf("\n")
		t.callTable(startEnd)
	}
}

// callTable writes the table of one sort of call sites.
func (t *jobText) callTable(sites []int) {
	if len(sites) == 0 {
		return
	}
	tab := table{head: []string{"operation", "calls", "ranks", "time (sec)", "of MPI", "min/rank", "rank", "max/rank", "rank", "bytes", "min", "mean", "max"}}
	var all float64
	for _, i := range sites {
		s := t.j.Regions[i].Stats(job.ExecT)
		all += s.Total()
	}
	_, _, both := job.Volumes(t.Volumes)
	for _, i := range sites[:min(2*mostRegions, len(sites))] {
		g := t.j.Regions[i]
		s, c, n, b := g.Stats(job.ExecT), g.Stats(job.Calls), g.Stats(job.Sized), g.Stats(both)
		least, most, mean := "-", "-", "-"
		if lo, hi, ok := g.CallBytes(t.Volumes); ok {
			least, most = fmt.Sprint(lo), fmt.Sprint(hi)
			mean = words.Decimal(ratio(b.Total(), n.Total()), 0, 1)
		}
		volume := volumeOf(g, both)
		tab.add(fmt.Sprintf("R%05d %s %s", i+1, words.Clean(g.Name), words.Location(&g.Location)), c.Sum.String(), fmt.Sprint(g.Reached),
			t.sec(s.Total()), jobShare(s.Total(), all)+"%", t.sec(float64(s.Min)), rankNum(s.MinRank),
			t.sec(float64(s.Max)), rankNum(s.MaxRank), volume, least, mean, most)
	}
	tab.write(t)
	if more := len(sites) - 2*mostRegions; more > 0 {
		t.sentence("%s more in the csv and json formats.", words.Plural(more, "call site"))
	}
	t.printf("\n")
}

// volumeOf returns a volume over all ranks. It has a + if some calls' volumes are not known, and
// is - if no call's volume is known.
func volumeOf(g *job.Region, f job.Figure) string {
	v, unknown := g.Stats(f), g.Stats(job.Unknown)
	return volumeSum(&v, &unknown)
}

func volumeSum(v, unknown *spread.Stats) string {
	switch {
	case unknown.Max == 0:
		return v.Sum.String()
	case v.Max == 0:
		return "-"
	}
	return v.Sum.String() + "+"
}

func ratio(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}

// callSites returns the regions that are MPI calls, the longest time first.
func callSites(j *job.Job) (sites []int) {
	for i, g := range j.Regions {
		if g.Construct == event.MPI {
			sites = append(sites, i)
		}
	}
	byTotal(j, sites, job.ExecT)
	return sites
}
