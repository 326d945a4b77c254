package regions

import (
	"cmp"
	"slices"

	"ompp-attach/event"
	"ompp-attach/symbols"
)

// unaligned places a construct by its call alone.
func (b *builder) unaligned(r *Region, f *function, s *site) {
	file, line := s.place()
	r.File, r.Begin, r.BeginLast = file, line, line
	if s.hasIdent {
		r.Found |= ByIdent
		if s.flags&symbols.IdentSections != 0 {
			r.Kind = event.Sections
		}
	}
	if line == 0 {
		if s.hasIdent && s.flags&symbols.IdentBarrierImplicit != 0 {
			r.Implicit = true
		}
		return
	}
	r.Found |= ByLine
	byLine := s.runtime == event.Gomp && !s.own
	switch s.kind {
	case event.Lock, event.NestLock:
		r.EndFirst, r.End = line, line
		return
	case event.Loop, event.Sections, event.Single, event.Ordered:
		r.BeginNear = byLine
	case event.Barrier:
		r.BeginNear = byLine
		r.Implicit = byLine || s.flags&symbols.IdentBarrierImplicit != 0
		r.EndFirst, r.End = line, line
		return
	}
	r.End, r.EndNear = max(line, b.lastLine(f, s, file)), true
	r.EndFirst = r.End
}

// lastLine returns the last line of a file among the code between a call that
// starts a construct and the last call that ends or continues it.
func (b *builder) lastLine(f *function, s *site, file string) (last int) {
	end := s.Addr
	for _, t := range f.sites {
		if t.Addr <= s.Addr || t.kind != s.kind {
			continue
		}
		if t.Start {
			break
		}
		end = t.Addr
	}
	if end == s.Addr {
		return 0
	}
	for _, r := range b.object.Rows(symbols.Range{Lo: s.Addr, Hi: end + 1}) {
		if r.File == file {
			last = max(last, r.Line)
		}
	}
	return last
}

// finish orders the regions by place, each followed by those in it, and says how
// each is measured.
func (t *Table) finish() {
	children := make([][]int, len(t.Regions))
	var roots []int
	for i, r := range t.Regions {
		if r.Parent < 0 {
			roots = append(roots, i)
		} else {
			children[r.Parent] = append(children[r.Parent], i)
		}
	}
	byPlace := func(a, b int) int {
		x, y := &t.Regions[a], &t.Regions[b]
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Begin, y.Begin), -cmp.Compare(x.End, y.End), cmp.Compare(x.first(), y.first()))
	}
	slices.SortStableFunc(roots, byPlace)
	var order []int // a region is followed by those in it
	depth := make([]int, len(t.Regions))
	stack := slices.Clone(roots)
	slices.Reverse(stack)
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		order = append(order, i)
		slices.SortStableFunc(children[i], byPlace)
		for _, c := range slices.Backward(children[i]) {
			depth[c] = depth[i] + 1
			stack = append(stack, c)
		}
	}
	at := make([]int, len(order)) // new index by old
	sorted := make([]Region, len(order))
	for to, from := range order {
		at[from] = to
		sorted[to] = t.Regions[from]
		sorted[to].Depth = depth[from]
	}
	for i := range sorted {
		if p := sorted[i].Parent; p >= 0 {
			sorted[i].Parent = at[p]
		}
	}
	t.Regions = sorted
	for i := range t.Regions {
		r := &t.Regions[i]
		r.Measure, r.Why = measureOf(r)
	}
	t.index()
}

// first is the lowest address of what is known of a region's code.
func (r *Region) first() uint64 {
	switch {
	case r.Outlined != 0:
		return r.Outlined
	case r.At != 0:
		return r.At
	case len(r.Sites) > 0:
		return r.Sites[0].Addr
	}
	return r.Code
}
