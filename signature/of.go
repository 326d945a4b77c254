package signature

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"ompp-attach/efficiency"
	"ompp-attach/event"
	"ompp-attach/job"
	"ompp-attach/job/spread"
	"ompp-attach/mpi"
)

func spreadOf(s spread.Stats) Spread {
	return Spread{json.Number(s.Sum.String()), s.Min, s.Mean, s.Max, s.StdDev}
}

// Of returns the signature of a job, which has been read with its paths.
func Of(j *job.Job, by mpi.Accounting) *Signature {
	first := &j.Ranks[0]
	run := j.Efficiency()
	whole := run.Whole()
	out := &Signature{Version: Version, Tool: first.Tool, Program: first.Program, Arguments: first.Efficiency.Args, Library: first.MPI.Library, Size: j.Size,
		UsesMPI: first.UsesMPI, Ranks: len(j.Ranks), Missing: run.Missing, Accounting: by.String(), Estimated: []string{"work_ns", "times"},
		Threads: spreadOf(j.RankStats(func(r *job.Rank) int64 { return int64(r.Threads) })),
		Runtime: spreadOf(j.RankStats(func(r *job.Rank) int64 { return r.Efficiency.Wall })),
		Serial:  spreadOf(j.RankStats(func(r *job.Rank) int64 { return r.Efficiency.Parts[efficiency.Serial] })),
		Times:   run.Means(), NoCore: whole.Share(efficiency.NoCore),
		Regions: []Region{}, Calls: []Call{}, Notes: []string{}}
	for i := range j.Ranks {
		out.Hosts = append(out.Hosts, j.Ranks[i].Host)
	}
	slices.Sort(out.Hosts)
	out.Hosts = slices.Compact(out.Hosts)
	if h := run.Hidden(); h != nil {
		out.CannotTell, out.Times = h.Says(), nil
		out.Notes = append(out.Notes, "The times "+h.Says())
	}
	if run.Missing > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d ranks could not be read.", run.Missing))
	}
	if run.Estimated() {
		out.Estimated = append(out.Estimated, "all")
		out.Notes = append(out.Notes, "Constructs were not observed all of the time: all figures hold estimates.")
	}
	inside := insides(j)
	out.Inside = inside[-1]
	for i, g := range j.Regions {
		if g.Construct == event.MPI {
			out.Calls = append(out.Calls, callOf(g, i+1, by))
			continue
		}
		f := &run.Regions[i].Figures
		r := Region{Region: i + 1, Construct: g.Construct, Name: g.Name, Location: g.Location, Reached: g.Reached, Executions: spreadOf(g.Stats(job.ExecC)),
			Bodies: spreadOf(g.Stats(job.BodyC)), Work: spreadOf(g.Stats(job.WorkT)), Team: f.Threads, Starts: f.Starts, Inside: inside[i]}
		for _, c := range g.Counters() {
			if r.Counters == nil {
				r.Counters = map[string]Spread{}
			}
			r.Counters[c.Name] = spreadOf(c.Stats)
		}
		out.Regions = append(out.Regions, r)
	}
	return out
}

func callOf(g *job.Region, number int, by mpi.Accounting) Call {
	sent, received, both := job.Volumes(by)
	c := Call{Region: number, Operation: g.Name, Location: g.Location, Reached: g.Reached, Calls: spreadOf(g.Stats(job.Calls)),
		Sends: spreadOf(g.Stats(job.Sends)), Receives: spreadOf(g.Stats(job.Recvs)), Collectives: spreadOf(g.Stats(job.Colls)),
		Sent: spreadOf(g.Stats(sent)), Received: spreadOf(g.Stats(received)), Unknown: spreadOf(g.Stats(job.Unknown))}
	if z := g.Sizes(); !z.None() {
		c.Sizes = &z
	}
	if op, ok := mpi.ParseOp(g.Name); ok {
		c.Communicates = op.Info().Communicates
	}
	if least, most, ok := g.CallBytes(by); ok {
		all, sized := g.Stats(both), g.Stats(job.Sized)
		c.Bytes = &CallBytes{Min: least, Max: most}
		if n := sized.Total(); n > 0 {
			c.Bytes.Mean = all.Total() / n
		}
	}
	return c
}

// insides returns, by region, what lies directly in the region. Key -1 is the program.
func insides(j *job.Job) map[int][]Inner {
	type pair struct{ in, region int }
	executions := map[pair]int64{}
	for i := range j.Paths.Samples {
		s := &j.Paths.Samples[i]
		if n := j.Paths.Nodes[s.Node]; n.Region >= 0 {
			executions[pair{j.Paths.Nodes[n.Parent].Region, n.Region}] += s.Values[job.SelfC]
		}
	}
	out := map[int][]Inner{}
	for p, n := range executions {
		out[p.in] = append(out[p.in], Inner{p.region + 1, n})
	}
	for in := range out {
		slices.SortFunc(out[in], func(a, b Inner) int { return cmp.Compare(a.Region, b.Region) })
	}
	return out
}
