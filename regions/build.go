package regions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/symbols"
)

// builder collects a table.
type builder struct {
	object  *symbols.Object
	sources sources
	regions []Region
	bodies  map[directive][]int // regions of outlined functions by their directive
	made    map[key]int
	used    map[directive]bool // directives that some region has

	byBody map[uint64]int   // regions by outlined function
	inCode map[uint64][]int // regions by the function they are in
}

// key tells the regions of one function apart.
type key struct {
	code uint64
	d    directive
	kind event.Construct // without a directive
	word string
	file string
	line int
	addr uint64 // where there are no lines
	name string
}

// Build makes the table of a file. The error is ErrNoOpenMP where the file
// calls no runtime, ErrRuntime where it is one.
func Build(o *symbols.Object) (t *Table, err error) {
	entries := findEntryPoints(o)
	if entries.static && !o.IsExecutable() {
		return nil, ErrRuntime
	}
	fs := findFunctions(o, &entries, scan(o, &entries))
	fs = findOutlined(o, fs)
	if len(fs) == 0 {
		return nil, ErrNoOpenMP
	}
	b := &builder{object: o, sources: sources{o, map[string]*sourceFile{}}, bodies: map[directive][]int{},
		made: map[key]int{}, used: map[directive]bool{}, byBody: map[uint64]int{}, inCode: map[uint64][]int{}}
	own := b.ownDirectives(fs)
	for _, f := range fs {
		if f.outlined {
			b.body(f, own[f])
		}
	}
	for _, f := range fs {
		d, ok := own[f]
		scope := b.sources.scope(f, d, ok)
		b.constructs(f, d, scope, align(o, f, scope))
	}
	b.orphans(fs)
	t = &Table{Regions: b.regions, Sources: o.Sources()}
	t.finish()
	t.notes(o)
	return t, nil
}

// ownDirectives finds the directives of outlined functions. One without line
// information, as where GCC folded several of equal code into one, gets the
// directive that is left over where it is called.
func (b *builder) ownDirectives(fs []*function) map[*function]directive {
	own := map[*function]directive{}
	used := map[directive]bool{}
	byLo := map[uint64]*function{}
	missing := false
	for _, f := range fs {
		f.texts = b.object.Texts(f.lo)
		byLo[f.lo] = f
		if !f.outlined {
			continue
		}
		if d, ok := b.sources.ownDirective(f); ok {
			own[f] = d
			used[d] = true
		} else {
			missing = true
		}
	}
	for again := missing; again; {
		again = false
		for _, f := range fs {
			d, ok := own[f]
			if !ok && f.outlined {
				continue
			}
			scope := b.sources.scope(f, d, ok)
			for n, s := range f.sites {
				g := byLo[s.fnArg]
				if s.fnArg == 0 || g == nil || s.role != opens {
					continue
				}
				if _, known := own[g]; known || !g.outlined {
					continue
				}
				if d, ok := leftOver(f.sites[:n], f.sites[n+1:], s, scope, used, own, byLo); ok {
					own[g], used[d], again = d, true, true
				}
			}
		}
	}
	return own
}

// leftOver finds the directive of a call that starts a region: one of its kind
// that no other has, between those of its neighbours if there is more than one.
func leftOver(before, after []*site, s *site, scope []directive, used map[directive]bool, own map[*function]directive, byLo map[uint64]*function) (directive, bool) {
	var free []directive
	for _, d := range scope {
		if !used[d] && s.outlinesTo(d) {
			free = append(free, d)
		}
	}
	line := func(sites []*site, backwards bool) int {
		for i := range sites {
			t := sites[i]
			if backwards {
				t = sites[len(sites)-1-i]
			}
			if d, ok := own[byLo[t.fnArg]]; ok && t.fnArg != 0 {
				return d.get().Begin
			}
		}
		return 0
	}
	lo, hi := line(before, true), line(after, false)
	for _, d := range free {
		if x := d.get(); len(free) == 1 || x.Begin > lo && (hi == 0 || x.Begin < hi) {
			return d, true
		}
	}
	return directive{}, false
}

// outlinesTo reports whether a call can be given the body of a directive.
func (s *site) outlinesTo(d directive) bool {
	x := d.get()
	if !outlines(x.Words) {
		return false
	}
	if s.kind != event.NoConstruct && s.kind != event.Parallel {
		return d.kind() == s.kind
	}
	if s.kind == event.Parallel {
		return strings.Contains(x.Words, "parallel")
	}
	return strings.Contains(x.Words, s.word)
}

// rows returns the line table's rows of all parts of a function.
func (f *function) rows(o *symbols.Object) (rows []symbols.Row) {
	rows = o.Rows(symbols.Range{Lo: f.lo, Hi: f.hi})
	for _, p := range f.parts {
		rows = append(rows, o.Rows(p)...)
	}
	slices.SortStableFunc(rows, func(a, b symbols.Row) int { return cmp.Compare(a.Addr, b.Addr) })
	return rows
}

// body makes the region of an outlined function. d is its directive, if known.
func (b *builder) body(f *function, d directive) {
	r := Region{Outlined: f.lo, Code: f.lo, Parent: -1, Found: BySymbol}
	if !isOutlined(f.name) {
		r.Found = ByCode
	}
	r.Function = b.object.SourceFunction(f.lo)
	switch c := f.caller; {
	case c != nil:
		r.Kind, r.Runtime, r.Words = c.kind, c.runtime, c.word
		r.Found |= ByCall
	case strings.Contains(f.name, ".omp_task_entry."):
		r.Kind, r.Runtime = event.Task, event.Kmpc
	case strings.Contains(f.name, ".omp_outlined"):
		r.Kind, r.Runtime = event.Parallel, event.Kmpc
	default:
		r.Kind, r.Runtime = event.Parallel, event.Gomp
	}
	if x := f.extent; x.Begin > 0 {
		r.File, r.Begin, r.BeginLast, r.End, r.EndNear = x.File, x.Begin, x.Begin, closing(x.End, b.after(f)), true
		r.Found |= ByLine
		if x.Function != "" {
			r.Function = x.Function
		}
	}
	if c := f.caller; c != nil && c.hasIdent && c.ident.Line > 0 {
		r.Found |= ByIdent
		if r.File == "" || sameFile(r.File, c.ident.File) {
			if r.File == "" {
				r.File = c.ident.File
			}
			r.Begin, r.BeginLast = c.ident.Line, c.ident.Line
		}
		if r.Function == "" {
			r.Function = c.ident.Function
		}
	}
	if d.file != nil {
		b.describe(&r, d)
	}
	r.EndFirst = r.End
	n := b.new(r)
	b.byBody[f.lo] = n
	if d.file != nil {
		b.bodies[d] = append(b.bodies[d], n)
	}
	f.region = n
}

// after returns the line of the code that follows an outlined function's region
// in the function that starts it, 0 if it is not known.
func (b *builder) after(f *function) (next int) {
	c := f.caller
	if c == nil || len(c.frames) == 0 {
		return 0
	}
	for _, r := range c.in.rows(b.object) {
		if at, ok := atDepth(b.object.Frames(r.Addr), c.frames); ok && at.File == f.extent.File && at.Line > f.extent.End &&
			(next == 0 || at.Line < next) {
			next = at.Line
		}
	}
	return next
}

// new adds a region and returns its index.
func (b *builder) new(r Region) int {
	n := len(b.regions)
	b.regions = append(b.regions, r)
	b.inCode[r.Code] = append(b.inCode[r.Code], n)
	return n
}

// describe gives a region what its directive tells.
func (b *builder) describe(r *Region, d directive) {
	x := d.get()
	b.used[d] = true
	r.Kind, r.Words, r.Name, r.Sections = d.kind(), x.Words, x.Name, d.file.sections[d.n]
	r.File, r.Begin, r.BeginLast, r.EndFirst, r.End = d.file.name, x.Begin, x.Last, x.End, x.End
	r.BeginNear, r.EndNear, r.Implicit = false, false, false
	r.Found |= BySource
}

// constructs makes the regions of the calls in a function, and of the
// directives in its text that make none.
func (b *builder) constructs(f *function, own directive, scope []directive, found map[*site]directive) {
	o := b.object
	body := -1
	if f.outlined {
		body = f.region
	}
	var barrierOf map[*site]*site
	if len(scope) == 0 {
		barrierOf = singleBarriers(o, f)
	}
	for _, s := range f.sites {
		d, ok := found[s]
		if single := barrierOf[s]; single != nil && single.region >= 0 {
			b.add(single.region, s)
			continue
		}
		switch {
		case s.kind.IsParallel() && s.role != opens:
			continue
		case s.kind.IsParallel(), s.fn > 0:
			b.start(f, s)
			continue
		case ok && d == own && body >= 0:
			b.add(body, s)
			continue
		case !ok && !s.Start:
			continue // of no construct that is known; see ends
		}
		k := key{code: f.lo, kind: s.kind, word: s.word, name: s.lockName, addr: s.Addr}
		if ok {
			k = key{code: f.lo, d: d}
		} else if fr, line := s.place(); line > 0 {
			k.file, k.line, k.addr = fr, line, 0
		}
		n, known := b.made[k]
		if !known {
			r := Region{Kind: s.kind, Runtime: s.runtime, Words: s.words(), Name: s.lockName, Code: f.lo, Parent: -1}
			r.Function = o.SourceFunction(s.Addr)
			if ok {
				if body >= 0 && d.file == own.file && d.file.owner[d.n] == own.n {
					r.Function = b.regions[body].Function // not that of a callee inlined there
				}
				b.describe(&r, d)
				if s.hasIdent && s.ident.Line > 0 {
					r.Found |= ByIdent
				}
			} else {
				b.unaligned(&r, f, s)
			}
			n = b.new(r)
			b.made[k] = n
		}
		b.add(n, s)
	}
	var rows []symbols.Row
	for _, d := range scope {
		k := key{code: f.lo, d: d}
		if _, known := b.made[k]; known || d == own || outlines(d.get().Words) {
			continue
		}
		if rows == nil {
			rows = append(f.rows(o), o.InlinedCalls(f.lo)...)
		}
		at, compiled := codeOf(rows, d)
		r := Region{Code: f.lo, Parent: -1}
		mine := body >= 0 && d.file == own.file && d.file.owner[d.n] == own.n
		switch {
		case mine: // perhaps without code left
			r.Function = b.regions[body].Function
		case compiled:
			r.Function = o.SourceFunction(at)
		default:
			continue
		}
		if compiled {
			r.Found = ByLine
		}
		b.describe(&r, d)
		b.made[k] = b.new(r)
	}
	if f.outlined && own.file == nil {
		b.inline(f, body)
	}
	b.nest(f, body)
}

// codeOf finds code of a directive's construct among rows.
func codeOf(rows []symbols.Row, d directive) (addr uint64, ok bool) {
	for _, r := range rows {
		if d.holds(symbols.Frame{File: r.File, Line: r.Line}) {
			return r.Addr, true
		}
	}
	return 0, false
}

func (b *builder) add(n int, s *site) {
	r := &b.regions[n]
	r.Sites = append(r.Sites, s.Site)
	r.Found |= ByCall
	if r.Runtime == event.NoRuntime {
		r.Runtime = s.runtime
	}
	s.region = n
}

// words are C's for a construct whose source is not known.
func (s *site) words() string {
	if s.kind == event.NoConstruct || s.word == "doacross" {
		return s.word
	}
	return ""
}

// place is the line of a call: of clang's ident_t, else of the line table.
func (s *site) place() (file string, line int) {
	if s.hasIdent && s.ident.Line > 0 {
		for _, f := range s.frames {
			if sameFile(f.File, s.ident.File) {
				return f.File, s.ident.Line
			}
		}
		return s.ident.File, s.ident.Line
	}
	if len(s.frames) > 0 {
		return s.frames[0].File, s.frames[0].Line
	}
	return "", 0
}

// start joins a call that starts a region to the region of its outlined
// function.
func (b *builder) start(f *function, s *site) {
	if s.fnArg != 0 {
		if n, ok := b.byBody[s.fnArg]; ok {
			b.add(n, s)
			return
		}
	}
	file, line := s.place()
	if strings.Contains(s.Call, "serialized") { // clang's if(0) calls the function directly
		for i := range b.regions {
			r := &b.regions[i]
			if r.Outlined != 0 && line > 0 && r.Begin <= line && line <= r.BeginLast && sameFile(r.File, file) {
				b.add(i, s)
				return
			}
		}
	}
	k := key{code: f.lo, kind: s.kind, word: s.word, file: file, line: line}
	n, known := b.made[k]
	if !known {
		r := Region{Kind: s.kind, Runtime: s.runtime, Words: s.words(), Code: f.lo, Parent: -1, Function: b.object.SourceFunction(s.Addr)}
		r.File, r.Begin, r.BeginLast = file, line, line
		if line > 0 {
			r.Found |= ByLine
			r.BeginNear = !s.hasIdent
		}
		n = b.new(r)
		b.made[k] = n
	}
	b.add(n, s)
}

// nest finds the region around each of a function's constructs: the innermost
// directive around its own, else the function's.
func (b *builder) nest(f *function, body int) {
	var mine []int
	for _, n := range b.inCode[f.lo] {
		if n != body {
			mine = append(mine, n)
		}
	}
	// A construct of a function that was inlined here stands elsewhere in the text.
	inBody := func(r *Region) bool {
		if body < 0 {
			return false
		}
		x := &b.regions[body]
		return r.Begin == 0 || x.Begin == 0 || r.File == x.File && x.Begin <= r.Begin && r.Begin <= x.End+1
	}
	around := func(m int) int {
		r := &b.regions[m]
		best := -1
		if inBody(r) {
			best = body
		}
		for _, n := range mine {
			x := &b.regions[n]
			if n == m || x.Found&BySource == 0 || x.Outlined != 0 || x.File != r.File || x.Begin > r.Begin || x.End < r.End ||
				x.Begin == r.Begin && x.End == r.End {
				continue
			}
			if best < 0 || best == body || b.regions[best].Begin <= x.Begin {
				best = n
			}
		}
		return best
	}
	for _, m := range mine {
		if b.regions[m].Outlined == 0 {
			b.regions[m].Parent = around(m)
		}
	}
	for _, s := range f.sites { // regions that this function starts
		if n := s.region; n >= 0 && n != body && s.role == opens && b.regions[n].Outlined != 0 && b.regions[n].Parent < 0 {
			if p := around(n); !b.within(p, n) { // broken code may claim anything
				b.regions[n].Parent = p
			}
		}
	}
}

// within reports whether region n is, or is around, region p.
func (b *builder) within(p, n int) bool {
	for ; p >= 0; p = b.regions[p].Parent {
		if p == n {
			return true
		}
	}
	return false
}

// orphans makes regions of directives that make no call in functions that make
// none either.
func (b *builder) orphans(fs []*function) {
	o := b.object
	done := map[uint64]bool{} // units, by their first code
	for _, f := range fs {
		unit := o.UnitCode(f.lo)
		if unit == nil || done[unit[0].Lo] {
			continue
		}
		done[unit[0].Lo] = true
		var rows []symbols.Row
		for _, c := range unit {
			rows = append(rows, o.Rows(c)...)
		}
		lines := map[string]map[int]uint64{} // code of a line
		for _, r := range rows {
			if lines[r.File] == nil {
				lines[r.File] = map[int]uint64{}
			}
			if _, ok := lines[r.File][r.Line]; !ok {
				lines[r.File][r.Line] = r.Addr
			}
		}
		for _, src := range b.sources.files {
			if src == nil || lines[src.name] == nil {
				continue
			}
			for i, d := range src.ds {
				dd := directive{src, i}
				if b.used[dd] || outlines(d.Words) || !isConstruct(d.Words) {
					continue
				}
				for line := d.Begin; line <= d.End; line++ {
					addr, ok := lines[src.name][line]
					if !ok {
						continue
					}
					r := Region{Parent: -1, Found: ByLine, Function: o.SourceFunction(addr)}
					r.Code, _, _ = o.FuncRange(addr)
					b.describe(&r, dd)
					b.new(r)
					break
				}
			}
		}
	}
}

// notes says which sources could not be used.
func (t *Table) notes(o *symbols.Object) {
	for _, s := range t.Sources {
		if s.Newer && !s.Used {
			t.Notes = append(t.Notes, fmt.Sprintf("%s is newer than the binary, so its lines need not be those that were compiled: it is not used", s.Path))
		} else if s.Newer {
			t.Notes = append(t.Notes, fmt.Sprintf("%s is newer than the binary: its lines need not be those that were compiled", s.Path))
		} else if !s.Used {
			t.Notes = append(t.Notes, fmt.Sprintf("the source %s was not found: ends of regions are approximate, and constructs without calls are missing (--source DIR tells where sources are)", s.Name))
		}
	}
	if !o.HasDWARF() {
		t.Notes = append(t.Notes, "the binary has no line information: compile it with -g to see files and lines")
	}
}
