package jobs

import (
	"fmt"
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/job"
	"ompp-attach/report"
	"ompp-attach/report/words"
)

// summary writes, in five lines at the top of the report, what holds up the job.
func (t *jobText) summary() {
	if len(t.j.Ranks) < 2 {
		return
	}
	t.section("Summary")
	for _, l := range summaryLines(t.j, t.Options) {
		t.printf("%-16s: %s\n", l[0], words.Clean(l[1]))
	}
	t.printf("\n")
}

// summaryLines returns the lines of the summary: a title and a text each.
func summaryLines(j *job.Job, o report.Options) [][2]string {
	t := &jobText{j: j, Options: o}
	wall := j.RankStats(func(r *job.Rank) int64 { return r.Wall })
	t.decimals = max(2, decimalsFor(wall.Max)-2)
	if h := j.Efficiency().Hidden(); h != nil {
		return [][2]string{{"Slow Rank", h.Says()}}
	}
	s := j.Summary(o.Volumes)
	if s.InMPI.Max == 0 {
		return [][2]string{{"Slow Rank", "not known: no time in MPI was measured"}, {"Most Overhead", t.mostOverhead()}}
	}
	var late [][2]string
	if s.Waited {
		late = [][2]string{{"Late Start", fmt.Sprintf("rank %d leaves MPI_Init %s sec after rank %d: others wait for that where ranks meet next",
			s.Late.MaxRank, t.sec(float64(s.Late.Max)), s.Late.MinRank)}}
	}
	if len(s.Slow) == 0 {
		return append([][2]string{
			{"Slow Rank", fmt.Sprintf("none: after MPI_Init the ranks are in MPI for %s to %s sec", t.sec(float64(s.InMPI.Min)), t.sec(float64(s.InMPI.Max)))},
			{"Most Overhead", t.mostOverhead()},
			{"Unequal in MPI", t.waiting(&s)},
		}, late...)
	}
	return append([][2]string{
		{"Slow Rank", t.slow(&s)},
		{"Where", t.slowWhere(&s)},
		{"Why", t.slowWhy(&s)},
		{"Who Waits", t.waiting(&s)},
		{"At Stake", fmt.Sprintf("%s sec (%s%%) of the job's time at most, if all ranks took as long as the mean rank",
			t.sec(s.Excess), jobShare(s.Excess, float64(wall.Max)))},
	}, late...)
}

func (t *jobText) slow(s *job.Summary) string {
	who := "it is"
	if len(s.Slow) > 1 {
		who = fmt.Sprintf("rank %d is", s.InMPI.MinRank)
	}
	return fmt.Sprintf("R%s: %s in MPI for %s sec only, the mean rank for %s; so its own part takes %s sec longer",
		job.RankList(s.Slow)[1:], who, t.sec(float64(s.InMPI.Min)), t.sec(s.InMPI.Mean), t.sec(s.Excess))
}

func (t *jobText) slowWhere(s *job.Summary) string {
	if s.Where >= 0 {
		x := t.j.Regions[s.Where].Stats(s.WhereBy)
		return fmt.Sprintf("%s: rank %d is in it for %s sec, the mean rank for %s", t.jobRegion(s.Where), x.MaxRank, t.sec(float64(x.Max)), t.sec(x.Mean))
	}
	text := "in no single region that is measured"
	if s.Function != "" {
		text = fmt.Sprintf("function %s, as samples tell: ~%s sec there, the mean rank ~%s", s.Function, t.sec(s.HotT), t.sec(s.HotMean))
	}
	return text
}

func (t *jobText) slowWhy(s *job.Summary) string {
	switch s.Why {
	case job.MoreWork:
		for _, f := range []job.Figure{job.BodyC, job.ExecC} {
			if x := t.j.Regions[s.Where].Stats(f); slices.Contains(s.Slow, x.MaxRank) && x.Variation() >= job.DiffersCount {
				return fmt.Sprintf("it has more to do there: %s %d, the mean rank %s", f, x.Max, words.Decimal(x.Mean, 0, 0))
			}
		}
	case job.MoreBytes:
		return "it exchanges more bytes there than the others"
	case job.Uneven:
		x := t.j.Regions[s.Where].Stats(job.WithinT)
		return fmt.Sprintf("its threads have uneven work there: one works %s sec longer than their mean", t.sec(float64(x.Max)))
	case job.Crowded:
		return t.crowded(s)
	case job.LessProcessor:
		return fmt.Sprintf("it had a processor for %s sec, the mean rank for %s: it sleeps, waits for files, or shares its core",
			t.sec(float64(s.Slowest(t.j).User+s.Slowest(t.j).System)), t.sec(s.CPU.Mean))
	}
	if s.Where < 0 {
		return "not told by what is measured: --function and samples look into the program's own code"
	}
	return "what is counted there is alike on all ranks, only the time differs: other data, larger parts, a slower processor"
}

// crowded says where the slow rank lacked cores more than the others: outside of MPI, in the
// region, or both.
func (t *jobText) crowded(s *job.Summary) string {
	var found []string
	if s.Outside {
		all := t.j.RankStats(func(r *job.Rank) int64 { return r.HeldUp })
		found = append(found, fmt.Sprintf("outside of MPI, threads without a core held up rank %d for %s sec, the mean rank for %s",
			s.Crowded.Rank, t.sec(float64(s.Crowded.HeldUp)), t.sec(all.Mean)))
	}
	if s.Where >= 0 {
		if there := t.j.Regions[s.Where].Stats(job.NoCoreWallT); there.MaxRank == s.Crowded.Rank && there.Max > 0 {
			found = append(found, fmt.Sprintf("a thread of rank %d lacked a core there for %s sec, one of the mean rank for %s",
				s.Crowded.Rank, t.sec(float64(there.Max)), t.sec(there.Mean)))
		}
	}
	return strings.Join(found, "; ")
}

// waiting names the call at which the ranks wait.
func (t *jobText) waiting(s *job.Summary) string {
	if s.Waits < 0 {
		return "no rank waits for another in an MPI call"
	}
	x := t.j.Regions[s.Waits].Stats(job.WallT)
	return fmt.Sprintf("%s: rank %d longest, %s sec; %s sec on average, rank %d %s", t.callText(s.Waits),
		x.MaxRank, t.sec(float64(x.Max)), t.sec(x.Mean), x.MinRank, t.sec(float64(x.Min)))
}

func (t *jobText) callText(number int) string {
	g := t.j.Regions[number]
	return strings.TrimSpace(fmt.Sprintf("R%05d %s %s", number+1, g.Name, words.Location(&g.Location)))
}

// mostOverhead names the region with the highest overhead, except MPI calls.
func (t *jobText) mostOverhead() string {
	var all []int
	for i, g := range t.j.Regions {
		if g.Construct != event.MPI {
			all = append(all, i)
		}
	}
	byTotal(t.j, all, job.Overhead)
	total := t.j.RankStats(func(r *job.Rank) int64 { return r.ThreadTime })
	if len(all) == 0 {
		return "none outside of MPI: no OpenMP construct was seen"
	}
	over := t.j.Regions[all[0]].Stats(job.Overhead)
	return fmt.Sprintf("%s: %s sec, %s%% of all thread time", t.jobRegion(all[0]), t.sec(over.Total()), jobShare(over.Total(), total.Total()))
}
