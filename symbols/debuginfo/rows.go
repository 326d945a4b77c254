package debuginfo

import "math"

// Row is a row of a line table: the instructions from Addr to the next row belong to Line of File.
type Row struct {
	Addr uint64
	File string // as in Index.Line
	Line int    // 0: code of no line
	Stmt bool   // a statement starts here; otherwise GCC may only continue with an old line
}

// Rows returns the rows that start in a range of code, sorted by address. The range must lie within
// one compile unit. Ends of sequences are left out.
func (x *Index) Rows(code Range) (rows []Row) {
	u := x.unitAt(code.Lo)
	if u == nil {
		return nil
	}
	for _, r := range u.lines().within(code) {
		if !r.end {
			rows = append(rows, Row{r.addr, fileName(r.file), r.line, r.stmt})
		}
	}
	return rows
}

// InlinedCalls returns, as rows, the calls that were inlined into the function
// at vaddr: where each copy's code begins, and the line of the call.
func (x *Index) InlinedCalls(vaddr uint64) (calls []Row) {
	u := x.unitAt(vaddr)
	if u == nil {
		return nil
	}
	for n, f := range u.withCopies(vaddr) {
		if n == 0 {
			continue // the function itself
		}
		for _, r := range f.ranges {
			calls = append(calls, Row{r.Lo, f.callFile, f.callLine, true})
		}
	}
	return calls
}

// withCopies returns the function at vaddr, and after it all copies of functions that were inlined
// into it.
func (u *unit) withCopies(vaddr uint64) (own []*function) {
	fs := u.funcs()
	root := outermost(fs, u.covering(vaddr))
	if root < 0 {
		return nil
	}
	inside := map[int]bool{root: true}
	for i := root; i < len(fs); i++ { // children follow their parent
		if i == root || fs[i].inlined && inside[fs[i].parent] {
			inside[i] = true
			own = append(own, &fs[i])
		}
	}
	return own
}

// outermost returns the first of the functions that is no inlined copy, or -1.
func outermost(fs []function, covering []int) int {
	for _, i := range covering {
		if !fs[i].inlined {
			return i
		}
	}
	return -1
}

// UnitCode returns the code of the compile unit that covers vaddr, nil if no unit does. The code
// also identifies the unit.
func (x *Index) UnitCode(vaddr uint64) (code []Range) {
	u := x.unitAt(vaddr)
	if u == nil {
		return nil
	}
	for _, s := range x.unitRanges {
		if s.unit == u {
			code = append(code, s.Range)
		}
	}
	return code
}

// Frame is a place in the source: Line of File. Declared is the line of the declaration of the
// function around it (0: not known).
type Frame struct {
	File     string
	Line     int
	Declared int
}

// Frames returns the place of the instruction at vaddr and, where it was
// inlined, the places of the calls that led there, innermost first.
func (x *Index) Frames(vaddr uint64) (frames []Frame) {
	u := x.unitAt(vaddr)
	if u == nil {
		return nil
	}
	file, line, _, ok := x.Line(vaddr)
	if !ok {
		return nil
	}
	fs := u.funcs()
	for _, i := range u.covering(vaddr) {
		frames = append(frames, Frame{file, line, fs[i].identity.line})
		if !fs[i].inlined {
			return frames
		}
		file, line = fs[i].callFile, fs[i].callLine
	}
	return append(frames, Frame{File: file, Line: line})
}

// Text is a stretch of the source text of one function.
type Text struct {
	File        string
	First, Last int // lines from the declaration to the line before the next function
}

// Texts returns the source text of the function at vaddr and of all functions
// that were inlined into it.
func (x *Index) Texts(vaddr uint64) (texts []Text) {
	u := x.unitAt(vaddr)
	if u == nil {
		return nil
	}
	seen := map[Text]bool{}
	for _, f := range u.withCopies(vaddr) {
		id := f.identity
		if id.file == "" || id.line == 0 {
			continue
		}
		// The optimiser may have left no code for the last lines.
		t := Text{id.file, id.line, u.nextDeclared(id.file, max(id.line, u.lastLine(f.ranges, id.file, nil))) - 1}
		if !seen[t] {
			seen[t] = true
			texts = append(texts, t)
		}
	}
	return texts
}

// nextDeclared returns the line of the first function that is declared after a line of a file. If
// there is none, it returns a number greater than any line.
func (u *unit) nextDeclared(file string, line int) int {
	fs, next := u.funcs(), math.MaxInt32
	for i := range fs {
		if id := &fs[i].identity; id.line > line && id.line < next && id.file == file {
			next = id.line
		}
	}
	return next
}
