package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
	"ompp-attach/live"
	"ompp-attach/profile"
)

// mpis are the launchers that are tested, by the suffix of Debian's commands.
var mpis = []string{"openmpi", "mpich"}

// eachMPI runs a test under every launcher that is installed, with the program
// ranks.c built for it.
func eachMPI(t *testing.T, test func(t *testing.T, mpirun, bin string)) {
	needTool(t)
	for _, name := range mpis {
		t.Run(name, func(t *testing.T) {
			mpirun, err := exec.LookPath("mpirun." + name)
			if err != nil {
				t.Skip(err)
			}
			test(t, mpirun, testbin.Build(t, "ranks.c", testbin.Options{Compiler: "mpicc." + name}))
		})
	}
}

// job is a command line under test, with mpirun in it.
type job struct {
	*started
	out, err output
}

func startJob(t *testing.T, stdin string, argv ...string) *job {
	t.Helper()
	j := &job{started: &started{began: time.Now(), ended: make(chan error, 1)}}
	j.cmd = exec.Command(argv[0], argv[1:]...)
	j.cmd.Dir = t.TempDir()
	j.cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=2",
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1")
	j.cmd.Stdin = strings.NewReader(stdin)
	j.cmd.Stdout, j.cmd.Stderr = &j.out, &j.err
	if err := j.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { j.ended <- j.cmd.Wait() }()
	t.Cleanup(func() {
		_ = j.cmd.Process.Kill()
		if i := slices.Index(argv, "-o"); i > 0 {
			awaitTools(argv[i+1])
		}
	})
	return j
}

// awaitTools waits until nobody writes to a directory any more, for 20 s at most: a launcher may
// end before the tools of its ranks. A directory cannot be removed while files are added.
func awaitTools(dir string) {
	for range 400 {
		if len(toolsOf("run", dir))+len(toolsOf("__collector", dir)) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// wrapped is mpirun with the tool inside.
func wrapped(mpirun, dir string, ranks int, program ...string) []string {
	return append([]string{mpirun, "-n", fmt.Sprint(ranks), tool, "run", "-o", dir, "-q", "--"}, program...)
}

// profilesIn waits until as many ranks' profiles are written: a tool that was
// killed with its rank does not.
func profilesIn(t *testing.T, dir string, n int) (profiles []*profile.Profile) {
	t.Helper()
	for began := time.Now(); time.Since(began) < patience; time.Sleep(50 * time.Millisecond) {
		if names, _ := filepath.Glob(filepath.Join(dir, "profile.rank*.json.gz")); len(names) < n {
			continue
		}
		for rank := range n {
			p := decode(t, filepath.Join(dir, fmt.Sprintf("profile.rank%d.json.gz", rank)))
			if m := p.Meta.MPI; m == nil || m.Rank != rank || m.Size != n || m.Job == "" {
				t.Errorf("the profile of rank %d says %+v", rank, m)
			}
			profiles = append(profiles, p)
		}
		return profiles
	}
	all, _ := filepath.Glob(filepath.Join(dir, "*"))
	t.Fatalf("no profiles of %d ranks: %q; tools at work: %v, collectors: %v", n, all, toolsOf("run", dir), toolsOf("__collector", dir))
	return nil
}

func regionsOf(p *profile.Profile) uint64 { return count(p, execC, parallel)[0] }

// lines sorts what ranks print in any order.
func lines(s string) []string { return slices.Sorted(strings.Lines(s)) }

// Wherever the tool stands, each rank has its profile, and its output and input
// are as before.
func TestRanks(t *testing.T) {
	atOnce(t)
	const ranks, regions = 3, 50
	eachMPI(t, func(t *testing.T, mpirun, bin string) {
		dir := filepath.Join(t.TempDir(), "out")
		for name, argv := range map[string][]string{
			"inside":  wrapped(mpirun, filepath.Join(dir, "inside"), ranks, bin, "count", fmt.Sprint(regions)),
			"outside": {tool, "run", "-q", "-o", filepath.Join(dir, "outside"), "--", mpirun, "-n", fmt.Sprint(ranks), bin, "count", fmt.Sprint(regions)},
		} {
			j := startJob(t, "", argv...)
			if got := j.wait(t); got != 0 || j.err.String() != "" {
				t.Errorf("%s: exit status %d, stderr %q", name, got, j.err.String())
			}
			if got, want := lines(j.out.String()), []string{"rank 0 of 3\n", "rank 1 of 3\n", "rank 2 of 3\n"}; !slices.Equal(got, want) {
				t.Errorf("%s: stdout %q, want %q", name, got, want)
			}
			for rank, p := range profilesIn(t, filepath.Join(dir, name), ranks) {
				if got, want := regionsOf(p), uint64(regions*(rank+1)); got != want {
					t.Errorf("%s: rank %d: %d regions, want %d", name, rank, got, want)
				}
			}
		}
		j := startJob(t, "one\ntwo\n", wrapped(mpirun, dir, 2, bin, "lines")...)
		if got := j.wait(t); got != 0 || j.out.String() != "read one\nread two\n" {
			t.Errorf("exit status %d, stdout %q, stderr %q", got, j.out.String(), j.err.String())
		}
	})
}

// A job ends with the status that it would end with, however it ends, and no
// rank's profile is lost. On a busy machine MPICH's launcher may end with 255 if a rank ends early,
// whose status is another. So several jobs are started without the tool, if need be.
func TestRanksEnd(t *testing.T) {
	const tries = 4
	atOnce(t)
	eachMPI(t, func(t *testing.T, mpirun, bin string) {
		for _, how := range [][]string{{"abort", "7"}, {"signal", "11"}, {"early", "3"}} {
			program := func() []string { return append(append([]string{bin}, how...), t.TempDir()) }
			dir := filepath.Join(t.TempDir(), "out")
			j := startJob(t, "", wrapped(mpirun, dir, 2, program()...)...)
			got := j.wait(t)
			var want []int
			for range tries {
				bare := startJob(t, "", append([]string{mpirun, "-n", "2"}, program()...)...)
				if want = append(want, bare.wait(t)); slices.Contains(want, got) {
					break
				}
			}
			if !slices.Contains(want, got) || got == 0 {
				t.Errorf("%s: exit status %d, without the tool %v; stderr: %s", how, got, want, j.err.String())
			}
			profilesIn(t, dir, 2)
		}
	})
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); time.Since(began) < patience; time.Sleep(10 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("%s: not after %s", what, patience)
}

// toolsOf finds the processes of the built tool that run a subcommand and
// write to a directory.
func toolsOf(subcommand, dir string) (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		b, err := os.ReadFile(name)
		args := strings.Split(string(b), "\x00")
		if err != nil || args[0] != tool || len(args) < 2 || args[1] != subcommand || !slices.Contains(args, dir) {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(name, "/proc/%d/", &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// ready waits until ranks run with their handlers in place.
func (j *job) ready(t *testing.T, dir string, ranks int) {
	t.Helper()
	until(t, "the ranks run", func() bool {
		n := 0
		for _, pid := range toolsOf("run", dir) {
			for _, child := range childrenOf(pid) {
				b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", child))
				_, caught, _ := strings.Cut(string(b), "SigCgt:\t")
				var mask uint64
				if _, err := fmt.Sscanf(caught, "%x", &mask); err == nil && mask>>(syscall.SIGTERM-1)&1 != 0 && !bytes.Contains(b, []byte("Name:\tompp")) {
					n++
				}
			}
		}
		return n == ranks
	})
	time.Sleep(200 * time.Millisecond) // some regions
}

// end is a file that ends ranks when it is there.
type end struct{ file string }

func newEnd(t *testing.T) end { return end{filepath.Join(t.TempDir(), "end")} }

func (e end) come(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(e.file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// mpirun sends signals to process groups: the program gets each once.
func TestRanksSignals(t *testing.T) {
	atOnce(t)
	eachMPI(t, func(t *testing.T, mpirun, bin string) {
		dir, over := filepath.Join(t.TempDir(), "out"), newEnd(t)
		j := startJob(t, "", wrapped(mpirun, dir, 2, bin, "until", aLongTime, over.file)...)
		j.ready(t, dir, 2)
		if err := j.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		until(t, "the ranks have the signal", func() bool { return strings.Count(j.out.String(), "signalled") == 2 })
		time.Sleep(200 * time.Millisecond) // a second one may come
		over.come(t)
		if got := j.wait(t); got != 0 {
			t.Errorf("exit status %d, stderr %q", got, j.err.String())
		}
		for rank := range 2 { // hydra mixes lines
			if want := fmt.Sprintf("rank %d: 1 SIGUSR1, 0 SIGTERM", rank); !strings.Contains(j.out.String(), want) {
				t.Errorf("stdout %q lacks %q", j.out.String(), want)
			}
		}
		profilesIn(t, dir, 2)
	})
}

// One collector serves a node. Its death costs the profiles, no rank; a rank's
// tool's death costs nothing but the tool's.
func TestRanksKilled(t *testing.T) {
	atOnce(t)
	eachMPI(t, func(t *testing.T, mpirun, bin string) {
		dir, over := filepath.Join(t.TempDir(), "out"), newEnd(t)
		j := startJob(t, "", wrapped(mpirun, dir, 2, bin, "until", aLongTime, over.file)...)
		j.ready(t, dir, 2)
		pids := toolsOf("__collector", dir)
		if len(pids) != 1 {
			t.Fatalf("%d collectors", len(pids))
		}
		if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond) // the ranks go on
		over.come(t)
		if got := j.wait(t); got != 0 || strings.Count(j.out.String(), "0 SIGTERM") != 2 {
			t.Errorf("collector killed: exit status %d, stdout %q", got, j.out.String())
		}
		for rank := range 2 {
			if want := fmt.Sprintf("ompp-attach: rank %d: the collector", rank); strings.Count(j.err.String(), want) != 1 {
				t.Errorf("collector killed: stderr %q lacks %q", j.err.String(), want)
			}
		}

		dir, over = filepath.Join(t.TempDir(), "out"), newEnd(t)
		j = startJob(t, "", wrapped(mpirun, dir, 2, bin, "until", aLongTime, over.file)...)
		j.ready(t, dir, 2)
		tools := toolsOf("run", dir)
		program := childOf(t, tools[0], bin)
		if err := syscall.Kill(tools[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
		_ = syscall.Kill(program, syscall.SIGKILL) // Open MPI has done so
		over.come(t)
		j.wait(t)
		for rank, p := range profilesIn(t, dir, 2) {
			if regionsOf(p) == 0 {
				t.Errorf("tool killed: rank %d has no region", rank)
			}
		}
		until(t, "the collector ends", func() bool { return len(toolsOf("__collector", dir)) == 0 })
	})
}

// A running job is attached to by its launcher's number.
func TestAttachJob(t *testing.T) {
	atOnce(t)
	eachMPI(t, func(t *testing.T, mpirun, bin string) {
		j := startJob(t, "", mpirun, "-n", "3", bin, "until", aLongTime)
		until(t, "the ranks run", func() bool { return strings.Count(j.out.String(), "ready") == 3 })
		s := attachWhile(t, 2, processesOf(j.cmd.Process.Pid, bin), "--job", fmt.Sprint(j.cmd.Process.Pid))
		if got := s.wait(t); got != 0 {
			t.Fatalf("exit status %d, stderr %q", got, s.stderr.String())
		}
		for rank, p := range profilesIn(t, s.dir, 3) {
			if regionsOf(p) == 0 || !p.Meta.Attached {
				t.Errorf("rank %d: %d regions, attached: %t", rank, regionsOf(p), p.Meta.Attached)
			}
		}
		if err := j.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		j.wait(t)
	})
}

// The ranks of a job that is measured are looked at. dump keeps a snapshot of the rank that it is
// given. top shows all of them without measuring a second time.
func TestLookAtRanks(t *testing.T) {
	atOnce(t)
	eachMPI(t, func(t *testing.T, mpirun, bin string) {
		dir := filepath.Join(t.TempDir(), "out")
		j := startJob(t, "", wrapped(mpirun, dir, 2, bin, "until", aLongTime)...)
		j.ready(t, dir, 2)
		for _, pid := range toolsOf("run", dir) {
			for _, child := range childrenOf(pid) {
				if slices.Contains(toolsOf("__collector", dir), child) {
					continue
				}
				name := strings.TrimSpace(toolSays(t, "dump", "--pid", fmt.Sprint(child)))
				p := decode(t, name)
				if want := fmt.Sprintf("snapshot.rank%d.", p.Meta.MPI.Rank); p.Meta.PID != child || !strings.HasPrefix(filepath.Base(name), want) || filepath.Dir(name) != dir {
					t.Errorf("dump of process %d wrote %s, of process %d", child, name, p.Meta.PID)
				}
			}
		}
		if names, _ := filepath.Glob(filepath.Join(dir, "snapshot.*")); len(names) != 2 {
			t.Errorf("snapshots %q, want one of each rank", names)
		}
		out := toolSays(t, "top", "--format", "line", "--count", "2", "--interval", "200ms", "--job", fmt.Sprint(j.cmd.Process.Pid))
		if strings.Count(out, "\n") != 3 || !strings.Contains(out, "measures this already") || !strings.Contains(out, "PARALLEL ranks.c") {
			t.Errorf("top says %s", out)
		}
		if err := j.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		j.wait(t)
		for rank, p := range profilesIn(t, dir, 2) {
			if regionsOf(p) == 0 || !p.Meta.SnapshotAt.IsZero() {
				t.Errorf("rank %d: %d regions, snapshot of %s", rank, regionsOf(p), p.Meta.SnapshotAt)
			}
		}
	})
}

// top measures the ranks of a job that nobody measures, and leaves them as they were.
func TestTopOfJob(t *testing.T) {
	atOnce(t)
	eachMPI(t, func(t *testing.T, mpirun, bin string) {
		j := startJob(t, "", mpirun, "-n", "3", bin, "until", aLongTime)
		until(t, "the ranks run", func() bool { return strings.Count(j.out.String(), "ready") == 3 })
		s := start(t, "top", "--format", "json", "--count", "2", "--interval", "300ms", "--job", fmt.Sprint(j.cmd.Process.Pid))
		if got := s.wait(t); got != 0 {
			t.Fatalf("exit status %d, stderr %q", got, s.stderr.String())
		}
		var last live.Update
		lines := strings.Split(strings.TrimSpace(s.stdout.String()), "\n")
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || !last.Final || len(last.Processes) != 3 {
			t.Fatalf("%d windows, the last with %d processes: %v", len(lines), len(last.Processes), err)
		}
		profiles := profilesIn(t, s.dir, 3)
		for _, p := range last.Processes {
			if p.Rank < 0 || profiles[p.Rank].Meta.PID != p.PID || p.Hits != profiles[p.Rank].Meta.Hits {
				t.Errorf("the last window has rank %d of process %d with %d hits, the final profiles have others", p.Rank, p.PID, p.Hits)
			}
		}
		if err := j.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		j.wait(t)
	})
}

// A larger, older run's files are refused, and do not stay among a new one's.
func TestRanksOldFiles(t *testing.T) {
	atOnce(t)
	eachMPI(t, func(t *testing.T, mpirun, bin string) {
		dir := t.TempDir()
		old := filepath.Join(dir, "profile.rank9.json.gz")
		if err := os.WriteFile(old, []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
		argv := wrapped(mpirun, dir, 2, bin, "count", "1")
		j := startJob(t, "", argv...)
		if got := j.wait(t); got == 0 || !strings.Contains(j.err.String(), "already holds profiles") || strings.Contains(j.out.String(), "rank 0 of") {
			t.Errorf("exit status %d, stdout %q, stderr %q", got, j.out.String(), j.err.String())
		}
		argv = slices.Insert(argv, slices.Index(argv, "-q"), "--overwrite")
		j = startJob(t, "", argv...)
		if got := j.wait(t); got != 0 {
			t.Errorf("exit status %d, stderr %q", got, j.err.String())
		}
		profilesIn(t, dir, 2)
		if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the old profile: %v", err)
		}
	})
}

// A hit costs the same however many ranks are measured on the node. CPU time is what is compared.
// The machine may be busy, or its processors may become slower for a while. So the best of some
// turns counts, and in each turn one rank is measured before the others and after them.
func TestRanksCost(t *testing.T) {
	const few, many, criticals = 1, 8, 50000
	mean := func(t *testing.T, mpirun, bin string, ranks int) float64 {
		dir := filepath.Join(t.TempDir(), "out")
		j := startJob(t, "", append([]string{"env", "OMP_NUM_THREADS=1"}, wrapped(mpirun, dir, ranks, bin, "criticals", fmt.Sprint(criticals))...)...)
		if got := j.wait(t); got != 0 {
			t.Fatalf("exit status %d, stderr %q", got, j.err.String())
		}
		sum, n := 0.0, 0
		for line := range strings.Lines(j.out.String()) {
			ns, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += ns
			n++
		}
		if n != ranks {
			t.Fatalf("%d ranks have told: %q", n, j.out.String())
		}
		return sum / float64(n)
	}
	eachMPI(t, func(t *testing.T, mpirun, bin string) {
		if strings.HasSuffix(mpirun, "openmpi") {
			t.Skip("the launcher makes no difference, and this takes a while")
		}
		const most = 1.4 // 8 links to each probe make it 1.8
		var ratio float64
		for range 5 {
			before, together, after := mean(t, mpirun, bin, few), mean(t, mpirun, bin, many), mean(t, mpirun, bin, few)
			alone := (before + after) / 2
			ratio = together / alone
			t.Logf("CPU time per critical: %.0f ns in %d rank, %.0f ns in each of %d: %.2f times", alone, few, together, many, ratio)
			if ratio <= most {
				return
			}
		}
		t.Errorf("with %d ranks a critical costs %.2f times what it costs with %d", many, ratio, few)
	})
}
