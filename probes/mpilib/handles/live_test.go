package handles

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
	"ompp-attach/mpi"
	"ompp-attach/symbols"
)

// truth is the answer of an accessor for a handle.
type truth struct {
	what, name    string
	handle, value uint64
}

// rank is a process of a running job that has printed its handles.
type rank struct {
	library *symbols.Object
	base    uint64
	read    func(addr uint64, n int) (uint64, error)
	truths  []truth
}

// startMPI compiles testdata/programs/mpi_handles.c and runs it as a job.
func startMPI(t *testing.T, mpicc string, mpirun []string, ranks int) []rank {
	t.Helper()
	if _, err := exec.LookPath(mpirun[0]); err != nil {
		t.Skipf("%s is not installed", mpirun[0])
	}
	bin := testbin.Build(t, "mpi_handles.c", testbin.Options{Compiler: mpicc, NoOpenMP: true})
	return start(t, ranks, append(mpirun, "-n", strconv.Itoa(ranks), bin)...)
}

// start runs a command whose last argument is a directory, and returns the command's processes.
// They wait there until the test is over.
func start(t *testing.T, ranks int, args ...string) []rank {
	t.Helper()
	dir := t.TempDir()
	var output strings.Builder
	cmd := exec.Command(args[0], append(args[1:], dir)...)
	launched := testbin.OpenMPI
	if strings.HasSuffix(args[0], "."+string(testbin.MPICH)) {
		launched = testbin.MPICH
	}
	cmd.Env = append(os.Environ(), launched.LaunchEnv(t)...)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var status error
	go func() { status = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		if err := os.WriteFile(filepath.Join(dir, "stop"), nil, 0o644); err != nil {
			t.Error(err)
		}
		select {
		case <-ended:
			if status != nil {
				t.Errorf("%v: %v\n%s", cmd.Args, status, output.String())
			}
		case <-time.After(time.Minute):
			t.Errorf("%v does not end", cmd.Args)
			cmd.Process.Kill()
		}
	})
	job := make([]rank, ranks)
	for i := range job {
		name := filepath.Join(dir, fmt.Sprintf("rank%d", i))
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			if _, err := os.Stat(name); err == nil {
				break
			}
			select {
			case <-ended:
				t.Fatalf("%v has ended: %v\n%s", cmd.Args, status, output.String())
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

// formulas are a library's formulas by the names that mpi_handles.c gives the properties.
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

// compare evaluates the formulas, and emulates the accessors, for all handles.
func compare(t *testing.T, job []rank, skip ...string) {
	t.Helper()
	checked := map[string]int{}
	for _, r := range job {
		f, err := Derive(r.library)
		if err != nil && len(skip) == 0 {
			t.Error(err)
		} else if err != nil {
			t.Log(err)
		}
		if err := f.Check(r.base, r.read); err != nil {
			t.Error(err)
		}
		if err := f.Check(r.base+8, r.read); err == nil && !r.library.FixedAddresses() {
			t.Error("formulas hold at another base, too")
		}
		nothing := func(uint64, int) (uint64, error) { return 0, nil }
		if err := f.Check(r.base, nothing); !errors.Is(err, ErrNotInitialized) {
			t.Errorf("in a process before MPI_Init: %v", err)
		}
		if v, ok := f.Initialized.Eval(0, r.base, r.read); !ok || v != 1 {
			t.Errorf("initialised: %d (%v)", v, ok)
		}
		named := f.named()
		for _, x := range r.truths {
			if strings.HasPrefix(x.what, "Win") || slices.Contains(skip, x.what) {
				continue
			}
			checked[x.what]++
			if strings.HasSuffix(x.what, "Degree") {
				if len(r.library.Symbol("MPI_Cartdim_get")) == 0 {
					continue // a static program that does not use it
				}
				in, out, ok := Degrees(r.library, x.handle, r.base, r.read)
				if got := map[string]uint64{"InDegree": in, "OutDegree": out}[x.what]; !ok || got != x.value {
					t.Errorf("%s of %s (%#x) is %d (%v), want %d", x.what, x.name, x.handle, got, ok, x.value)
				}
				continue
			}
			got, ok := named[x.what].Eval(x.handle, r.base, r.read)
			if !ok || int32(got) != int32(x.value) && x.what != "World" || x.what == "TypeSize" && got != x.value {
				t.Errorf("%s of %s (%#x) is %d (%v), want %d", x.what, x.name, x.handle, got, ok, x.value)
			}
			name := accessors[x.what]
			if name == "" {
				continue
			}
			got, ok = Emulate(r.library, name, x.handle, r.base, r.read)
			if !ok || int32(got) != int32(x.value) {
				t.Errorf("%s of %s (%#x) is %d (%v) by emulation, want %d", x.what, x.name, x.handle, got, ok, x.value)
			}
		}
	}
	t.Logf("checked %v", checked)
}

func TestFormulasOnRunningJobs(t *testing.T) {
	for name, j := range jobs {
		for _, ranks := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s, %d ranks", name, ranks), func(t *testing.T) {
				compare(t, startMPI(t, j.mpicc, j.mpirun, ranks))
			})
		}
	}
}

// TestFormulasOfStaticPrograms: the library is part of the program, at fixed addresses or not. The
// program holds only the accessors that it uses.
func TestFormulasOfStaticPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("links MPICH into programs")
	}
	archive := strings.TrimSpace(ask(t, "gcc", "-print-file-name=libmpich.a"))
	if !filepath.IsAbs(archive) {
		t.Skip("libmpich.a is not installed")
	}
	include := strings.Fields(ask(t, "mpicc.mpich", "-compile_info"))
	for _, how := range []string{"-no-pie", "-pie"} {
		t.Run(how, func(t *testing.T) {
			bin := filepath.Join(t.TempDir(), "static")
			args := []string{how, "-O1", "-o", bin, filepath.Join(testbin.Repo(t), "testdata/programs/mpi_handles.c"), archive}
			for _, flag := range include {
				if strings.HasPrefix(flag, "-I") {
					args = append(args, flag)
				}
			}
			// What the archive needs need not be there as archives.
			for _, lib := range strings.Fields(ask(t, "objdump", "-p", sharedMPICH)) {
				if strings.HasPrefix(lib, "lib") && !strings.HasPrefix(lib, "libc.") && !strings.HasPrefix(lib, "libmpich") {
					args = append(args, "-l:"+lib)
				}
			}
			if msg, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
				t.Skipf("libraries that libmpich.a needs are not installed: gcc %v: %v\n%s", args, err, msg)
			}
			compare(t, start(t, 2, "mpirun.mpich", "-n", "2", bin))
		})
	}
}

const sharedMPICH = "/usr/lib/x86_64-linux-gnu/libmpich.so.12"

func ask(t *testing.T, command ...string) string {
	t.Helper()
	out, err := exec.Command(command[0], command[1:]...).Output()
	if err != nil {
		t.Skipf("%v: %v", command, err)
	}
	return string(out)
}

// TestFormulasOfOtherCompilers: programs are built by other compilers, with other flags, than the
// installed libraries.
func TestFormulasOfOtherCompilers(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles 144 programs")
	}
	for _, compiler := range []string{"gcc", "clang-14", "clang-19"} {
		for _, level := range []string{"-O0", "-O2", "-Os"} {
			for _, src := range []string{"mpi_classes.c", "mpi_pointers.c"} {
				jumpTables := "--param=case-values-threshold=2"
				if compiler != "gcc" {
					jumpTables = "-mllvm -min-jump-table-entries=2"
				}
				for _, how := range []string{
					"-fPIE -pie", "-fno-pie -no-pie", "-DUNCHECKED", "-DSWITCH -DGROUPS",
					"-DSWITCH -s -rdynamic -march=x86-64-v3", "-DQUIET -s -rdynamic",
					"-DSWITCH -DUNCHECKED -fcf-protection -fstack-protector-all " + jumpTables,
					"-fno-pie -no-pie -DSWITCH " + jumpTables,
				} {
					t.Run(strings.Join([]string{compiler, level, src, how}, " "), func(t *testing.T) {
						bin := testbin.Build(t, src, testbin.Options{Compiler: compiler, NoOpenMP: true, Flags: append(strings.Fields(how), level)})
						skip := []string{}
						if src == "mpi_classes.c" {
							skip = append(skip, "GroupSize")
						}
						compare(t, start(t, 1, bin), skip...)
					})
				}
			}
		}
	}
}
