// Package signature writes the signature of an application (Adhianto and Chapman, 2007): what a run
// executed, independently of how long the runtime and MPI took for that. The paper's signature comes
// from a compiler and holds estimates; this one comes from a recorded run and holds counts.
package signature

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"ompp-attach/efficiency"
	"ompp-attach/event"
	"ompp-attach/job"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// version grows when a reader of the older version would misread the newer.
const version = 1

// The types below are docs/efficiency.md's.
type (
	signature struct {
		Version    int      `json:"version"`
		Tool       string   `json:"tool"`
		Program    string   `json:"program"`
		Arguments  string   `json:"arguments"`
		Library    string   `json:"mpi_library,omitempty"`
		Size       int      `json:"mpi_size,omitempty"`
		Ranks      int      `json:"ranks"`
		Missing    int      `json:"missing,omitempty"`
		Accounting string   `json:"accounting"`
		Estimated  []string `json:"estimated"`
		Threads    spread   `json:"threads"`
		Runtime    spread   `json:"runtime_ns"`
		Serial     spread   `json:"serial_work_ns"`
		Inside     []inner  `json:"inside,omitempty"` // directly in the program
		Regions    []region `json:"regions"`
		Calls      []call   `json:"calls"`
		Notes      []string `json:"notes"`
	}
	// spread is a figure over ranks. Ranks without it count with 0.
	spread struct {
		Sum    json.Number `json:"sum"`
		Min    int64       `json:"min"`
		Mean   float64     `json:"mean"`
		Max    int64       `json:"max"`
		StdDev float64     `json:"stddev"`
	}
	region struct {
		Region     int               `json:"region"`
		Construct  event.Construct   `json:"construct"`
		Name       string            `json:"name,omitempty"`
		Location   profile.Location  `json:"location"`
		Reached    int               `json:"reached"` // ranks
		Executions spread            `json:"executions"`
		Bodies     spread            `json:"bodies"`
		Work       spread            `json:"work_ns"`
		Team       int               `json:"team,omitempty"`   // of parallel regions: threads of the largest team
		Starts     uint64            `json:"starts,omitempty"` // of parallel regions: teams
		Counters   map[string]spread `json:"counters,omitempty"`
		Inside     []inner           `json:"inside,omitempty"`
	}
	// inner is a construct or call directly in a region, with its executions there.
	inner struct {
		Region     int   `json:"region"`
		Executions int64 `json:"executions"`
	}
	call struct {
		Region       int              `json:"region"`
		Operation    string           `json:"operation"`
		Location     profile.Location `json:"location"`
		Communicates bool             `json:"communicates"`
		Reached      int              `json:"reached"` // ranks
		Calls        spread           `json:"calls"`
		Sends        spread           `json:"sends"`
		Receives     spread           `json:"receives"`
		Collectives  spread           `json:"collectives"`
		Sent         spread           `json:"sent_bytes"`
		Received     spread           `json:"received_bytes"`
		Bytes        *callBytes       `json:"bytes,omitempty"`  // of a call; absent: it moves none, or none are known
		Unknown      spread           `json:"unknown,omitzero"` // calls whose bytes are not known
	}
	callBytes struct {
		Min  uint64  `json:"min"`
		Mean float64 `json:"mean"`
		Max  uint64  `json:"max"`
	}
)

func spreadOf(s job.Stats) spread {
	return spread{json.Number(s.Sum.String()), s.Min, s.Mean, s.Max, s.StdDev}
}

// Write writes the signature of a job, which has been read with its paths, as JSON.
func Write(w io.Writer, j *job.Job, by mpi.Accounting) error {
	first := &j.Ranks[0]
	run := j.Efficiency()
	out := signature{Version: version, Tool: first.Tool, Program: first.Program, Arguments: first.Efficiency.Args, Library: first.MPI.Library, Size: j.Size,
		Ranks: len(j.Ranks), Missing: run.Missing, Accounting: by.String(), Estimated: []string{"work_ns"},
		Threads: spreadOf(j.RankStats(func(r *job.Rank) int64 { return int64(r.Threads) })),
		Runtime: spreadOf(j.RankStats(func(r *job.Rank) int64 { return r.Efficiency.Wall })),
		Serial:  spreadOf(j.RankStats(func(r *job.Rank) int64 { return r.Efficiency.Parts[efficiency.Serial] })),
		Regions: []region{}, Calls: []call{}, Notes: []string{}}
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
		r := region{Region: i + 1, Construct: g.Construct, Name: g.Name, Location: g.Location, Reached: g.Reached, Executions: spreadOf(g.Stats(job.ExecC)),
			Bodies: spreadOf(g.Stats(job.BodyC)), Work: spreadOf(g.Stats(job.WorkT)), Team: f.Threads, Starts: f.Starts, Inside: inside[i]}
		for _, c := range g.Counters() {
			if r.Counters == nil {
				r.Counters = map[string]spread{}
			}
			r.Counters[c.Name] = spreadOf(c.Stats)
		}
		out.Regions = append(out.Regions, r)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(&out); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return nil
}

func callOf(g *job.Region, number int, by mpi.Accounting) call {
	sent, received, both := job.Volumes(by)
	c := call{Region: number, Operation: g.Name, Location: g.Location, Reached: g.Reached, Calls: spreadOf(g.Stats(job.Calls)),
		Sends: spreadOf(g.Stats(job.Sends)), Receives: spreadOf(g.Stats(job.Recvs)), Collectives: spreadOf(g.Stats(job.Colls)),
		Sent: spreadOf(g.Stats(sent)), Received: spreadOf(g.Stats(received)), Unknown: spreadOf(g.Stats(job.Unknown))}
	if op, ok := mpi.ParseOp(g.Name); ok {
		c.Communicates = op.Info().Communicates
	}
	if least, most, ok := g.CallBytes(by); ok {
		all, sized := g.Stats(both), g.Stats(job.Sized)
		c.Bytes = &callBytes{Min: least, Max: most}
		if n := sized.Total(); n > 0 {
			c.Bytes.Mean = all.Total() / n
		}
	}
	return c
}

// insides returns, by region, what lies directly in the region. Key -1 is the program.
func insides(j *job.Job) map[int][]inner {
	type pair struct{ in, region int }
	executions := map[pair]int64{}
	for i := range j.Paths.Samples {
		s := &j.Paths.Samples[i]
		if n := j.Paths.Nodes[s.Node]; n.Region >= 0 {
			executions[pair{j.Paths.Nodes[n.Parent].Region, n.Region}] += s.Values[job.SelfC]
		}
	}
	out := map[int][]inner{}
	for p, n := range executions {
		out[p.in] = append(out[p.in], inner{p.region + 1, n})
	}
	for in := range out {
		slices.SortFunc(out[in], func(a, b inner) int { return cmp.Compare(a.Region, b.Region) })
	}
	return out
}
