package target

import (
	"path/filepath"
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/probes/mpilib"
	"ompp-attach/probes/openmp"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// suspicion tells for what a file's symbols are worth parsing.
type suspicion struct{ runtime, mpi bool }

// suspected keeps the answers for files that were looked at. A process that loads a library waits
// until all of its files have been looked at.
var suspected symbols.Memo[suspicion]

func suspicionOf(o *symbols.Object) suspicion {
	return suspected.Of(o, func(o *symbols.Object) suspicion {
		return suspicion{looksLikeRuntime(o), looksLikeMPI(o)}
	})
}

// MayBeRuntime tells whether a file's symbols are worth parsing in search of a runtime. A process
// may map hundreds of libraries. A runtime may have any name (libgomp-a34b3233.so.1 in a Python
// wheel) or be part of another library. So MayBeRuntime asks for symbols as the loader would, which
// costs some 10 us a file.
func MayBeRuntime(o *symbols.Object) bool { return suspicionOf(o).runtime }

func looksLikeRuntime(o *symbols.Object) bool {
	if openmp.Exported(o) {
		return true
	}
	// A runtime that is linked into a program is found in the program's full symbol table only.
	if o.IsExecutable() {
		return true
	}
	// A library may hide such a runtime in the same way. Both runtimes create threads with a stack
	// size of their own.
	return o.HasLocalNames() && o.Imports("pthread_create") && o.Imports("pthread_attr_setstacksize")
}

// ImportedBy answers whether any module of a process imports a symbol.
func ImportedBy(mods []symbols.Module) func(string) bool {
	return func(name string) bool {
		for i := range mods {
			if mods[i].Object().Imports(name) {
				return true
			}
		}
		return false
	}
}

// MayBeMPI tells whether a file's symbols are worth parsing in search of an MPI library: see
// MayBeRuntime.
func MayBeMPI(o *symbols.Object) bool { return suspicionOf(o).mpi }

func looksLikeMPI(o *symbols.Object) bool {
	return o.Exports("PMPI_Init") || o.Exports("MPI_Init") || o.IsExecutable() && o.HasLocalNames()
}

// MPILibraries returns the MPI libraries that a process maps. Wrappers of a library are left out.
func MPILibraries(mods []symbols.Module) (libraries []*symbols.Object) {
	for i := range mods {
		if o := mods[i].Object(); MayBeMPI(o) && mpilib.Is(o) {
			libraries = append(libraries, o)
		}
	}
	return mpilib.Libraries(libraries)
}

// UsesGomp tells whether a file's own code was compiled for libgomp: it calls libgomp, and is not
// libgomp itself.
func UsesGomp(o *symbols.Object) bool {
	if openmp.Identify(o) == event.Gomp {
		return o.IsExecutable() // a static program holds libgomp
	}
	return slices.ContainsFunc(gompCalls, o.Imports)
}

// gompCalls are functions of libgomp that GCC's code calls where there
// are constructs without calls.
var gompCalls = []string{"GOMP_parallel", "GOMP_parallel_reductions", "GOMP_barrier", "GOMP_single_start", "GOMP_parallel_sections"}

// RequiresGomp tells whether a file calls libgomp and cannot be loaded without a runtime. Others
// may call a runtime only if another file has brought one along.
func RequiresGomp(o *symbols.Object) bool { return slices.ContainsFunc(gompCalls, o.Requires) }

// IsOffload tells whether a file is libomptarget, by its name. It starts no teams, but is probed
// where a program maps it.
func IsOffload(base string) bool { return strings.HasPrefix(base, "libomptarget") }

// CanProbe reports whether a module holds an OpenMP runtime or an MPI library.
func CanProbe(m symbols.Module) bool {
	o := m.Object()
	return MayBeRuntime(o) && openmp.Identify(o) != event.NoRuntime || MayBeMPI(o) && mpilib.Is(o)
}

// systemDirs hold libraries that belong to the system.
var systemDirs = []string{"/lib/", "/lib32/", "/lib64/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/", "/nix/store/"}

// systemLibraries are libraries of the system wherever they lie: some programs come with copies of
// them.
var systemLibraries = []string{"libgomp", "libomp", "libiomp", "libdl.", "ld.",
	"libstdc++", "libc++", "libgcc_s", "libgfortran", "libquadmath"}

// IsSystem reports whether a library belongs to the system, not to the program.
func IsSystem(path string) bool {
	base := filepath.Base(path)
	has := func(s string) func(string) bool {
		return func(prefix string) bool { return strings.HasPrefix(s, prefix) }
	}
	return slices.ContainsFunc(systemDirs, has(path)) || slices.ContainsFunc(systemLibraries, has(base)) || profile.IsCLibrary(path)
}

// MayLoadMore tells whether a program's own code may load libraries or start other programs.
func MayLoadMore(mods []symbols.Module) bool {
	calls := []string{"dlopen", "dlmopen", "fork", "vfork", "system", "popen", "execl", "execle", "execlp", "execv", "execve",
		"execvp", "execvpe", "posix_spawn", "posix_spawnp"}
	return slices.ContainsFunc(mods, func(m symbols.Module) bool {
		return (m.Object().IsExecutable() || !IsSystem(m.Path)) && slices.ContainsFunc(calls, m.Object().Imports)
	})
}
