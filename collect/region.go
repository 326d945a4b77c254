package collect

import (
	"path/filepath"
	"strings"

	"ompp-attach/attribution"
	"ompp-attach/event"
	"ompp-attach/symbols"
)

// directiveOf is how source code spells a construct, in C's words.
var directiveOf = map[event.Construct]string{
	event.Parallel: "parallel", event.ParallelLoop: "parallel for", event.ParallelSections: "parallel sections",
	event.ParallelWorkshare: "parallel workshare", event.Loop: "for", event.Sections: "sections",
	event.Single: "single", event.Workshare: "workshare", event.Master: "master", event.Masked: "masked",
	event.Critical: "critical", event.Ordered: "ordered", event.Barrier: "barrier", event.Atomic: "atomic",
	event.Flush: "flush",
}

// Region implements attribution.Resolver: a construct's place in the source,
// from libomp's ident_t, the line table and the source itself, as far as each
// is there.
func (r *resolver) Region(k attribution.Key) attribution.Region {
	reg := attribution.Region{Construct: k.Construct, Runtime: k.Runtime.String(), Name: r.name(k)}
	if k.Construct.IsParallel() {
		r.parallel(k, &reg)
	} else {
		r.inner(k, &reg)
	}
	return reg
}

// name is a named critical's: both compilers keep its lock in a variable
// .gomp_critical_user_NAME (clang adds .var).
func (r *resolver) name(k attribution.Key) string {
	if k.Construct != event.Critical {
		return ""
	}
	p, ok := r.at(k.Fn)
	if !ok {
		return ""
	}
	v, ok := p.object.DataAt(p.vaddr)
	if !ok {
		return ""
	}
	v, ok = strings.CutPrefix(v, ".gomp_critical_user_")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(v, ".var")
}

// parallel places a region by its outlined function, which is its own under
// every optimisation; by the call where there is none.
func (r *resolver) parallel(k attribution.Key, reg *attribution.Region) {
	addr, call := k.Fn, false
	if addr == 0 {
		addr, call = k.Site, true
	}
	p, ok := r.at(addr)
	if !ok {
		reg.Location.Offset = addr
		return
	}
	loc := &reg.Location
	r.address(p, call, loc)
	if id, ok := r.ident(k.Loc); ok && id.Line > 0 {
		loc.File, loc.Begin = fullName(p, id.File), id.Line
		if loc.Function == "" {
			loc.Function = id.Function
		}
	}
	if call {
		if loc.Begin == 0 {
			r.line(p, loc)
		}
	} else if x, ok := p.object.Outlined(p.vaddr); ok {
		if loc.Begin == 0 || x.Begin == loc.Begin {
			*loc = withExtent(*loc, x)
		} else if sameFile(x.File, loc.File) && x.End >= loc.Begin {
			loc.File, loc.End, loc.EndMark = x.File, x.End, attribution.Approx
		}
	}
	if d, ok := directiveAt(p.object, loc, "parallel"); ok {
		loc.End, loc.EndMark = d.End, attribution.Exact
		reg.Construct = parallelKind(d.Words, k.Construct)
	} else {
		r.inlineParallel(p, reg)
	}
}

func withExtent(loc attribution.Location, x symbols.Extent) attribution.Location {
	loc.File, loc.Begin, loc.End = x.File, x.Begin, x.End
	if x.Function != "" {
		loc.Function = x.Function
	}
	if x.End > x.Begin {
		loc.EndMark = attribution.Approx
	}
	return loc
}

// parallelKind tells combined constructs apart by the source: the compilers
// give some of them the same code as a parallel region.
func parallelKind(words string, seen event.Construct) event.Construct {
	f := strings.Fields(words)
	if len(f) < 2 {
		return seen
	}
	switch f[1] {
	case "for", "do", "loop":
		return event.ParallelLoop
	case "sections":
		return event.ParallelSections
	case "workshare":
		return event.ParallelWorkshare
	}
	return seen
}

// directiveAt finds the directive that begins at a location.
func directiveAt(o *symbols.Object, loc *attribution.Location, words string) (symbols.Directive, bool) {
	if loc.File == "" || loc.Begin == 0 {
		return symbols.Directive{}, false
	}
	ds, ok := o.Directives(loc.File)
	if !ok {
		return symbols.Directive{}, false
	}
	for _, d := range ds {
		if d.Begin <= loc.Begin && loc.Begin <= d.Last && d.Matches(words) {
			return d, true
		}
	}
	return symbols.Directive{}, false
}

const (
	noteImplicitBarrier = "the implicit barrier of a worksharing construct that makes no call of its own, such as a static loop: the construct's body is not measured"
	noteNearLine        = "GCC gives this construct's call the line of the code before it: the place is near, not exact"
)

// inner places a construct inside a region by the call that starts it.
func (r *resolver) inner(k attribution.Key, reg *attribution.Region) {
	if r.inlineRegion(k, reg) {
		return
	}
	loc := &reg.Location
	if k.Site == 0 && k.Fn != 0 {
		r.tail(k, reg)
		return
	}
	p, ok := r.at(k.Site)
	if !ok {
		loc.Offset = k.Site
		return
	}
	r.address(p, true, loc)
	words := directiveOf[k.Construct]
	if id, ok := r.ident(k.Loc); ok {
		if k.Construct == event.Barrier && id.Flags&identBarrierImplicit != 0 {
			reg.Notes = append(reg.Notes, "an implicit barrier")
			words = ""
		}
		if id.Line > 0 {
			loc.File, loc.Begin = fullName(p, id.File), id.Line
			if d, ok := directiveAt(p.object, loc, words); ok {
				loc.Begin, loc.End = d.Begin, d.End
			}
			return
		}
	}
	if !r.line(p, loc) || words == "" {
		return
	}
	if k.Runtime == event.Gomp {
		alignGomp(p, k.Construct, words, reg)
	} else if d, ok := directiveAt(p.object, loc, words); ok {
		loc.Begin, loc.End = d.Begin, d.End
	}
}

const noteTail = "the compiler made this construct's call the last jump of its function: the place is the end of that function"

// tail places a construct whose call is the last act of an outlined function.
func (r *resolver) tail(k attribution.Key, reg *attribution.Region) {
	p, ok := r.at(k.Fn)
	if !ok {
		reg.Location.Offset = k.Fn
		return
	}
	loc := &reg.Location
	r.address(p, false, loc)
	loc.Mark = attribution.Approx
	reg.Notes = append(reg.Notes, noteTail)
	if x, ok := p.object.Outlined(p.vaddr); ok {
		loc.File, loc.Begin, loc.Function = x.File, x.End, x.Function
		if ds, ok := p.object.Directives(x.File); ok {
			if d, ok := lastOf(ds, x, k.Construct); ok {
				loc.Begin, loc.End = d.Begin, d.End
			}
		}
	}
}

// lastOf finds the last directive in an extent that can be meant by a construct
// at its end: one of its kind or, for a barrier, a worksharing construct, whose
// implicit barrier it may be.
func lastOf(ds []symbols.Directive, x symbols.Extent, c event.Construct) (best symbols.Directive, ok bool) {
	words := []string{directiveOf[c]}
	if c == event.Barrier {
		words = append(words, "for", "sections", "single", "workshare")
	}
	for _, d := range ds {
		for _, w := range words {
			if d.Begin > x.Begin && d.Begin <= x.End && d.Matches(w) && (!ok || d.End > best.End) {
				best, ok = d, true
			}
		}
	}
	return best, ok
}

// alignGomp corrects the line of a construct that GCC compiled. Criticals and
// explicit barriers carry their directive's line; the calls of loops, sections,
// single and ordered carry the line of whatever code stands before them, so the
// construct is the next of its kind.
func alignGomp(p place, c event.Construct, words string, reg *attribution.Region) {
	o, loc := p.object, &reg.Location
	at := loc.Begin
	if d, ok := directiveAt(o, loc, words); ok {
		loc.Begin, loc.End, loc.Mark = d.Begin, d.End, attribution.Exact
		return
	}
	ds, ok := o.Directives(loc.File)
	if !ok { // no source to look at
		switch {
		case c == event.Critical, c == event.Atomic, c == event.Lock, c == event.NestLock:
		case c == event.Barrier && hasOwnRow(p):
		case c == event.Barrier:
			loc.Mark = attribution.Approx
			reg.Notes = append(reg.Notes, noteImplicitBarrier)
		default:
			loc.Mark = attribution.Approx
			reg.Notes = append(reg.Notes, noteNearLine)
		}
		return
	}
	if c == event.Barrier {
		if d, ok := lastWorkshare(ds, at); ok {
			loc.Begin, loc.End = d.Begin, d.End
		}
		loc.Mark = attribution.Approx
		reg.Notes = append(reg.Notes, noteImplicitBarrier)
		return
	}
	if d, ok := nextDirective(ds, at, words); ok {
		loc.Begin, loc.End = d.Begin, d.End
	}
	loc.Mark = attribution.Approx
	reg.Notes = append(reg.Notes, noteNearLine)
}

// hasOwnRow tells whether a row of the line table starts at the very call that
// returns to p: GCC gives one to a barrier directive, not to implicit barriers.
func hasOwnRow(p place) bool {
	const callAMD64, callARM64 = 5, 4 // bytes of a direct call
	n := uint64(callAMD64)
	if p.object.Arch() == "arm64" {
		n = callARM64
	}
	_, _, exact, ok := p.object.Line(p.vaddr - n)
	return ok && exact
}

// nextDirective finds the directive of a kind that follows a line, within the
// construct around the line if there is one; else the one around it.
func nextDirective(ds []symbols.Directive, line int, words string) (best symbols.Directive, ok bool) {
	limit := 1 << 30
	for _, d := range ds {
		if d.Begin <= line && line <= d.End && strings.HasPrefix(d.Words, "parallel") {
			limit = d.End
		}
	}
	for _, d := range ds {
		if d.Begin > line && d.Begin <= limit && d.Matches(words) && (!ok || d.Begin < best.Begin) {
			best, ok = d, true
		}
	}
	if ok {
		return best, true
	}
	for _, d := range ds {
		if d.Begin <= line && line <= d.End && d.Matches(words) {
			best, ok = d, true
		}
	}
	return best, ok
}

// lastWorkshare finds the worksharing construct that a line ends or lies in.
func lastWorkshare(ds []symbols.Directive, line int) (best symbols.Directive, ok bool) {
	for _, d := range ds {
		if d.Begin > line {
			continue
		}
		for _, w := range []string{"for", "sections", "single", "workshare"} {
			if d.Matches(w) && (!ok || d.Begin > best.Begin) {
				best, ok = d, true
			}
		}
	}
	return best, ok
}

// line places a call by the line table.
func (r *resolver) line(p place, loc *attribution.Location) bool {
	file, line, ok := p.object.CallLine(p.vaddr)
	if !ok {
		return false
	}
	loc.File, loc.Begin = file, line
	return true
}

// address fills what is known without line information.
func (r *resolver) address(p place, call bool, loc *attribution.Location) {
	at := p.vaddr
	if call && at > 0 {
		at-- // the call, not what follows it
	}
	loc.Object, loc.Offset = p.module.Path, p.vaddr
	loc.Function = p.object.SourceFunction(at)
}

// fullName gives a file the name that the line table has for it: clang's
// ident_t names it as the command line did.
func fullName(p place, file string) string {
	if f, _, ok := p.object.CallLine(p.vaddr + 1); ok && sameFile(f, file) {
		return f
	}
	return file
}

func sameFile(a, b string) bool { return filepath.Base(a) == filepath.Base(b) }
