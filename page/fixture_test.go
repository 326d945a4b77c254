package page

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ompp-attach/event"
	"ompp-attach/job"
	"ompp-attach/mpi"
	"ompp-attach/profile"
	"ompp-attach/severity"
)

const ms = int64(time.Millisecond)

// maker makes profiles with figures that agree with each other.
type maker struct{ p *profile.Profile }

func newMaker(name string, wall int64, threads int) *maker {
	m := &maker{&profile.Profile{Version: profile.SchemaVersion,
		Meta: profile.Meta{Target: profile.Target{Program: name, Path: "/opt/bin/" + name, Args: []string{"/opt/bin/" + name, "input.dat"}, PID: 4711},
			Machine: profile.Machine{Host: "node1", Kernel: "6.18.0", Arch: "x86_64"},
			Writer:  profile.Writer{Tool: "test"},
			Life:    profile.Life{Ended: "exit status 0", Start: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Duration: wall, UserTime: wall * int64(threads) * 9 / 10},
			Trust:   profile.Trust{Hits: 12345}, Expense: profile.Expense{Overhead: &profile.Overhead{Mode: "session",
				Probes: []profile.ProbeHits{{Probe: "nop5", Hits: 12345, Before: 400, After: 500}}}},
			Runtimes: []profile.Runtime{{Name: "libgomp", Path: "/usr/lib/libgomp.so.1", Version: "12.2", Probes: 50}}},
		Nodes: []profile.Node{{Parent: -1, Region: -1}}}}
	for i := range threads {
		m.p.Threads = append(m.p.Threads, profile.Thread{Num: i, TIDs: []int{100 + i}})
	}
	return m
}

func (m *maker) region(c event.Construct, begin, end int) int {
	m.p.Regions = append(m.p.Regions, profile.Region{Construct: c, Location: profile.Location{File: "/src/app/main.c", Begin: begin, End: end,
		Function: "main", Object: m.p.Meta.Path, Offset: uint64(0x1000 + begin)}})
	return len(m.p.Regions) - 1
}

// node adds a node. rows are the figures of threads 0, 1 and so on. The times of the rows are added
// to Child of the parent, except those of the workers of a team that begins here.
func (m *maker) node(parent, region int, rows ...profile.ThreadStats) int {
	n := profile.Node{Parent: parent, Region: region}
	team := m.p.Regions[region].Construct.IsParallel()
	for i, s := range rows {
		if s.Exec.T == 0 && s.Exec.C == 0 {
			continue
		}
		s.Thread = i
		n.Stats = append(n.Stats, s)
		for k := range m.p.Nodes[parent].Stats {
			if up := &m.p.Nodes[parent].Stats[k]; up.Thread == i && (!team || i == 0) {
				up.Child += s.Exec.T
			}
		}
	}
	m.p.Nodes = append(m.p.Nodes, n)
	return len(m.p.Nodes) - 1
}

// row returns a thread's figures of a node. Times are in ms, and c is the number of executions.
func row(enter, body, barrier, exit float64, c uint64) profile.ThreadStats {
	span := func(t float64) profile.Sum { return profile.Sum{T: int64(math.Round(t * float64(ms))), C: c} }
	s := profile.ThreadStats{Enter: span(enter), Body: span(body), Barrier: span(barrier), Exit: span(exit)}
	s.Exec = profile.Sum{T: s.Enter.T + s.Body.T + s.Barrier.T + s.Exit.T, C: c}
	return s
}

// solver is a process of four threads with one of most constructs, samples and counters.
func solver() *profile.Profile {
	m := newMaker("solver", 4000*ms, 4)
	par, loop := m.region(event.Parallel, 20, 60), m.region(event.Loop, 24, 30)
	crit, single := m.region(event.Critical, 33, 36), m.region(event.Single, 50, 52)
	barrier, lock := m.region(event.Barrier, 54, 54), m.region(event.Lock, 40, 40)
	parloop := m.region(event.ParallelLoop, 80, 95)
	m.p.Regions[crit].Name = "queue"
	m.p.Regions[lock].Location = profile.Location{Function: "solve", Object: "/usr/lib/libsolve.so", Offset: 0x1a2b, Mark: profile.Approx}
	m.p.Regions[lock].Notes = []string{"The place is that of a tail call."}
	top := m.node(0, par, row(1, 2388, 0, 11, 10), row(1, 2188, 200, 11, 10), row(1, 2088, 300, 11, 10), row(1, 1988, 400, 11, 10))
	at := m.node(top, loop, row(0, 1200, 0, 0, 10), row(0, 900, 300, 0, 10), row(0, 800, 400, 0, 10), row(0, 700, 500, 0, 10))
	m.node(top, crit, row(40, 30, 0, 1, 1000), row(90, 30, 0, 1, 1000), row(120, 30, 0, 1, 985), row(60, 30, 0, 1, 1000))
	m.node(top, single, row(0, 0, 150, 0, 10), row(0, 150, 0, 0, 10), row(0, 0, 150, 0, 10), row(0, 0, 150, 0, 10))
	m.node(top, barrier, row(0, 0, 0, 0, 10), row(0, 0, 20, 0, 10), row(0, 0, 10, 0, 10), row(0, 0, 30, 0, 10))
	m.node(at, lock, row(2, 1, 0, 1, 70), row(3, 1, 0, 1, 70), row(1, 1, 0, 1, 70), row(2, 1, 0, 1, 70))
	m.node(0, parloop, row(2, 790, 0, 8, 50), row(2, 690, 100, 8, 50), row(2, 740, 50, 8, 50), row(2, 590, 200, 8, 50))
	m.p.Meta.Counters = []profile.Counter{{Name: "instructions"}, {Name: "page-faults", Failed: "not permitted"}}
	for i := range m.p.Nodes {
		for k := range m.p.Nodes[i].Stats {
			m.p.Nodes[i].Stats[k].Counters = []int64{1000 * int64(i+k), 0}
		}
	}
	m.p.Meta.Sampling = &profile.Sampling{Event: "task-clock", Unit: "ns", Frequency: 199, Taken: 30}
	const runtime = "/usr/lib/libgomp.so.1"
	m.p.Frames = []profile.Frame{{Function: "main._omp_fn.0", File: "/src/app/main.c", Line: 27, Object: m.p.Meta.Path},
		{Function: "relax", File: "/src/app/main.c", Line: 26, Object: m.p.Meta.Path},
		{Function: "GOMP_parallel", Object: runtime}, {Function: "main", File: "/src/app/main.c", Line: 20, Object: m.p.Meta.Path}}
	m.p.Samples = []profile.Sample{{Node: 2, Thread: 0, Phase: profile.PhaseBody, Stack: []int{0, 2, 3}, Count: 20, Weight: 100e6},
		{Node: 2, Thread: 0, Phase: profile.PhaseBody, Stack: []int{1, 0, 2, 3}, Count: 10, Weight: 50e6}}
	m.p.Unseen = []profile.Unseen{{What: "ATOMIC", Reason: "compiled to single instructions, which call no runtime"}}
	m.p.Warnings = []string{"The executable is stripped."}
	return m.p
}

// figure9 is a rank of the paper's toy job (Fig. 9). It has two threads. The second has more to do
// in a loop. Then the first one executes an alltoall that ends at the same time on all ranks.
func figure9(rank, size int, imbal float64) *profile.Profile {
	m := newMaker("toy", 412*ms, 2)
	m.p.Meta.MPI = &profile.MPIJob{Library: "Open MPI 4.1.4", Rank: rank, Size: size, Level: "MPI_THREAD_FUNNELED"}
	m.p.Meta.Host, m.p.Meta.PID, m.p.Meta.Overhead.Probes = fmt.Sprintf("node%d", rank/2), 100+rank, nil
	par, loop, master, call := m.region(event.Parallel, 10, 30), m.region(event.Loop, 12, 20), m.region(event.Master, 21, 25), m.region(event.MPI, 23, 23)
	m.p.Regions[call].Name = "MPI_Alltoall"
	inMPI := 310 - imbal
	sent := func() *profile.MPIStats {
		return &profile.MPIStats{T: int64(inMPI * float64(ms)), Calls: 1, Colls: 1, Out: [mpi.NumAccountings]uint64{1000, 3000}, In: [mpi.NumAccountings]uint64{1000, 3000},
			Sized: 1, Min: [mpi.NumAccountings]uint64{2000, 6000}, Max: [mpi.NumAccountings]uint64{2000, 6000}}
	}
	with := func(s profile.ThreadStats) profile.ThreadStats { s.MPI = sent(); return s }
	m.p.Nodes[0].Stats = []profile.ThreadStats{{Thread: 0, MPI: sent()}}
	top := m.node(0, par, with(row(0, 411, 0, 1, 1)), row(0, 411, 0, 1, 1))
	m.node(top, loop, row(0, 100, imbal, 0, 1), row(0, 100+imbal, 0, 0, 1))
	at := m.node(top, master, with(row(0, inMPI, 0, 0, 1)))
	m.node(at, call, with(row(0, inMPI, 0, 0, 1)))
	return m.p
}

// smg is a rank of a job like the paper's Fig. 8. Region A takes 18.11 s, or up to 1 % less. Region
// B takes 6.16 s, but only 60 % of that time on ranks 3 and 5.
func smg(rank int) *profile.Profile {
	m := newMaker("smg2000", 30000*ms, 2)
	m.p.Meta.MPI = &profile.MPIJob{Library: "MPICH 4.0.2", Rank: rank, Size: 8}
	m.p.Meta.Host = fmt.Sprintf("node%d", rank/4)
	residual, reduction := m.region(event.ParallelLoop, 100, 140), m.region(event.ParallelLoop, 200, 220)
	a, b := 18110.0, 6160.0
	if rank != 2 {
		a *= 1 - 0.001*float64(rank)
	}
	if rank == 3 || rank == 5 {
		b *= 0.6
	}
	m.node(0, residual, row(0, a/2, 0, 0, 100), row(0, a/2, 0, 0, 100))
	m.node(0, reduction, row(0, b/2, 0, 0, 100), row(0, b/2, 0, 0, 100))
	return m.p
}

// exchanging is a rank of a job in which each sends to its neighbours, and the first to all.
func exchanging(rank, size int) *profile.Profile {
	p := figure9(rank, size, float64(10*rank%7))
	p.Comms = []profile.Comm{{Parent: -1}}
	var x profile.Traffic
	add := func(to int, bytes uint64, times int) {
		for range times {
			x.Add(0, int32((to+size)%size), profile.Exchange{Sends: 1, Recvs: 1, Out: bytes, In: 2 * bytes})
			x.Sent.Count(bytes)
			x.Received.Count(2 * bytes)
		}
	}
	add(rank+1, 4096, 100)
	add(rank-1, 3000, 100)
	if rank == 0 {
		for to := range size {
			add(to, 64, 3)
		}
	}
	x.Add(0, mpi.AnySource, profile.Exchange{Recvs: 4, In: 400})
	x.Moved.Count(1 << 20)
	p.Nodes[len(p.Nodes)-1].Stats[0].Traffic = &x
	return p
}

// exchangeJob is a job of ranks that exchange messages.
func exchangeJob(t testing.TB, size int) *job.Job {
	var ranks []*profile.Profile
	for r := range size {
		ranks = append(ranks, exchanging(r, size))
	}
	return jobOf(t, ranks)
}

func jobOf(t testing.TB, ranks []*profile.Profile) *job.Job {
	t.Helper()
	var from []job.Source
	for _, p := range ranks {
		if p == nil {
			continue
		}
		var b bytes.Buffer
		if err := profile.Encode(&b, p); err != nil {
			t.Fatal(err)
		}
		r := p.Meta.MPI.Rank
		from = append(from, job.Source{Name: job.FileName(r, 0), Rank: r, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }})
	}
	j, err := job.Read(from, job.Options{Paths: true, Strip: true, Severity: &severity.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// figure9Job is the paper's toy job without rank 5.
func figure9Job(t testing.TB) *job.Job {
	var ranks []*profile.Profile
	for r, imbal := range []float64{0, 200, 0, 100, 150, -1, 50} {
		if imbal >= 0 {
			ranks = append(ranks, figure9(r, 7, imbal))
		}
	}
	return jobOf(t, ranks)
}

func smgJob(t testing.TB) *job.Job {
	var ranks []*profile.Profile
	for r := range 8 {
		ranks = append(ranks, smg(r))
	}
	return jobOf(t, ranks)
}

// manyRanks is a job of many ranks, of which every 1000th has more to do.
func manyRanks(t testing.TB, size int) *job.Job {
	t.Helper()
	var from []job.Source
	for r := range size {
		from = append(from, job.Source{Name: job.FileName(r, 0), Rank: r, Open: func() (io.ReadCloser, error) {
			imbal := float64(r % 17)
			if r%1000 == 999 {
				imbal = 250
			}
			var b bytes.Buffer
			if err := profile.Encode(&b, figure9(r, size, imbal)); err != nil {
				return nil, err
			}
			return io.NopCloser(&b), nil
		}})
	}
	j, err := job.Read(from, job.Options{Severity: &severity.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// withSource gives the profile's files a text of 100 lines.
func withSource(t testing.TB, p *profile.Profile) *profile.Profile {
	t.Helper()
	file := filepath.Join(openDir(t), "main.c")
	var text strings.Builder
	for n := range 100 {
		fmt.Fprintf(&text, "    for (int i = 0; i < %d; i++) a[i] = f(b[i]); /* <b> & more */\n", n+1)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, time.Time{}, p.Meta.Start.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	for i := range p.Regions {
		if p.Regions[i].Location.File != "" {
			p.Regions[i].Location.File = file
		}
	}
	for i := range p.Frames {
		if p.Frames[i].File != "" {
			p.Frames[i].File = file
		}
	}
	return p
}

// openDir makes a directory that everybody may enter. t.TempDir does not suffice: nobody else may
// enter the directory around it.
func openDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
