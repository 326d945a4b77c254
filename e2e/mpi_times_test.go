package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

var bothMPIs = []testbin.MPI{testbin.OpenMPI, testbin.MPICH}

// longest is the time in the site of an operation where a rank spent most of it.
func longest(p *profile.Profile, op string) time.Duration {
	var most int64
	for _, n := range p.Nodes {
		if n.Region >= 0 && p.Regions[n.Region].Construct == event.MPI && p.Regions[n.Region].Name == op {
			for _, s := range n.Stats {
				most = max(most, s.Exec.T)
			}
		}
	}
	return time.Duration(most)
}

// Times of calls that wait for something that comes late by a known time.
func TestMPITimes(t *testing.T) {
	const late = 200 * time.Millisecond
	// How much longer a call may take on a busy machine.
	const slack = 120 * time.Millisecond
	for _, m := range bothMPIs {
		for mode, op := range map[string]string{"late": "MPI_Recv", "barrier": "MPI_Barrier", "wait": "MPI_Wait"} {
			t.Run(fmt.Sprintf("%s %s", mode, m), func(t *testing.T) {
				timed(t, func() func(time.Duration) []string {
					ranks := runJob(t, m, 2, options{}, m.Build(t, "mpi_times.c", testbin.Options{}), mode)
					return func(away time.Duration) (wrong []string) {
						if got := longest(ranks[1], op); got < late-10*time.Millisecond-away || got > late+slack+away {
							wrong = append(wrong, fmt.Sprintf("rank 1 was in %s for %s, want %s", op, got, late))
						}
						if got := longest(ranks[0], op); got > slack+away {
							wrong = append(wrong, fmt.Sprintf("rank 0 was in %s for %s, want hardly anything", op, got))
						}
						if got := longest(ranks[0], "MPI_Send"); mode != "barrier" && got > slack+away {
							wrong = append(wrong, fmt.Sprintf("rank 0 was in MPI_Send for %s, want hardly anything", got))
						}
						return wrong
					}
				})
			})
		}
	}
}

// Fig. 6 of Fürlinger and Moore: ten sends of a mebibyte in a critical section
// by each thread.
func TestMPIInCritical(t *testing.T) {
	atOnce(t)
	const reps, threads, volume = 10, 4, 10 << 20
	for _, m := range bothMPIs {
		t.Run(string(m), func(t *testing.T) {
			bin := m.Build(t, "mpi_hybrid.c", testbin.Options{})
			ranks := runJob(t, m, 2, options{env: threadsEnv(threads)}, bin, "critical")
			for _, construct := range []event.Construct{event.Critical, event.Parallel} {
				rows := 0
				for _, n := range ranks[0].Nodes {
					if n.Region < 0 || ranks[0].Regions[n.Region].Construct != construct || len(n.Stats) == 0 || n.Stats[0].MPI == nil {
						continue
					}
					for _, s := range n.Stats {
						rows++
						if s.Exec.C != reps || s.MPI == nil {
							t.Errorf("%s thread %d: executed %d times, MPI: %v", construct, s.Thread, s.Exec.C, s.MPI)
							continue
						}
						got := *s.MPI
						if got.T <= 0 || got.T > s.Exec.T {
							t.Errorf("%s thread %d: mpiT %d, execT %d", construct, s.Thread, got.T, s.Exec.T)
						}
						got.T, got.Cost, got.NoCore = 0, 0, 0 // as the machine has it
						want := profile.MPIStats{Calls: reps, Sends: reps, Out: [mpi.NumAccountings]uint64{volume, volume}}
						if got != want {
							t.Errorf("%s thread %d: %+v, want %+v", construct, s.Thread, got, want)
						}
					}
				}
				if rows != threads {
					t.Errorf("%s: %d rows with MPI, want %d", construct, rows, threads)
				}
			}
			if m := ranks[1].Nodes[0].Stats[0].MPI; m == nil || m.Recvs != reps*threads || m.In[mpi.Minimal] != threads*volume {
				t.Errorf("rank 1: %+v, want %d receives of %d bytes", m, reps*threads, threads*volume)
			}
		})
	}
}

// Fig. 9: threads wait in an imbalanced loop on some of the ranks. The others wait as long in
// the all-to-all behind it, with the rest of their teams. The sum of the overheads stays about
// constant, while MPI and imbalance trade places. (All but one thread of 4 wait, or all.)
func TestMPIToy(t *testing.T) {
	const ms, reps, threads = 150, 3, 4
	const late = reps * ms * int64(time.Millisecond)
	for _, m := range bothMPIs {
		t.Run(string(m), func(t *testing.T) {
			bin := m.Build(t, "mpi_times.c", testbin.Options{})
			opt := options{env: append(threadsEnv(threads), "OMP_WAIT_POLICY=passive")}
			timed(t, func() func(time.Duration) []string {
				ranks := runJob(t, m, 4, opt, bin, "toy", fmt.Sprint(ms), fmt.Sprint(reps))
				return func(away time.Duration) []string { return wrongToy(t, ranks, late, threads, int64(away)) }
			})
		})
	}
}

// wrongToy lists what is not as expected in the overheads (ns) of the ranks, each of
// whose threads may have been away for as long.
func wrongToy(t *testing.T, ranks []*profile.Profile, late, threads, away int64) (wrong []string) {
	t.Helper()
	away *= threads
	var least, most int64
	for r, p := range ranks {
		var c analysis.Classes
		for _, o := range analysis.Overheads(p) {
			if p.Regions[o.Region].Construct == event.Parallel {
				c.Add(o.Classes)
			}
		}
		t.Logf("rank %d: MPI %d ms, imbalance %d ms, synchronisation %d ms", r, c.MPI/1e6, c.Imbal/1e6, c.Synch/1e6)
		// A busy machine may add to each; nothing takes from them.
		if balanced := r%2 == 0; balanced && (c.MPI < late*9/10-away || c.Imbal > late+away) {
			wrong = append(wrong, fmt.Sprintf("rank %d: MPI %d, imbalance %d, want %d and little", r, c.MPI, c.Imbal, late))
		} else if !balanced && (c.Imbal < (threads-1)*late*9/10-away || c.MPI > late/2+away) {
			wrong = append(wrong, fmt.Sprintf("rank %d: imbalance %d, MPI %d, want %d and little", r, c.Imbal, c.MPI, (threads-1)*late))
		}
		if sum := c.Sum(); r == 0 {
			least, most = sum, sum
		} else {
			least, most = min(least, sum), max(most, sum)
		}
	}
	if most > least*3/2+away {
		wrong = append(wrong, fmt.Sprintf("the overheads are from %d to %d, want about the same everywhere", least, most))
	}
	return wrong
}

// Attached in the middle: all is consistent from there on.
func TestMPIAttached(t *testing.T) {
	atOnce(t)
	const ranks = 3
	for _, m := range bothMPIs {
		t.Run(string(m), func(t *testing.T) {
			bin := m.Build(t, "mpi_times.c", testbin.Options{})
			begun, over := filepath.Join(t.TempDir(), "begun"), newEnd(t)
			line := m.Launch(ranks, bin, "ring", begun, over.file)
			job := exec.Command(line[0], line[1:]...)
			job.Env = append(os.Environ(), m.LaunchEnv(t)...)
			var out strings.Builder
			job.Stdout = &out
			if err := job.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = job.Process.Kill() })
			goOn := func(tens int64) { // a busy machine may need seconds for ten rounds
				t.Helper()
				size := func() int64 {
					if st, err := os.Stat(begun); err == nil {
						return st.Size()
					}
					return 0
				}
				before := size()
				until(t, "the job goes on", func() bool { return size() >= before+tens })
			}
			goOn(1)
			s := start(t, "attach", "--job", fmt.Sprint(job.Process.Pid), "--quiet=false")
			until(t, "the tool attaches", func() bool { return strings.Contains(s.stderr.String(), "attached to") })
			goOn(5)
			_ = s.cmd.Process.Signal(syscall.SIGINT)
			if code := s.wait(t); code != 0 {
				t.Fatalf("exit status %d: %s", code, s.stderr.String())
			}
			over.come(t)
			if err := job.Wait(); err != nil || out.Len() == 0 {
				t.Errorf("the job: %v, printed %q", err, out.String())
			}
			done := session{dir: s.dir}
			done.load(t)
			for r, p := range done.ranks(t, ranks) {
				if p.Meta.LostHits != 0 || p.Meta.Unmatched > 1 {
					t.Errorf("rank %d: lost %d, unmatched %d", r, p.Meta.LostHits, p.Meta.Unmatched)
				}
				sites := toolSites(p, byOperation)
				ring, bcast := sites[callSite{op: "MPI_Sendrecv"}], sites[callSite{op: "MPI_Bcast"}]
				if ring == nil || bcast == nil {
					t.Fatalf("rank %d: operations %v, want MPI_Sendrecv and MPI_Bcast", r, sites)
				}
				if init := sites[callSite{op: "MPI_Init_thread"}]; init != nil {
					t.Errorf("rank %d: %+v, before the tool came", r, *init)
				}
				// Those under way at either end are partly seen.
				if d := int64(ring.Calls) - int64(bcast.Calls); ring.Calls < 40 || d < -1 || d > 1 {
					t.Errorf("rank %d: %d exchanges, %d broadcasts", r, ring.Calls, bcast.Calls)
				}
				if n := ring.Calls; ring.Out != [2]uint64{80 * n, 80 * n} || ring.In != ring.Out || ring.Unknown != 0 {
					t.Errorf("rank %d: %+v, want 80 bytes a call", r, *ring)
				}
				var out, in [mpi.NumAccountings]uint64
				if r == 0 {
					out[mpi.Naive], out[mpi.Minimal] = 4*(ranks-1)*bcast.Calls, 4*bcast.Calls
				} else {
					in[mpi.Naive], in[mpi.Minimal] = 4*bcast.Calls, 4*bcast.Calls
				}
				if bcast.Out != out || bcast.In != in {
					t.Errorf("rank %d: %+v, want %v sent and %v received", r, *bcast, out, in)
				}
				for i := range p.Regions {
					calls := count(p, execC, func(r *profile.Region) bool { return r == &p.Regions[i] }).total()
					// Of a call that was under way, the place is not known.
					if calls > 1 && filepath.Base(p.Regions[i].Location.File) != "mpi_times.c" {
						t.Errorf("rank %d: %d calls at %+v\n%s", r, calls, p.Regions[i], dump(p))
					}
				}
			}
		})
	}
}

// The job's report begins with who holds it up, where, why, and who waits.
func TestMPISummary(t *testing.T) {
	for _, m := range bothMPIs {
		bin := m.Build(t, "mpi_times.c", testbin.Options{})
		for _, tc := range []struct {
			ranks int
			args  []string
			want  []string
		}{
			{2, []string{"late", "600"}, []string{
				`Slow Rank +: Rank 0: `, `Who Waits +: R\d+ MPI_Recv mpi_times.c \(\d+\): rank 1 longest`}},
			{4, []string{"toy", "300", "3"}, []string{
				`Slow Rank +: Ranks 1 and 3 \(2\): `, `Where +: R\d+ mpi_times.c \(70-72\) LOOP: `, `Why +: its threads have uneven work there`,
				`Who Waits +: R\d+ MPI_Alltoall mpi_times.c \(74\): rank [02] longest`}},
		} {
			t.Run(fmt.Sprint(m, " ", tc.args[0]), func(t *testing.T) {
				needTool(t)
				dir := filepath.Join(t.TempDir(), "out")
				line := append([]string{"run", "-q", "-o", dir, "--"}, m.Launch(tc.ranks, append([]string{bin}, tc.args...)...)...)
				cmd := exec.Command(tool, line...)
				cmd.Env = append(append(os.Environ(), m.LaunchEnv(t)...), "OMP_NUM_THREADS=2", "OMP_WAIT_POLICY=passive")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				out, err := exec.Command(tool, "report", dir).Output()
				if err != nil {
					t.Fatal(err)
				}
				text, _, _ := strings.Cut(string(out), "---- Job ")
				for _, want := range tc.want {
					if !regexp.MustCompile(want).MatchString(text) {
						t.Errorf("no %q in\n%s", want, text)
					}
				}
			})
		}
	}
}
