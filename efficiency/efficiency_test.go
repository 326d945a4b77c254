package efficiency

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ompp-attach/attribution/streamtest"
	"ompp-attach/event"
	"ompp-attach/profile"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > 1e-6 {
		t.Errorf("%s: %.7f, want %.7f", what, got, want)
	}
}

// seconds checks the parts of a time; parts that are not given are 0.
func seconds(t *testing.T, what string, got *Parts, want map[Part]float64) {
	t.Helper()
	for part := range NumParts {
		near(t, what+": "+part.Key(), float64(got[part])/1e9, want[part])
	}
}

func TestProcess(t *testing.T) {
	p, regions := Of(first.profile(t))
	seconds(t, "rank 0", &p.Parts, map[Part]float64{Work: 9.2, Synch: .6, Imbal: 1.5, Mgmt: .4, MPI: .3,
		Serial: 2.5, SerialMPI: 1.5, SerialIdle: 2.5, MPIIdle: 1.5})
	near(t, "e_mt", p.Parts.Efficiency(), .585)
	near(t, "wall", float64(p.Wall)/1e9, 10)
	near(t, "start and end of MPI", float64(p.StartEnd)/1e9, 2)
	near(t, "inOpenMP", float64(p.Parallel)/1e9, 6)
	near(t, "OutMPI", float64(p.OutMPI)/1e9, 8.2)
	near(t, "most useful", float64(p.MaxUseful)/1e9, 7.6)
	near(t, "communication", float64(p.Communication)/1e9, 1.8)
	if p.Threads != 2 || p.Callers != 1 || p.Calls != 4 || p.Nested {
		t.Errorf("%d threads, %d of them call MPI %d times; nested: %v", p.Threads, p.Callers, p.Calls, p.Nested)
	}
	seconds(t, "the parallel region", &regions[0].Team, map[Part]float64{Work: 9.2, Synch: .6, Imbal: 1.5, Mgmt: .4, MPI: .3})
	near(t, "e_mt of the region", regions[0].Team.Efficiency(), 9.2/12)
	seconds(t, "the parallel region's own", &regions[0].Own, map[Part]float64{Imbal: 1.5, Mgmt: .4})
	seconds(t, "the critical section's own", &regions[1].Own, map[Part]float64{Synch: .6})
	seconds(t, "MPI_Send's own", &regions[2].Own, map[Part]float64{MPI: .3})
	seconds(t, "MPI_Recv's own", &regions[3].Own, map[Part]float64{SerialMPI: 1.5, MPIIdle: 1.5})
	seconds(t, "MPI_Init's own", &regions[4].Own, nil)
	if r := regions[0]; r.Wall != 6*sec || r.Threads != 2 || r.Starts != 1 {
		t.Errorf("%+v", r)
	}
}

// TestNoCore: time without a core is no work, in regions and outside. TALP does not see it.
func TestNoCore(t *testing.T) {
	r := first
	r.noCoreBody, r.noCoreSerial, r.noCoreRecv = 1, .5, .25
	p, regions := Of(r.profile(t))
	// The worker is idle for as long as thread 0 is in MPI, with a core or without.
	seconds(t, "rank 0", &p.Parts, map[Part]float64{Work: 8.2, Synch: .6, Imbal: 1.5, Mgmt: .4, MPI: .3, NoCore: 1.75,
		Serial: 2, SerialMPI: 1.25, SerialIdle: 2.5, MPIIdle: 1.5})
	near(t, "most useful", float64(p.MaxUseful)/1e9, 7.1)
	near(t, "region", float64(regions[0].Team[NoCore])/1e9, 1)
	seeing, _ := Of(first.profile(t))
	if p.TALP != seeing.TALP {
		t.Errorf("TALP: %+v, want %+v", p.TALP, seeing.TALP)
	}
}

// TestProbeTime: the figures hold the time of probes, unless that time was taken out.
func TestProbeTime(t *testing.T) {
	for _, adjusted := range []bool{false, true} {
		p := first.profile(t)
		p.Meta.Adjusted, p.Meta.Overhead = adjusted, &profile.Overhead{Probes: []profile.ProbeHits{{Hits: 1e6, Before: 600, After: 400}}}
		x, _ := Of(p)
		if want := map[bool]int64{false: sec}[adjusted]; x.ProbeTime != want {
			t.Errorf("taken out %t: %d ns, want %d", adjusted, x.ProbeTime, want)
		}
	}
}

// values returns the metrics of a tree by key.
func values(m Metric) map[string]float64 {
	all := map[string]float64{}
	m.Walk(func(m *Metric, _ int) { all[m.Key] = m.Value })
	return all
}

// same compares metrics of a tree with those worked out by hand.
func same(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for key := range want {
		if _, ok := got[key]; !ok {
			t.Errorf("there is no %s", key)
		}
	}
	for key, v := range got {
		near(t, key, v, want[key])
	}
}

func TestMultiplicative(t *testing.T) {
	r := jobOf(t, first, second)
	if r.Runtime != 10*sec || r.Threads() != 4 {
		t.Fatalf("runtime %d, %d threads", r.Runtime, r.Threads())
	}
	whole := r.Whole()
	near(t, "e_mt of the job", whole.Efficiency(), .5575)
	near(t, "other ranks ran longer", float64(whole[Ended])/1e9, 2)
	tree := r.Multiplicative()
	same(t, values(tree), map[string]float64{
		"hybrid_parallel": .5575, "hybrid_load_balance": 5.575 / 7.6, "hybrid_communication": .76,
		"mpi_parallel": .76, "mpi_load_balance": 7.6 / 8.2, "mpi_communication": .82,
		"omp_parallel": .5575 / .76, "omp_load_balance": 5.575 / 7.6 / (7.6 / 8.2), "omp_communication": .76 / .82,
	})
	tree.Walk(func(m *Metric, _ int) {
		want := map[string]int{"hybrid_load_balance": 1, "hybrid_communication": 4, "mpi_load_balance": 4, "mpi_communication": 4,
			"omp_load_balance": 1, "omp_communication": 1}[m.Key]
		if m.Region != want {
			t.Errorf("%s names region %d, want %d", m.Key, m.Region, want)
		}
	})
}

func TestAdditive(t *testing.T) {
	same(t, values(jobOf(t, first, second).Additive()), map[string]float64{
		"hybrid_parallel": .5575, "process": .775, "process_load_balance": .925, "process_communication": .85,
		"thread": .7825, "omp_parallel": .92, "serial_region": .8625,
		"omp_synch": 1 - .015, "omp_imbal": 1 - .0375, "omp_mgmt": 1 - .02, "omp_mpi": 1 - .0075,
	})
}

// The region that lacked cores most in parallel regions is none outside, however much it lacked.
func TestCoreless(t *testing.T) {
	x := first
	x.noCoreBody, x.noCoreRecv = .5, 1.25
	x.recv = 1.5
	tree := jobOf(t, x, second).Additive()
	found := false
	tree.Walk(func(m *Metric, _ int) {
		if m.Key == "omp_no_core" {
			found = true
			if m.Region != 1 {
				t.Errorf("region %d, want that of the parallel region", m.Region)
			}
		}
	})
	if !found {
		t.Error("no time without a core in regions")
	}
}

func TestTALP(t *testing.T) {
	m := jobOf(t, first, second).TALP()
	want := TALP{Useful: 22300e6, MPI: 3800e6, LoadImbalance: 1500e6, Scheduling: 1400e6, Serialization: 9000e6, WorkerIdle: 3500e6, Parallels: 2}
	if m.TALP != want {
		t.Errorf("%+v, want %+v", m.TALP, want)
	}
	if m.CPUs != 4 || m.Ranks != 2 || m.Nodes != 1 || m.Calls != 7 {
		t.Errorf("%+v", m)
	}
	for _, x := range []struct {
		what      string
		got, want float64
	}{
		{"PE", m.ParallelEfficiency, 22.3 / 38}, {"MPI_PE", m.MPIParallel, .8175}, {"MPI_CE", m.MPICommunication, .835},
		{"MPI_LB", m.MPIBalance, 8.175 / 8.35}, {"LB_in", m.MPIBalanceIn, 8.175 / 8.35}, {"LB_out", m.MPIBalanceOut, 1},
		{"OMP_PE", m.OMPParallel, 26.1 / 38}, {"OMP_ser", m.OMPSerialization, 26.1 / 35.1}, {"OMP_LB", m.OMPBalance, 35.1 / 36.6},
		{"OMP_sched", m.OMPScheduling, 36.6 / 38},
	} {
		near(t, x.what, x.got, x.want)
	}
}

// identities checks the equations that hold in any run if all threads live from its beginning to
// its end.
func identities(t *testing.T, r *Run) {
	t.Helper()
	identitiesOver(t, r, r.Runtime*int64(r.Threads()))
}

// identitiesOver checks the equations that hold in any run. lived is the sum of the threads' life
// times.
func identitiesOver(t *testing.T, r *Run, lived int64) {
	t.Helper()
	whole := r.Whole()
	var shares float64
	for part := range NumParts {
		if whole[part] < 0 {
			t.Errorf("%s is negative: %d", part.Key(), whole[part])
		}
		shares += whole.Share(part)
	}
	near(t, "sum of the shares", shares, 1)
	if whole.Sum() != lived {
		t.Errorf("the parts add up to %d, want %d", whole.Sum(), lived)
	}
	for i := range r.Regions {
		if g := &r.Regions[i]; g.Construct.IsParallel() && g.Team.Sum() > 0 {
			var shares float64
			for part := range NumParts {
				if g.Team[part] < 0 {
					t.Errorf("R%05d: %s is negative: %d", g.Number, part.Key(), g.Team[part])
				}
				shares += g.Team.Share(part)
			}
			near(t, "sum of the shares of a region", shares, 1)
		}
	}
	m := values(r.Multiplicative())
	for key, v := range m {
		if quotient := strings.HasPrefix(key, "omp_"); v < 0 || v > 1+1e-9 && !quotient {
			t.Errorf("%s: %g", key, v)
		}
	}
	near(t, "HPE and e_mt", m["hybrid_parallel"], whole.Efficiency())
	near(t, "HPE = HLBE x HCE", m["hybrid_load_balance"]*m["hybrid_communication"], m["hybrid_parallel"])
	if r.UsesMPI() {
		near(t, "HPE = MPI_PE x OMP_PE", m["mpi_parallel"]*m["omp_parallel"], m["hybrid_parallel"])
		near(t, "MPI_PE = MPI_LBE x MPI_CE", m["mpi_load_balance"]*m["mpi_communication"], m["mpi_parallel"])
		near(t, "OMP_PE = OMP_LBE x OMP_CE", m["omp_load_balance"]*m["omp_communication"], m["omp_parallel"])
	}
	a := r.Additive()
	a.Walk(func(m *Metric, _ int) {
		if m.Value < -1e-9 || m.Value > 1+1e-9 {
			t.Errorf("additive %s: %g", m.Key, m.Value)
		}
		if len(m.Of) == 0 {
			return
		}
		var lost float64
		for _, of := range m.Of {
			lost += 1 - of.Value
		}
		near(t, "losses below "+m.Key, lost, 1-m.Value)
	})
	near(t, "HPE of both trees", a.Value, m["hybrid_parallel"])
	talp := r.TALP()
	near(t, "TALP's OMP_PE", talp.OMPSerialization*talp.OMPBalance*talp.OMPScheduling, talp.OMPParallel)
	near(t, "TALP's MPI_LB", talp.MPIBalanceIn*talp.MPIBalanceOut, talp.MPIBalance)
}

func TestIdentitiesOfJob(t *testing.T) {
	crowded := first
	crowded.noCoreBody, crowded.noCoreSerial = 1, .5
	identities(t, jobOf(t, first, second))
	identities(t, jobOf(t, crowded, second))
	identities(t, jobOf(t, first))
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var ranks []rank
		for i := range 1 + random.IntN(4) {
			x := func() float64 { return float64(random.IntN(1000)) / 1000 }
			r := rank{number: i, recv: x(), enter: x(), exit: x(), waitAt: [2]float64{x(), x()}, send: x(), noCoreBody: x(), noCoreSerial: x()}
			r.noCoreRecv = r.recv * x()
			longest := 3 + x()
			for j := range r.body {
				r.body[j] = r.waitAt[j] + 1 + x()
				r.barrier[j] = longest - r.body[j]
			}
			r.wall = r.recv + r.enter + longest + r.exit + 1 + x()
			ranks = append(ranks, r)
		}
		identities(t, jobOf(t, ranks...))
	}
}

// TestIdentitiesOfRecorded: recorded streams of real programs, with nested teams, tasks, and
// regions that were under way when measurement began.
func TestIdentitiesOfRecorded(t *testing.T) {
	streams, err := filepath.Glob("../testdata/streams/*.json.gz")
	if err != nil || len(streams) == 0 {
		t.Fatalf("no recorded streams: %v", err)
	}
	for _, name := range streams {
		t.Run(filepath.Base(name), func(t *testing.T) {
			identities(t, OfProfile(streamtest.Replay(t, name)))
		})
	}
}

// TestSmallTeams: a thread that is in no team while a team without it runs is idle, even if other
// regions have the thread in their teams.
func TestSmallTeams(t *testing.T) {
	stat := func(thread int, seconds float64) profile.ThreadStats {
		return profile.ThreadStats{Thread: thread, Exec: span(seconds), Body: span(seconds)}
	}
	p := &profile.Profile{Version: profile.SchemaVersion, Meta: profile.Meta{Life: profile.Life{Duration: 10 * sec}},
		Threads: []profile.Thread{{Num: 0}, {Num: 1}, {Num: 2}},
		Regions: []profile.Region{{Construct: event.Parallel}, {Construct: event.ParallelLoop}},
		Nodes: []profile.Node{{Parent: -1, Region: -1}, {Parent: 0, Region: 0, Stats: []profile.ThreadStats{stat(0, 2), stat(1, 2), stat(2, 2)}},
			{Parent: 0, Region: 1, Stats: []profile.ThreadStats{stat(0, 5), stat(1, 5)}}}}
	r := OfProfile(p)
	identities(t, r)
	whole := r.Whole()
	seconds(t, "the program", &whole, map[Part]float64{Work: 16, Serial: 3, SerialIdle: 6, TeamIdle: 5})
	if most, _ := r.Most(TeamIdle); most == nil || most.Number != 2 {
		t.Errorf("team idle: %+v", most)
	}
	if r.UsesMPI() || r.Nested() || !r.Threaded() {
		t.Error("wrong kind of run")
	}
}

// TestNames: without MPI, POP's metrics have names that speak of threads. The keys stay.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		mpi  bool
		want []string
	}{
		{true, []string{"Hybrid parallel efficiency", "Hybrid load balance", "Hybrid communication efficiency"}},
		{false, []string{"Parallel efficiency", "Load balance", "Useful time of the busiest thread"}},
	} {
		r := New("made-up", []Process{{Threads: 2, Wall: 10, UsesMPI: c.mpi}}, nil)
		m := r.Multiplicative()
		got := []string{m.Name, m.Of[0].Name, m.Of[1].Name}
		keys := []string{m.Key, m.Of[0].Key, m.Of[1].Key}
		if !slices.Equal(got, c.want) || !slices.Equal(keys, []string{"hybrid_parallel", "hybrid_load_balance", "hybrid_communication"}) {
			t.Errorf("MPI %t: %q, %q", c.mpi, got, keys)
		}
		if name := r.Additive().Name; name != c.want[0] {
			t.Errorf("MPI %t: %q", c.mpi, name)
		}
	}
}

// No region has most of a time that was mostly outside of all regions.
func TestMostOutside(t *testing.T) {
	x := first
	x.noCoreBody, x.noCoreSerial = .5, .25
	if most, _ := jobOf(t, x, second).Most(NoCore); most == nil || most.Number != 1 {
		t.Errorf("%+v, want the parallel region", most)
	}
	x.noCoreSerial = .75
	if most, _ := jobOf(t, x, second).Most(NoCore); most != nil {
		t.Errorf("%+v, want none", most)
	}
}
