package jobs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/job"
	"ompp-attach/report/words"
)

// lacksCores tells whether threads of a job's ranks lacked a core for so much of their time that
// the report has columns for it.
func lacksCores(j *job.Job) bool {
	none, all := j.RankStats(func(r *job.Rank) int64 { return r.NoCore }), j.RankStats(func(r *job.Rank) int64 { return r.ThreadTime })
	return none.Total() >= words.LeastShare*all.Total() && none.Max > 0
}

// coreShare prints the share of a rank's time in which its threads had a core, or wanted none.
func coreShare(r *job.Rank) string { return words.WholePercent(rankCore(r)) }

// lacksCore tells whether a rank's threads lacked cores for a good part of their time.
func lacksCore(r *job.Rank) bool { return rankCore(r) < analysis.FewCore }

func rankCore(r *job.Rank) float64 {
	return 1 - analysis.Ratio(min(r.NoCore, r.ThreadTime), r.ThreadTime)
}

// noCoreHeader writes how long threads lacked a core, and which part of that the overheads have.
func (t *jobText) noCoreHeader(key func(name, format string, args ...any), all float64) {
	if !t.noCore {
		return
	}
	total := func(of func(*job.Rank) int64) float64 { s := t.j.RankStats(of); return s.Total() }
	none, class := total(func(r *job.Rank) int64 { return r.NoCore }), total(func(r *job.Rank) int64 { return r.Overheads.NoCore })
	text := fmt.Sprintf("%s sec, %s%% of thread time, ready to run without a core", t.sec(none), jobShare(none, all))
	if rest := jobShare(none-class, all); class < none && rest != jobShare(0, all) {
		text += fmt.Sprintf(": %s%% in the overheads, %s%% in other time", jobShare(class, all), rest)
	}
	key("Without Core", "%s", text)
}

// lackOfCores names the ranks whose threads lacked cores most: differences between ranks may come
// from that.
func (t *jobText) lackOfCores() {
	const most = 4
	var ranks []*job.Rank
	for i := range t.j.Ranks {
		if r := &t.j.Ranks[i]; lacksCore(r) {
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
		items = append(items, fmt.Sprintf("%s for less than %s", words.Plural(more, "other rank"), words.WholePercent(analysis.FewCore)))
	}
	t.sentence("Threads waited for cores: %s. Ranks without a core are late everywhere, and the others wait for them. %s",
		strings.Join(items, ", "), t.whoHasCores())
}

// whoHasCores says who had the cores that ranks lacked: the job itself, if it has more threads than
// cores. Affinity masks do not tell all: a runtime that binds threads itself may have bound those
// of several ranks to the same cores.
func (t *jobText) whoHasCores() string {
	crowds := t.j.Crowds(lacksCore)
	switch {
	case len(crowds) > 0:
		return analysis.CrowdText(crowds, true) + ", before you look at the division of work."
	case t.j.Shared(lacksCore):
		return "Look at who else uses these cores, and whether threads of several ranks are bound to the same ones (OMP_PROC_BIND), before you look at the division of work."
	}
	return "Look at who else uses these cores before you look at the division of work."
}
