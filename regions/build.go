package regions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/symbols"
)

// builder collects the regions of a table.
type builder struct {
	object  *symbols.Object
	sources sources
	regions []Region
	bodies  map[directive][]int // regions of outlined functions by their directive
	made    map[regionKey]int
	used    map[directive]bool // directives that some region has

	byBody   map[uint64]int           // index of the region, by outlined function
	bodyCode map[uint64]bool          // outlined functions and their parts
	inCode   map[uint64][]int         // indices of the regions, by the function they are in
	units    map[uint64][]symbols.Row // of whole compile units
}

// regionKey identifies a region of one function.
type regionKey struct {
	code      uint64
	d         directive
	construct event.Construct // without a directive
	word      string
	file      string
	line      int
	addr      uint64 // only if there are no lines
	name      string
}

// Build makes the table of a file. The error is ErrNoOpenMP if the file calls no runtime, and
// ErrRuntime if the file is a runtime.
func Build(o *symbols.Object) (t *Table, err error) {
	entries := findEntryPoints(o)
	if entries.static && !o.IsExecutable() {
		return nil, ErrRuntime
	}
	fs := findFunctions(o, &entries, o.Branches(o.TargetsLike(isCall)))
	fs = findOutlined(o, fs)
	if len(fs) == 0 {
		return nil, ErrNoOpenMP
	}
	b := &builder{object: o, sources: sources{o, map[string]*sourceFile{}}, bodies: map[directive][]int{},
		made: map[regionKey]int{}, used: map[directive]bool{}, byBody: map[uint64]int{}, bodyCode: map[uint64]bool{},
		inCode: map[uint64][]int{}, units: map[uint64][]symbols.Row{}}
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
	t.addInline(o)
	t.notes(o)
	return t, nil
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

// body makes the region of an outlined function. d is the function's directive, if it is known.
func (b *builder) body(f *function, d directive) {
	r := Region{Outlined: f.lo, Code: f.lo, Parent: -1, Found: BySymbol}
	if !isOutlined(f.name) {
		r.Found = ByCode
	}
	r.Function = b.functionAt(f, f.lo)
	switch c := f.caller; {
	case c != nil:
		r.Construct, r.Runtime, r.Words = c.construct, c.runtime, c.word
		r.Found |= ByCall
	case strings.Contains(f.name, ".omp_task_entry."):
		r.Construct, r.Runtime = event.Task, event.Kmpc
	case strings.Contains(f.name, ".omp_outlined"):
		r.Construct, r.Runtime = event.Parallel, event.Kmpc
	default:
		r.Construct, r.Runtime = event.Parallel, event.Gomp
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
	b.byBody[f.lo], b.bodyCode[f.lo] = n, true
	for _, p := range f.parts {
		b.bodyCode[p.Lo] = true
	}
	if d.file != nil {
		b.bodies[d] = append(b.bodies[d], n)
	}
	f.region = n
}

// functionAt returns the source function of an address in f. Some outlined functions, such as those
// of clang's tasks, have names that do not tell their source function. Then the function is found
// by the call that gets the outlined function as an argument.
func (b *builder) functionAt(f *function, addr uint64) string {
	name := b.object.SourceFunction(addr)
	for seen := map[*function]bool{}; name == "" && f.caller != nil && !seen[f]; {
		seen[f] = true
		addr, f = f.caller.Addr, f.caller.in
		name = b.object.SourceFunction(addr)
	}
	return name
}

// after returns the line of the code behind an outlined function's region, in the function that
// starts the region. It returns 0 if that line is not known.
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

// describe fills in what a region's directive tells.
func (b *builder) describe(r *Region, d directive) {
	x := d.get()
	b.used[d] = true
	r.Construct, r.Words, r.Name, r.Sections = d.construct(), x.Words, x.Name, d.file.sections[d.n]
	r.File, r.Begin, r.BeginLast, r.EndFirst, r.End = d.file.name, x.Begin, x.Last, x.End, x.End
	r.BeginNear, r.EndNear, r.Implicit, r.Nowait = false, false, false, d.has("nowait")
	r.Untied = d.has("untied")
	r.Found |= BySource
}

// constructs makes the regions of a function: those of its calls, and those of the directives in
// its text that make no call.
func (b *builder) constructs(f *function, own directive, scope []directive, found map[*site]directive) {
	w := within{f: f, own: own, body: -1}
	if f.outlined {
		w.body = f.region
	}
	var barrierOf map[*site]*site
	if len(scope) == 0 {
		barrierOf = singleBarriers(b.object, f)
	}
	for _, s := range f.sites {
		if single := barrierOf[s]; single != nil && single.region >= 0 {
			b.add(single.region, s)
			continue
		}
		d, ok := found[s]
		b.ofCall(&w, s, d, ok)
	}
	var rows []symbols.Row
	for _, d := range scope {
		if _, known := b.made[regionKey{code: f.lo, d: d}]; known || d == own || outlines(d.get().Words) {
			continue
		}
		if rows == nil {
			rows = append(f.rows(b.object), b.object.InlinedCalls(f.lo)...)
		}
		b.withoutCall(&w, d, rows)
	}
	if f.outlined && own.file == nil {
		b.inline(f, w.body)
	}
	b.nest(f, w.body)
}

// within describes the function in which regions are made.
type within struct {
	f    *function
	own  directive // the directive of the function, if it is an outlined body
	body int       // the region of that body; -1: the function is no outlined body
}

// owns tells whether a directive stands in the text of the outlined body.
func (w *within) owns(d directive) bool {
	return w.body >= 0 && d.file == w.own.file && d.file.owner[d.n] == w.own.n
}

// ofCall makes the region of a call, or adds the call to one. d is the call's directive, if it is
// known.
func (b *builder) ofCall(w *within, s *site, d directive, known bool) {
	f := w.f
	switch {
	case s.construct.IsParallel() && s.role != opens:
		return
	case s.construct.IsParallel(), s.fn > 0:
		b.start(f, s)
		return
	case known && d == w.own && w.body >= 0:
		b.add(w.body, s)
		return
	case !known && !s.Start:
		return // the construct is not known; see ends
	}
	k := regionKey{code: f.lo, construct: s.construct, word: s.word, name: s.lockName, addr: s.Addr}
	if known {
		k = regionKey{code: f.lo, d: d}
	} else if fr, line := s.place(); line > 0 {
		k.file, k.line, k.addr = fr, line, 0
	}
	n, made := b.made[k]
	if !made {
		r := Region{Construct: s.construct, Runtime: s.runtime, Words: s.words(), Name: s.lockName, Code: f.lo, Parent: -1}
		r.Function = b.functionAt(f, s.Addr)
		if known {
			if w.owns(d) {
				r.Function = b.regions[w.body].Function // not that of an inlined callee
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

// withoutCall makes the region of a directive that makes no call. Either the function has code of
// the directive, or the directive is known to stand in the function's text. rows are the function's
// rows of the line table.
func (b *builder) withoutCall(w *within, d directive, rows []symbols.Row) {
	at, compiled := codeOf(rows, d)
	r := Region{Code: w.f.lo, Parent: -1}
	mine := w.owns(d)
	switch {
	case mine && !compiled && b.inLambda(w.f, d):
		return // a region of the lambda's function: found by its calls, or see orphans
	case mine: // perhaps no code is left
		r.Function = b.regions[w.body].Function
	case compiled:
		r.Function = b.object.SourceFunction(at)
	default:
		return
	}
	if compiled {
		r.Found = ByLine
	}
	b.describe(&r, d)
	b.made[regionKey{code: w.f.lo, d: d}] = b.new(r)
}

// codeOf finds the address of a row that lies in the construct of a directive.
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

// words returns the words of a directive in C, for a construct whose source is not known.
func (s *site) words() string {
	if s.construct == event.NoConstruct || s.word == "doacross" {
		return s.word
	}
	return ""
}

// place returns the line of a call. Clang's ident_t has it; otherwise it comes from the line table.
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

// start joins a call that starts a region with the region of the call's outlined function.
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
	k := regionKey{code: f.lo, construct: s.construct, word: s.word, file: file, line: line}
	n, known := b.made[k]
	if !known {
		r := Region{Construct: s.construct, Runtime: s.runtime, Words: s.words(), Code: f.lo, Parent: -1, Function: b.functionAt(f, s.Addr)}
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

// notes lists the sources that could not be used.
func (t *Table) notes(o *symbols.Object) {
	for _, s := range t.Sources {
		if s.Newer && !s.Used {
			t.Notes = append(t.Notes, fmt.Sprintf("%s is not used, because it is newer than the binary: other lines may have been compiled", s.Path))
		} else if s.Newer {
			t.Notes = append(t.Notes, fmt.Sprintf("%s is newer than the binary: its lines need not be those that were compiled", s.Path))
		} else if !s.Used {
			t.Notes = append(t.Notes, fmt.Sprintf("the source %s was not found, so ends of regions are approximate, and constructs without calls are missing: give --source DIR", s.Name))
		}
	}
	if !o.HasDWARF() {
		t.Notes = append(t.Notes, "the binary has no line information: compile it with -g to see files and lines")
	}
}
