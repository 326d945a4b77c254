package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// target is a program of bench/programs, built for one runtime.
type target struct {
	runtime  string // libgomp, libomp; of an MPI program Open MPI, MPICH
	compiler string
	flags    []string
	binary   string
	shim     string // library that counts within the process
}

// compilers are those that the OpenMP targets are built by, each with its shim.
func compilers(dir string) ([]target, error) {
	clang, err := clangWithOpenMP()
	if err != nil {
		return nil, err
	}
	out := []target{
		{runtime: "libgomp", compiler: "gcc", flags: []string{"-fopenmp"}},
		{runtime: "libomp", compiler: clang, flags: []string{"-fopenmp", "-Wl,-rpath," + libompFolder(clang)}},
	}
	for i, source := range []string{"gomp_truth.c", "ompt_truth.c"} {
		t := &out[i]
		t.shim = filepath.Join(dir, t.runtime+"-shim.so")
		if err := compile(t.compiler, t.shim, "testdata/truth/"+source, "-fPIC", "-shared"); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// mpiCompilers are those of the MPI libraries that are installed.
func mpiCompilers(dir string) ([]target, error) {
	var out []target
	for _, t := range []target{
		{runtime: "Open MPI", compiler: "mpicc.openmpi"},
		{runtime: "MPICH", compiler: "mpicc.mpich"},
	} {
		if _, err := exec.LookPath(t.compiler); err != nil {
			continue
		}
		t.shim = filepath.Join(dir, t.compiler+"-shim.so")
		if err := compile(t.compiler, t.shim, "testdata/truth/mpi_truth.c", "-fPIC", "-shared"); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// build builds one of bench/programs.
func (t target) build(source, dir string, more ...string) (target, error) {
	t.binary = filepath.Join(dir, strings.TrimSuffix(source, ".c")+"-"+filepath.Base(t.compiler))
	return t, compile(t.compiler, t.binary, "bench/programs/"+source, append(more, t.flags...)...)
}

func compile(compiler, out, source string, flags ...string) error {
	args := append([]string{"-O2", "-g", "-o", out, source}, flags...)
	if msg, err := exec.Command(compiler, append(args, "-lm")...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", compiler, source, err, msg)
	}
	return nil
}

// clangWithOpenMP returns the newest clang in PATH that has a libomp.
func clangWithOpenMP() (string, error) {
	names := []string{"clang"}
	for v := 14; v <= 25; v++ {
		names = append([]string{"clang-" + strconv.Itoa(v)}, names...)
	}
	for _, c := range names {
		if filepath.IsAbs(libompFolder(c)) {
			return c, nil
		}
	}
	return "", errors.New("no clang with a libomp is installed")
}

func libompFolder(clang string) string {
	out, err := exec.Command(clang, "-print-file-name=libomp.so").Output()
	if err != nil {
		return ""
	}
	real, err := filepath.EvalSymlinks(strings.TrimSpace(string(out)))
	if err != nil {
		return ""
	}
	return filepath.Dir(real)
}

// process is a running target.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start runs the target, which says that it is ready and then waits for lines.
func (t *target) start(args ...string) (*process, error) {
	return startProcess(exec.Command(t.binary, args...))
}

// startShimmed runs the target with the counting library in it.
func (t *target) startShimmed(dir string) (*process, error) {
	cmd := exec.Command(t.binary)
	cmd.Env = append(os.Environ(), t.shimEnvironment(dir)...)
	return startProcess(cmd)
}

// startBoth runs the target twice: as it is, and with the counting library in it.
func (t *target) startBoth(dir string) (plain, shimmed *process, err error) {
	if plain, err = t.start(); err != nil {
		return nil, nil, err
	}
	if shimmed, err = t.startShimmed(dir); err != nil {
		plain.stop()
		return nil, nil, err
	}
	return plain, shimmed, nil
}

func (t *target) shimEnvironment(dir string) []string {
	counts := "TRUTH_OUT=" + filepath.Join(dir, "counts")
	switch t.runtime {
	case "libomp":
		return []string{"OMP_TOOL_LIBRARIES=" + t.shim, counts}
	case "libgomp":
		return []string{"LD_PRELOAD=" + t.shim, counts}
	}
	return []string{"LD_PRELOAD=" + t.shim, "TRUTH_OUT=" + dir} // a file per rank
}

func startProcess(cmd *exec.Cmd) (*process, error) {
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd, in, bufio.NewReader(out)}
	if line, err := p.out.ReadString('\n'); err != nil || line != "ready\n" {
		p.stop()
		return nil, fmt.Errorf("%s does not start: %q %w", cmd.Path, line, err)
	}
	return p, nil
}

// ask tells the target to work and returns the two numbers that it answers.
func (p *process) ask(request string) (first, second float64, err error) {
	if _, err := fmt.Fprintln(p.in, request); err != nil {
		return 0, 0, err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return 0, 0, fmt.Errorf("the target ended: %w", err)
	}
	if _, err := fmt.Sscan(line, &first, &second); err != nil {
		return 0, 0, fmt.Errorf("the target says %q: %w", line, err)
	}
	return first, second, nil
}

// perform lets the target perform an operation for so long and returns the
// nanoseconds of one and how many there were.
func (p *process) perform(op *operation, ms int) (ns, operations float64, err error) {
	return p.ask(fmt.Sprintf("%s %d %d", op.mode, op.threads, ms))
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) stop() {
	p.in.Close()
	_ = p.cmd.Wait()
}
