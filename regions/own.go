package regions

import (
	"strings"

	"ompp-attach/event"
	"ompp-attach/symbols"
)

// ownDirectives finds the directives of outlined functions. An outlined function may have no line
// information, because GCC folded several functions of equal code into one. Such a function gets
// the directive that is left over at the place of its call.
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
				if d, ok := leftOver(f.sites[:n], f.sites[n+1:], s, scope, used, own, byLo); ok && g.mayBe(d) {
					own[g], used[d], again = d, true, true
				}
			}
		}
	}
	return own
}

// mayBe reports whether an outlined function can be the body of a directive, by the function's
// lines. Directives in macros (_Pragma) are not known, and the function may be the body of one of
// them. Then the directive that is left over is another one: perhaps one that was not compiled.
func (f *function) mayBe(d directive) bool {
	e := f.extent
	return e.File == "" || d.holds(symbols.Frame{File: e.File, Line: e.Begin})
}

// leftOver finds the directive of a call that starts a region. It must be of the call's kind, and
// no other call may have it. If there are several, it must stand between the directives of the
// calls before and after.
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

// outlinesTo reports whether the outlined function of a call can be the body of a directive.
func (s *site) outlinesTo(d directive) bool {
	x := d.get()
	if !outlines(x.Words) {
		return false
	}
	if s.construct != event.NoConstruct && s.construct != event.Parallel {
		return d.construct() == s.construct
	}
	if s.construct == event.Parallel {
		return strings.Contains(x.Words, "parallel")
	}
	return strings.Contains(x.Words, s.word)
}
