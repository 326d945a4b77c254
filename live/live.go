// Package live shows a measurement while it goes on. From one snapshot to the next it tells what
// happened in between, by class, region and thread. Figures of a window are differences between
// figures of the two snapshots, as reports would have them. So all windows add up to the final
// profile's figures. A snapshot may count time as work that later turns out to be, for example,
// time without a core. So a short window may have a time below 0. Times are in nanoseconds. The
// package does no input or output of its own.
package live

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"ompp-attach/analysis"
	"ompp-attach/profile"
)

// Times are the times of threads, by what the threads did.
type Times struct {
	Work   int64 `json:"work"` // in regions, in no class of overhead
	Serial int64 `json:"serial"`
	Synch  int64 `json:"synch"`
	Imbal  int64 `json:"imbal"`
	Limpar int64 `json:"limpar"`
	Mgmt   int64 `json:"mgmt"`
	MPI    int64 `json:"mpi"`
	NoCore int64 `json:"no_core"`
	Idle   int64 `json:"idle"` // of workers, outside of all regions
}

// Waiting returns the time in which threads waited for each other.
func (t *Times) Waiting() int64 { return t.Synch + t.Imbal + t.Limpar }

// Own returns the time in regions.
func (t *Times) Own() int64 { return t.Sum() - t.Serial - t.Idle }

// Sum returns all time.
func (t *Times) Sum() int64 {
	return t.Work + t.Serial + t.Synch + t.Imbal + t.Limpar + t.Mgmt + t.MPI + t.NoCore + t.Idle
}

// each calls f for each of the times of t and of o.
func (t *Times) each(o *Times, f func(t *int64, o int64)) {
	for _, x := range [...]struct {
		t *int64
		o int64
	}{{&t.Work, o.Work}, {&t.Serial, o.Serial}, {&t.Synch, o.Synch}, {&t.Imbal, o.Imbal}, {&t.Limpar, o.Limpar},
		{&t.Mgmt, o.Mgmt}, {&t.MPI, o.MPI}, {&t.NoCore, o.NoCore}, {&t.Idle, o.Idle}} {
		f(x.t, x.o)
	}
}

func (t *Times) add(o Times)      { t.each(&o, func(t *int64, o int64) { *t += o }) }
func (t *Times) subtract(o Times) { t.each(&o, func(t *int64, o int64) { *t -= o }) }

// Figures are the times and executions of a region.
type Figures struct {
	Times
	Count int64 `json:"count"`
}

// Region is a region of a program, over all its processes.
type Region struct {
	Title     string  `json:"title"`
	Construct string  `json:"construct"`
	File      string  `json:"file,omitempty"`
	Begin     int     `json:"begin,omitempty"`
	End       int     `json:"end,omitempty"`
	Function  string  `json:"function,omitempty"`
	Window    Figures `json:"window"`
	Total     Figures `json:"total"`
	// Threads are the threads' times in the region, in the order of Update.Threads.
	Threads []ThreadTimes `json:"threads"`
}

// ThreadTimes are a thread's times within a region.
type ThreadTimes struct {
	Window Times `json:"window"`
	Total  Times `json:"total"`
}

// Thread is a row of threads of a process.
type Thread struct {
	PID  int `json:"pid"`
	Rank int `json:"rank"` // -1: none
	// The number in its team, after the number of its initial thread if there are several.
	Name   string `json:"name"`
	State  string `json:"state"`
	Window Times  `json:"window"`
	Total  Times  `json:"total"`
}

// Process is a measured process.
type Process struct {
	PID     int    `json:"pid"`
	Rank    int    `json:"rank"` // -1: none
	Program string `json:"program"`
	Host    string `json:"host"`
	Ended   string `json:"ended,omitempty"` // how, in words; empty: it runs
	Hits    uint64 `json:"hits"`
	Lost    uint64 `json:"lost_hits"`
	Window  Times  `json:"window"`
	Total   Times  `json:"total"`
}

// Update is what happened in a window, and since the measurement began.
type Update struct {
	Version   int       `json:"version"`
	At        time.Time `json:"at"`        // the window's end
	Wall      int64     `json:"window_ns"` // its length: the greatest of all processes
	Measured  int64     `json:"measured_ns"`
	Final     bool      `json:"final"` // the measurement is over
	Window    Times     `json:"window"`
	Total     Times     `json:"total"`
	Processes []Process `json:"processes"`
	Threads   []Thread  `json:"threads"`
	Regions   []*Region `json:"regions"` // by own time in the window, the most first
}

// Version is the version of updates as JSON. It grows if readers of the older version would misread
// the newer one.
const Version = 1

// Tracker makes updates of snapshots.
type Tracker struct {
	Rules  analysis.Rules
	Raw    bool // times include the time that probes took
	before map[processID]*state
	order  []processID // in which processes came
	named  map[profile.RegionID]profile.Region
}

type processID struct {
	pid   int
	start int64
}

// state holds the figures of a process, from its beginning to a snapshot.
type state struct {
	process  Process
	wall     int64
	rows     []Thread
	ids      []rowID // of rows
	regions  map[profile.RegionID]Figures
	inRegion map[profile.RegionID]map[rowID]Times
	threads  map[rowID]Times
	sharing
}

// Next returns what happened since the last call. profiles are the snapshots of all processes, or
// the final profiles. If a process is missing, nothing has happened in it: a process that is ending
// has no snapshot.
func (t *Tracker) Next(at time.Time, profiles []*profile.Profile, final bool) *Update {
	now := map[processID]*state{}
	if t.named == nil {
		t.named = map[profile.RegionID]profile.Region{}
	}
	for _, p := range profiles {
		if !t.Raw {
			p = analysis.Adjust(p)
		}
		id := processID{p.Meta.PID, p.Meta.Start.UnixNano()}
		if now[id] = t.stateOf(p); t.before[id] == nil {
			t.order = append(t.order, id)
		}
		for i := range p.Regions {
			t.named[p.Regions[i].ID()] = p.Regions[i]
		}
	}
	f := &Update{Version: Version, At: at, Final: final, Regions: []*Region{}, Processes: []Process{}, Threads: []Thread{}}
	regions := map[profile.RegionID]*Region{}
	for _, id := range t.order {
		if now[id] == nil {
			now[id] = t.before[id]
		}
		f.add(now[id], t.before[id], regions)
	}
	for id, x := range regions {
		r := t.named[id]
		x.Title, x.Construct, x.Function = Title(&r), r.Construct.String(), profile.Pasteable(r.Location.Function)
		x.File, x.Begin, x.End = profile.Pasteable(r.Location.File), r.Location.Begin, r.Location.End
		x.Threads = append(x.Threads, make([]ThreadTimes, len(f.Threads)-len(x.Threads))...)
		f.Regions = append(f.Regions, x)
	}
	slices.SortFunc(f.Regions, func(a, b *Region) int {
		return cmp.Or(cmp.Compare(b.Window.Own(), a.Window.Own()), cmp.Compare(b.Total.Own(), a.Total.Own()), cmp.Compare(a.Title, b.Title))
	})
	t.before = now
	return f
}

// add adds a process; before is nil if it is new.
func (f *Update) add(now, before *state, regions map[profile.RegionID]*Region) {
	if before == nil {
		before = &state{}
	}
	now.alignRows(before)
	f.Wall, f.Measured = max(f.Wall, now.wall-before.wall), max(f.Measured, now.wall)
	process := now.process
	process.Window = process.Total
	process.Window.subtract(before.process.Total)
	f.Processes = append(f.Processes, process)
	f.Total.add(process.Total)
	f.Window.add(process.Window)
	first := len(f.Threads)
	for i, th := range now.rows {
		th.Window = th.Total
		th.Window.subtract(before.threads[now.ids[i]])
		th.State = stateOf(&th.Window)
		f.Threads = append(f.Threads, th)
	}
	for id, total := range now.regions {
		x := regions[id]
		if x == nil {
			x = &Region{}
			regions[id] = x
		}
		was := before.regions[id]
		x.Total.add(total.Times)
		x.Window.add(total.Times)
		x.Window.subtract(was.Times)
		x.Total.Count += total.Count
		x.Window.Count += total.Count - was.Count
		x.Threads = append(x.Threads, make([]ThreadTimes, first-len(x.Threads))...)
		for _, row := range now.ids {
			in := ThreadTimes{Total: now.inRegion[id][row], Window: now.inRegion[id][row]}
			in.Window.subtract(before.inRegion[id][row])
			x.Threads = append(x.Threads, in)
		}
	}
}

// stateOf sums up what was measured of a process.
func (t *Tracker) stateOf(p *profile.Profile) *state {
	s := &state{wall: p.Meta.Duration, regions: map[profile.RegionID]Figures{}, inRegion: map[profile.RegionID]map[rowID]Times{}, threads: map[rowID]Times{},
		process: Process{PID: p.Meta.PID, Rank: -1, Program: profile.Pasteable(p.Meta.Program), Host: p.Meta.Host, Hits: p.Meta.Hits, Lost: p.Meta.LostHits},
		sharing: sharingOf(p)}
	if p.Meta.MPI != nil {
		s.process.Rank = p.Meta.MPI.Rank
	}
	if p.Meta.SnapshotAt.IsZero() {
		s.process.Ended = p.Meta.Ended
	}
	in := make([]Times, len(p.Threads))
	for i := range p.Nodes {
		n := &p.Nodes[i]
		classes := t.Rules.Classify(p, i)
		for k := range n.Stats {
			x, c := &n.Stats[k], &classes[k]
			o := Times{Synch: c.Synch, Imbal: c.Imbal, Limpar: c.Limpar, Mgmt: c.Mgmt, MPI: c.MPI, NoCore: c.NoCore}
			if i == 0 { // MPI calls in serial code, without regions of their own
				o.Serial = -o.Sum()
				in[x.Thread].add(o)
				continue
			}
			o.Work = max(0, x.Exec.T-x.Child) - o.Sum()
			in[x.Thread].add(o)
			region, row := p.Regions[n.Region].ID(), s.rowOf(&p.Threads[x.Thread])
			f := s.regions[region]
			f.Times.add(o)
			f.Count += int64(min(x.Exec.C, math.MaxInt64))
			s.regions[region] = f
			if s.inRegion[region] == nil {
				s.inRegion[region] = map[rowID]Times{}
			}
			o.add(s.inRegion[region][row])
			s.inRegion[region][row] = o
		}
	}
	serial := map[int]int64{}
	for _, x := range analysis.SerialTimes(p) {
		serial[x.Root] = x.Time
	}
	idle := analysis.IdleTimes(p)
	for i, row := range p.Threads {
		if in[i].Idle = idle[i]; row.Num == 0 {
			in[i].Serial += serial[row.Root]
		}
		id := s.rowOf(&row)
		s.process.Total.add(in[i])
		s.threads[id] = in[i]
		s.ids = append(s.ids, id)
		s.rows = append(s.rows, Thread{PID: p.Meta.PID, Rank: s.process.Rank, Name: threadName(row), Total: in[i]})
	}
	return s
}

// stateOf names what a thread did for most of a window.
func stateOf(t *Times) string {
	most, name := int64(0), "-"
	for _, s := range []struct {
		name string
		t    int64
	}{{"working", t.Work + t.Serial}, {"waiting", t.Waiting()}, {"MPI", t.MPI}, {"idle", t.Idle}, {"runtime", t.Mgmt}, {"no core", t.NoCore}} {
		if s.t > most {
			most, name = s.t, s.name
		}
	}
	return name
}

func threadName(t profile.Thread) string {
	name := strconv.Itoa(t.Num)
	if t.Num == profile.UnknownNum {
		name = "?"
	}
	if t.Root > 0 {
		return strconv.Itoa(t.Root) + ":" + name
	}
	return name
}

// Title names a region: file and lines or function, and the name if it has one.
func Title(r *profile.Region) string {
	l := &r.Location
	text := l.Function
	if l.File != "" && l.Begin > 0 {
		text = l.File[strings.LastIndexByte(l.File, '/')+1:] + " (" + strconv.Itoa(l.Begin)
		if l.End > l.Begin {
			text += "-" + strconv.Itoa(l.End)
		}
		text += ")"
	} else if text == "" && l.Object != "" {
		text = l.Object[strings.LastIndexByte(l.Object, '/')+1:] + "+0x" + strconv.FormatUint(l.Offset, 16)
	}
	if r.Name != "" && r.Name != l.Function {
		text += " (" + r.Name + ")"
	}
	if text == "" {
		text = "(unknown place)"
	}
	return profile.Pasteable(text)
}
