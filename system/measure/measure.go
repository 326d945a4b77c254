package measure

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ompp-attach/system"
)

// Options say what is measured, and with what.
type Options struct {
	Quick  bool
	CC     string   // the C compiler; its words are separated by blanks
	CFlags []string // for all programs
	MPICC  string
	// MPIRun is the launcher, with {p} for the number of processes; without {p}, "-n P" is added.
	MPIRun string
	// Threads and Processes are the numbers to measure with. If they are empty, Measure chooses
	// numbers for which there are CPUs.
	Threads, Processes []int
	// Dir is where the programs are built. All nodes must see it. If it is empty, the programs are
	// built in a temporary directory, which is then removed.
	Dir  string
	Tool string // the version of ompp-attach
	// Probe measures what probes cost; nil: they are left out.
	Probe func() (*system.ProbeCost, error)
	// Progress is told which figures are done, and how many there will be.
	Progress func(done, all int, what string)
}

// measurement is one that is under way.
type measurement struct {
	o    Options
	p    *system.Profile
	dir  string
	root fs.FS // has the files in which the kernel and the system tell facts: "/"

	askedThreads bool // the user has said how many

	done, all int
}

// Measure measures a system profile. What cannot be measured is left out, with the reason in
// Profile.LeftOut. If ctx ends, the profile has what was measured until then. The error says that
// nothing could be measured.
func Measure(ctx context.Context, o Options) (*system.Profile, error) {
	m := &measurement{o: o, askedThreads: len(o.Threads) > 0, root: os.DirFS("/"), p: &system.Profile{
		Format: system.Format, Version: system.Version, Tool: o.Tool, Taken: time.Now().Round(time.Second), Method: method(o.Quick),
	}}
	m.p.Machine = hardware(m.root)
	m.chooseNumbers()
	if err := m.directory(); err != nil {
		return nil, err
	}
	if o.Dir == "" {
		defer os.RemoveAll(m.dir)
	}
	m.software(ctx)
	others := startOthers(m.root, m.p.Machine.AffinityList)
	parts := m.parts()
	for _, part := range parts {
		m.all += part.figures
	}
	for _, part := range parts {
		end := m.done + part.figures
		m.tell(part.what)
		if err := part.run(ctx); err != nil && ctx.Err() == nil {
			m.leaveOut(part.name, sentence(err))
		}
		m.done = end
		if ctx.Err() != nil {
			m.p.Interrupted = true
			break
		}
	}
	m.p.Others = others.cpus()
	return m.p, nil
}

// part is measured on its own: if it fails, the others go on.
type part struct {
	name, what string
	figures    int // for the progress
	run        func(context.Context) error
}

func (m *measurement) parts() []part {
	threads := len(m.o.Threads)
	all := []part{
		{"openmp", "OpenMP", threads * len(openmpTests), m.openmp},
		{"compute", "rates", threads * len(kernels), m.compute},
		{"mpi", "MPI", m.mpiFigures(), m.messages},
		{"hybrid", "hybrid", len(m.hybridThreads()) * 2 * len(m.hybridSizes()), m.hybrid},
	}
	if m.o.Probe != nil {
		all = append(all, part{"probe", "probes", 1, m.probe})
	}
	return all
}

// method is how long a figure is measured. A whole measurement takes some minutes, a quick one less
// than one.
func method(quick bool) system.Method {
	if quick {
		return system.Method{Quick: true, Error: 0.03, Samples: 200, Seconds: 0.1}
	}
	return system.Method{Error: 0.03, Samples: 10000, Seconds: 0.5}
}

// rule returns the arguments that tell the method to a program, and more.
func (m *measurement) rule(more ...string) []string {
	least, target := "20", "1e6" // samples; ns of a sample
	if m.o.Quick {
		least, target = "10", "2e5"
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	w := m.p.Method
	return append([]string{number(w.Error), least, strconv.Itoa(w.Samples), number(w.Seconds), target}, more...)
}

// chooseNumbers chooses the numbers of threads and processes: powers of two up to the CPUs, and all
// CPUs. A quick measurement has the ends only.
func (m *measurement) chooseNumbers() {
	upTo := func(least int) (out []int) {
		most := m.cpus()
		for n := least; n < most; n *= 2 {
			out = append(out, n)
		}
		if out = append(out, most); m.o.Quick && len(out) > 3 {
			out = []int{out[0], out[1], most}
		}
		return out
	}
	if len(m.o.Threads) == 0 {
		m.o.Threads = upTo(1)
	}
	if len(m.o.Processes) == 0 && m.cpus() > 1 {
		m.o.Processes = upTo(2)
	}
}

// cpus is how many threads can run at a time.
func (m *measurement) cpus() int {
	n := m.p.Machine.Affinity
	if q := int(m.p.Machine.Quota + 0.999); q > 0 {
		n = min(n, q)
	}
	return max(n, 1)
}

func (m *measurement) oversubscribed(threads int) bool { return threads > m.cpus() }

// directory makes the directory in which the programs are built, and writes their sources there.
func (m *measurement) directory() (err error) {
	if m.dir = m.o.Dir; m.dir == "" {
		if m.dir, err = os.MkdirTemp("", "ompp-system-"); err != nil {
			return fmt.Errorf("cannot make a directory for the measuring programs: %w", err)
		}
	} else {
		if m.dir, err = filepath.Abs(m.dir); err != nil {
			return err
		}
		// A new directory in it: what the user has there stays.
		if m.dir, err = os.MkdirTemp(m.dir, "ompp-system-"); err != nil {
			return fmt.Errorf("cannot make a directory for the measuring programs in %s: %w", m.o.Dir, err)
		}
	}
	if err := unpack(m.dir); err != nil {
		os.RemoveAll(m.dir)
		return fmt.Errorf("cannot write the measuring programs: %w", err)
	}
	return nil
}

// compile makes an OpenMP program with the C compiler.
func (m *measurement) compile(ctx context.Context, source, program string) error {
	return compile(ctx, m.o.CC, m.o.CFlags, m.dir, source, program)
}

func (m *measurement) figure(samples []float64) system.Figure {
	return figure(samples, m.p.Method.Error)
}

// leaveOut notes that a part is missing. Of parts that lack for one reason, one note is enough.
func (m *measurement) leaveOut(name, reason string) {
	l := system.LeftOut{Part: name, Reason: reason}
	if !slices.Contains(m.p.LeftOut, l) {
		m.p.LeftOut = append(m.p.LeftOut, l)
	}
}

// sentence is what an error says, on one line.
func sentence(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// step says that a figure is done.
func (m *measurement) step(what string) {
	m.done++
	m.tell(what)
}

func (m *measurement) tell(what string) {
	if m.o.Progress != nil {
		m.o.Progress(min(m.done, m.all), m.all, what)
	}
}

func (m *measurement) probe(context.Context) (err error) {
	m.p.Probe, err = m.o.Probe()
	return err
}

func amount(n int, one, many string) string {
	return fmt.Sprintf("%d %s", n, map[bool]string{true: one, false: many}[n == 1])
}

// fact takes a line with a fact about the software: its name, and the rest of the line.
func (m *measurement) fact(words []string) {
	if len(words) < 3 {
		return
	}
	name, value := words[1], strings.Join(words[2:], " ")
	s := &m.p.Software
	switch name {
	case "openmp_standard":
		s.OpenMPStandard, _ = strconv.Atoi(value)
	case "openmp_path":
		s.OpenMPRuntime = cmp.Or(s.OpenMPRuntime, openmpLibrary(value))
	case "mpi_standard":
		s.MPIStandard = value
	case "mpi_library":
		s.MPILibrary = cmp.Or(s.MPILibrary, mpiLibrary(value))
	case "mpi_path":
		if s.MPILibrary != nil {
			s.MPILibrary.Path, s.MPILibrary.BuildID = value, buildID(value)
		}
	case "mpi_threads":
		s.MPIThreads = value
	}
}
