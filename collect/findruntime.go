package collect

import (
	"path/filepath"
	"strings"
	"sync"

	"ompp-attach/symbols"
)

// suspicion tells for what a file's symbols are worth parsing.
type suspicion struct{ runtime, mpi bool }

// suspicions keeps the answers for files that were looked at: a process that loads a library waits
// until all of its files have been looked at.
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

// mayBeRuntime tells whether a file's symbols are worth parsing in search of a runtime. A process
// may map hundreds of libraries. A runtime may have any name (libgomp-a34b3233.so.1 in a Python
// wheel) or be part of another library. So mayBeRuntime asks for symbols as the loader would, which
// costs some 10 us a file.
func mayBeRuntime(o *symbols.Object) bool { return suspected.of(o).runtime }

func looksLikeRuntime(o *symbols.Object) bool {
	if o.Exports("GOMP_parallel") || o.Exports("__kmpc_fork_call") {
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

// namedRuntime tells whether a file has the name of a runtime, for files that cannot be read or
// have no symbols.
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
