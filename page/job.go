package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
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
	Figures json.RawMessage `json:"figures"` // job.json
	Head    JobHead         `json:"head"`
	Summary []report.Fact   `json:"summary"`
	Whole   Parts           `json:"whole"` // of the time of all threads of all ranks
	// Efficiency is POP's multiplicative tree; null: Untold says why there is none.
	Efficiency *Efficiency   `json:"efficiency"`
	Untold     string        `json:"untold,omitempty"`
	Findings   []Finding     `json:"findings"`        // worst first
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
	Probes    *int64   `json:"probe_ns"` // that probes took; null: not known of all ranks
	Lost      uint64   `json:"lost_events"`
	Adjusted  bool     `json:"adjusted"`
}

// littleOfJob is the share of all threads' time below which a region's class is no finding.
const littleOfJob = 0.001

// jobKinds describe the overhead classes of a job's regions.
var jobKinds = []struct {
	figure job.Figure
	kind
}{
	{job.Synch, kind{"synch", "Threads wait for each other in %s", "Hold locks for less time, do less in critical sections, and drop barriers that nothing needs.", longest}},
	{job.Imbal, kind{"imbal", "Threads wait at the end of %s: their work is divided unevenly", "Divide the threads' work more evenly: another schedule, smaller chunks, or collapse for loops with few iterations.", evenly}},
	{job.Limpar, kind{"limpar", "Threads have too little to do in %s", "Give all threads work: more sections, fewer singles, tasks.", evenly}},
	{job.Mgmt, kind{"mgmt", "The runtime takes time for %s", "Use fewer, longer parallel regions, and coarser tasks.", longest}},
	{job.MPIOver, kind{"mpi", "Threads are in %s", "See which ranks come late; let messages overlap with work; send fewer and larger ones.", longest}},
	{job.NoCore, kind{"no_core", "Threads are ready to run in %s, but others have the cores", "Use as many threads as there are cores, and bind ranks and threads.", longest}},
}

func ofJob(j *job.Job, o report.Options) (*Job, error) {
	var figures bytes.Buffer
	if err := jobs.WriteJSON(&figures, j, o); err != nil {
		return nil, err
	}
	out := &Job{Version: Version, Kind: "job", Figures: figures.Bytes(), Head: jobHead(j), Summary: jobs.Summary(j, o),
		Nodes: jobNodes(j), Trees: treesOf(j.Severity), Strip: stripOfJob(j), When: o.When, Findings: []Finding{}, Places: []string{}, Notes: []report.Note{}}
	out.Efficiency, out.Untold = efficiencyOf(j.Efficiency())
	for i := range j.Ranks {
		r := &j.Ranks[i]
		whole := partsOfRank(r)
		sumParts(&out.Whole, &whole)
	}
	joint := &joint{wall: out.Head.Wall}
	for i, g := range j.Regions {
		out.Places = append(out.Places, words.Region(&g.Region))
		if out.Untold == "" {
			out.jobFindings(j, i, g, joint)
		}
	}
	out.Findings = joint.among(out.Findings, jobKinds[len(jobKinds)-1].says)
	slices.SortStableFunc(out.Findings, func(a, b Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	if notes := jobs.Notes(j); len(notes) > 0 {
		out.Notes = append(out.Notes, report.Note{Items: notes})
	}
	return out, nil
}

// partsOfRank returns the parts of all threads' time of a rank. web/data.ts has the same.
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
	}
	if h.Hosts = len(hosts); known {
		h.Probes = &probes
	}
	return h
}

// jobFindings adds the classes of a region that cost time. Time without a core goes to the joint
// finding.
func (out *Job) jobFindings(j *job.Job, number int, g *job.Region, joint *joint) {
	threads := map[int]int{}
	for i := range j.Ranks {
		threads[j.Ranks[i].Rank] = j.Ranks[i].Threads
	}
	for _, k := range jobKinds {
		s := g.Stats(k.figure)
		t := s.Total()
		severity := t / max(1, float64(out.Head.Thread))
		if severity < littleOfJob {
			continue
		}
		place := fmt.Sprintf("%s %s", g.Construct, out.Places[number])
		f := Finding{Name: k.figure.String(), Region: number + 1, Class: k.class, Time: int64(t), Severity: severity, Core: 1, Helps: k.helps,
			Says:  fmt.Sprintf(k.says, place),
			Saves: s.Max}
		if k.saves == evenly {
			f.Saves = s.Max / int64(max(1, threads[s.MaxRank]))
		}
		f.Saves = min(f.Saves, out.Head.Wall)
		if len(j.Ranks) > 1 {
			f.Most = &Extreme{fmt.Sprint(s.MaxRank), s.Max}
			f.Least = &Extreme{fmt.Sprint(s.MinRank), s.Min}
		}
		if k.figure == job.NoCore {
			joint.add(f, place, nil)
			continue
		}
		out.Findings = append(out.Findings, f)
	}
}
