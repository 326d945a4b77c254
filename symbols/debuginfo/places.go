package debuginfo

import (
	"debug/dwarf"
	"strings"

	"ompp-attach/symbols/names"
)

// Place is a line of code of a function in the source. Function is the demangled name without
// parameters; empty: not known. If a compiler moved the code out of its function, Function is the
// compiler's name for that code (work._omp_fn.0).
type Place struct {
	Function string
	File     string
	Line     int
}

// Places returns the functions to which the instruction at vaddr belongs. The innermost inlined
// function comes first, followed by each function into which the one before was inlined, with the
// line of the call. The function that contains the code comes last. symbol is its name in the
// symbol table, "" if it has none. The result is empty if nothing is known.
func (x *Index) Places(vaddr uint64, symbol string) (places []Place) {
	file, line, _, _ := x.Line(vaddr)
	name := names.Demangled(symbol)
	if u := x.unitAt(vaddr); u != nil {
		fs := u.funcs()
		for _, i := range u.covering(vaddr) {
			f := &fs[i]
			if !f.inlined {
				if symbol == "" {
					symbol = f.identity.symbol()
				}
				name = u.outlinedName(fs, i, symbol)
				break
			}
			inner := f.identity.display()
			if names.IsOutlined(f.identity.symbol()) {
				inner = u.outlinedName(fs, i, inner)
			}
			places = append(places, Place{inner, file, line})
			file, line = f.callFile, f.callLine
		}
	}
	if name == "" && line == 0 && len(places) == 0 {
		return nil
	}
	return append(places, Place{name, file, line})
}

// outlinedName returns a function's name. Clang before 17 gives all outlined functions the same
// name, and every clang gives one to all tasks. Then the name of the source function is added.
func (u *unit) outlinedName(fs []function, i int, symbol string) string {
	if strings.HasPrefix(symbol, ".omp") {
		return u.sourceFunction(fs, i) + symbol
	}
	return names.Demangled(symbol)
}

// WithoutOpenMP reports whether the code at vaddr was certainly compiled without OpenMP: GCC notes
// the options of a unit, unless it is told not to.
func (x *Index) WithoutOpenMP(vaddr uint64) bool {
	u := x.unitAt(vaddr)
	if u == nil || u.entry() == nil {
		return false
	}
	by, _ := u.entry().Val(dwarf.AttrProducer).(string)
	return strings.HasPrefix(by, "GNU C") && strings.Contains(by, " -m") && !strings.Contains(by, "-fopenmp")
}

// Copies returns how many copies of each inlined function there are, by the source function's
// symbol. It reads all debug information.
func (x *Index) Copies() map[string]int {
	copies := map[string]int{}
	if x == nil {
		return copies
	}
	x.entries.whole()
	for _, u := range x.units {
		for _, f := range u.funcs() {
			if f.inlined && f.identity.symbol() != "" {
				copies[f.identity.symbol()]++
			}
		}
	}
	return copies
}
