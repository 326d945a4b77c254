package job

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"ompp-attach/event"
	"ompp-attach/mpi"
)

// clockSkew is how far apart the clocks of a job's nodes may be. Profiles further apart belong to
// different runs.
const clockSkew = time.Minute

// kind is a kind of trouble. Troubles are reported in this order.
type kind int

const (
	missing      kind = iota // there is no file of the rank
	unreadable               // the file is torn, of a newer version, or something else
	tornCopy                 // one file of the rank is unreadable, another one is not
	twice                    // the job already has a profile of the rank
	foreign                  // a further profile of a rank is that of another job
	misnamed                 // the file's name and its content disagree about the rank
	noMPI                    // the process used no MPI
	extrapolated             // some figures are extrapolated
	mixed                    // about the job as a whole
)

// trouble is a problem of one rank that the reader must know.
type trouble struct {
	kind kind
	rank int
	text string // the reason; ranks with the same reason share a sentence
}

func (j *Job) trouble(k kind, rank int, text string) {
	j.troubles = append(j.troubles, trouble{k, rank, text})
}

// add adds a rank to the job and notes problems of its file. further: the file is numbered as a
// further one of its rank (Source.Copy > 0).
func (j *Job) add(r *reduced, further bool) {
	named, file := r.rank.Rank, r.rank.File
	if j.launches.another(r.rank.MPI.Job, further && len(j.Ranks) > 0) {
		j.trouble(foreign, named, file)
		return
	}
	switch m := &r.rank.MPI; {
	case !r.rank.UsesMPI:
		j.trouble(noMPI, named, "")
	case m.Rank >= 0 && m.Rank < maxRank && m.Rank != named:
		j.trouble(misnamed, m.Rank, file)
		r.rank.Rank = m.Rank
	}
	if r.rank.Extrapolated != "" {
		j.trouble(extrapolated, r.rank.Rank, r.rank.Extrapolated)
	}
	if !j.merge(r) {
		j.trouble(twice, r.rank.Rank, file)
	}
}

// Missing returns the ranks of the job that were not read, for whatever reason. If no rank states
// the job's size, the highest rank that was read is the last.
func (j *Job) Missing() (ranks []int) {
	last := -1
	for i := range j.Ranks {
		last = max(last, j.Ranks[i].Rank)
	}
	if j.Size > 0 {
		last = min(j.Size, maxRank) - 1
	}
	for r := 0; r <= last; r++ {
		if !j.seen.has(r) {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// Troubles returns sentences about missing profiles, and about profiles that do not belong
// together. Ranks with the same trouble share a sentence.
func (j *Job) Troubles() []string {
	all := slices.Clone(j.troubles)
	torn := map[int]bool{}
	for i := range all {
		t := &all[i]
		if t.kind != unreadable {
			continue
		}
		if torn[t.rank] = true; j.seen.has(t.rank) {
			t.kind = tornCopy
		}
	}
	for _, r := range j.Missing() {
		if !torn[r] {
			all = append(all, trouble{kind: missing, rank: r})
		}
	}
	slices.SortStableFunc(all, func(a, b trouble) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.rank, b.rank))
	})
	type group struct {
		kind kind
		text string
	}
	var order []group
	ranks := map[group][]int{}
	for _, t := range all {
		g := group{t.kind, t.text}
		if t.kind == twice || t.kind == foreign || t.kind == misnamed {
			g.text = "" // the sentence lists the names of the files
		}
		if ranks[g] == nil {
			order = append(order, g)
		}
		if n := len(ranks[g]); n == 0 || ranks[g][n-1] != t.rank {
			ranks[g] = append(ranks[g], t.rank)
		}
	}
	var out []string
	for _, g := range order {
		who := "R" + RankList(ranks[g])[1:]
		one := len(ranks[g]) == 1
		switch g.kind {
		case missing:
			out = append(out, who+verb(one, " is", " are")+" missing: there is no recorded profile.")
		case unreadable:
			out = append(out, who+" could not be read: "+g.text+".")
		case tornCopy:
			out = append(out, who+verb(one, " has", " have")+" a file that could not be read, and another that is shown: "+g.text+".")
		case twice:
			out = append(out, who+verb(one, " is", " are")+" recorded more than once; the first file by name counts, these are left out: "+j.filesOf(twice)+".")
		case foreign:
			out = append(out, j.foreignText())
		case misnamed:
			out = append(out, who+verb(one, " has", " have")+" files that are named after another rank, the content counts: "+j.filesOf(misnamed)+".")
		case noMPI:
			out = append(out, who+" did not use MPI while measured; the rank is that of the file's name.")
		case extrapolated:
			out = append(out, who+verb(one, " has", " have")+" constructs that were not observed for some of the time, to keep a budget: "+g.text+". Their figures are extrapolated, or the least that they can be: the rank's own report marks them.")
		case mixed:
			out = append(out, g.text)
		}
	}
	return append(out, j.spawned()...)
}

// foreignText names the files of other jobs, and says how to get a report of these.
func (j *Job) foreignText() string {
	of, advice := "another job", "For a report of that job, copy its files into another directory."
	if len(j.launches.foreign) > 1 {
		of, advice = "other jobs", "For a report of one of them, copy the files of that job into another directory."
	}
	return "The directory has ranks of " + of + ", too, which are left out: " + j.filesOf(foreign) + ". " + advice
}

// MeasureSpawned is the advice for runs in which processes that ranks started were not measured.
const MeasureSpawned = "With Open MPI, ompp-attach measures them if it starts the launcher (ompp-attach run -- mpirun ...)."

// spawned says in one sentence or two that ranks started processes with MPI, and whether these were
// measured; none: they did not. The processes are another job, and their ranks begin at 0 again.
func (j *Job) spawned() []string {
	var operations, places []string
	for _, g := range j.Regions {
		if g.Construct != event.MPI || !mpi.SpawnsProcesses(g.Name) {
			continue
		}
		if !slices.Contains(operations, g.Name) {
			operations = append(operations, g.Name)
		}
		if l := &g.Location; l.File != "" {
			places = append(places, fmt.Sprintf("%s (%d)", path.Base(l.File), l.Begin))
		}
	}
	if len(operations) == 0 {
		return nil
	}
	text := "Ranks started other processes by " + strings.Join(operations, " and ")
	if len(places) > 0 {
		text += " at " + strings.Join(places, ", ")
	}
	if len(j.launches.foreign) > 0 {
		return []string{text + ". These are a job of their own, which was measured, too: its files are profile.rankR-2.* and so on."}
	}
	return []string{text + ". These were not measured: there is no profile of their job. " + MeasureSpawned}
}

func verb(one bool, singular, plural string) string {
	if one {
		return singular
	}
	return plural
}

// filesOf lists the files with a kind of trouble, at most a few of them.
func (j *Job) filesOf(k kind) string {
	const few = 5
	var names []string
	for _, t := range j.troubles {
		if t.kind == k {
			names = append(names, t.text)
		}
	}
	if len(names) > few {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
	}
	return strings.Join(names, ", ")
}

// Spans formats rising ranks as "0-3", "7", "9-11".
func Spans(ranks []int) (spans []string) {
	for i := 0; i < len(ranks); {
		e := i
		for e+1 < len(ranks) && ranks[e+1] == ranks[e]+1 {
			e++
		}
		if ranks[e] == ranks[i] {
			spans = append(spans, fmt.Sprint(ranks[i]))
		} else {
			spans = append(spans, fmt.Sprintf("%d-%d", ranks[i], ranks[e]))
		}
		i = e + 1
	}
	return spans
}

// RankList formats rising ranks in words: "rank 3", "ranks 0-3, 7 and 9-11 (8)".
func RankList(ranks []int) string {
	const few = 8 // spans in a sentence
	spans := Spans(ranks)
	switch {
	case len(ranks) == 0:
		return "no rank"
	case len(ranks) == 1:
		return "rank " + spans[0]
	case len(spans) == 1:
		return fmt.Sprintf("ranks %s (%d)", spans[0], len(ranks))
	case len(spans) > few:
		return fmt.Sprintf("ranks %s and others (%d)", strings.Join(spans[:few], ", "), len(ranks))
	}
	last := len(spans) - 1
	return fmt.Sprintf("ranks %s and %s (%d)", strings.Join(spans[:last], ", "), spans[last], len(ranks))
}

// compareRanks notes ranks that do not belong together: if one directory has files of several runs,
// averages mean nothing.
func (j *Job) compareRanks() {
	differ := func(what, meaning string, of func(*Rank) string) {
		by := map[string][]int{}
		for i := range j.Ranks {
			if v := of(&j.Ranks[i]); v != "" {
				by[v] = append(by[v], j.Ranks[i].Rank)
			}
		}
		if len(by) < 2 {
			return
		}
		// The sentence lists the most common value first.
		values := slices.Sorted(maps.Keys(by))
		slices.SortStableFunc(values, func(a, b string) int { return cmp.Compare(len(by[b]), len(by[a])) })
		var parts []string
		for _, v := range values[:min(3, len(values))] {
			parts = append(parts, RankList(by[v])+": "+v)
		}
		if more := len(values) - 3; more > 0 {
			parts = append(parts, fmt.Sprintf("and %d more", more))
		}
		j.trouble(mixed, -1, fmt.Sprintf("The ranks differ in %s (%s). %s", what, strings.Join(parts, "; "), meaning))
	}
	const severalRuns = "These may be files of several runs: their figures do not belong together."
	differ("the program", "Regions are compared by their place in the source, so ranks of different programs share few.", func(r *Rank) string { return r.Program })
	differ("the job's name", severalRuns, func(r *Rank) string { return r.MPI.Job })
	differ("the number of ranks in MPI_COMM_WORLD", severalRuns, func(r *Rank) string {
		if r.MPI.Size == 0 {
			return ""
		}
		return fmt.Sprint(r.MPI.Size)
	})
	differ("the MPI library", "One job uses one.", func(r *Rank) string { return r.MPI.Library })
	differ("what was left out", "It is missing in the figures of these ranks only.", func(r *Rank) string { return cmp.Or(r.LeftOut, "nothing") })
	differ("the version of ompp-attach", "What one of them does not measure may be missing in its ranks only.", func(r *Rank) string { return r.Tool })

	var first, last *Rank // the first to end, the last to start
	for i := range j.Ranks {
		r := &j.Ranks[i]
		if first == nil || r.End.Before(first.End) {
			first = r
		}
		if last == nil || r.Start.After(last.Start) {
			last = r
		}
	}
	if first != nil && last.Start.Sub(first.End) > clockSkew {
		j.trouble(mixed, -1, fmt.Sprintf("Rank %d had ended %s before rank %d was first measured. %s",
			first.Rank, last.Start.Sub(first.End).Round(time.Second), last.Rank, severalRuns))
	}
}
