package jobs

import (
	"cmp"
	"slices"

	"ompp-attach/job"
)

// mostByRank is the largest number of regions for which job.json has figures of single ranks.
const mostByRank = 40

// docs/job.md describes the types below.
type (
	byRankJSON struct {
		Width   int                `json:"width"` // number of ranks of a bin
		Ranks   []int              `json:"ranks"` // number of ranks that were read, by bin
		Regions []regionByRankJSON `json:"regions"`
	}
	regionByRankJSON struct {
		Region int `json:"region"`
		// Sums over the ranks of each bin, by figure.
		Figures map[string][]int64 `json:"figures"`
		// Extremes of execT over the ranks of each bin; absent if a bin is one rank.
		Min []int64 `json:"min,omitempty"`
		Max []int64 `json:"max,omitempty"`
	}
)

// byRankToJSON returns figures over the ranks. They are of the regions that differ most between
// ranks, and of the regions that take most time.
func byRankToJSON(j *job.Job) byRankJSON {
	out := byRankJSON{Width: j.BinWidth(), Ranks: []int{}, Regions: []regionByRankJSON{}}
	for _, number := range regionsByRank(j) {
		r := regionByRankJSON{Region: number + 1, Figures: map[string][]int64{}}
		bins := j.Bins(j.Regions[number])
		if len(out.Ranks) == 0 {
			for _, b := range bins {
				out.Ranks = append(out.Ranks, b.Ranks)
			}
		}
		for k, f := range job.BinFigures {
			if k > 0 && !slices.ContainsFunc(bins, func(b job.Bin) bool { return b.Sums[k] != 0 }) {
				continue
			}
			for _, b := range bins {
				r.Figures[f.String()] = append(r.Figures[f.String()], b.Sums[k])
			}
		}
		if out.Width > 1 {
			for _, b := range bins {
				r.Min, r.Max = append(r.Min, b.Min), append(r.Max, b.Max)
			}
		}
		out.Regions = append(out.Regions, r)
	}
	return out
}

// regionsByRank returns indices in Job.Regions, by rising number: a half by the greatest deviation,
// the rest by time.
func regionsByRank(j *job.Job) []int {
	chosen := map[int]bool{}
	for _, d := range j.Differences() {
		if len(chosen) >= mostByRank/2 {
			break
		}
		chosen[d.Number] = true
	}
	byTime := make([]int, len(j.Regions))
	total := make([]float64, len(j.Regions))
	for i, g := range j.Regions {
		s := g.Stats(job.ExecT)
		byTime[i], total[i] = i, s.Total()
	}
	slices.SortStableFunc(byTime, func(a, b int) int { return cmp.Compare(total[b], total[a]) })
	for _, i := range byTime {
		if len(chosen) >= mostByRank {
			break
		}
		chosen[i] = true
	}
	var out []int
	for i := range j.Regions {
		if chosen[i] {
			out = append(out, i)
		}
	}
	return out
}
