package inline

import (
	"slices"
	"strings"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/points"
)

// After says behind which other event a loop begins. Every thread that comes there goes straight on
// to the loop, and no thread comes to the loop in another way. So that event's probe tells of the
// loop, too.
type After struct {
	Region  bool     // the beginning of the parallel region whose outlined function is Fn
	Barrier uint64   // the end of the barrier whose call returns here; 0: none
	Way     []uint64 // the instructions from there to the loop, with the last one
}

// mostBefore bounds the instructions between the event and the loop:
// they must take next to no time.
const mostBefore = 100

// after finds the event behind which a loop begins, if the loop has a single place to begin.
func (f *function) after(enter []Point) (a After) {
	if len(enter) != 1 || enter[0].When != points.Always {
		return a
	}
	to, ok := f.g.BlockOf(enter[0].VAddr)
	if !ok {
		return a
	}
	leading := f.leading([]int{to})
	var from []int
	for _, r := range f.g.Roots() {
		if leading[r] && !slices.Contains(from, r) {
			from = append(from, r)
		}
	}
	if len(from) != 1 || f.reach(f.g.Blocks[to].Succs)[to] {
		return a
	}
	if from[0] == 0 {
		a.Region = f.region && !f.o.Imports("GOMP_target_ext") // no team begins a target region
	} else {
		a.Barrier = f.behindBarrier(from[0])
	}
	if a.Way, ok = f.straight(from[0], to, enter[0].VAddr); !ok || !a.tells() {
		return After{}
	}
	return a
}

// tells tells whether there is such an event.
func (a *After) tells() bool { return a.Region || a.Barrier != 0 }

// dropCrossed drops what tells of loops if another construct may begin or end on the way to the
// loop, such as a master.
func (x *Inlined) dropCrossed() {
	for n := range x.Constructs {
		a := &x.Constructs[n].After
		for k := range x.Constructs {
			c := &x.Constructs[k]
			if a.tells() && k != n && slices.ContainsFunc(slices.Concat(c.Enter, c.Leave), func(p Point) bool { return a.Crosses(p.VAddr) }) {
				*a = After{}
			}
		}
	}
}

// Crosses tells whether an instruction is on the way from the event to the loop.
func (a *After) Crosses(vaddr uint64) bool { return slices.Contains(a.Way, vaddr) }

// behindBarrier returns the address of a block that only a call of GOMP_barrier leads to, else 0.
func (f *function) behindBarrier(root int) uint64 {
	if len(f.g.Blocks[root].Preds) > 0 {
		return 0
	}
	for n := range f.g.Blocks {
		if b := &f.g.Blocks[n]; b.After == root && f.calls[b.Last().Addr] == "GOMP_barrier" {
			return f.g.Blocks[root].Insts[0].Addr
		}
	}
	return 0
}

// straight tells whether all ways from the start of the block from lead to the instruction at, in
// the block to. The ways have no cycles. They have no calls other than the calls for the numbers of
// threads. way has the addresses of the instructions.
func (f *function) straight(from, to int, at uint64) (way []uint64, ok bool) {
	passes := func(n int) bool {
		for _, i := range f.g.Blocks[n].Insts {
			way = append(way, i.Addr)
			if n == to && i.Addr == at {
				return true
			}
			if len(way) > mostBefore || repeats(i) || i.Locked {
				return false
			}
			if name, ok := f.calls[i.Addr]; ok && name != "omp_get_num_threads" && name != "omp_get_thread_num" {
				return false
			}
		}
		return n != to
	}
	const under, over = 1, 2
	seen := map[int]int{}
	var leads func(n int) bool
	leads = func(n int) bool {
		switch seen[n] {
		case under:
			return false // a cycle
		case over:
			return true
		}
		seen[n] = under
		b := &f.g.Blocks[n]
		ok := passes(n)
		if n != to {
			ok = ok && !b.Leaves && b.After < 0 && len(b.Succs) > 0 &&
				!slices.ContainsFunc(b.Succs, func(k int) bool { return !leads(k) })
		}
		seen[n] = over
		return ok
	}
	ok = leads(from)
	return way, ok
}

// repeats tells whether an instruction is a string operation, which may take as long as a loop.
func repeats(i disasm.Inst) bool { return strings.HasPrefix(i.Text(), "rep") }

// Untold returns the constructs without the points that other events tell of.
func (x *Inlined) Untold() *Inlined {
	rest := *x
	rest.Constructs = slices.Clone(x.Constructs)
	for n := range rest.Constructs {
		if c := &rest.Constructs[n]; c.Told() {
			c.Enter = nil
		}
	}
	return &rest
}

// Told tells whether another event tells where the construct begins.
func (c *Construct) Told() bool { return c.After.tells() }

// BeginsAfter returns the loop that begins behind an event at an address. The event is the
// beginning of the region of the outlined function there, or the end of the barrier whose call
// returns there.
func (x *Inlined) BeginsAfter(vaddr uint64) (c Construct, ok bool) {
	i := slices.IndexFunc(x.Constructs, func(c Construct) bool {
		return c.Told() && (c.After.Region && c.Fn == vaddr || c.After.Barrier == vaddr)
	})
	if i < 0 {
		return c, false
	}
	return x.Constructs[i], true
}
