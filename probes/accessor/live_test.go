package accessor

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
	"ompp-attach/mpi"
	"ompp-attach/symbols"
)

// truth is what an accessor has said of a handle.
type truth struct {
	what, name    string
	handle, value uint64
}

// rank is a process of a running job that has said what its handles are.
type rank struct {
	library *symbols.Object
	base    uint64
	read    func(addr uint64, n int) (uint64, error)
	truths  []truth
}

// startJob compiles testdata/programs/mpi_handles.c, runs it and returns its
// processes, which wait until the test is over.
func startJob(t *testing.T, mpicc string, mpirun []string, ranks int, flags ...string) []rank {
	t.Helper()
	if _, err := exec.LookPath(mpirun[0]); err != nil {
		t.Skipf("%s is not installed", mpirun[0])
	}
	bin := testbin.Build(t, "mpi_handles.c", testbin.Options{Compiler: mpicc, Flags: append(flags, "-O1"), NoOpenMP: true})
	dir := t.TempDir()
	var output strings.Builder
	cmd := exec.Command(mpirun[0], append(mpirun[1:], "-n", strconv.Itoa(ranks), bin, dir)...)
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		if err := os.WriteFile(filepath.Join(dir, "stop"), nil, 0o644); err != nil {
			t.Error(err)
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%v: %v\n%s", cmd.Args, err, output.String())
			}
		case <-time.After(time.Minute):
			t.Errorf("%v does not end", cmd.Args)
			cmd.Process.Kill()
		}
	})
	job := make([]rank, ranks)
	for i := range job {
		name := filepath.Join(dir, fmt.Sprintf("rank%d", i))
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			if _, err := os.Stat(name); err == nil {
				break
			}
			select {
			case err := <-ended:
				ended <- nil
				t.Fatalf("%v has ended: %v\n%s", cmd.Args, err, output.String())
			default:
			}
			if time.Now().After(deadline) {
				t.Fatalf("rank %d of %v is not ready", i, cmd.Args)
			}
		}
		job[i] = lookAt(t, name)
	}
	return job
}

func lookAt(t *testing.T, name string) (r rank) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	pid := 0
	for line := range strings.Lines(string(b)) {
		var x truth
		var value int64
		if _, err := fmt.Sscan(line, &x.what, &x.name, &x.handle, &value); err != nil {
			t.Fatalf("%s: %q: %v", name, line, err)
		}
		x.value = uint64(value)
		if x.what == "Process" {
			pid = int(value)
			continue
		}
		r.truths = append(r.truths, x)
	}
	modules, err := symbols.Modules(pid)
	if err != nil {
		t.Logf("modules of %d: %v", pid, err)
	}
	for i := range modules {
		if o := modules[i].Object(); len(o.Symbol("MPI_Comm_size")) > 0 {
			r.library, r.base = o, modules[i].Bias
		}
	}
	if r.library == nil {
		t.Fatalf("process %d has no MPI library", pid)
	}
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { memory.Close() })
	r.read = func(addr uint64, n int) (uint64, error) {
		var b [8]byte
		if _, err := memory.ReadAt(b[:n], int64(addr)); err != nil {
			return 0, err
		}
		return binary.LittleEndian.Uint64(b[:]), nil
	}
	return r
}

// formulas are a library's by the names that mpi_handles.c gives properties.
func (f *Formulas) named() map[string]mpi.Formula {
	return map[string]mpi.Formula{"TypeSize": f.TypeSize, "CommSize": f.CommSize, "CommRank": f.CommRank,
		"CommIsInter": f.CommIsInter, "CommRemoteSize": f.CommRemoteSize, "GroupSize": f.GroupSize, "World": f.World}
}

var accessors = map[string]string{"TypeSize": "MPI_Type_size_x", "CommSize": "MPI_Comm_size", "CommRank": "MPI_Comm_rank",
	"CommIsInter": "MPI_Comm_test_inter", "CommRemoteSize": "MPI_Comm_remote_size", "GroupSize": "MPI_Group_size"}

var jobs = map[string]struct {
	mpicc  string
	mpirun []string
}{
	"Open MPI": {"mpicc.openmpi", []string{"mpirun.openmpi", "--oversubscribe"}},
	"MPICH":    {"mpicc.mpich", []string{"mpirun.mpich"}},
}

func TestFormulasOnRunningJobs(t *testing.T) {
	for name, j := range jobs {
		for _, ranks := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s, %d ranks", name, ranks), func(t *testing.T) {
				checked := map[string]int{}
				for _, r := range startJob(t, j.mpicc, j.mpirun, ranks) {
					f, err := Derive(r.library)
					if err != nil {
						t.Error(err)
					}
					if err := f.Check(r.base, r.read); err != nil {
						t.Error(err)
					}
					named := f.named()
					for _, x := range r.truths {
						if strings.HasPrefix(x.what, "Win") {
							continue
						}
						got, ok := named[x.what].Eval(x.handle, r.base, r.read)
						if !ok || int32(got) != int32(x.value) || x.what == "TypeSize" && got != x.value {
							t.Errorf("%s of %s (%#x) is %d (%v), want %d", x.what, x.name, x.handle, got, ok, x.value)
						}
						if name := accessors[x.what]; name != "" {
							got, ok := Emulate(r.library, name, x.handle, r.base, r.read)
							if !ok || int32(got) != int32(x.value) {
								t.Errorf("%s(%s: %#x) is %d (%v) by emulation, want %d", name, x.name, x.handle, got, ok, x.value)
							}
						}
						checked[x.what]++
					}
				}
				t.Logf("checked %v", checked)
			})
		}
	}
}
