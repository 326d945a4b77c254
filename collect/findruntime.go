package collect

import (
	"path/filepath"
	"strings"
	"sync"

	"ompp-attach/symbols"
)

// suspicion is what a file is worth having its symbols parsed for.
type suspicion struct{ runtime, mpi bool }

// suspicions keeps what files were looked at: whoever loads a library waits
// until all of its files have been asked for.
type suspicions struct{ files sync.Map }

var suspected suspicions

func (s *suspicions) of(o *symbols.Object) suspicion {
	if known, ok := s.files.Load(o); ok {
		return known.(suspicion)
	}
	known := suspicion{looksLikeRuntime(o), looksLikeMPI(o)}
	s.files.Store(o, known)
	return known
}

// mayBeRuntime tells whether a file is worth having its symbols parsed. A
// process may map hundreds of libraries, and a runtime may bear any name
// (libgomp-a34b3233.so.1 in a Python wheel) or be part of another library: so
// the question is what the loader would find, which costs some 10 us a file.
func mayBeRuntime(o *symbols.Object) bool { return suspected.of(o).runtime }

func looksLikeRuntime(o *symbols.Object) bool {
	if o.Exports("GOMP_parallel") || o.Exports("__kmpc_fork_call") {
		return true
	}
	// Linked into a program, a runtime is in its full symbol table only.
	if o.IsExecutable() {
		return true
	}
	// So it may be in a library that hides it; both runtimes make threads with
	// stacks of a size of their own.
	return o.HasLocalNames() && o.Imports("pthread_create") && o.Imports("pthread_attr_setstacksize")
}

// namedRuntime tells by its name whether a file that cannot be read, or has no
// names in it, was meant to be a runtime.
func namedRuntime(path string) bool {
	base := filepath.Base(path)
	for _, prefix := range []string{"libgomp", "libomp", "libiomp"} {
		if strings.HasPrefix(base, prefix) && !strings.HasPrefix(base, "libomptarget") && !strings.HasPrefix(base, "libompd") {
			return true
		}
	}
	return false
}

// importedBy answers whether any module of a process imports a symbol.
func importedBy(mods []symbols.Module) func(string) bool {
	return func(name string) bool {
		for i := range mods {
			if mods[i].Object().Imports(name) {
				return true
			}
		}
		return false
	}
}
