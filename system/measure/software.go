package measure

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"ompp-attach/event"
	"ompp-attach/probes/openmp"
	"ompp-attach/symbols"
	"ompp-attach/system"
)

// software finds out what is known before the programs run. They tell the libraries that they have
// loaded (fact).
func (m *measurement) software(ctx context.Context) {
	f := facts{m.root}
	s := &m.p.Software
	s.Kernel = uname(func(u *unix.Utsname) []byte { return u.Release[:] })
	for line := range strings.Lines(f.text("etc/os-release")) {
		if name, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			s.OS = strings.Trim(strings.TrimSpace(name), `"`)
		}
	}
	s.Compiler = tool(ctx, m.o.CC)
	s.MPICompiler = tool(ctx, m.o.MPICC)
	s.Launcher = m.o.MPIRun
	s.CompilerOptions = m.o.CFlags
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		if matters.MatchString(name) {
			s.Environment = append(s.Environment, system.Setting{Name: name, Value: value})
		}
	}
	slices.SortFunc(s.Environment, func(a, b system.Setting) int { return strings.Compare(a.Name, b.Name) })
}

// matters matches the variables that OpenMP runtimes and MPI libraries read. Launchers set others
// for themselves (OMPI_COMM_..., PMI_...), and some may hold secrets.
var matters = regexp.MustCompile(`^(OMP|GOMP|KMP|OMPI_MCA|MPICH|MV2|I_MPI|UCX|FI)_[A-Z0-9_a-z]+$`)

func uname(field func(*unix.Utsname) []byte) string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(field(&u))
}

// tool asks a compiler for its version; nil if there is none.
func tool(ctx context.Context, words string) *system.Tool {
	version := firstLine(ctx, words, "--version")
	if version == "" {
		return nil
	}
	return &system.Tool{Command: words, Version: version}
}

// openmpLibrary names an OpenMP runtime as recorded profiles do.
func openmpLibrary(path string) *system.Library {
	l := &system.Library{Name: path, Path: path}
	o, err := symbols.OpenObject(path)
	if err != nil {
		return l
	}
	defer o.Close()
	l.BuildID = o.BuildID()
	if r := openmp.Identify(o); r != event.NoRuntime {
		l.Name = r.String()
	}
	if plan, err := openmp.NewPlan(o, func(string) bool { return false }); err == nil {
		l.Version = plan.Version()
	}
	return l
}

var mpiNames = regexp.MustCompile(`(Open MPI|MVAPICH2?|Intel\(R\) MPI Library|CRAY MPICH|MPICH)[^0-9]*([0-9][0-9.a-z]*)`)

// mpiLibrary takes name and version out of what MPI_Get_library_version says.
func mpiLibrary(text string) *system.Library {
	if m := mpiNames.FindStringSubmatch(text); m != nil {
		return &system.Library{Name: m[1], Version: m[2]}
	}
	return &system.Library{Name: text}
}

func buildID(path string) string {
	o, err := symbols.OpenObject(path)
	if err != nil {
		return ""
	}
	defer o.Close()
	return o.BuildID()
}
