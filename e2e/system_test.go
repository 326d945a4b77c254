package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/mpi"
	"ompp-attach/system"
)

// measuring is a run of `system --quick` without probes, so it needs no rights.
type measuring struct {
	cmd      *exec.Cmd
	temp     string // the tool's temporary directory
	file     string
	out, err bytes.Buffer
}

func newMeasuring(t *testing.T, before []string, args ...string) *measuring {
	t.Helper()
	m := &measuring{temp: t.TempDir(), file: filepath.Join(t.TempDir(), "system.json")}
	line := append(append(before, tool, "system", "--quick", "--no-probes", "-o", m.file), args...)
	m.cmd = exec.Command(line[0], line[1:]...)
	m.cmd.Env = append(append(os.Environ(), testbin.OpenMPI.LaunchEnv(t)...), "TMPDIR="+m.temp)
	m.cmd.Stdout, m.cmd.Stderr = &m.out, &m.err
	return m
}

// profile reads what was written, and finds what every profile has to have.
func (m *measuring) profile(t *testing.T) *system.Profile {
	t.Helper()
	f, err := os.Open(m.file)
	if err != nil {
		t.Fatalf("%v\n%s", err, m.err.String())
	}
	defer f.Close()
	p, err := system.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	figures := map[string]system.Figure{}
	for _, o := range p.OpenMP {
		figures[fmt.Sprint(o.Construct, o.Variant, o.Threads)] = o.Cost
	}
	for _, o := range p.MPI {
		figures[fmt.Sprint(o.Operation, o.Bytes, o.Processes, o.Where)] = o.Cost
	}
	for name, f := range figures {
		if precise := f.Error <= 0.03*max(f.Median, -f.Median); precise != (f.Stopped == system.Precise) {
			t.Errorf("%s ended as %s with a median of %g and an error of %g", name, f.Stopped, f.Median, f.Error)
		}
	}
	if left, _ := os.ReadDir(m.temp); len(left) > 0 {
		t.Errorf("the tool left %s in its temporary directory", left[0].Name())
	}
	return p
}

func (m *measuring) run(t *testing.T) *system.Profile {
	t.Helper()
	if err := m.cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, m.err.String())
	}
	return m.profile(t)
}

// leftOut is why a part was left out; empty if it was not.
func leftOut(p *system.Profile, part string) string {
	for _, l := range p.LeftOut {
		if l.Part == part {
			return l.Reason
		}
	}
	return ""
}

// near says what is wrong with a cost that is known: it is that, and what the real operation takes.
func near(name string, got system.Estimate, known, real float64, late time.Duration) (wrong []string) {
	const work = 100 // ns, which the program takes off again
	if got.Value < 0.98*known-work || got.Value > 1.02*known+real+float64(late) {
		wrong = append(wrong, fmt.Sprintf("%s: %.1f us +- %.1f, known are %.1f us and at most %.1f for the operation", name, got.Value/1e3, got.Error/1e3, known/1e3, real/1e3))
	}
	return wrong
}

// TestSystemOpenMP: constructs that are slower by a known time cost that time and what they cost
// anyway, on GCC and Clang. There is no MPI compiler, which the profile says.
func TestSystemOpenMP(t *testing.T) {
	slow := filepath.Join(testbin.Repo(t), "testdata", "programs", "slow_openmp.c")
	for _, c := range []struct{ compiler, runtime string }{{"gcc", "libgomp"}, {"clang-19", "libomp"}} {
		t.Run(c.compiler, func(t *testing.T) {
			if _, err := exec.LookPath(c.compiler); err != nil {
				t.Skip(err)
			}
			timed(t, func() func(time.Duration) []string {
				m := newMeasuring(t, nil, "--threads", "1,2", "--cc", c.compiler+" "+slow, "--mpicc", "/nowhere/mpicc")
				p := m.run(t)
				if len(p.OpenMP) == 0 || len(p.OpenMP)%2 != 0 || len(p.Compute) != 6 {
					t.Fatalf("%d constructs, %d rates: %+v", len(p.OpenMP), len(p.Compute), p.LeftOut)
				}
				if why := leftOut(p, "mpi"); why != "there is no command /nowhere/mpicc" || !strings.Contains(m.out.String(), "Left out: mpi: "+why) {
					t.Errorf("without an MPI compiler: %q\n%s", why, m.out.String())
				}
				if l := p.Software.OpenMPRuntime; l == nil || l.Name != c.runtime || l.BuildID == "" {
					t.Errorf("the runtime is said to be %+v, not %s", l, c.runtime)
				}
				return func(late time.Duration) (wrong []string) {
					for _, k := range []struct {
						construct event.Construct
						threads   int
						known     float64 // ns
						real      float64
					}{
						{event.Barrier, 1, 20e3, 4e3}, {event.Barrier, 2, 20e3, 4e3}, {event.Critical, 1, 20e3, 4e3},
						// A thread that waits for the critical may sleep, and be woken.
						{event.Critical, 2, 20e3, 8e3},
						// The construct costs less than the work of 100 ns.
						{event.Lock, 2, 0, 4e3}, {event.Parallel, 1, 0, 4e3}, {event.Flush, 1, 0, 60},
					} {
						e, ok := p.Construct(k.construct, "", k.threads)
						if !ok || e.Shared != (k.construct == event.Critical || k.construct == event.Lock) {
							t.Errorf("%s: %+v", k.construct, e)
						}
						late := late
						// The median of its short samples is right on busy machines, too.
						if k.threads == 1 {
							late = 0
						}
						wrong = append(wrong, near(fmt.Sprintf("%s on %d threads", k.construct, k.threads), e, k.known, k.real, late)...)
					}
					return wrong
				}
			})
		})
	}
}

// TestSystemMPI: messages over a network of 100 MB/s cost bytes / bandwidth and the latency, and a
// broadcast what it is known to cost. There is no C compiler, which the profile says. MPICH's
// processes are on two nodes.
func TestSystemMPI(t *testing.T) {
	slow := filepath.Join(testbin.Repo(t), "testdata", "programs", "slow_mpi.c")
	send, _ := mpi.ParseOp("MPI_Send")
	bcast, _ := mpi.ParseOp("MPI_Bcast")
	for _, c := range []struct {
		library testbin.MPI
		name    string
		options string
		where   system.Where
	}{
		{testbin.OpenMPI, "Open MPI", "--oversubscribe", system.Complex},
		{testbin.MPICH, "MPICH", "-launcher fork -hosts one,two", system.Nodes},
	} {
		t.Run(string(c.library), func(t *testing.T) {
			c.library.Need(t)
			timed(t, func() func(time.Duration) []string {
				m := newMeasuring(t, nil, "--processes", "2", "--cc", "/nowhere/cc", "--mpicc", "mpicc."+string(c.library)+" "+slow,
					"--mpirun", "mpirun."+string(c.library)+" "+c.options+" -n {p}")
				p := m.run(t)
				if why := leftOut(p, "openmp"); why != "there is no command /nowhere/cc" {
					t.Errorf("without a C compiler: %q", why)
				}
				if l := p.Software.MPILibrary; l == nil || l.Name != c.name || l.Version == "" || l.BuildID == "" {
					t.Errorf("the library is said to be %+v, not %s", l, c.name)
				}
				if len(p.MPI) == 0 {
					t.Fatalf("nothing was measured: %+v", p.LeftOut)
				}
				for _, o := range p.MPI {
					if (o.Nodes == 2) != (o.Where == system.Nodes) || c.where == system.Nodes && o.Nodes != 2 {
						t.Errorf("%s is %s, on %d nodes", o.Operation, o.Where, o.Nodes)
					}
				}
				return func(late time.Duration) (wrong []string) {
					for _, bytes := range []uint64{8, 4096, 32768, 1 << 18} {
						e, _ := p.Message(send, bytes, 2, "")
						known := 20e3 + 10*float64(bytes)
						wrong = append(wrong, near(fmt.Sprintf("%d bytes", bytes), e, known, 20e3+float64(bytes), late)...)
					}
					e, _ := p.Message(bcast, 8, 2, "")
					return append(wrong, near("broadcast", e, 200e3, 60e3, late)...)
				}
			})
		})
	}
}

// programs returns the command lines of the processes that run the tool's programs.
func (m *measuring) programs() (lines []string) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		if status, err := os.ReadFile(filepath.Join(filepath.Dir(name), "status")); err != nil || killed(string(status)) {
			continue
		}
		if b, _ := os.ReadFile(name); bytes.Contains(b, []byte(m.temp)) {
			lines = append(lines, strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	return lines
}

// killed tells, by /proc/PID/status, whether a process has a SIGKILL pending: it ends when it gets
// a core.
func killed(status string) bool {
	for line := range strings.Lines(status) {
		name, mask, _ := strings.Cut(line, ":")
		pending, _ := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
		if (name == "ShdPnd" || name == "SigPnd") && pending&(1<<(syscall.SIGKILL-1)) != 0 {
			return true
		}
	}
	return false
}

// TestSystemInterrupted: Ctrl-C and Ctrl-\ leave what was measured, and neither programs nor files.
func TestSystemInterrupted(t *testing.T) {
	atOnce(t)
	for _, c := range []struct {
		part, until string
		by          os.Signal
	}{{"OpenMP", "OpenMP, 2 threads", syscall.SIGQUIT}, {"MPI", "MPI, 2 processes", syscall.SIGINT}} {
		t.Run(c.part, func(t *testing.T) {
			testbin.MPICH.Need(t)
			m := newMeasuring(t, nil, "--threads", "1,2", "--processes", "2", "--cc", "gcc", "--mpicc", "mpicc.mpich", "--mpirun", "mpirun.mpich -n {p}")
			said := make(chan string, 1)
			m.cmd.Stderr = &awaited{text: c.until, said: said}
			if err := m.cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- m.cmd.Wait() }()
			select {
			case <-said:
			case err := <-ended:
				t.Fatalf("ended before %s: %v", c.until, err)
			}
			if err := m.cmd.Process.Signal(c.by); err != nil {
				t.Fatal(err)
			}
			<-ended
			if m.cmd.ProcessState.ExitCode() != 1 {
				t.Errorf("exit status %d", m.cmd.ProcessState.ExitCode())
			}
			p := m.profile(t)
			one := 0
			for _, o := range p.OpenMP {
				if o.Threads == 1 {
					one++
				}
			}
			if !p.Interrupted || one != 32 || c.part == "MPI" && len(p.MPI) == 0 {
				t.Errorf("interrupted %t, %d constructs with one thread, %d MPI figures", p.Interrupted, one, len(p.MPI))
			}
			if !strings.Contains(m.out.String(), "interrupted") {
				t.Errorf("the text says nothing:\n%s", m.out.String())
			}
			if left := m.programs(); len(left) > 0 {
				t.Errorf("programs go on: %q", left)
			}
		})
	}
}

// awaited tells when a text was written.
type awaited struct {
	text string
	said chan string
	all  bytes.Buffer
}

func (u *awaited) Write(b []byte) (int, error) {
	u.all.Write(b)
	if u.text != "" && strings.Contains(u.all.String(), u.text) {
		u.text = ""
		u.said <- u.all.String()
	}
	return len(b), nil
}

// TestSystemOversubscribed: with one CPU, more threads are measured only if the user says so, and
// are marked. An existing file is not replaced.
func TestSystemOversubscribed(t *testing.T) {
	atOnce(t)
	m := newMeasuring(t, []string{"taskset", "-c", "0"}, "--threads", "1,2", "--cc", "gcc", "--mpicc", "mpicc.openmpi")
	p := m.run(t)
	for _, o := range p.OpenMP {
		if o.Oversubscribed != (o.Threads == 2) {
			t.Errorf("%s with %d threads on one CPU: oversubscribed is %t", o.Construct, o.Threads, o.Oversubscribed)
		}
	}
	if len(p.OpenMP) == 0 || !strings.Contains(m.out.String(), "!  more threads or processes than CPUs") || !strings.Contains(leftOut(p, "mpi"), "one CPU only") {
		t.Errorf("%d constructs, left out %+v", len(p.OpenMP), p.LeftOut)
	}
	again := exec.Command(tool, "system", "-o", m.file)
	if out, err := again.CombinedOutput(); err == nil || !strings.Contains(string(out), "exists: give another file") {
		t.Errorf("an existing file: %v\n%s", err, out)
	}
}
