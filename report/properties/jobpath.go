package properties

import (
	"fmt"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/report/words"
	"ompp-attach/severity"
)

type (
	// jobPath is the critical path over the ranks of a job.
	jobPath struct {
		Length  int64         `json:"length_ns"`
		Unknown int64         `json:"unknown_ns"`
		Bound   int64         `json:"bound_ns,omitempty"`
		Turns   uint64        `json:"turns"`
		Phases  int           `json:"phases"`
		Parts   []jobPathPart `json:"parts"`
	}
	jobPathPart struct {
		Path      int        `json:"path"`
		In        bool       `json:"in_call"` // false: before the calls there
		Time      int64      `json:"time_ns"`
		Imbalance int64      `json:"imbalance_ns"`
		Saves     int64      `json:"saves_at_most_ns"`
		Ranks     [][2]int64 `json:"ranks"` // pairs: rank, time
	}
)

func jobPathOf(c *severity.Cube) *jobPath {
	p := c.JobPath
	if p == nil {
		return nil
	}
	out := &jobPath{Length: p.Length, Unknown: p.Unknown, Bound: p.Bound, Turns: p.Turns, Phases: p.Phases, Parts: []jobPathPart{}}
	for _, x := range c.JobPathParts() {
		part := jobPathPart{Path: x.Path, In: x.In, Time: x.Time, Imbalance: x.Imbalance, Saves: x.Saves, Ranks: [][2]int64{}}
		for _, r := range x.Ranks {
			part.Ranks = append(part.Ranks, [2]int64{int64(c.Processes[r.Thread].Rank), r.Time})
		}
		out.Parts = append(out.Parts, part)
	}
	return out
}

// jobPath prints the critical path over the ranks of a job. It names the call paths and ranks that
// decide when the job ends, and what balance saves there.
func (t *text) jobPath() {
	p := t.c.JobPath
	if p == nil || p.Unknown == p.Length {
		return
	}
	fmt.Fprintln(t)
	span := "from its first MPI call to the end of its last"
	if p.Part {
		span = "from the first to the last call at which all ranks met while they were measured"
	}
	title := fmt.Sprintf("Critical path of the job, %s: only less time here makes the job shorter. "+
		"Shares are of %s sec, the path's length%s. The path changed the rank %s.", span, t.Seconds(p.Length), bound(p.Bound), times(int64(p.Turns)))
	t.lines("", title)
	fmt.Fprintln(t)
	line := func(ns int64, text string) {
		t.lines(fmt.Sprintf("%s sec  %5s %%  ", t.Seconds(ns), words.Decimal(100*analysis.Ratio(ns, p.Length), 0, 1)), text)
	}
	left, rest := 0, int64(0)
	for i, x := range t.c.JobPathParts() {
		if !t.All && (i >= causes || analysis.Ratio(x.Time, p.Length) < little) {
			left++
			rest += x.Time
			continue
		}
		line(x.Time, t.onJobPath(&x))
	}
	if p.Unknown > 0 {
		line(p.Unknown, "not known: it cannot be told for whom a rank waited, or MPI calls are missing")
	}
	if left > 0 {
		fmt.Fprintf(t, "... and %d more, %s sec together\n", left, t.Seconds(rest))
	}
}

// onJobPath says where a part of the path was, at which ranks, and what balance saves.
func (t *text) onJobPath(x *severity.OnJobPath) string {
	text := "before "
	if x.In {
		text = "in "
	}
	text += PathText(t.c, x.Path)
	var ranks []string
	for i, r := range x.Ranks {
		if i >= few || r.Time*20 < x.Ranks[0].Time {
			ranks = append(ranks, fmt.Sprintf("%d more", len(x.Ranks)-i))
			break
		}
		ranks = append(ranks, fmt.Sprintf("rank %d (%s sec)", t.c.Processes[r.Thread].Rank, t.Seconds(r.Time)))
	}
	if len(ranks) > 0 {
		text += ": " + strings.Join(ranks, ", ")
	}
	if t.tells(x.Imbalance) {
		text += fmt.Sprintf("; %s sec more than the mean of all ranks", t.Seconds(x.Imbalance))
	}
	if t.tells(x.Saves) {
		whose := "the job's"
		if t.c.JobPath.Part {
			whose = "these"
		}
		text += fmt.Sprintf("; perfect balance here saves at most %s of %s %s sec", t.Seconds(x.Saves), whose, t.Seconds(t.c.JobPath.Length))
		if x.Saves > x.Time {
			text += ", if the part of the path that is not known is here, too"
		}
	}
	return text
}

// tells reports whether a time is not too little to be told beside the length of the job's path.
func (t *text) tells(ns int64) bool {
	return ns > 0 && (t.All || analysis.Ratio(ns, t.c.JobPath.Length) >= little)
}

// rankDelays prints what ranks did for which others waited.
func (t *text) rankDelays(title string, far bool) {
	all := t.c.RankDelays(far)
	if len(all) == 0 || analysis.Ratio(all[0].Time, t.c.ThreadTime) < little && !t.All {
		return
	}
	fmt.Fprintln(t)
	t.lines("", title)
	fmt.Fprintln(t)
	left, rest := 0, int64(0)
	for i, x := range all {
		if !t.All && (i >= causes || analysis.Ratio(x.Time, t.c.ThreadTime) < little) {
			left++
			rest += x.Time
			continue
		}
		place := "before " + PathText(t.c, x.Path)
		if x.In {
			place = "in " + PathText(t.c, x.Path)
		}
		if process := t.c.Threads[x.Thread].Process; process >= 0 {
			place = fmt.Sprintf("rank %d %s", t.c.Processes[process].Rank, place)
		}
		t.lines(fmt.Sprintf("%s sec  %5s %%  ", t.Seconds(x.Time), t.share(x.Time)), place)
	}
	if left > 0 {
		fmt.Fprintf(t, "... and %d more, %s sec together\n", left, t.Seconds(rest))
	}
}
