package symbols

import "strings"

// Place is code of a function in the source. Function is demangled, without
// parameters, and of code that a compiler moved out of its function the name
// that it gave it (work._omp_fn.0); it is empty if not known.
type Place struct {
	Function string
	File     string
	Line     int
}

// Places returns what the instruction at vaddr is part of: the innermost
// function that was inlined there first, and with each its call; the function
// whose code it is last. None if nothing is known.
func (o *Object) Places(vaddr uint64) (places []Place) {
	symbol, _, _ := o.FuncAt(vaddr)
	file, line, _, _ := o.Line(vaddr)
	name := demangled(symbol)
	if u := o.dwarf().unitAt(vaddr); u != nil {
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
			if isOutlined(f.identity.symbol()) {
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

// outlinedName names a function, with that of its source where clang before 17,
// and for tasks, gives all the same.
func (u *unit) outlinedName(fs []function, i int, symbol string) string {
	if strings.HasPrefix(symbol, ".omp") {
		return u.sourceFunction(fs, i) + symbol
	}
	return demangled(symbol)
}
