package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/internal/largebin"
	"ompp-attach/symbols"
)

// starting is how long attaching to a kind of process and leaving it takes, in
// milliseconds.
type starting struct {
	target string
	// attach is from the command's start until it reports that it has attached,
	// cpu the processor time that it has used until then.
	attach, cpu spread
	// free is from SIGINT until no instruction in the target's code is replaced
	// by a probe any more, end until the command has ended.
	free, end spread
}

// loading is how long dlopen takes in a program, in milliseconds: the middle and
// the range over the libraries that it loads.
type loading struct {
	what           string
	bare, measured spread
}

// startResults are what measureStart has found.
type startResults struct {
	starts []starting
	loads  []loading
}

// The sizes of the large target.
const (
	largeMB   = 300
	largeLibs = 500
)

// The goals, in milliseconds.
const (
	goalStart = 300
	goalStop  = 5
)

// measureStart measures attaching to a small and to a large process, detaching,
// and what loading libraries takes in a launched program.
func measureStart(dir string) (*startResults, error) {
	dir, err := os.MkdirTemp(dir, "start-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	const longrun = "testdata/programs/longrun.c"
	small := filepath.Join(dir, "small")
	if out, err := exec.Command("gcc", "-O2", "-g", "-fopenmp", "-o", small, longrun).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	large, err := largebin.Program(dir, longrun, largeMB)
	if err != nil {
		return nil, err
	}
	libs, err := largebin.Libraries(dir, largeLibs)
	if err != nil {
		return nil, err
	}
	var res startResults
	for _, t := range []struct {
		name, bin string
		libs      []string
	}{
		{"a small program", small, nil},
		{fmt.Sprintf("%d MB, %d libraries", largeMB, largeLibs), large, libs},
	} {
		s, err := measureStarting(t.bin, t.libs, dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		s.target = t.name
		res.starts = append(res.starts, s)
	}
	loads := filepath.Join(dir, "loads")
	if out, err := exec.Command("gcc", "-O2", "-fopenmp", "-o", loads, "bench/programs/loads.c").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	plain, calling := []string{}, []string{}
	for n, lib := range libs {
		if n%50 == 25 {
			calling = append(calling, lib)
		} else if len(plain) < 100 {
			plain = append(plain, lib)
		}
	}
	for _, t := range []struct {
		name string
		libs []string
	}{{"libraries without OpenMP", plain}, {"libraries with OpenMP code", calling}} {
		l := loading{what: t.name}
		if l.bare, err = loadTimes(exec.Command(loads, t.libs...)); err != nil {
			return nil, err
		}
		args := []string{"run", "--overwrite", "-q", "--sample", "off", "-o", filepath.Join(dir, "profile"), "--", loads}
		if l.measured, err = loadTimes(exec.Command(*tool, append(args, t.libs...)...)); err != nil {
			return nil, err
		}
		res.loads = append(res.loads, l)
	}
	return &res, nil
}

// loadTimes runs loads.c and returns the milliseconds that it prints.
func loadTimes(cmd *exec.Cmd) (spread, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return spread{}, fmt.Errorf("%w\n%s", err, stderr.String())
	}
	var all []float64
	for _, word := range strings.Fields(string(out)) {
		us, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return spread{}, fmt.Errorf("loads: %q: %w", out, err)
		}
		all = append(all, us/1e3)
	}
	if len(all) == 0 {
		return spread{}, errors.New("loads printed nothing")
	}
	return spreadOf(all), nil
}

// measureStarting attaches to a program and detaches, again and again.
func measureStarting(bin string, libs []string, dir string) (starting, error) {
	var s starting
	target := exec.Command(bin, "600")
	target.Env = append(os.Environ(), "LD_PRELOAD="+strings.Join(libs, ":"))
	if err := target.Start(); err != nil {
		return s, err
	}
	defer func() {
		_ = target.Process.Kill()
		_ = target.Wait()
	}()
	time.Sleep(time.Second) // until all is loaded
	var attach, cpu, free, end []float64
	for range *rounds {
		one, err := startOnce(target.Process.Pid, dir)
		if err != nil {
			return s, err
		}
		attach, cpu = append(attach, one[0]), append(cpu, one[1])
		free, end = append(free, one[2]), append(end, one[3])
	}
	s.attach, s.cpu, s.free, s.end = spreadOf(attach), spreadOf(cpu), spreadOf(free), spreadOf(end)
	return s, nil
}

// startOnce attaches and detaches once: the milliseconds until attached, of
// processor time until then, from the signal until no probe is left, and until
// the command has ended.
func startOnce(pid int, dir string) (ms [4]float64, err error) {
	cmd := exec.Command(*tool, "attach", "--overwrite", "-o", filepath.Join(dir, "profile"), "--pid", strconv.Itoa(pid))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return ms, err
	}
	begin := time.Now()
	since := func() float64 { return float64(time.Since(begin)) / 1e6 }
	if err := cmd.Start(); err != nil {
		return ms, err
	}
	var said []string
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !strings.Contains(lines.Text(), "attached to process") {
		said = append(said, lines.Text())
	}
	ms[0] = since()
	ms[1] = cpuTime(cmd.Process.Pid)
	go func() {
		for lines.Scan() { // or it could not go on
		}
	}()
	probes, err := probesIn(pid)
	if err != nil || len(probes) == 0 {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return ms, errors.Join(err, fmt.Errorf("no probes in process %d\n%s", pid, strings.Join(said, "\n")))
	}
	begin = time.Now()
	if err := cmd.Process.Signal(unix.SIGINT); err != nil {
		return ms, err
	}
	if err := probes.gone(); err != nil {
		return ms, err
	}
	ms[2] = since()
	err = cmd.Wait()
	ms[3] = since()
	return ms, err
}

// cpuTime is the processor time in milliseconds that a process has used
// (clock_getcpuclockid(3): the complement of its number, and what kind of clock).
func cpuTime(pid int) float64 {
	const sched = 2 // CPUCLOCK_SCHED
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^uint32(pid)<<3|sched), &ts); err != nil {
		return 0
	}
	return float64(ts.Nano()) / 1e6
}

// memory are places in a process that are not what the file has there.
type memory []difference

type difference struct {
	mem  *os.File
	addr int64
	was  byte
}

// probesIn finds the places in a process's code that probes have changed.
func probesIn(pid int) (memory, error) {
	mods, err := symbols.Modules(pid)
	if err != nil {
		return nil, err
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return nil, err
	}
	var found memory
	for i := range mods {
		for _, r := range mods[i].Object().TextRanges() {
			const chunk = 1 << 20
			live := make([]byte, chunk)
			for lo := r.Lo; lo < r.Hi; lo += chunk {
				file := mods[i].Object().Read(lo, int(min(r.Hi-lo, chunk)))
				n, _ := mem.ReadAt(live[:len(file)], int64(mods[i].Addr(lo)))
				if bytes.Equal(file[:n], live[:n]) {
					continue
				}
				for k := range n {
					if file[k] != live[k] {
						found = append(found, difference{mem, int64(mods[i].Addr(lo)) + int64(k), file[k]})
					}
				}
			}
		}
	}
	return found, nil
}

// gone waits until the places are again what they were.
func (m memory) gone() error {
	defer m[0].mem.Close()
	limit := time.Now().Add(10 * time.Second)
	for b := make([]byte, 1); len(m) > 0; {
		m = slices.DeleteFunc(m, func(d difference) bool {
			_, err := d.mem.ReadAt(b, d.addr)
			return err == nil && b[0] == d.was
		})
		if time.Now().After(limit) {
			return fmt.Errorf("%d places are still probed 10 s after the command was interrupted", len(m))
		}
		time.Sleep(100 * time.Microsecond)
	}
	return nil
}

// markdown is the part of docs/benchmarks.md about attaching, detaching and
// loading.
func (r *startResults) markdown() string {
	var b strings.Builder
	p := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	cell := func(s spread) string { return fmt.Sprintf("%.0f (%.0f-%.0f)", s.median, s.min, s.max) }
	p("## How long attaching and detaching lasts")
	p("")
	p("Milliseconds. *attached*: from the start of the command until it reports that it has attached; goal: under %d. *processor*: the", goalStart)
	p("processor time that it has used until then. *free*: from Ctrl-C until no instruction of the target is replaced by a probe any more;")
	p("*ended*: until the command has written its results and ended. The target is never stopped.")
	p("")
	p("| target | attached | processor | free | ended |")
	p("| --- | ---: | ---: | ---: | ---: |")
	for _, s := range r.starts {
		p("| %s | %s | %s | %s | %s |", s.target, cell(s.attach), cell(s.cpu), cell(s.free), cell(s.end))
	}
	p("")
	p("## What loading a library costs")
	p("")
	p("A program that `ompp-attach run` has started is stopped when it has loaded libraries, until their probes are in place. Milliseconds")
	p("per `dlopen`, medians over the libraries and range (`bench/programs/loads.c`). Goal for libraries without OpenMP: under %d.", goalStop)
	p("")
	p("| what is loaded | bare | measured |")
	p("| --- | ---: | ---: |")
	for _, l := range r.loads {
		p("| %s | %.2f (%.2f-%.2f) | %.2f (%.2f-%.2f) |", l.what, l.bare.median, l.bare.min, l.bare.max, l.measured.median, l.measured.min, l.measured.max)
	}
	return b.String()
}
