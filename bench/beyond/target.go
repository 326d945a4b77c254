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

const sources = "bench/beyond/programs/"

// target is storm.c, built for one runtime, and what is loaded into it.
type target struct {
	runtime          string // libgomp, libomp
	binary           string
	jump, late, sums string // to preload
	tool             string // for OMPT; empty: the runtime has none
}

func build(dir string) ([]target, error) {
	libomp := ""
	clang := "clang-19"
	if out, err := exec.Command(clang, "-print-file-name=libomp.so").Output(); err == nil {
		if libomp, err = filepath.EvalSymlinks(strings.TrimSpace(string(out))); err != nil {
			return nil, err
		}
	}
	var out []target
	for _, t := range []target{{runtime: "libgomp"}, {runtime: "libomp", tool: filepath.Join(dir, "tool.so")}} {
		file := func(name string) string { return filepath.Join(dir, name+"-"+t.runtime) }
		t.binary, t.jump, t.late, t.sums = file("storm"), file("jump")+".so", file("late")+".so", file("sums")+".so"
		compiler, define := "gcc", "-DGOMP"
		program := []string{"-O2", "-g", "-fopenmp", "-o", t.binary, sources + "storm.c"}
		if t.tool != "" {
			compiler, define = clang, "-DKMPC"
			program = append(program, "-Wl,-rpath,"+filepath.Dir(libomp))
			if err := compile(clang, "-O2", "-fPIC", "-shared", "-o", t.tool, sources+"tool.c"); err != nil {
				return nil, err
			}
		}
		shared := []string{"-O2", "-fPIC", "-shared", define, "-o"}
		for _, err := range []error{
			compile(compiler, program...),
			compile("gcc", append(shared, t.jump, sources+"stub.S", sources+"slots.c")...),
			compile("gcc", append(shared, t.late, "-DLATE", sources+"stub.S", sources+"slots.c")...),
			compile("gcc", append(shared, t.sums, sources+"sums.c")...),
		} {
			if err != nil {
				return nil, err
			}
		}
		out = append(out, t)
	}
	return out, nil
}

func compile(compiler string, args ...string) error {
	if msg, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", compiler, err, msg)
	}
	return nil
}

// process is a running target.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	runtime *symbols.Module
	added   *symbols.Module // what was loaded into it
}

// start starts the target with an environment entry that loads a file.
func (t *target) start(op operation, variable, file string) (*process, error) {
	cmd := exec.Command(t.binary, op.mode, strconv.Itoa(op.threads))
	cmd.Stderr = os.Stderr
	if file != "" {
		cmd.Env = append(os.Environ(), variable+"="+file)
	}
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
	p := &process{cmd: cmd, in: in, out: bufio.NewReader(out)}
	if _, err := p.out.ReadString('\n'); err != nil {
		return nil, errors.Join(fmt.Errorf("%s does not start: %w", t.binary, err), p.stop())
	}
	mods, err := symbols.Modules(cmd.Process.Pid)
	if err != nil {
		return nil, errors.Join(err, p.stop())
	}
	for i := range mods {
		base := filepath.Base(mods[i].Path)
		if (strings.HasPrefix(base, "libgomp.") || strings.HasPrefix(base, "libomp.")) && probes.Identify(mods[i].Object()) != 0 {
			p.runtime = &mods[i]
		}
		if file != "" && base == filepath.Base(file) {
			p.added = &mods[i]
		}
	}
	if p.runtime == nil || file != "" && p.added == nil {
		return nil, errors.Join(fmt.Errorf("%s has not loaded the runtime and %q", t.binary, file), p.stop())
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

func (p *process) stop() error {
	p.in.Close()
	return p.cmd.Wait()
}
