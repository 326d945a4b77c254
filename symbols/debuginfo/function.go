package debuginfo

import (
	"cmp"
	"debug/dwarf"
	"slices"
	"sort"

	"github.com/ianlancetaylor/demangle"

	"ompp-attach/symbols/names"
)

// function is a function of a unit, or one of its copies that were inlined into others.
type function struct {
	ranges   []Range // empty: only inlined copies exist
	parent   int     // index of the enclosing function, -1 for none
	identity identity

	inlined  bool // a copy inside parent, of the call at callFile, callLine
	callFile string
	callLine int
}

// identity is a function's name and place in the source.
type identity struct {
	name    string // as written, unqualified
	linkage string // mangled; "" in C
	file    string
	line    int
}

// symbol returns the name under which compilers mark their own functions.
func (id identity) symbol() string {
	if id.linkage != "" {
		return id.linkage
	}
	return id.name
}

// display returns the name for users. Linkage names are used for C++ and Rust only, since compilers
// make up those of Fortran.
func (id identity) display() string {
	if names.IsMangled(id.linkage) {
		return names.Demangled(id.linkage)
	}
	if id.name != "" {
		return names.Demangled(id.name)
	}
	return id.linkage
}

// loadFunctions lists the unit's functions. If the DWARF is elsewhere, it uses the symbol table.
// The DWARF can be in .dwo files (-gsplit-dwarf), or in a common file of several programs (dwz -m).
func (u *unit) loadFunctions() []function {
	fs := u.readFunctions()
	for i := range fs {
		f := &fs[i]
		if f.inlined || f.identity.symbol() != "" || len(f.ranges) == 0 {
			continue
		}
		f.identity.name, _, _ = u.index.symbols.FuncAt(f.ranges[0].Lo)
	}
	if len(fs) > 0 || u.entry() == nil {
		return fs
	}
	for _, r := range u.index.ranges(u.entry()) {
		u.index.symbols.FunctionsIn(r, func(name string, code Range) {
			fs = append(fs, function{ranges: []Range{code}, parent: -1, identity: identity{name: name}})
		})
	}
	return fs
}

// readFunctions walks the unit's entries, skipping types and variables.
func (u *unit) readFunctions() (fs []function) {
	defer func() {
		if recover() != nil { // see Load
			fs = nil
		}
	}()
	if u.entry() == nil {
		return nil
	}
	r := u.index.entries.reader(u.die)
	var stack []int // the parents of the enclosing levels
	parent := -1
	seen := map[dwarf.Offset]identity{}
	for ranges := 0; ranges < maxRanges; {
		e, err := r.Next()
		if err != nil || e == nil {
			return fs
		}
		if e.Tag == 0 { // end of a list of children
			if len(stack) == 0 {
				return fs
			}
			parent = stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if len(stack) == 0 {
				return fs
			}
			continue
		}
		inner := parent
		switch e.Tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			declaration, _ := e.Val(dwarf.AttrDeclaration).(bool)
			if !declaration {
				f := function{ranges: u.index.ranges(e), parent: parent, identity: u.identify(e, seen, 0)}
				if e.Tag == dwarf.TagInlinedSubroutine {
					f.inlined = true
					f.callFile, f.callLine = u.place(e, dwarf.AttrCallFile, dwarf.AttrCallLine)
				}
				fs = append(fs, f)
				ranges += len(f.ranges)
				inner = len(fs) - 1
			}
		case dwarf.TagCompileUnit, dwarf.TagSkeletonUnit, dwarf.TagNamespace, dwarf.TagModule, dwarf.TagLexDwarfBlock:
		default:
			// GCC puts a region of a lambda into the lambda's class.
			if class := e.Tag == dwarf.TagClassType || e.Tag == dwarf.TagStructType; class && parent >= 0 {
				break
			}
			if e.Children {
				r.SkipChildren()
			}
			continue
		}
		if e.Children {
			stack = append(stack, parent)
			parent = inner
		} else if e.Tag == dwarf.TagCompileUnit || e.Tag == dwarf.TagSkeletonUnit {
			return fs
		}
	}
	return fs
}

// identify follows an entry to its declaration. An inlined or cloned function refers to its
// abstract instance, a member function to its class. seen keeps the answers, because each inlined
// copy of a function asks for the same one.
func (u *unit) identify(e *dwarf.Entry, seen map[dwarf.Offset]identity, depth int) identity {
	const maxHops = 6 // clone, abstract instance, member declaration; more is corrupt
	var id identity
	id.name, _ = e.Val(dwarf.AttrName).(string)
	id.linkage, _ = e.Val(dwarf.AttrLinkageName).(string)
	id.file, id.line = u.place(e, dwarf.AttrDeclFile, dwarf.AttrDeclLine)
	for _, attr := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		off, ok := e.Val(attr).(dwarf.Offset)
		if !ok || depth >= maxHops {
			continue
		}
		from, known := seen[off]
		if !known {
			r := u.index.entries.reader(off)
			next, err := r.Next()
			home := u.index.unitOf(off)
			if err != nil || next == nil || home == nil {
				continue
			}
			from = home.identify(next, seen, depth+1)
			seen[off] = from
		}
		if id.name == "" {
			id.name = from.name
		}
		if id.linkage == "" {
			id.linkage = from.linkage
		}
		if id.line == 0 {
			id.line = from.line
		}
		if id.file == "" {
			id.file = from.file
		}
	}
	return id
}

// place reads a pair of attributes that hold a file's index and a line.
func (u *unit) place(e *dwarf.Entry, fileAttr, lineAttr dwarf.Attr) (file string, line int) {
	if l, ok := e.Val(lineAttr).(int64); ok && l > 0 {
		line = int(l)
	}
	if n, ok := e.Val(fileAttr).(int64); ok && n >= 0 {
		if files := u.lines().files; n < int64(len(files)) {
			file = fileName(files[n])
		}
	}
	return file, line
}

// codeOf is a range of a function's code, without inlined copies. The function has index first. It
// and its descendants are the functions from first to before end.
type codeOf struct {
	Range
	first, end int
}

// loadCode sorts the code of the unit's functions by address.
func (u *unit) loadCode() (code []codeOf) {
	fs := u.funcs()
	for i, f := range fs {
		if f.inlined {
			continue
		}
		end := i + 1
		for end < len(fs) && fs[end].parent >= i {
			end++
		}
		for _, r := range f.ranges {
			code = append(code, codeOf{r, i, end})
		}
	}
	slices.SortStableFunc(code, func(a, b codeOf) int { return cmp.Compare(a.Lo, b.Lo) })
	return code
}

// covering returns the functions with code that holds vaddr. The innermost inlined copy comes
// first, the outermost function last.
func (u *unit) covering(vaddr uint64) (indices []int) {
	fs, code := u.funcs(), u.code()
	n := sort.Search(len(code), func(i int) bool { return code[i].Lo > vaddr }) - 1
	// Functions do not overlap, except those that the linker folded into one.
	for back := 0; n >= 0 && back < 4; n, back = n-1, back+1 {
		if !code[n].Contains(vaddr) {
			continue
		}
		for i := code[n].end - 1; i >= code[n].first; i-- {
			if slices.ContainsFunc(fs[i].ranges, func(r Range) bool { return r.Contains(vaddr) }) {
				indices = append(indices, i)
			}
		}
		return indices
	}
	return nil
}

// SourceFunction returns the demangled name, without parameters, of the function in whose source
// text vaddr lies. It returns "" if this function is not known. symbol is the name of the function
// that covers vaddr in the symbol table. If line information says so, the result is an inlined
// function. Compilers move some code into functions of their own: parallel regions, tasks, cold
// parts. For such code the result is the function from which the code was taken.
func (x *Index) SourceFunction(vaddr uint64, symbol string) string {
	symbol = names.Source(symbol)
	if u := x.unitAt(vaddr); u != nil {
		fs := u.funcs()
		for _, i := range u.covering(vaddr) {
			// Only the symbol tells to which function the lambda of an operator() belongs.
			if !fs[i].inlined && names.IsMangled(symbol) {
				break
			}
			if name := u.sourceFunction(fs, i); name != "" {
				return name
			}
		}
	}
	return names.Demangled(symbol)
}

func (u *unit) sourceFunction(fs []function, i int) string {
	id := fs[i].identity
	if !names.IsOutlined(id.symbol()) {
		return id.display()
	}
	s := names.Source(id.symbol())
	if names.IsMangled(s) {
		return names.Demangled(s)
	}
	// GCC nests the outlined function's entry in that of its source.
	for p := i; p >= 0 && !fs[p].inlined; p = fs[p].parent {
		if name := fs[p].identity; !names.IsOutlined(name.symbol()) {
			return name.display()
		}
	}
	if s != "" {
		return s
	}
	// Clang before 17 and all tasks: only the line tells.
	return u.enclosing(fs, id.file, id.line)
}

// enclosing returns the name of the source function in whose text a line lies. The function is
// declared before the line, and its code reaches at least to the line. If there are several such
// functions, it is the one declared last.
func (u *unit) enclosing(fs []function, file string, line int) string {
	var best, fallback []identity // several: instances of one template
	add := func(ids []identity, id identity) []identity {
		if len(ids) == 0 || id.line > ids[0].line {
			return []identity{id}
		}
		if id.line == ids[0].line {
			return append(ids, id)
		}
		return ids
	}
	for _, f := range fs {
		id := f.identity
		if f.inlined || id.file != file || id.line == 0 || id.line > line || names.IsOutlined(id.symbol()) {
			continue
		}
		fallback = add(fallback, id)
		if u.lastLine(f.ranges, file, nil) >= line {
			best = add(best, id)
		}
	}
	if best == nil {
		best = fallback
	}
	if best == nil {
		return ""
	}
	name := best[0].display()
	for _, id := range best[1:] {
		if id.display() != name { // which instance is not known
			return demangle.Filter(id.symbol(), demangle.NoParams, demangle.NoTemplateParams)
		}
	}
	return name
}

// lastLine returns the greatest line of file in the rows of the given code; 0: there is none. Rows
// for which skip returns true do not count. skip may be nil.
func (u *unit) lastLine(code []Range, file string, skip func(row) bool) (last int) {
	for _, c := range code {
		for _, r := range u.lines().within(c) {
			if !r.end && r.line > last && fileName(r.file) == file && (skip == nil || !skip(r)) {
				last = r.line
			}
		}
	}
	return last
}
