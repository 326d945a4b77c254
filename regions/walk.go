package regions

import (
	"slices"

	"ompp-attach/probes/disasm"
	"ompp-attach/symbols"
)

// flow walks the instructions of a function by the flow of control. It finds the source lines that
// are nearest to a call.
type flow struct {
	object  *symbols.Object
	body    []disasm.Inst
	index   map[uint64]int   // by address
	sources map[uint64][]int // jumps by target
	calls   map[uint64]*site
	// placed says, for each instruction, whether its line can be trusted. It can if a statement or
	// the code of an inlined call starts there, or earlier in the same straight line. Code without
	// a line of its own seems to have the line of the code before it (GCC).
	placed []bool
}

func newFlow(o *symbols.Object, f *function) *flow {
	w := &flow{object: o, body: f.body, index: map[uint64]int{}, sources: map[uint64][]int{}, calls: map[uint64]*site{}}
	for n, i := range f.body {
		w.index[i.Addr] = n
		if i.Control == disasm.Jump || i.Control == disasm.Jcc {
			w.sources[i.Target] = append(w.sources[i.Target], n)
		}
	}
	for _, s := range f.sites {
		w.calls[s.Addr] = s
	}
	// If an address has several rows, the last one counts. It counts as the row of a statement also
	// if the row before it begins a statement on the same line. GCC writes one row for the
	// statement `n++`, and another one for the column of its expression, which begins no statement.
	last := map[uint64]symbols.Row{}
	for _, r := range f.rows(o) {
		before, again := last[r.Addr]
		r.Stmt = r.Stmt || again && before.Stmt && before.File == r.File && before.Line == r.Line
		last[r.Addr] = r
	}
	copies := map[uint64]bool{}
	for _, r := range o.InlinedCalls(f.lo) {
		copies[r.Addr] = true
	}
	w.placed = make([]bool, len(f.body))
	line := 0
	for k, i := range f.body {
		on := k > 0 && w.placed[k-1] && !f.body[k-1].Ends() && f.body[k-1].Next() == i.Addr
		r, ok := last[i.Addr]
		w.placed[k] = copies[i.Addr] || ok && r.Stmt || on && (!ok || r.Line == line)
		if ok {
			line = r.Line
		}
	}
	return w
}

// places reports whether the line of a call can be trusted.
func (w *flow) places(s *site) bool {
	k, ok := w.index[s.Addr]
	return ok && w.placed[k]
}

// The bounds of a walk, in instructions. Between a call and the construct's body there are a test,
// a few moves, and the computation of a loop's bounds.
const (
	maxPath = 96
	maxWalk = 512
	maxBody = 1 << 14
)

// ahead looks for the first place after a call that pick accepts. It first follows the way of a
// thread that executes the construct's body. The walk ends at other calls of the runtime.
// Instructions with the line of the call itself do not count: GCC gives calls the line of the code
// before them.
func (w *flow) ahead(s *site, pick func([]symbols.Frame) (directive, bool)) (directive, bool) {
	type path struct {
		addr  uint64
		fresh bool // another row has begun
	}
	ways := []path{{s.Return, false}} // taken from the end
	var later []path                  // ways on which the construct is left
	seen := map[uint64]bool{}
	first := w.object.Frames(s.Addr)
	for steps := 0; steps < maxWalk; {
		if len(ways) == 0 {
			ways, later = later, nil
		}
		if len(ways) == 0 {
			break
		}
		p := ways[len(ways)-1]
		ways = ways[:len(ways)-1]
		test := disasm.NotTested
		for n := 0; n < maxPath && steps < maxWalk; n++ {
			steps++
			k, ok := w.index[p.addr]
			if !ok || seen[p.addr] {
				break
			}
			seen[p.addr] = true
			if w.placed[k] {
				if at := w.object.Frames(p.addr); p.fresh || !slices.Equal(at, first) {
					p.fresh = true
					if d, ok := pick(at); ok {
						return d, true
					}
				}
			}
			i := w.body[k]
			if w.calls[i.Addr] != nil || i.Ends() && i.Control != disasm.Jump {
				break
			}
			switch i.Control {
			case disasm.Jump:
				p.addr = i.Target
				p.fresh = true
				continue
			case disasm.Jcc:
				target, next := path{i.Target, true}, path{i.Next(), p.fresh}
				switch leaves, known := s.leavesIfTaken(&i, test); {
				case known && leaves:
					later = append(later, target)
					p = next
				case known:
					later = append(later, next)
					p = target
				default:
					ways = append(ways, target)
					p = next
				}
				test = disasm.Decided
				continue
			}
			test = test.Behind(&i)
			p.addr = i.Next()
		}
	}
	return directive{}, false
}

// leavesIfTaken tells whether a thread that takes a conditional jump leaves the construct. This is
// known if the jump tests the result of the construct's call.
func (s *site) leavesIfTaken(i *disasm.Inst, test disasm.ResultTest) (leaves, known bool) {
	leaves, known = test.TakenForZero(i)
	if s.word == "copyprivate" { // with copyprivate, the thread that executes the body gets 0
		leaves = !leaves
	}
	return leaves, known
}

// between returns the instructions on all ways from the call that starts a construct to the calls
// that continue or end it. It does not go beyond an end or another start.
func (w *flow) between(from *site, to []*site) (body []int) {
	start, ok := w.index[from.Return]
	if !ok {
		return nil
	}
	forth := map[int]bool{start: true}
	for queue := []int{start}; len(queue) > 0 && len(forth) < maxBody; queue = queue[1:] {
		i := w.body[queue[0]]
		if c := w.calls[i.Addr]; c != nil && c.construct == from.construct && (c.role == ends && sameLock(c, from) || c.Start) {
			continue
		}
		ways := []uint64{}
		if i.Control == disasm.Jump || i.Control == disasm.Jcc {
			ways = append(ways, i.Target)
		}
		if !i.Ends() {
			ways = append(ways, i.Next())
		}
		for _, a := range ways {
			if k, ok := w.index[a]; ok && !forth[k] && a != from.Addr {
				forth[k] = true
				queue = append(queue, k)
			}
		}
	}
	back := map[int]bool{}
	var queue []int
	for _, t := range to {
		if k, ok := w.index[t.Addr]; ok && forth[k] {
			back[k] = true
			queue = append(queue, k)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		k := queue[0]
		body = append(body, k)
		before := slices.Clone(w.sources[w.body[k].Addr])
		if k > 0 && w.body[k-1].Next() == w.body[k].Addr && !w.body[k-1].Ends() {
			before = append(before, k-1)
		}
		for _, n := range before {
			if forth[n] && !back[n] {
				back[n] = true
				queue = append(queue, n)
			}
		}
	}
	return body
}

// next returns the first call of the runtime after a call, without taking conditional jumps.
func (w *flow) next(s *site) *site {
	addr := s.Return
	for range maxPath {
		k, ok := w.index[addr]
		if !ok {
			return nil
		}
		if c := w.calls[addr]; c != nil {
			return c
		}
		i := w.body[k]
		switch {
		case i.Control == disasm.Jump:
			addr = i.Target
		case i.Ends():
			return nil
		default:
			addr = i.Next()
		}
	}
	return nil
}

// skips returns the first call of the runtime that a thread reaches if it does not execute the body
// of a single. It is the barrier of the single, unless nowait is given.
func (w *flow) skips(s *site) *site {
	test := disasm.NotTested
	addr := s.Return
	for range maxPath {
		k, ok := w.index[addr]
		if !ok {
			return nil
		}
		i := w.body[k]
		if c := w.calls[addr]; c != nil {
			return c
		}
		addr = i.Next()
		switch {
		case i.Control == disasm.Jump:
			addr = i.Target
		case i.Control == disasm.Jcc:
			taken, known := test.TakenForZero(&i)
			if !known {
				return nil
			}
			if taken != (s.word == "copyprivate") {
				addr = i.Target
			}
			test = disasm.Decided
		case i.Transfers():
			return nil
		default:
			test = test.Behind(&i)
		}
	}
	return nil
}

// behind looks for the nearest place before a call that pick accepts. The walk goes against the
// flow of control. If it meets another call of the runtime, it stops, and reached decides.
func (w *flow) behind(s *site, pick func([]symbols.Frame) (directive, bool), reached func(*site) (directive, bool)) (directive, bool) {
	start, ok := w.index[s.Addr]
	if !ok {
		return directive{}, false
	}
	seen := map[int]bool{start: true}
	for queue := []int{start}; len(queue) > 0 && len(seen) < maxWalk; queue = queue[1:] {
		k := queue[0]
		i := w.body[k]
		if w.placed[k] {
			if d, ok := pick(w.object.Frames(i.Addr)); ok {
				return d, true
			}
		}
		from := append([]int{}, w.sources[i.Addr]...)
		if k > 0 && w.body[k-1].Next() == i.Addr && !w.body[k-1].Ends() {
			from = append(from, k-1)
		}
		for _, n := range from {
			if seen[n] {
				continue
			}
			seen[n] = true
			if c := w.calls[w.body[n].Addr]; c != nil {
				if d, ok := reached(c); ok {
					return d, true
				}
				continue
			}
			queue = append(queue, n)
		}
	}
	return directive{}, false
}
