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

	"ompp-attach/probes"
	"ompp-attach/symbols"
)

// target is bench/programs/ops.c, built for one runtime.
type target struct {
	runtime  string // libgomp, libomp
	compiler string
	binary   string
	script   string // for bpftrace
}

func buildTargets(dir string) ([]target, error) {
	var out []target
	clang, err := clangWithOpenMP()
	if err != nil {
		return nil, err
	}
	for _, t := range []target{
		{runtime: "libgomp", compiler: "gcc", script: "bench/programs/gomp.bt"},
		{runtime: "libomp", compiler: clang, script: "bench/programs/kmpc.bt"},
	} {
		t.binary = filepath.Join(dir, "ops-"+t.runtime)
		args := []string{"-O2", "-g", "-fopenmp", "-o", t.binary, "bench/programs/ops.c"}
		if t.compiler != "gcc" {
			args = append(args, "-Wl,-rpath,"+libompFolder(t.compiler))
		}
		if msg, err := exec.Command(t.compiler, args...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", t.compiler, err, msg)
		}
		out = append(out, t)
	}
	return out, nil
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

func (t *target) start(op *operation) (*process, error) {
	cmd := exec.Command(t.binary, op.mode, strconv.Itoa(op.threads))
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
	if _, err := p.out.ReadString('\n'); err != nil {
		p.stop()
		return nil, fmt.Errorf("%s does not start: %w", t.binary, err)
	}
	return p, nil
}

// turn lets the target work and returns the nanoseconds per operation.
func (p *process) turn(ms int) (float64, error) {
	if _, err := fmt.Fprintln(p.in, ms); err != nil {
		return 0, err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("the target ended: %w", err)
	}
	return strconv.ParseFloat(strings.TrimSpace(line), 64)
}

func (p *process) stop() {
	p.in.Close()
	_ = p.cmd.Wait()
}

// library is the OpenMP runtime that a process maps.
func (p *process) library() (*symbols.Module, error) {
	mods, err := symbols.Modules(p.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	for i := range mods {
		base := filepath.Base(mods[i].Path)
		if (strings.HasPrefix(base, "libgomp") || strings.HasPrefix(base, "libomp")) &&
			probes.Identify(mods[i].Object()) != 0 {
			return &mods[i], nil
		}
	}
	return nil, errors.New("the target maps no OpenMP runtime")
}
