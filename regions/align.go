package regions

import (
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/symbols"
)

// align finds the directive of each call in a function, if the call starts a construct or is a
// barrier. The line of a call does not suffice: GCC gives many calls the line of the code before
// them. scope holds the directives that a call may belong to. own is the directive of the function
// itself.
func align(o *symbols.Object, f *function, scope []directive) map[*site]directive {
	found := map[*site]directive{}
	if len(scope) == 0 {
		return found
	}
	var w *flow
	walker := func() *flow {
		if w == nil {
			w = newFlow(o, f)
		}
		return w
	}
	var open []*site
	for _, s := range f.sites {
		if !s.Start || s.construct.IsParallel() || s.role == waits {
			continue
		}
		if d, ok := s.directive(scope, walker); ok {
			found[s] = d
		} else {
			open = append(open, s)
		}
	}
	for _, s := range slices.Backward(open) {
		if s.hasIdent {
			continue
		}
		if d, ok := s.byNext(walker(), scope, found); ok {
			found[s] = d
		}
	}
	for _, s := range open {
		if _, known := found[s]; known {
			continue
		}
		if d, ok := s.near(s.matching(scope)); ok && !s.hasIdent {
			found[s] = d
		} else if d, ok := s.byOrder(f, scope, found); ok {
			found[s] = d
		}
	}
	for c, s := range singleBarriers(o, f) {
		if d, ok := found[s]; ok && !d.has("nowait") {
			found[c] = d
		}
	}
	for _, s := range slices.Backward(f.sites) {
		if s.role == waits && found[s].file == nil {
			if d, ok := s.barrier(scope, walker, found); ok {
				found[s] = d
			}
		}
	}
	for _, s := range f.sites {
		if s.role == inside || s.role == ends {
			if d, ok := s.partOf(f, scope, found); ok {
				found[s] = d
			}
		}
	}
	return found
}

// matches reports whether a call can start the construct of a directive.
func (s *site) matches(d directive) bool {
	x := d.get()
	kind := d.construct()
	switch s.construct {
	case event.Loop:
		if s.flags&symbols.IdentSections != 0 {
			return kind == event.Sections || kind == event.ParallelSections
		}
		if s.runtime == event.Gomp && d.isStaticLoop() {
			return false
		}
		// LLVM may come to give sections a loop's flag (llvm-project pull request 210038).
		if s.runtime == event.Kmpc && (kind == event.Sections || kind == event.ParallelSections) {
			return s.hasIdent && s.ident.Line == x.Begin
		}
		return kind == event.Loop || kind == event.ParallelLoop || s.runtime == event.Kmpc && strings.Contains(x.Words, "distribute")
	case event.Sections:
		return kind == event.Sections || kind == event.ParallelSections
	case event.Single:
		return kind == event.Single && (s.runtime != event.Gomp || d.has("copyprivate") == (s.word == "copyprivate")) ||
			kind == event.Workshare || kind == event.ParallelWorkshare
	case event.Ordered:
		return kind == event.Ordered && (d.has("depend") || d.has("doacross")) == (s.word == "doacross")
	case event.Critical:
		return kind == event.Critical && (s.lockName == "" || strings.EqualFold(x.Name, s.lockName))
	case event.Atomic:
		return kind == event.Atomic
	case event.TaskGroup: // clang puts a taskgroup around a taskloop
		return kind == event.TaskGroup || s.runtime == event.Kmpc && strings.Contains(x.Words, "taskloop")
	case event.Lock, event.NestLock:
		return false
	case event.NoConstruct:
		first, _, _ := strings.Cut(s.word, " ")
		return strings.HasPrefix(x.Words, s.word) || first == "taskloop" && strings.Contains(x.Words, first)
	}
	return kind == s.construct
}

// matching returns the directives whose construct a call can start.
func (s *site) matching(scope []directive) (may []directive) {
	for _, d := range scope {
		if s.matches(d) {
			may = append(may, d)
		}
	}
	return may
}

// directive finds the directive of a call, without regard to other calls.
func (s *site) directive(scope []directive, walker func() *flow) (directive, bool) {
	may := s.matching(scope)
	if len(may) == 0 {
		if s.construct == event.Atomic {
			return s.reduction(scope)
		}
		return directive{}, false
	}
	if s.hasIdent && s.ident.Line > 0 {
		return pickIdent(may, s.ident)
	}
	exact := s.own || s.runtime == event.Kmpc || s.word == "doacross"
	switch s.construct {
	case event.Loop, event.Sections, event.Single, event.Ordered:
	default:
		exact = true
	}
	if exact {
		if d, ok := pickLine(may, s.frames); ok {
			return d, true
		}
	}
	if s.construct == event.Atomic { // or the call is of a reduction
		if d, ok := innermost(may, s.frames); ok {
			return d, true
		}
		return s.reduction(scope)
	}
	if len(may) == 1 {
		return may[0], true
	}
	if d, ok := walker().ahead(s, func(fs []symbols.Frame) (directive, bool) { return innermost(may, fs) }); ok {
		return d, true
	}
	if !walker().places(s) {
		return directive{}, false
	}
	return s.near(may)
}

// near finds the directive on the call's line, or else the directive of the construct that has this
// line.
func (s *site) near(may []directive) (directive, bool) {
	if d, ok := pickLine(may, s.frames); ok {
		return d, true
	}
	return innermost(may, s.frames)
}

// reduction finds the construct that has a reduction for which GCC makes a call. GCC uses the same
// calls for atomics.
func (s *site) reduction(scope []directive) (directive, bool) {
	var may []directive
	for _, d := range scope {
		if d.has("reduction") {
			may = append(may, d)
		}
	}
	return innermost(may, s.frames)
}

// pickIdent finds the directive at the place in clang's ident_t. Clang names the file there as it
// was named on the command line.
func pickIdent(ds []directive, id symbols.Ident) (directive, bool) {
	for _, d := range ds {
		if sameFile(d.file.name, id.File) && d.at(d.file.name, id.Line) {
			return d, true
		}
	}
	return directive{}, false
}

// pickLine finds the directive on the call's line.
func pickLine(ds []directive, frames []symbols.Frame) (directive, bool) {
	for _, f := range frames {
		for _, d := range ds {
			if d.at(f.File, f.Line) {
				return d, true
			}
		}
	}
	return directive{}, false
}

// innermost finds the innermost construct that a place lies in, and returns its directive.
func innermost(ds []directive, frames []symbols.Frame) (best directive, ok bool) {
	for _, f := range frames {
		for _, d := range ds {
			if d.holds(f) && (!ok || d.get().Begin > best.get().Begin) {
				best, ok = d, true
			}
		}
		if ok {
			return best, true
		}
	}
	return best, false
}

// byNext looks at the next call of the same kind. In the text, some directive of that kind stands
// right before the next call's directive. The call gets this directive, unless another call has it
// already: code may have another order than the text.
func (s *site) byNext(w *flow, scope []directive, found map[*site]directive) (best directive, ok bool) {
	next := w.next(s)
	for next != nil && next.role == waits {
		next = w.next(next)
	}
	after, known := found[next]
	if !known || next.construct != s.construct {
		return directive{}, false
	}
	for _, d := range scope {
		x := d.get()
		if s.matches(d) && d.file == after.file && x.Begin < after.get().Begin && (!ok || x.Begin > best.get().Begin) {
			best, ok = d, true
		}
	}
	for _, d := range found {
		ok = ok && d != best
	}
	return best, ok
}

// byOrder looks at the previous call of the same kind. In the text, some directive of that kind
// follows the previous call's directive. The call gets this directive, unless another call has it
// already.
func (s *site) byOrder(f *function, scope []directive, found map[*site]directive) (best directive, ok bool) {
	// A call at the line of another directive belongs to the other directive. For example, clang
	// calls __kmpc_flush for an atomic directive that is seq_cst.
	if _, other := pickIdent(scope, s.ident); other && s.hasIdent {
		return directive{}, false
	}
	taken := map[directive]bool{}
	after := 0
	before := true
	for _, t := range f.sites {
		if t == s {
			before = false
		}
		d, known := found[t]
		if !known || t.construct != s.construct {
			continue
		}
		taken[d] = true
		if before {
			after = d.get().Begin
		}
	}
	for _, wantFree := range []bool{true, false} {
		for _, d := range scope {
			if !s.matches(d) || wantFree && taken[d] || d.get().Begin < after {
				continue
			}
			if !ok || d.get().Begin < best.get().Begin {
				best, ok = d, true
			}
		}
		if ok {
			return best, true
		}
	}
	return best, false
}

// barrier finds the barrier directive of a call, or the worksharing construct whose implicit
// barrier the call is.
func (s *site) barrier(scope []directive, walker func() *flow, found map[*site]directive) (directive, bool) {
	explicit, shares := barriersOf(scope)
	if s.hasIdent && s.ident.Line > 0 {
		if s.flags&symbols.IdentBarrierImplicit != 0 {
			return pickIdent(shares, s.ident)
		}
		return pickIdent(explicit, s.ident)
	}
	if s.runtime == event.Kmpc && s.flags&symbols.IdentBarrierImplicit == 0 || s.runtime == event.Gomp && s.own {
		if d, ok := pickLine(explicit, s.frames); ok {
			return d, true
		}
	}
	if s.runtime == event.Gomp {
		shares = slices.DeleteFunc(shares, directive.endsByCall)
	}
	before := 0
	d, ok := walker().behind(s,
		func(fs []symbols.Frame) (directive, bool) { return innermost(shares, fs) },
		func(c *site) (directive, bool) {
			d, ok := found[c]
			if ok {
				before = max(before, d.get().Begin)
			}
			// A workshare construct has several barriers.
			ok = ok && (c.construct == event.Single && c.role != inside || c.role == waits && d.construct() == event.Workshare)
			return d, ok
		})
	if ok || len(shares) == 0 {
		return d, ok
	}
	if len(shares) == 1 {
		return shares[0], true
	}
	// The line does not tell the construct. The barrier ends the last construct between the
	// directives of the calls before and after it.
	next, ok := found[walker().next(s)]
	if !ok {
		return directive{}, false
	}
	ok = false
	for _, c := range shares {
		x := c.get()
		fits := x.Begin > before && x.End <= next.get().Begin || c == next && c.construct() == event.Workshare
		if fits && (!ok || x.Begin > d.get().Begin) {
			d, ok = c, true
		}
	}
	return d, ok
}

// barriersOf returns the barrier directives of a scope, and the worksharing constructs that end
// with an implicit barrier.
func barriersOf(scope []directive) (explicit, shares []directive) {
	for _, d := range scope {
		switch kind := d.construct(); {
		case kind == event.Barrier:
			explicit = append(explicit, d)
		case d.has("nowait"):
		case kind == event.Single, kind == event.Workshare, kind == event.Loop, kind == event.Sections,
			kind == event.ParallelLoop, kind == event.ParallelSections, kind == event.ParallelWorkshare:
			shares = append(shares, d)
		}
	}
	return explicit, shares
}

// endsByCall tells whether libgomp has a call of its own for the end of a worksharing construct, in
// place of the call of a barrier.
func (d directive) endsByCall() bool {
	k := d.construct()
	return k == event.Sections || k == event.ParallelSections || k == event.Loop && !d.isStaticLoop()
}

// partOf finds the construct that a call continues or ends. It is the construct that the nearest
// earlier call has started.
func (s *site) partOf(f *function, scope []directive, found map[*site]directive) (best directive, ok bool) {
	for _, t := range f.sites {
		if t.Addr > s.Addr && ok {
			break
		}
		if d, known := found[t]; known && t.Start && t.construct == s.construct && t.role == opens && t.word != "doacross" {
			best, ok = d, true
		}
	}
	if ok {
		return best, true
	}
	for _, d := range scope {
		if s.matches(d) {
			return d, true
		}
	}
	return best, false
}

func sameFile(a, b string) bool { return baseName(a) == baseName(b) }

func baseName(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }
