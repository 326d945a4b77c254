package jobs

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"time"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/job"
	"ompp-attach/job/spread"
	"ompp-attach/mpi"
	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/report/efficiencies"
)

// jobVersion grows whenever a reader of the old version would misread the new one.
const jobVersion = 1

// docs/job.md describes the types below.
type (
	jobJSON struct {
		Version    int            `json:"version"`
		Size       int            `json:"size"`
		Missing    []int          `json:"missing"`
		Accounting string         `json:"accounting"`
		Rule       ruleJSON       `json:"rule"`
		Summary    summaryJSON    `json:"summary"`
		Quantities []quantityJSON `json:"quantities"`
		Exchange   exchangeJSON   `json:"exchange"`
		Ranks      []rankJSON     `json:"ranks"`
		Regions    []regionJSON   `json:"regions"`
		ByRank     byRankJSON     `json:"by_rank"`

		// Efficiency is null if it cannot be told: see the notes.
		Efficiency *efficiencies.Overview `json:"efficiency"`
		Traffic    *trafficJSON           `json:"traffic,omitempty"`
		Rivals     []rivalJSON            `json:"rivals,omitempty"`
		Notes      []string               `json:"notes"`
	}
	ruleJSON struct {
		StdDev   float64 `json:"differs_stddev"`
		Range    float64 `json:"differs_range"`
		Count    float64 `json:"differs_count"`
		InStep   float64 `json:"in_step"`
		MinRanks int     `json:"min_ranks"`
	}
	statsJSON struct {
		Sum     *big.Int `json:"sum"`
		Min     int64    `json:"min"`
		MinRank int      `json:"min_rank"`
		Mean    float64  `json:"mean"`
		Max     int64    `json:"max"`
		MaxRank int      `json:"max_rank"`
		StdDev  float64  `json:"stddev"`
	}
	quantityJSON struct {
		Name    string  `json:"name"`
		Whole   float64 `json:"whole_ns"`
		Verdict string  `json:"verdict"`
		statsJSON
	}
	summaryJSON struct {
		Slow     []int     `json:"slow"`
		InMPI    statsJSON `json:"in_mpi"`
		Excess   float64   `json:"excess_ns"`
		Where    int       `json:"where,omitempty"`
		Function string    `json:"function,omitempty"`
		Why      string    `json:"why,omitempty"`
		Waits    int       `json:"waits,omitempty"`
	}
	exchangeJSON struct {
		ImbalMPI *float64 `json:"imbal_mpi"` // correlations; null: not known
		WorkMPI  *float64 `json:"work_mpi"`
		Trade    bool     `json:"trade"`
		Steady   bool     `json:"steady"`
	}
	rankJSON struct {
		Rank      int              `json:"rank"`
		Ended     string           `json:"ended,omitempty"`
		Exit      int              `json:"exit,omitempty"`
		Snapshot  time.Time        `json:"snapshot_at,omitzero"`
		File      string           `json:"file"`
		Host      string           `json:"host"`
		Program   string           `json:"program"`
		PID       int              `json:"pid"`
		Start     time.Time        `json:"start"`
		Library   string           `json:"library,omitempty"`
		Threads   int              `json:"threads"`
		Wall      int64            `json:"wall_ns"`
		Parallel  int64            `json:"parallel_ns"`
		User      int64            `json:"user_ns"`
		System    int64            `json:"sys_ns"`
		Thread    int64            `json:"thread_ns"`
		Serial    int64            `json:"serial_ns"`
		Idle      int64            `json:"idle_ns"`
		Work      int64            `json:"work_ns"` // in regions, in no overhead class
		SerialOwn int64            `json:"serial_work_ns"`
		MPI       int64            `json:"mpi_ns"`
		StartEnd  int64            `json:"mpi_start_end_ns"` // in calls that begin or end MPI
		NoCore    int64            `json:"no_core_ns"`
		Overheads map[string]int64 `json:"overheads_ns"`
		Calls     map[string]int64 `json:"calls"`
		Lost      uint64           `json:"lost_events"`
		Partial   uint64           `json:"partial"`
		Edges     profile.Edges    `json:"edges,omitzero"`
		Probes    *int64           `json:"probe_ns"`                // null: not known
		Lowered   bool             `json:"probe_lowered,omitempty"` // by the processor time
		Adjusted  bool             `json:"adjusted"`
	}
	regionJSON struct {
		Region    int                   `json:"region"`
		Construct event.Construct       `json:"construct"`
		Name      string                `json:"name,omitempty"`
		Location  profile.Location      `json:"location"`
		Reached   int                   `json:"reached"`
		Lossy     uint64                `json:"lossy,omitempty"`
		Figures   map[string]*statsJSON `json:"figures"`
		Counters  map[string]*statsJSON `json:"counters,omitempty"`
		Calls     *callJSON             `json:"call_bytes,omitempty"`
		Sizes     *profile.BySize       `json:"sizes,omitempty"` // of messages
		// An MPI call that begins or ends MPI.
		StartEnd bool               `json:"start_end,omitempty"`
		Reading  string             `json:"reading,omitempty"`
		Shares   map[string]float64 `json:"shares,omitempty"`
		Between  float64            `json:"between_ns"`
		Within   float64            `json:"within_ns"`
		InStep   map[string]float64 `json:"correlations,omitempty"`
	}
	callJSON struct {
		Min  uint64  `json:"min"`
		Mean float64 `json:"mean"`
		Max  uint64  `json:"max"`
	}
)

// WriteJSON writes the job as docs/job.md describes.
func WriteJSON(w io.Writer, j *job.Job, o report.Options) error {
	x := j.Exchange()
	out := jobJSON{Version: jobVersion, Size: j.Size, Missing: append([]int{}, j.Missing()...), Accounting: o.Volumes.String(),
		Rule:       ruleJSON{job.DiffersStdDev, job.DiffersRange, job.DiffersCount, job.InStep, job.MinRanks},
		Summary:    summaryToJSON(j.Summary(o.Volumes)),
		Exchange:   exchangeJSON{known(x.ImbalMPI), known(x.WorkMPI), x.Trade, x.Steady},
		Efficiency: efficiencies.OverviewOf(j.Efficiency()),
		Notes:      append([]string{}, j.Troubles()...), Regions: []regionJSON{}}
	for _, q := range j.Quantities() {
		out.Quantities = append(out.Quantities, quantityJSON{q.Name, q.Whole, q.Verdict.String(), *toJSON(q.Stats)})
	}
	for i := range j.Ranks {
		r := &j.Ranks[i]
		c := &r.Overheads
		line := rankJSON{Rank: r.Rank, Ended: r.Ended, Exit: r.Exit, Snapshot: r.SnapshotAt, File: r.File, Host: r.Host, Program: r.Program, PID: r.PID, Start: r.Start, Library: r.MPI.Library,
			Threads: r.Threads, Wall: r.Wall, Parallel: r.Parallel, User: r.User, System: r.System, Thread: r.ThreadTime, Serial: r.Serial, Idle: r.Idle, Work: r.Work, SerialOwn: r.SerialWork, MPI: r.MPITime, StartEnd: r.StartEnd, NoCore: r.NoCore,
			Overheads: map[string]int64{"synch": c.Synch, "imbal": c.Imbal, "limpar": c.Limpar, "mgmt": c.Mgmt, "mpi": c.MPI, "no_core": c.NoCore, "sum": c.Sum()},
			Calls:     map[string]int64{}, Lost: r.LostHits, Partial: r.Partial, Edges: r.Edges}
		if line.Adjusted = r.Adjusted; r.CostKnown {
			line.Probes, line.Lowered = &r.ProbeCost, r.CostLowered
		}
		for _, f := range callFigures {
			line.Calls[f.String()] = r.Calls[f]
		}
		out.Ranks = append(out.Ranks, line)
	}
	for i, g := range j.Regions {
		out.Regions = append(out.Regions, regionToJSON(g, i, o.Volumes))
	}
	out.ByRank = byRankToJSON(j)
	out.Traffic, out.Rivals = trafficToJSON(j), rivalsToJSON(j)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(&out); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return nil
}

func regionToJSON(g *job.Region, i int, by mpi.Accounting) regionJSON {
	r := regionJSON{Region: i + 1, Construct: g.Construct, Name: g.Name, Location: g.Location, Reached: g.Reached, Lossy: g.Lossy, StartEnd: analysis.StartsEnds(&g.Region),
		Figures: map[string]*statsJSON{}}
	for f := range job.NumFigures {
		if s := g.Stats(f); s.Min != 0 || s.Max != 0 {
			r.Figures[f.String()] = toJSON(s)
		}
	}
	for _, c := range g.Counters() {
		if r.Counters == nil {
			r.Counters = map[string]*statsJSON{}
		}
		r.Counters[c.Name] = toJSON(c.Stats)
	}
	if least, most, ok := g.CallBytes(by); ok {
		_, _, both := job.Volumes(by)
		b, c := g.Stats(both), g.Stats(job.Sized)
		r.Calls = &callJSON{least, ratio(b.Total(), c.Total()), most}
	}
	r.Sizes = sizesToJSON(g.Sizes())
	e := g.Explain(by)
	r.Between, r.Within = e.Between, e.Within
	if e.Varies || e.Level {
		r.Reading = e.Reading.String()
	}
	if e.Varies {
		r.Shares = map[string]float64{}
		for k, part := range job.Parts {
			r.Shares[part.String()] = e.Shares[k]
		}
	}
	r.InStep = map[string]float64{}
	for name, c := range map[string]job.Correlation{"work_execs": e.WithExecs, "work_bodies": e.WithBodies,
		"work_bytes": e.WithBytes, "work_mpi": e.WorkMPI, "wait_mpi": e.WaitMPI} {
		if c.Known {
			r.InStep[name] = c.R
		}
	}
	return r
}

func toJSON(s spread.Stats) *statsJSON {
	return &statsJSON{s.Sum, s.Min, s.MinRank, s.Mean, s.Max, s.MaxRank, s.StdDev}
}

func known(c job.Correlation) *float64 {
	if !c.Known {
		return nil
	}
	return &c.R
}

func summaryToJSON(s job.Summary) summaryJSON {
	out := summaryJSON{Slow: append([]int{}, s.Slow...), InMPI: *toJSON(s.InMPI), Waits: s.Waits + 1}
	if len(s.Slow) > 0 {
		out.Excess, out.Where, out.Function, out.Why = s.Excess, s.Where+1, s.Function, s.Why.String()
	}
	return out
}
