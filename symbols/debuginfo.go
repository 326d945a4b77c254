package symbols

import (
	"slices"
	"sync"

	"ompp-attach/symbols/debuginfo"
	"ompp-attach/symbols/names"
)

// What the users of an Object have to know of package debuginfo.
type (
	Range  = debuginfo.Range
	Row    = debuginfo.Row
	Frame  = debuginfo.Frame
	Text   = debuginfo.Text
	Extent = debuginfo.Extent
	Place  = debuginfo.Place
)

// SameSource reports whether name means a file of the line table. name is its whole path or the end
// of it.
func SameSource(file, name string) bool { return debuginfo.SameSource(file, name) }

// loadDWARF reads the debug information of the file, or of its separate debug file; nil: there is
// none.
func (o *Object) loadDWARF() *debuginfo.Index {
	in := o
	if !hasSection(o.file, "debug_line") {
		if in = o.debug(); in == nil {
			return nil
		}
	}
	return debuginfo.Load(&debuginfo.Input{Section: in.debugSections(debuginfo.Sections), Shared: in.file.Section(".gnu_debugaltlink") != nil,
		Text: o.TextRanges(), Symbols: o})
}

// debugSections unpacks the given debug sections, several at a time. It returns a function that
// gives the contents of each. The first name should be that of the largest section.
func (o *Object) debugSections(names []string) func(name string) []byte {
	contents := make([][]byte, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() {
			for _, s := range o.file.Sections {
				if s.Name == ".debug_"+name || s.Name == ".zdebug_"+name {
					if contents[i] = o.section(s); contents[i] != nil {
						return
					}
				}
			}
		})
	}
	all.Wait()
	return func(name string) []byte {
		if i := slices.Index(names, name); i >= 0 {
			return contents[i]
		}
		return nil
	}
}

// DWARFElsewhere says where debug information lies that the object and its separate debug file
// lack. It returns "" if they lack none (debuginfo.Index.Elsewhere).
func (o *Object) DWARFElsewhere() string { return o.dwarf().Elsewhere() }

// Line returns the source line of the instruction at vaddr. The file is an
// absolute path where the compiler recorded its directory. exact means that a
// row of the line table starts at vaddr, as it does for a statement of its own.
// Instructions that the compiler gave no line (line 0) get the line of the
// instructions before them, and are not exact.
func (o *Object) Line(vaddr uint64) (file string, line int, exact, ok bool) {
	return o.dwarf().Line(vaddr)
}

// CallLine returns the line of the call that returns to ret. If the call is in an inlined function,
// it is the line in that function.
func (o *Object) CallLine(ret uint64) (file string, line int, ok bool) {
	if ret == 0 {
		return "", 0, false
	}
	file, line, _, ok = o.Line(ret - 1)
	return file, line, ok
}

// Statements returns, by line, the addresses at which statements begin in the lines from first to
// last of a source file. sources are the paths of all files that name may mean, whether or not they
// have such lines.
func (o *Object) Statements(name string, first, last int) (at map[int][]uint64, sources []string) {
	return o.dwarf().Statements(name, first, last)
}

// Statement returns the place of the statement to which the instruction at vaddr belongs
// (debuginfo.Index.Statement).
func (o *Object) Statement(vaddr uint64) (file string, line int, ok bool) {
	return o.dwarf().Statement(vaddr)
}

// Rows returns the rows of the line table that start in a range of code, sorted by address. The
// range must lie within one compile unit. Ends of sequences are left out.
func (o *Object) Rows(code Range) []Row { return o.dwarf().Rows(code) }

// InlinedCalls returns, as rows, the calls that were inlined into the function at vaddr: where each
// copy's code begins, and the line of the call.
func (o *Object) InlinedCalls(vaddr uint64) []Row { return o.dwarf().InlinedCalls(vaddr) }

// UnitCode returns the code of the compile unit that covers vaddr, nil if no unit does. The code
// also identifies the unit.
func (o *Object) UnitCode(vaddr uint64) []Range { return o.dwarf().UnitCode(vaddr) }

// Frames returns the place of the instruction at vaddr and, where it was inlined, the places of the
// calls that led there, innermost first.
func (o *Object) Frames(vaddr uint64) []Frame { return o.dwarf().Frames(vaddr) }

// Texts returns the source text of the function at vaddr and of all functions that were inlined
// into it.
func (o *Object) Texts(vaddr uint64) []Text { return o.dwarf().Texts(vaddr) }

// Outlined returns the extent of the parallel region or task, the outlined function of which covers
// vaddr (debuginfo.Index.Outlined). The extent mostly ends on the line before the closing brace.
// SourceExtent finds the brace itself.
func (o *Object) Outlined(vaddr uint64) (e Extent, ok bool) { return o.dwarf().Outlined(vaddr) }

// IsOutlined reports whether the function at vaddr is a parallel region or task
// that the compiler moved into a function of its own.
func (o *Object) IsOutlined(vaddr uint64) bool {
	symbol, _, ok := o.FuncAt(vaddr)
	return ok && names.IsOutlined(symbol)
}

// Definition returns where the source defines the function whose code covers
// vaddr: from the line of its declarator to its last line with code.
func (o *Object) Definition(vaddr uint64) (e Extent, ok bool) { return o.dwarf().Definition(vaddr) }

// SourceFunction returns the demangled name, without parameters, of the function in whose source
// text vaddr lies, or "" if that is not known (debuginfo.Index.SourceFunction).
func (o *Object) SourceFunction(vaddr uint64) string {
	symbol, _, _ := o.FuncAt(vaddr)
	return o.dwarf().SourceFunction(vaddr, symbol)
}

// Places returns the functions to which the instruction at vaddr belongs. The innermost inlined
// function comes first, followed by each function into which the one before was inlined, with the
// line of the call. The function that contains the code comes last. The result is empty if nothing
// is known.
func (o *Object) Places(vaddr uint64) []Place {
	symbol, _, _ := o.FuncAt(vaddr)
	return o.dwarf().Places(vaddr, symbol)
}

// WithoutOpenMP reports whether the code at vaddr was certainly compiled without OpenMP.
func (o *Object) WithoutOpenMP(vaddr uint64) bool { return o.dwarf().WithoutOpenMP(vaddr) }

// Inlined returns how many copies of each inlined function there are, by the source function's
// symbol. It reads all debug information, once.
func (o *Object) Inlined() map[string]int { return o.inlined() }
