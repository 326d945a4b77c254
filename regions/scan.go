package regions

import (
	"regexp"

	"ompp-attach/symbols"
)

// entryPoints are the addresses in a file that lead into an OpenMP runtime.
type entryPoints struct {
	code   map[uint64]string // PLT stubs; the runtime's functions in static programs
	slot   func(vaddr uint64) (string, bool)
	static bool // the runtime is part of the file
}

// isCall reports whether a name is that of a runtime's entry point.
func isCall(name string) bool {
	if len(name) == 0 || name[0] != 'G' && name[0] != '_' && name[0] != 'o' {
		return false // most names are of no runtime
	}
	_, ok := callOf(name)
	return ok
}

func findEntryPoints(o *symbols.Object) entryPoints {
	e := entryPoints{code: map[uint64]string{}}
	for at, name := range o.Stubs() {
		if isCall(name) {
			e.code[at] = name
		}
	}
	o.Symbols(func(name string, vaddr, _ uint64) {
		if isCall(name) {
			e.code[vaddr], e.static = name, true
		}
	})
	e.slot = func(vaddr uint64) (string, bool) {
		name, ok := o.GOT(vaddr)
		return name, ok && isCall(name)
	}
	return e
}

// runtimeName matches the functions of OpenMP runtimes. The user's own functions may begin with
// omp_, too.
var runtimeName = regexp.MustCompile(`^(GOMP_|gomp_|GOACC_|goacc_|acc_|__kmp|kmp_|ompt_|_Z.*__kmp|` +
	`omp_(get|set|unset|test|init|destroy|in|is|pause|capture|display|fulfill|alloc|calloc|realloc|aligned|free|target)_)`)

// ofRuntime reports whether a function is part of the runtime in a static program. Calls inside of
// the runtime are no constructs.
func (e *entryPoints) ofRuntime(function string) bool {
	return e.static && runtimeName.MatchString(function)
}
