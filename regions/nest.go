package regions

// nest finds the parent region of each construct of a function. It is the region of the innermost
// directive around the construct's directive. If there is none, it is the region of the function.
func (b *builder) nest(f *function, body int) {
	var mine []int
	for _, n := range b.inCode[f.lo] {
		if n != body {
			mine = append(mine, n)
		}
	}
	// The construct of a function that was inlined here stands elsewhere in the text.
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
	for _, s := range f.sites { // regions with bodies in other functions
		if n := s.region; n >= 0 && n != body && s.role == opens && b.regions[n].Outlined != 0 && b.regions[n].Parent < 0 {
			if p := around(n); !b.within(p, n) { // a broken file may make a circle
				b.regions[n].Parent = p
			}
		}
	}
}

// within reports whether region p is region n, or lies in it.
func (b *builder) within(p, n int) bool {
	for ; p >= 0; p = b.regions[p].Parent {
		if p == n {
			return true
		}
	}
	return false
}
