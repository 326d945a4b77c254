package page

import (
	"bytes"
	"encoding/json"
	"slices"

	"ompp-attach/job"
	"ompp-attach/report"
	"ompp-attach/report/jobs"
	"ompp-attach/report/when"
	"ompp-attach/report/words"
)

// Job holds the figures of a job's page.
type Job struct {
	Version int             `json:"version"`
	Kind    string          `json:"kind"`    // "job"
	Figures json.RawMessage `json:"figures"` // the same as in job.json
	Head    JobHead         `json:"head"`
	Summary []report.Fact   `json:"summary"`
	Whole   Parts           `json:"whole"` // of the time of all threads of all ranks
	// Efficiency is POP's multiplicative tree; null: Untold says why there is none.
	Efficiency *Efficiency   `json:"efficiency"`
	Untold     string        `json:"untold,omitempty"`
	Findings   []Finding     `json:"findings"`        // worst first
	Small      int           `json:"small"`           // as of a process
	Nodes      []Node        `json:"nodes,omitempty"` // call paths; nodes[0] is the program
	Trees      *Trees        `json:"trees,omitempty"`
	Strip      *Strip        `json:"strip,omitempty"` // of ranks
	When       *when.Picture `json:"when,omitempty"`  // as of a process
	// The places of the regions, as the text report names them.
	Places []string      `json:"places"`
	Notes  []report.Note `json:"notes"`
}

// JobHead says what ran. Times are in ns.
type JobHead struct {
	Programs  []string `json:"programs"`
	Hosts     int      `json:"hosts"`
	Libraries []string `json:"libraries"`
	Ranks     int      `json:"ranks"` // that were read
	Size      int      `json:"size"`  // of MPI_COMM_WORLD; 0: not known
	Threads   int      `json:"threads"`
	Wall      int64    `json:"wall_ns"` // of the rank that ran longest
	Thread    int64    `json:"thread_ns"`
	Probes    *int64   `json:"probe_ns"`      // that probes took; null: not known of all ranks
	Lowered   bool     `json:"probe_lowered"` // of some rank the processor time bounds it
	Lost      uint64   `json:"lost_events"`
	Adjusted  bool     `json:"adjusted"`
}

func ofJob(j *job.Job, o report.Options) (*Job, error) {
	var figures bytes.Buffer
	if err := jobs.WriteJSON(&figures, j, o); err != nil {
		return nil, err
	}
	out := &Job{Version: Version, Kind: "job", Figures: figures.Bytes(), Head: jobHead(j), Summary: jobs.Summary(j, o),
		Nodes: jobNodes(j), Trees: treesOf(j.Severity), Strip: stripOfJob(j), When: o.When, Places: []string{}, Notes: []report.Note{}}
	out.Efficiency, out.Untold = efficiencyOf(j.Efficiency())
	for i := range j.Ranks {
		r := &j.Ranks[i]
		whole := partsOfRank(r)
		sumParts(&out.Whole, &whole)
	}
	for _, g := range j.Regions {
		out.Places = append(out.Places, words.Region(&g.Region))
	}
	out.Findings, out.Small = findingsOf(j.Severity)
	if notes := jobs.Notes(j); len(notes) > 0 {
		out.Notes = append(out.Notes, report.Note{Items: notes})
	}
	return out, nil
}

// partsOfRank returns the parts of all threads' time of a rank. web/data.ts has the same function.
func partsOfRank(r *job.Rank) Parts {
	p := Parts{Work: r.Work, Serial: r.SerialWork, Idle: r.Idle}
	p.addClasses(r.Overheads)
	return p
}

func jobHead(j *job.Job) JobHead {
	h := JobHead{Ranks: len(j.Ranks), Size: j.Size, Adjusted: true, Programs: []string{}, Libraries: []string{}}
	hosts := map[string]bool{}
	var probes int64
	known := true
	once := func(to *[]string, s string) {
		if s = clean(s); s != "" && !slices.Contains(*to, s) {
			*to = append(*to, s)
		}
	}
	for i := range j.Ranks {
		r := &j.Ranks[i]
		once(&h.Programs, r.Program)
		once(&h.Libraries, r.MPI.Library)
		hosts[r.Host] = true
		h.Threads += r.Threads
		h.Wall = max(h.Wall, r.Wall)
		h.Thread += r.ThreadTime
		h.Lost += r.LostHits
		h.Adjusted = h.Adjusted && r.Adjusted
		probes += r.ProbeCost
		known = known && r.CostKnown
		h.Lowered = h.Lowered || r.CostLowered
	}
	if h.Hosts = len(hosts); known {
		h.Probes = &probes
	}
	return h
}
