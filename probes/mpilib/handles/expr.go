package handles

import (
	"cmp"
	"math/bits"
	"slices"
)

// A node is a 64-bit value as a function of the handle, the load bias and memory. Two nodes of one
// arena are equal if and only if they are the same pointer. Nodes are kept in a normal form, so
// that different compilers' code for one expression mostly gives the same node.
type node struct {
	op   op
	a, b *node
	k    uint64
	id   int
	max  uint64 // no value of it is greater
	deps deps
}

type op uint8

const (
	opConst  op = iota // k
	opHandle           // the handle, as the register holds it
	opBase             // the load bias
	opOut              // the address that the accessor writes its result to
	opStack            // the stack pointer at the entry
	opThread           // the thread pointer (fs, tpidr_el0)
	opReturn           // the return address
	opUnknown
	opSum     // k*b + a: the terms by id, the constant last
	opMul     // a * b, neither constant
	opAnd     // a & k
	opShr     // a >> k
	opSar     // the low k>>8 bytes of a, as a signed number, >> k&255
	opSext    // the low k bytes of a, as a signed number
	opEq      // a == k ? 1 : 0
	opLoad    // k bytes at a
	opOr      // a | b
	opXor     // a ^ b
	opBelow   // a < b ? 1 : 0
	opLess    // a < b ? 1 : 0, signed numbers of k bytes
	opOpaque  // any other function of a and b, k says which
	numLeaves = opUnknown + 1
)

// deps is the set of inputs on which a value depends.
type deps uint8

const (
	onHandle deps = 1 << iota
	onMemory
	onUnknown // on what a function that could not be followed has done
)

type key struct {
	op   op
	a, b *node
	k    uint64
}

type arena struct {
	nodes map[key]*node
	zero  *node
}

func newArena() *arena {
	a := &arena{nodes: map[key]*node{}}
	a.zero = a.konst(0)
	return a
}

func (ar *arena) node(op op, a, b *node, k, max uint64) *node {
	key := key{op, a, b, k}
	n := ar.nodes[key]
	if n != nil {
		return n
	}
	n = &node{op: op, a: a, b: b, k: k, id: len(ar.nodes), max: max}
	for _, x := range []*node{a, b} {
		if x != nil {
			n.deps |= x.deps
		}
	}
	switch op {
	case opHandle:
		n.deps = onHandle
	case opLoad:
		n.deps |= onMemory
	case opUnknown:
		n.deps = onUnknown
	}
	ar.nodes[key] = n
	return n
}

const all = ^uint64(0)

func (ar *arena) konst(v uint64) *node { return ar.node(opConst, nil, nil, v, v) }
func (ar *arena) leaf(o op) *node      { return ar.node(o, nil, nil, 0, all) }

// unknown returns the i-th value of which nothing is known.
func (ar *arena) unknown(i int) *node { return ar.node(opUnknown, nil, nil, uint64(i), all) }

func (n *node) isConst() bool { return n.op == opConst }

// ones returns the greatest number that fits in some bytes.
func ones(bytes int) uint64 {
	if bytes >= 8 {
		return all
	}
	return 1<<(8*bytes) - 1
}

// upTo returns the mask of all bits that a number up to max can have.
func upTo(max uint64) uint64 { return 1<<bits.Len64(max) - 1 }

func lowMask(m uint64) bool { return m != 0 && m&(m+1) == 0 }

type term struct {
	n *node
	k uint64
}

// split takes a value apart into its terms and the constant.
func (n *node) split() (ts []term, c uint64) {
	for ; n.op == opSum; n = n.a {
		ts = append(ts, term{n.b, n.k})
	}
	if n.isConst() {
		return ts, n.k
	}
	return append(ts, term{n, 1}), 0
}

// base splits an address into a base and an offset. Addresses with the same base differ by
// constants.
func (ar *arena) base(n *node) (base *node, off int64) {
	ts, c := n.split()
	return ar.sum(ts, 0), int64(c)
}

func (ar *arena) sum(terms []term, c uint64) *node {
	ts := make([]term, 0, len(terms))
	for _, t := range terms {
		inner, k := t.n.split()
		for _, i := range inner {
			ts = append(ts, term{i.n, i.k * t.k})
		}
		c += k * t.k
	}
	slices.SortFunc(ts, func(a, b term) int { return cmp.Compare(b.n.id, a.n.id) })
	s, max, known := ar.konst(c), c, true
	for i := 0; i < len(ts); {
		t := ts[i]
		for i++; i < len(ts) && ts[i].n == t.n; i++ {
			t.k += ts[i].k
		}
		if t.k == 0 {
			continue
		}
		hi, lo := bits.Mul64(t.n.max, t.k)
		sum, carry := bits.Add64(max, lo, 0)
		if max = sum; hi != 0 || carry != 0 {
			known = false
		}
		bound := max
		if !known {
			bound = all
		}
		if t.k == all && s.isConst() && c >= t.n.max {
			bound = c
		}
		if t.k == 1 && s == ar.zero {
			s = t.n
			continue
		}
		if s.op != opSum && !s.isConst() { // a single term, which stays a sum
			s = ar.node(opSum, ar.zero, s, 1, s.max)
		}
		s = ar.node(opSum, s, t.n, t.k, bound)
	}
	return s
}

func (ar *arena) add(a, b *node) *node {
	ta, ca := a.split()
	tb, cb := b.split()
	return ar.sum(append(ta, tb...), ca+cb)
}

func (ar *arena) scale(a *node, k uint64) *node {
	ts, c := a.split()
	for i := range ts {
		ts[i].k *= k
	}
	return ar.sum(ts, c*k)
}

func (ar *arena) sub(a, b *node) *node { return ar.add(a, ar.scale(b, all)) }

func (ar *arena) mul(a, b *node) *node {
	switch {
	case a.isConst():
		return ar.scale(b, a.k)
	case b.isConst():
		return ar.scale(a, b.k)
	case a.id > b.id:
		a, b = b, a
	}
	hi, max := bits.Mul64(a.max, b.max)
	if hi != 0 {
		max = all
	}
	return ar.node(opMul, a, b, 0, max)
}

// and returns a & m. Parts of a that m hides are removed.
func (ar *arena) and(a *node, m uint64) *node {
	possible := upTo(a.max)
	m &= possible
	switch {
	case a.isConst():
		return ar.konst(a.k & m)
	case m == 0:
		return ar.zero
	case m == possible:
		return a
	case a.op == opAnd:
		return ar.and(a.a, a.k&m)
	case a.op == opSext && m <= ones(int(a.k)):
		return ar.and(a.a, m)
	case a.op == opSar && m <= ones(int(a.k>>8))>>(a.k&255):
		return ar.and(ar.shr(ar.and(a.a, ones(int(a.k>>8))), a.k&255), m)
	case a.op == opOr:
		return ar.or(ar.and(a.a, m), ar.and(a.b, m))
	case a.op == opLoad && lowMask(m):
		for w := 1; w < int(a.k); w *= 2 {
			if m == ones(w) {
				return ar.load(a.a, w)
			}
		}
	case a.op == opSum && lowMask(m):
		ts, c := a.split()
		for i := range ts {
			ts[i].n = ar.strip(ts[i].n, m)
			if k := ts[i].k | ^m; int64(k) < 0 && int64(k) > -int64(m>>1) {
				ts[i].k = k // a negative factor
			} else {
				ts[i].k &= m
			}
		}
		if s := ar.sum(ts, c&m); s != a {
			return ar.and(s, m)
		}
	case a.op == opMul && lowMask(m):
		if x, y := ar.strip(a.a, m), ar.strip(a.b, m); x != a.a || y != a.b {
			return ar.and(ar.mul(x, y), m)
		}
	}
	return ar.node(opAnd, a, nil, m, m)
}

// strip removes the parts of a that do not affect its bits under the low mask m.
func (ar *arena) strip(a *node, m uint64) *node {
	switch {
	case a.op == opAnd && a.k&m == m:
		return a.a
	case a.op == opSext && m <= ones(int(a.k)):
		return a.a
	}
	return a
}

func (ar *arena) shr(a *node, k uint64) *node {
	switch {
	case k == 0:
		return a
	case k >= 64 || a.max>>k == 0:
		return ar.zero
	case a.isConst():
		return ar.konst(a.k >> k)
	case a.op == opShr:
		return ar.shr(a.a, a.k+k)
	case a.op == opAnd:
		return ar.and(ar.shr(a.a, k), a.k>>k)
	}
	return ar.node(opShr, a, nil, k, a.max>>k)
}

func (ar *arena) sext(a *node, bytes int) *node {
	sign := ones(bytes)>>1 + 1
	switch {
	case bytes >= 8:
		return a
	case a.isConst():
		s := 64 - 8*bytes
		return ar.konst(uint64(int64(a.k<<s) >> s))
	case a.max < sign:
		return a
	case a.op == opSext && int(a.k) <= bytes:
		return a
	case a.op == opAnd && a.k == ones(bytes):
		return ar.sext(a.a, bytes)
	}
	return ar.node(opSext, a, nil, uint64(bytes), all)
}

// sar shifts the low bytes of a right, as a signed number.
func (ar *arena) sar(a *node, bytes int, k uint64) *node {
	a = ar.and(a, ones(bytes))
	switch {
	case k == 0:
		return ar.sext(a, bytes)
	case a.isConst():
		return ar.konst(uint64(int64(ar.sext(a, bytes).k) >> k))
	case a.max <= ones(bytes)>>1:
		return ar.shr(a, k)
	}
	return ar.node(opSar, a, nil, uint64(bytes)<<8|k, all)
}

func (ar *arena) or(a, b *node) *node {
	if b.isConst() {
		a, b = b, a
	}
	switch {
	case a == b || a == ar.zero:
		return b
	case a.isConst() && b.isConst():
		return ar.konst(a.k | b.k)
	case a.isConst() && lowMask(a.k) && b.max <= a.k:
		return a
	case a.isConst() && b.op == opAnd && b.k&a.k == 0:
		return ar.add(a, b)
	case b.id < a.id:
		a, b = b, a
	}
	return ar.node(opOr, a, b, 0, upTo(a.max|b.max))
}

func (ar *arena) xor(a, b *node) *node {
	if b.isConst() {
		a, b = b, a
	}
	switch {
	case a == b:
		return ar.zero
	case a == ar.zero:
		return b
	case a.isConst() && b.isConst():
		return ar.konst(a.k ^ b.k)
	case a.isConst() && lowMask(a.k) && b.max <= a.k: // not
		return ar.sub(a, b)
	case b.id < a.id:
		a, b = b, a
	}
	return ar.node(opXor, a, b, 0, upTo(a.max|b.max))
}

func (ar *arena) eq(a *node, k uint64) *node {
	switch {
	case a.isConst() && a.k == k:
		return ar.konst(1)
	case a.isConst() || k > a.max:
		return ar.zero
	case a.max == 1 && k == 1:
		return a
	}
	return ar.node(opEq, a, nil, k, 1)
}

// opaque returns a function of a and b that no formula computes. The result has some bytes.
func (ar *arena) opaque(what int, a, b *node, bytes int) *node {
	return ar.node(opOpaque, a, b, uint64(what), ones(bytes))
}

func (ar *arena) load(addr *node, bytes int) *node {
	return ar.node(opLoad, addr, nil, uint64(bytes), ones(bytes))
}
