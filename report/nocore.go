package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// showsNoCore tells whether threads lacked a core for so much of their time that the report has a
// column for it.
func showsNoCore(p *profile.Profile, r analysis.Rules) bool {
	return r == analysis.Disjoint && analysis.Ratio(analysis.NoCore(p), analysis.ThreadTime(p)) >= words.LeastShare
}

// fewCore is a share of time with a core. If threads had a core for less, a finding says so: the
// cause may be the machine, not the program.
const fewCore = 0.9

// coreText says for which share of a time threads had a core, if the share is below fewCore: "had a
// core for 14% of that time".
func coreText(share float64) string {
	if share >= fewCore {
		return ""
	}
	return fmt.Sprintf("had a core for %s%% of that time", words.Decimal(100*share, 0, 0))
}

// noCoreText says, for the summary, how long threads lacked a core.
func noCoreText(p *profile.Profile, part func(int64) string) string {
	none := analysis.NoCore(p)
	text := fmt.Sprintf("%s thread-sec (%s%%) ready to run without a core: others had it", clockOf(p).seconds(none, 0), part(none))
	if analysis.ProgramCoreShare(p) < fewCore {
		text += "; what follows may be the busy machine's, not the program's"
	}
	return text
}

// jobLacksCores tells whether threads of a job's ranks lacked a core for so much of their time that
// the report has columns for it.
func jobLacksCores(j *job.Job) bool {
	none, all := j.RankStats(func(r *job.Rank) int64 { return r.NoCore }), j.RankStats(func(r *job.Rank) int64 { return r.ThreadTime })
	return none.Total() >= words.LeastShare*all.Total() && none.Max > 0
}

// coreShare prints the share of a rank's time in which its threads had a core, or wanted none.
func coreShare(r *job.Rank) string { return words.WholePercent(rankCore(r)) }

func rankCore(r *job.Rank) float64 { return 1 - analysis.Ratio(r.NoCore, r.ThreadTime) }

// lackOfCores names the ranks whose threads lacked cores most: differences between ranks may come
// from that.
func (t *jobText) lackOfCores() {
	const most = 4
	var ranks []*job.Rank
	for i := range t.j.Ranks {
		if r := &t.j.Ranks[i]; rankCore(r) < fewCore {
			ranks = append(ranks, r)
		}
	}
	if len(ranks) == 0 {
		return
	}
	slices.SortStableFunc(ranks, func(a, b *job.Rank) int { return cmp.Compare(rankCore(a), rankCore(b)) })
	var items []string
	for i, r := range ranks[:min(most, len(ranks))] {
		text := fmt.Sprintf("rank %d for %s", r.Rank, coreShare(r))
		if i == 0 {
			text = fmt.Sprintf("rank %d had a core for %s of its time", r.Rank, coreShare(r))
		}
		items = append(items, text)
	}
	if more := len(ranks) - most; more > 0 {
		items = append(items, fmt.Sprintf("%s for less than %s", words.Plural(more, "other rank"), words.WholePercent(fewCore)))
	}
	t.sentence("Cores were busy with others: %s. Ranks without a core are late everywhere, and the others wait for them: "+
		"look at who else uses these cores before you look at the division of work.", strings.Join(items, ", "))
}
