package debuginfo

import (
	"regexp"
	"slices"

	"ompp-attach/symbols/names"
)

// Extent is a stretch of source text.
type Extent struct {
	File       string // as in Index.Line
	Begin, End int    // lines, both included
	Function   string // as Index.SourceFunction gives it
}

// Clang makes two functions of a region when debug information is on. The inner one (debug variant)
// holds the code. The outer one only calls the inner one, or has it inlined.
var (
	debugVariant = regexp.MustCompile(`\.omp_outlined\.?_debug__(\.[0-9]+)?$`)
	debugWrapper = regexp.MustCompile(`\.omp_outlined\.?(\.[0-9]+)?$`)
)

// Outlined returns the extent of the parallel region or task, the outlined function of which covers
// vaddr. Begin is the line of the directive. End is the last line that has code. With GCC it is
// usually the line before the closing brace. ok is false if vaddr lies in no outlined function, or
// if there is no line information.
func (x *Index) Outlined(vaddr uint64) (e Extent, ok bool) {
	u := x.unitAt(vaddr)
	if u == nil {
		return Extent{}, false
	}
	fs := u.funcs()
	region := -1
	for _, i := range u.covering(vaddr) {
		if !fs[i].inlined && names.IsOutlined(fs[i].identity.symbol()) {
			region = i
			break
		}
	}
	if region < 0 {
		return Extent{}, false
	}
	e.Function = u.sourceFunction(fs, region)
	if debugVariant.MatchString(fs[region].identity.symbol()) {
		region = u.nearest(fs, region, debugWrapper, -1)
	}
	f := fs[region]
	e.File, e.Begin = f.identity.file, f.identity.line // clang: DW_AT_decl_line is the directive's
	if e.Begin == 0 && len(f.ranges) > 0 {
		// GCC gives no declaration. But the function starts with a statement at the directive: the
		// first of several rows at one address. A row that starts no statement may be left over
		// from the function before. If there is a cold part, the entry's first range is the hot
		// one.
		for _, r := range u.lines().within(f.ranges[0]) {
			if r.line > 0 && r.stmt && !r.end {
				e.File, e.Begin = fileName(r.file), r.line
				break
			}
		}
	}
	if e.Begin == 0 {
		return Extent{}, false
	}
	e.End = max(e.Begin, u.lastOwnLine(fs, region, e))
	if debugWrapper.MatchString(f.identity.symbol()) {
		if inner := u.nearest(fs, region, debugVariant, +1); inner != region {
			e.End = max(e.End, u.lastOwnLine(fs, inner, e))
		}
	}
	return e, true
}

// nearest returns the function of the given name that is closest to function of in its file, below
// (+1) or above (-1). If there is none, it returns of itself. So it pairs clang's two functions of
// a region. The outer one is declared at the directive. The inner one is declared at the
// directive's statement, on the same line or the next.
func (u *unit) nearest(fs []function, of int, name *regexp.Regexp, direction int) int {
	best, least := of, -1
	for i := range fs {
		f := &fs[i]
		if f.inlined || f.identity.file != fs[of].identity.file || f.identity.line == 0 || !name.MatchString(f.identity.symbol()) {
			continue
		}
		if d := (f.identity.line - fs[of].identity.line) * direction; d >= 0 && (least < 0 || d < least) {
			best, least = i, d
		}
	}
	return best
}

// lastOwnLine returns the last line of code of function i. It leaves out source functions that were
// inlined into it, because their text may be anywhere in the file. e has the region's file and
// first line.
func (u *unit) lastOwnLine(fs []function, i int, e Extent) (last int) {
	type lines struct{ first, last int }
	var code []Range
	var text []lines
	own := map[int]bool{i: true}
	for j := i + 1; j < len(fs) && fs[j].parent >= i; j++ { // children follow their parents
		f := &fs[j]
		if !own[f.parent] || !f.inlined {
			continue
		}
		if names.IsOutlined(f.identity.symbol()) {
			own[j] = true
			continue
		}
		// The call itself belongs to the region, although often no row is left of it.
		if f.callFile == e.File {
			last = max(last, f.callLine)
		}
		code = append(code, f.ranges...)
		// GCC also writes rows for statements without any instruction left, just outside of the
		// inlined code. Their lines tell to which function they belong.
		if f.identity.file == e.File && f.identity.line > e.Begin {
			text = append(text, lines{f.identity.line, u.lastLine(f.ranges, e.File, nil)})
		}
	}
	return max(last, u.lastLine(fs[i].ranges, e.File, func(r row) bool {
		return slices.ContainsFunc(code, func(c Range) bool { return c.Contains(r.addr) }) ||
			slices.ContainsFunc(text, func(t lines) bool { return t.first <= r.line && r.line <= t.last })
	}))
}

// Definition returns where the source defines the function whose code covers
// vaddr: from the line of its declarator to its last line with code.
func (x *Index) Definition(vaddr uint64) (e Extent, ok bool) {
	u := x.unitAt(vaddr)
	if u == nil {
		return Extent{}, false
	}
	fs := u.funcs()
	for _, i := range u.covering(vaddr) {
		if fs[i].inlined {
			continue
		}
		id := fs[i].identity
		e = Extent{File: id.file, Begin: id.line, Function: id.display()}
		if e.File == "" || e.Begin == 0 {
			return Extent{}, false
		}
		e.End = max(e.Begin, u.lastOwnLine(fs, i, e))
		return e, true
	}
	return Extent{}, false
}
