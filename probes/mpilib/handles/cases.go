package handles

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"ompp-attach/mpi"
)

// undefined is MPI_UNDEFINED in both families of libraries and in MPI's ABI: MPI_Type_size returns
// it for a type whose size does not fit an int.
const undefined = -32766 & (1<<32 - 1)

// outcome is a result of the accessor, with the handles for which it holds and the paths that lead
// to it.
type outcome struct {
	mask, equal uint64
	value       *node
	paths       []path
}

// overlaps reports whether there may be handles for which both outcomes hold. A special case and a
// general one do not overlap if the general one's paths exclude the special one.
func (a outcome) overlaps(b outcome) bool {
	return (a.equal^b.equal)&a.mask&b.mask == 0 && !a.excepts(b) && !b.excepts(a)
}

// excepts reports whether all paths of a general outcome state that the handle is not the special
// one's.
func (a outcome) excepts(special outcome) bool {
	if special.mask&a.mask != a.mask {
		return false
	}
	return !slices.ContainsFunc(a.paths, func(p path) bool {
		return !slices.ContainsFunc(p.facts, func(f fact) bool {
			shift, mask, ok := f.n.field()
			return ok && special.mask>>shift&mask == mask && !p.domain(f.n).contains(special.equal>>shift&mask)
		})
	})
}

// formula makes one formula of the results of all paths, if these follow from the handle.
func (m *explorer) formula(paths []path, bytes int) (mpi.Formula, error) {
	var all []outcome
	var resisted error
	for _, p := range paths {
		if p.resisted != nil {
			resisted = p.resisted
			continue
		}
		if p.result == nil { // nothing is written: a valid handle would get a result
			continue
		}
		p.result = m.and(p.result, ones(bytes))
		if p.result.deps&onUnknown != 0 {
			resisted = m.blamed(p.result)
			continue
		}
		for _, g := range p.guards() {
			all = append(all, outcome{g.mask, g.equal, p.result, []path{p}})
		}
	}
	if resisted != nil {
		return nil, resisted
	}
	if len(all) == 0 {
		return nil, errors.New("no path through it succeeds")
	}
	all = m.join(m.distinguish(all))
	for i, a := range all {
		for _, b := range all[:i] {
			if a.value != b.value && a.overlaps(b) {
				return nil, errors.New("two results that nothing in the handle tells apart")
			}
		}
	}
	if len(all) > mpi.MaxCases {
		return nil, fmt.Errorf("%d cases, at most %d are evaluated", len(all), mpi.MaxCases)
	}
	var f mpi.Formula
	for _, o := range all {
		steps, err := m.encode(o.value)
		if err != nil {
			return nil, err
		}
		f = append(f, mpi.Case{Mask: o.mask, Equal: o.equal, Steps: steps})
	}
	order(f)
	return f, nil
}

// order puts cheap cases first, but special cases before the general ones to which they are
// exceptions.
func order(f mpi.Formula) {
	special := func(a, b mpi.Case) int { return bits.OnesCount64(b.Mask) - bits.OnesCount64(a.Mask) }
	slices.SortStableFunc(f, func(a, b mpi.Case) int { return cmp.Or(len(a.Steps)-len(b.Steps), special(a, b)) })
	for i, c := range f {
		at := slices.IndexFunc(f[:i], func(b mpi.Case) bool { return (c.Equal^b.Equal)&c.Mask&b.Mask == 0 && special(c, b) < 0 })
		if at >= 0 {
			copy(f[at+1:i+1], f[at:i])
			f[at] = c
		}
	}
}

// guards returns the masks and values of the handle that a path implies. There are several if the
// handle's class is one of several.
func (p path) guards() []outcome {
	gs := []outcome{{mask: p.mask, equal: p.value}}
	seen := map[*node]bool{}
	for _, f := range p.facts {
		shift, mask, ok := f.n.field()
		if !ok || seen[f.n] || mask >= smallField || !lowMask(mask) {
			continue
		}
		seen[f.n] = true
		in := p.domain(f.n)
		n := uint64(0)
		for _, r := range in {
			n += r.hi - r.lo + 1
		}
		if n < 2 || n > mask || n*uint64(len(gs)) > mpi.MaxCases {
			continue
		}
		var more []outcome
		for _, g := range gs {
			for _, r := range in {
				for v := r.lo; v <= r.hi; v++ {
					more = append(more, outcome{mask: g.mask | mask<<shift, equal: g.equal | v<<shift})
				}
			}
		}
		gs = more
	}
	return gs
}

// distinguish resolves results that only memory can tell apart. Beside other results, a fixed
// number means that the property does not exist. For example, there is no remote group, or a size
// does not fit an int. Results 1 and 0 become one comparison.
func (m *explorer) distinguish(all []outcome) []outcome {
	all = m.compare(all)
	return slices.DeleteFunc(slices.Clone(all), func(a outcome) bool {
		return a.value.isConst() && slices.ContainsFunc(all, func(b outcome) bool {
			return !b.value.isConst() && (a.overlaps(b) || a.value.k == undefined)
		})
	})
}

// compare looks at paths that return 1 or 0. It finds the comparison of memory with a number that
// decides the result on all of them.
func (m *explorer) compare(all []outcome) []outcome {
	all = slices.Clone(all)
	flag := func(o outcome) bool { return o.value.isConst() && o.value.k <= 1 }
	for _, a := range all {
		if !flag(a) || a.value.k != 1 {
			continue
		}
		among := func(o outcome) bool { return flag(o) && o.overlaps(a) }
		if !slices.ContainsFunc(all, func(o outcome) bool { return among(o) && o.value.k == 0 }) {
			continue
		}
		for _, v := range m.comparisons(a.paths[0]) {
			if slices.ContainsFunc(all, func(o outcome) bool { return among(o) && !o.paths[0].agrees(v, o.value.k) }) {
				continue
			}
			for i := range all {
				if among(all[i]) {
					all[i].value = v
				}
			}
			break
		}
	}
	return all
}

// comparisons returns the comparisons with one number that hold on a path.
func (m *explorer) comparisons(p path) (vs []*node) {
	for _, f := range p.facts {
		if f.n.deps&onMemory == 0 || f.n.deps&onUnknown != 0 {
			continue
		}
		in := p.domain(f.n)
		if k, ok := in.isSingle(); ok {
			vs = append(vs, m.eq(f.n, k))
		} else if k, ok := in.not(f.n.max).isSingle(); ok {
			vs = append(vs, m.sub(m.konst(1), m.eq(f.n, k)))
		}
	}
	return vs
}

// agrees reports whether a comparison has the value that the path returns.
func (p path) agrees(v *node, want uint64) bool {
	if v.op == opSum { // 1 - comparison
		v, want = v.b, 1-want
	}
	is, ok := p.known(v)
	return ok && is == want
}

// join merges the guards of equal results, if the merged guard catches no other result's handles:
// the conditions only checked for errors.
func (m *explorer) join(all []outcome) []outcome {
	var out []outcome
	for i, a := range all {
		same := func(b outcome) bool { return a.value == b.value }
		if slices.ContainsFunc(all[:i], same) {
			continue
		}
		joint := outcome{mask: a.mask, equal: a.equal, value: a.value}
		for _, b := range all {
			if same(b) {
				joint.mask &= b.mask &^ (joint.equal ^ b.equal)
				joint.equal &= joint.mask
				joint.paths = slices.Concat(joint.paths, b.paths)
			}
		}
		if !slices.ContainsFunc(all, func(b outcome) bool { return !same(b) && joint.overlaps(b) }) {
			out = append(out, joint)
			continue
		}
		first := len(out)
		for _, b := range all {
			if !same(b) {
				continue
			}
			at := slices.IndexFunc(out[first:], func(o outcome) bool { return o.mask == b.mask && o.equal == b.equal })
			if at < 0 {
				out = append(out, b)
				continue
			}
			o := &out[first+at]
			o.paths = slices.Concat(o.paths, b.paths)
		}
	}
	return out
}
