package efficiencies

import (
	"encoding/json"
	"fmt"
	"io"

	"ompp-attach/efficiency"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// jsonVersion grows when a reader of the older version would misread the newer.
const jsonVersion = 1

// The types below are docs/efficiency.md's.
type (
	runJSON struct {
		Version int    `json:"version"`
		Program string `json:"program"`
		Ranks   int    `json:"ranks"` // 0: the process used no MPI
		Missing int    `json:"missing,omitempty"`
		*Overview
		Processes []processJSON `json:"processes"`
		Regions   []regionJSON  `json:"regions"`
		Notes     []string      `json:"notes"`
	}
	// Overview holds the figures of a whole run in JSON.
	Overview struct {
		Threads int     `json:"threads"`
		Runtime int64   `json:"runtime_ns"`
		EMT     float64 `json:"e_mt"`
		// Names of the figures that are estimates.
		Estimated      []string         `json:"estimated"`
		Parts          map[string]int64 `json:"parts_ns"`
		Most           map[string]int   `json:"most"` // by part, the region that takes most of it
		Multiplicative Metric           `json:"pop_multiplicative"`
		Additive       Metric           `json:"pop_additive"`
		TALP           talpJSON         `json:"talp"`
	}
	// Metric is a metric in JSON, with those that it consists of.
	Metric struct {
		Key    string   `json:"key"`
		Name   string   `json:"name"`
		Value  float64  `json:"value"`
		Region int      `json:"region,omitempty"`
		Of     []Metric `json:"of,omitempty"`
	}
	processJSON struct {
		Rank          int              `json:"rank"`
		Host          string           `json:"host"`
		PID           int              `json:"pid"`
		Threads       int              `json:"threads"`
		Callers       int              `json:"mpi_threads"`
		Wall          int64            `json:"wall_ns"`
		StartEnd      int64            `json:"mpi_start_end_ns"`
		Parallel      int64            `json:"in_openmp_ns"`
		OutMPI        int64            `json:"out_mpi_ns"`
		Communication int64            `json:"communication_ns"`
		MaxUseful     int64            `json:"max_useful_ns"`
		EMT           float64          `json:"e_mt"`
		Parts         map[string]int64 `json:"parts_ns"`
	}
	regionJSON struct {
		Region    int              `json:"region"`
		Construct event.Construct  `json:"construct"`
		Name      string           `json:"name,omitempty"`
		Location  profile.Location `json:"location"`
		Own       map[string]int64 `json:"own_ns,omitempty"` // the region's own losses
		// Of parallel regions.
		EMT     *float64         `json:"e_mt,omitempty"`
		Parts   map[string]int64 `json:"parts_ns,omitempty"`
		Wall    int64            `json:"wall_ns,omitempty"`
		Threads int              `json:"threads,omitempty"`
		Starts  uint64           `json:"starts,omitempty"`
	}
)

// partsJSON returns the parts that are not 0.
func partsJSON(p *efficiency.Parts) map[string]int64 {
	out := map[string]int64{}
	for part := range efficiency.NumParts {
		if p[part] != 0 {
			out[part.Key()] = p[part]
		}
	}
	return out
}

func metricJSON(m efficiency.Metric) Metric {
	out := Metric{Key: m.Key, Name: m.Name, Value: m.Value, Region: m.Region}
	for _, of := range m.Of {
		out.Of = append(out.Of, metricJSON(of))
	}
	return out
}

// OverviewOf returns the figures of a whole run; nil: they cannot be told (efficiency.Run.Hidden).
func OverviewOf(r *efficiency.Run) *Overview {
	if r.Hidden() != nil {
		return nil
	}
	whole := r.Whole()
	out := &Overview{Threads: r.Threads(), Runtime: r.Runtime, EMT: whole.Efficiency(), Estimated: []string{estimates(r)}, Parts: partsJSON(&whole),
		Most: map[string]int{}, Multiplicative: metricJSON(r.Multiplicative()), Additive: metricJSON(r.Additive()), TALP: talpRegion(r.TALP())}
	for part := range efficiency.NumParts {
		if most, _ := r.Most(part); most != nil {
			out.Most[part.Key()] = most.Number
		}
	}
	return out
}

// WriteJSON writes the run as docs/efficiency.md describes.
func WriteJSON(w io.Writer, r *efficiency.Run, _ Options) error {
	out := runJSON{Version: jsonVersion, Program: r.Program, Missing: r.Missing, Overview: OverviewOf(r), Regions: []regionJSON{}, Notes: Notes(r)}
	if r.UsesMPI() {
		out.Ranks = len(r.Processes)
	}
	for i := range r.Processes {
		p := &r.Processes[i]
		out.Processes = append(out.Processes, processJSON{Rank: p.Rank, Host: p.Host, PID: p.PID, Threads: p.Threads, Callers: p.Callers, Wall: p.Wall,
			StartEnd: p.StartEnd, Parallel: p.Parallel, OutMPI: p.OutMPI, Communication: p.Communication, MaxUseful: p.MaxUseful,
			EMT: p.Parts.Efficiency(), Parts: partsJSON(&p.Parts)})
	}
	for i := range r.Regions {
		g := &r.Regions[i]
		line := regionJSON{Region: g.Number, Construct: g.Construct, Name: g.Name, Location: g.Location, Own: partsJSON(&g.Own)}
		if g.Construct.IsParallel() && g.Team.Sum() > 0 {
			e := g.Team.Efficiency()
			line.EMT, line.Parts, line.Wall, line.Threads, line.Starts = &e, partsJSON(&g.Team), g.Wall, g.Threads, g.Starts
		}
		out.Regions = append(out.Regions, line)
	}
	return encode(w, out)
}

func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return nil
}
