package efficiencies

import (
	"encoding/json"
	"fmt"
	"io"

	"ompp-attach/efficiency"
	"ompp-attach/event"
)

// extraP is a line of Extra-P's JSON Lines format (docs/file-formats.md of extra-p/extrap).
type extraP struct {
	Params   map[string]int `json:"params"`
	Callpath string         `json:"callpath"`
	Metric   string         `json:"metric"`
	Value    float64        `json:"value"`
}

// WriteExtraP writes the runs for Extra-P, which models how figures grow. Parameters are the
// numbers of ranks and of threads per rank; one that is the same in all runs is left out. Of the
// program and of each parallel region there are its times in seconds and its executions, of each
// MPI call site the time.
func WriteExtraP(w io.Writer, s *efficiency.Scaling, o Options) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	varies := func(of func(*efficiency.Scaled) int) bool {
		for i := range s.Runs {
			if of(&s.Runs[i]) != of(&s.Runs[0]) {
				return true
			}
		}
		return false
	}
	ranks, threads := varies(func(x *efficiency.Scaled) int { return x.Ranks }), varies(func(x *efficiency.Scaled) int { return x.PerRank })
	for i := range s.Runs {
		x := &s.Runs[i]
		params := map[string]int{}
		if ranks || !threads {
			params["ranks"] = x.Ranks
		}
		if threads {
			params["threads"] = x.PerRank
		}
		var err error
		line := func(path, metric string, value float64) {
			if err == nil {
				err = out.Encode(extraP{params, path, metric, value})
			}
		}
		whole := x.Whole()
		line(x.Program, "time", float64(x.Runtime)/1e9)
		line(x.Program, "useful_time", x.OfAll(float64(whole.Useful()))/1e9)
		for j := range x.Regions {
			g := &x.Regions[j]
			path := x.Program + "->" + g.Key(o.Label(g.Region))
			switch {
			case g.Construct.IsParallel() && g.Team.Sum() > 0:
				line(path, "thread_time", x.OfAll(float64(g.Team.Sum()))/1e9)
				line(path, "useful_time", x.OfAll(float64(g.Team.Useful()))/1e9)
				line(path, "visits", x.OfAll(float64(g.Starts)))
			case g.Construct == event.MPI && g.Own.Sum() > 0:
				line(path, "thread_time", x.OfAll(float64(g.Own.Sum()))/1e9)
			}
		}
		if err != nil {
			return fmt.Errorf("write json: %w", err)
		}
	}
	return nil
}
