package e2e

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/analysis"
	"ompp-attach/efficiency"
	"ompp-attach/internal/testbin"
	"ompp-attach/model"
)

// clocked are the times (ns) that a rank of efficient.c took by its own clock.
type clocked map[string]float64

func readClocked(t *testing.T, dir string, rank int) clocked {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, fmt.Sprint(rank)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := clocked{}
	for {
		var name string
		var ns float64
		if n, _ := fmt.Fscan(f, &name, &ns); n < 2 {
			return c
		}
		c[name] = ns
	}
}

// outsideMain adds the time before main's first line and after its last one. The program's clock
// knows nothing of this time. It goes to loading, and to the end of the process, which take long on
// a busy machine.
func (c clocked) outsideMain(t *testing.T, p *efficiency.Process) {
	t.Helper()
	more := float64(p.Wall) - c["wall"]
	if more < -efficiencyTolerance*c["wall"] {
		t.Errorf("the program ran for %.1f ms, but was measured for %.1f ms only", c["wall"]/1e6, float64(p.Wall)/1e6)
	}
	c["wall"] += more
	c["serial"] += more
}

// TestEfficiency: POP's metrics, and the parts of the time of each rank, are within 2 % of those
// that the program's own clock gives. The program's clock counts time without a core where it
// passed, so that much may be missing.
func TestEfficiency(t *testing.T) {
	for _, c := range []struct {
		mpi      testbin.MPI
		compiler string // for Open MPI's wrapper
		level    string
	}{{testbin.OpenMPI, "gcc", "-O0"}, {testbin.OpenMPI, "clang-19", "-O3"}, {testbin.MPICH, "gcc", "-O3"}} {
		t.Run(fmt.Sprintf("%s %s", c.mpi, c.compiler), func(t *testing.T) {
			t.Setenv("OMPI_CC", c.compiler)
			bin := c.mpi.Build(t, "efficient.c", testbin.Options{Flags: []string{c.level}})
			dir := t.TempDir()
			profiles := runJob(t, c.mpi, 2, options{env: []string{"OMP_WAIT_POLICY=passive"}}, bin, dir)
			var processes []efficiency.Process
			var truth []clocked
			for r, p := range profiles {
				addsUp(t, p)
				process, _ := efficiency.Of(analysis.Adjust(p))
				processes = append(processes, process)
				truth = append(truth, readClocked(t, dir, r))
				truth[r].outsideMain(t, &process)
				comparePart(t, r, &process, truth[r])
			}
			compareMetrics(t, efficiency.New("efficient", processes, nil), truth)
		})
	}
}

const efficiencyTolerance = 0.02

// comparePart compares the parts of a rank's time, as shares of the whole.
func comparePart(t *testing.T, rank int, got *efficiency.Process, c clocked) {
	t.Helper()
	parts := &got.Parts
	whole := 2 * c["wall"]
	away := float64(parts[efficiency.NoCore]) / whole
	idle := c["wall"] - c["parallel"] - c["mpi"]
	for _, x := range []struct {
		what      string
		got       int64
		want      float64
		uncertain float64 // share of the time that may be elsewhere, for lack of a core
	}{
		{"parallel", got.Parallel, c["parallel"], 0},
		{"work", parts[efficiency.Work], c["work0"] + c["work1"], away},
		{"serial", parts[efficiency.Serial], c["serial"], away},
		{"MPI outside", parts[efficiency.SerialMPI], c["mpi"], away},
		{"MPI inside", parts[efficiency.MPI], c["inside"], away},
		{"MPI idle", parts[efficiency.MPIIdle], c["mpi"], 0},
		{"serial idle", parts[efficiency.SerialIdle], idle, 0},
		{"losses in regions", parts[efficiency.Synch] + parts[efficiency.Imbal] + parts[efficiency.Mgmt] + parts[efficiency.Limpar],
			2*c["parallel"] - c["work0"] - c["work1"] - c["inside"], away},
		{"all", parts.Sum(), whole, 0},
	} {
		if off := math.Abs(float64(x.got)-x.want) / whole; off > efficiencyTolerance+x.uncertain {
			t.Errorf("rank %d: %s: %.1f ms, want %.1f: off by %.1f%% of the time (%.1f%% without a core)", rank, x.what,
				float64(x.got)/1e6, x.want/1e6, 100*off, 100*away)
		}
	}
}

// compareMetrics computes POP's metrics from the program's clocks.
func compareMetrics(t *testing.T, run *efficiency.Run, truth []clocked) {
	t.Helper()
	var runtime, useful, most, out, mostOut float64
	for _, c := range truth {
		runtime = max(runtime, c["wall"])
		first, second := c["serial"]+c["work0"], c["work1"]
		useful += (first + second) / 4
		most = max(most, first, second)
		out += (c["wall"] - c["mpi"] - c["inside"]) / 2
		mostOut = max(mostOut, c["wall"]-c["mpi"]-c["inside"])
	}
	whole := run.Whole()
	away := float64(whole[efficiency.NoCore]) / float64(whole.Sum())
	want := map[string]float64{"hybrid_parallel": useful / runtime, "hybrid_load_balance": useful / most, "hybrid_communication": most / runtime,
		"mpi_parallel": out / runtime, "mpi_load_balance": out / mostOut, "mpi_communication": mostOut / runtime}
	want["omp_parallel"] = want["hybrid_parallel"] / want["mpi_parallel"]
	tree := run.Multiplicative()
	tree.Walk(func(m *efficiency.Metric, _ int) {
		if w, ok := want[m.Key]; ok && math.Abs(m.Value-w) > efficiencyTolerance*w+4*away {
			t.Errorf("%s: %.4f, want %.4f (%.1f%% without a core)", m.Key, m.Value, w, 100*away)
		}
	})
	t.Logf("hybrid parallel efficiency %.4f, want %.4f; %.1f%% without a core", tree.Value, want["hybrid_parallel"], 100*away)
}

// TestMultithreadingEfficiency takes e_mt of a region by Eq. 4, from a run of one thread and one of
// several. It also takes its estimate from the latter alone. Both are within 2 % of those by the
// program's own clock.
func TestMultithreadingEfficiency(t *testing.T) {
	for _, b := range []build{{"gcc", "-O0 -g"}, {"clang-19", "-O3 -g"}} {
		t.Run(b.compiler, func(t *testing.T) {
			bin := testbin.Build(t, "amdahl.c", testbin.Options{Compiler: b.compiler, Flags: strings.Fields(b.flags)})
			var runs []*efficiency.Run
			var labels []string
			var region, work []float64 // ns by the program's clock
			threads := []int{1, 2, 4}
			for i, n := range threads {
				s := run(t, options{env: append(threadsEnv(n), "OMP_WAIT_POLICY=passive")}, bin)
				region, work = append(region, 0), append(work, 0)
				if _, err := fmt.Sscanf(s.stdout, "region %f\nwork %f", &region[i], &work[i]); err != nil || s.main == nil {
					t.Fatalf("%v\n%s%s", err, s.stdout, s.stderr)
				}
				addsUp(t, s.main)
				runs, labels = append(runs, efficiency.OfProfile(analysis.Adjust(s.main))), append(labels, fmt.Sprint(n))
			}
			scaling := efficiency.Compare(runs, labels, false)
			regions := scaling.Regions(func(g *efficiency.Region) string { return fmt.Sprint(g.Location.Begin) })
			got := model.Predict([]model.Measured{*runs[0].Means(), *runs[1].Means()}, model.Options{}).Time(1, 4)
			measured := float64(runs[2].Runtime) / 1e9
			t.Logf("4 threads: %.3f s predicted from the runs with 1 and 2, %.3f s measured: %.1f%% off", got, measured, 100*model.Error(got, measured))
			one := longestTeam(runs[0])
			for i, n := range threads {
				team := longestTeam(runs[i])
				away := team.Share(efficiency.NoCore) + one.Share(efficiency.NoCore)
				e := regions[0].EMT[i]
				for _, x := range []struct {
					what      string
					got, want float64
				}{
					{"Eq. 4", e.Value, model.Multithreading(region[0], n, region[i])},
					{"estimate", team.Efficiency(), work[i] / (float64(n) * region[i])},
				} {
					if math.Abs(x.got-x.want) > efficiencyTolerance*x.want+away {
						t.Errorf("%d threads: e_mt by %s: %.4f, want %.4f (%.1f%% without a core)", n, x.what, x.got, x.want, 100*away)
					}
				}
				if e.Estimated {
					t.Errorf("%d threads: e_mt is estimated, though there is a run of one thread", n)
				}
				t.Logf("%d threads: e_mt %.4f, estimated %.4f; by construction %.4f", n, e.Value, team.Efficiency(),
					model.Loop{Serial: 8, Unparallel: 1, Threads: n}.Efficiency()*9/8)
			}
		})
	}
}

// longestTeam returns the parts of the parallel region with most time.
func longestTeam(r *efficiency.Run) (most efficiency.Parts) {
	for i := range r.Regions {
		if g := &r.Regions[i]; g.Team.Sum() > most.Sum() {
			most = g.Team
		}
	}
	return most
}
