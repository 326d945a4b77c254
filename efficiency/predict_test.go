package efficiency

import (
	"fmt"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// alone is a rank of two threads. Each thread works for 4 s in a parallel region. Then one thread
// calls MPI for a second in a construct for one thread. The other thread waits in the construct, or
// at the barrier that follows.
func alone(t *testing.T, c event.Construct) *profile.Profile {
	t.Helper()
	mpi := calls(1)
	p := &profile.Profile{Version: profile.SchemaVersion,
		Meta: profile.Meta{Target: profile.Target{Program: "made-up"}, Machine: profile.Machine{Host: "node1"},
			Life: profile.Life{Duration: span(5).T}, MPI: &profile.MPIJob{Size: 1}},
		Threads: []profile.Thread{{Num: 0}, {Num: 1}},
		Regions: []profile.Region{{Construct: event.Parallel}, {Construct: c}, {Construct: event.MPI, Name: "MPI_Send"}, {Construct: event.Barrier}},
		Nodes:   []profile.Node{{Parent: -1, Region: -1, Stats: []profile.ThreadStats{{MPI: mpi}}}, {Parent: 0, Region: 0}, {Parent: 1, Region: 1}, {Parent: 2, Region: 2}}}
	for i := range 2 {
		s := profile.ThreadStats{Thread: i, Exec: span(5), Body: span(5), Child: span(1).T}
		if i == 0 {
			s.MPI = mpi
		}
		p.Nodes[1].Stats = append(p.Nodes[1].Stats, s)
	}
	one := profile.ThreadStats{Exec: span(1), Body: span(1), Child: span(1).T, MPI: mpi}
	p.Nodes[3].Stats = []profile.ThreadStats{{Exec: span(1), Body: span(1), MPI: mpi}}
	if c == event.Single {
		p.Nodes[2].Stats = []profile.ThreadStats{one, {Thread: 1, Exec: span(1), Barrier: profile.Sum{T: span(1).T, C: 1}}}
	} else {
		p.Nodes[2].Stats = []profile.ThreadStats{one}
		p.Nodes = append(p.Nodes, profile.Node{Parent: 1, Region: 3, Stats: []profile.ThreadStats{{Thread: 1, Exec: span(1), Body: span(1)}}})
	}
	if err := profile.Validate(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPointAddsUp: MPI of one thread counts once while the others wait for this thread. So the
// parts add up to the run's time.
func TestPointAddsUp(t *testing.T) {
	for _, c := range []event.Construct{event.Single, event.Master, event.Masked} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			p := OfProfile(alone(t, c)).Means()
			n := float64(p.Threads)
			near(t, "time", p.Time, 5)
			near(t, "work", p.Work, 8)
			near(t, "MPI", p.MPI, 1)
			near(t, "of one thread", p.Unparallel, 0)
			near(t, "waiting", p.Uneven, 0)
			near(t, "sum of the parts", p.Serial+(p.Work+p.Unparallel*(n-1)+p.Uneven)/n+p.Overhead+p.MPI, 5)
		})
	}
	// MPI of one thread that nobody waits for is part of the mean thread's time.
	run := jobOf(t, first)
	p := run.Means()
	near(t, "sum of the parts of a run", p.Serial+(p.Work+p.Unparallel+p.Uneven)/2+p.Overhead+p.MPI, p.Time)
}

// TestTasksAreNotAlone: any thread may execute a task that was created in SINGLE or MASTER. So MPI
// in the task is not MPI that the other threads wait for.
func TestTasksAreNotAlone(t *testing.T) {
	for _, c := range []event.Construct{event.Single, event.Master} {
		p := alone(t, c)
		if x := OfProfile(p).Processes[0]; x.SingleMPI+x.PrimaryMPI != sec {
			t.Errorf("%s: %d ns of MPI in SINGLE, %d in MASTER", c, x.SingleMPI, x.PrimaryMPI)
		}
		// The call of MPI (node 3) moves into a task that the construct created.
		p.Regions = append(p.Regions, profile.Region{Construct: event.TaskExec})
		call := p.Nodes[3]
		p.Nodes[3].Region, call.Parent = len(p.Regions)-1, 3
		p.Nodes = append(p.Nodes, call)
		if x := OfProfile(p).Processes[0]; x.SingleMPI+x.PrimaryMPI != 0 {
			t.Errorf("%s, in a task: %d ns of MPI in SINGLE, %d in MASTER", c, x.SingleMPI, x.PrimaryMPI)
		}
	}
}

// TestPointOfCrowdedRun: threads wait for a thread that has no core. Only as much of the wait is
// limited parallelism as the thread works.
func TestPointOfCrowdedRun(t *testing.T) {
	p := Process{Threads: 3, Wall: 9 * sec}
	p.Parts[Work], p.Parts[Limpar], p.Parts[NoCore] = 2*sec, 16*sec, 9*sec
	x := New("x", []Process{p}, nil).Means()
	near(t, "of one thread", x.Unparallel, 2)
	near(t, "waiting", x.Uneven, 12)
}

// TestPointOfMissingRanks: a run of which ranks could not be read stays on its cell.
func TestPointOfMissingRanks(t *testing.T) {
	whole, part := made(4, 2, 8, 1, nil), made(3, 2, 8, 1, nil)
	part.Missing = 1
	p, q := whole.Means(), part.Means()
	if q.Ranks != 4 || q.Threads != 2 {
		t.Errorf("%+v", q)
	}
	near(t, "time", q.Time, p.Time)
	near(t, "work", q.Work, p.Work)
	near(t, "communication", *p.Communication, 4)
	near(t, "communication of all", *q.Communication, 4)
}

// TestPointOfUnlikeRanks: ranks of different numbers of threads have no number of threads.
func TestPointOfUnlikeRanks(t *testing.T) {
	r := New("x", []Process{{Threads: 1, Wall: 5}, {Threads: 2, Wall: 5}}, nil)
	if p := r.Means(); p.Threads != 0 || p.Ranks != 2 {
		t.Errorf("%+v", p)
	}
}
