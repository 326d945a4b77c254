package values

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"sort"

	"golang.org/x/arch/x86/x86asm"

	"ompp-attach/probes/disasm"
)

// Flow says what the registers hold at each instruction of one function. Values are sums of the
// function's arguments, results of its calls, loads, and values that several ways bring together
// (AJoin). Unlike Evaluate, Flow covers functions of any size and follows values that are kept on
// the stack. And an atom stands for one value: two registers with the same atoms hold the same
// value at that point.
type Flow struct {
	body   []disasm.Inst // of all parts
	entry  uint64
	blocks []*flowBlock
	starts map[uint64]int // blocks by address
	order  []int          // blocks in ascending order of their addresses
	merged *State         // merge's result, used again
}

// flowBlock is a run of instructions that can be entered at the first one only.
type flowBlock struct {
	first, last int // indices in body
	part        int
	preds       []int
	succs       []int
	in, out     *State
	joined      map[Atom]bool // a value that was made an AJoin stays one
	done        bool          // nothing that leads to it has changed since it was run
}

// How many rounds over a function are made until nothing changes any more. From round patience on,
// values that differed once are not taken for one value again. The runtimes' functions need up to
// 15 rounds.
const (
	patience  = 30
	maxRounds = 60
)

// NewFlow follows a function, given as disasm.Parts returns it, from its first instruction. Code to
// which only a jump table leads stays unknown. So does a part that is entered with the stack of the
// function's entry, since that is another function. The error says why the function cannot be
// followed.
func NewFlow(code disasm.Code, parts [][]disasm.Inst) (*Flow, error) {
	f := &Flow{starts: map[uint64]int{}}
	if len(parts) == 0 || len(parts[0]) == 0 {
		return nil, fmt.Errorf("no code")
	}
	f.entry = parts[0][0].Addr
	f.split(parts)
	f.blocks[0].in = newState(code.Arch())
	f.blocks[0].in.follow()
	for round := range maxRounds {
		changed := false
		for n, b := range f.blocks {
			if b.done && round != patience+1 {
				continue
			}
			b.done = true
			if n > 0 {
				in := f.merge(n, round > patience)
				if in == nil || b.in != nil && b.in.same(in) {
					continue
				}
				b.in = in.copyTo(b.in)
			} else if b.out != nil {
				continue
			}
			b.out = f.run(n, b.last+1, b.out)
			changed = true
			for _, next := range b.succs {
				f.blocks[next].done = false
			}
		}
		if !changed {
			return f, nil
		}
	}
	return nil, fmt.Errorf("the values in the function at %#x are not settled after %d rounds", f.entry, maxRounds)
}

// split cuts the parts into blocks and links them.
func (f *Flow) split(parts [][]disasm.Inst) {
	leads := map[uint64]bool{}
	for _, p := range parts {
		leads[p[0].Addr] = true
		for _, i := range p {
			if i.Control == disasm.Jump || i.Control == disasm.Jcc {
				leads[i.Target] = true
			}
			if i.Ends() || i.Control == disasm.Jcc {
				leads[i.Next()] = true
			}
		}
	}
	f.body = disasm.Joined(parts)
	at := 0
	for n, p := range parts {
		for k := range p {
			if addr := p[k].Addr; leads[addr] {
				f.starts[addr] = len(f.blocks)
				f.blocks = append(f.blocks, &flowBlock{first: at, part: n, joined: map[Atom]bool{}})
			}
			f.blocks[len(f.blocks)-1].last = at
			at++
		}
	}
	f.order = make([]int, len(f.blocks))
	for n := range f.order {
		f.order[n] = n
	}
	slices.SortFunc(f.order, func(a, b int) int { return cmp.Compare(f.address(a), f.address(b)) })
	for n, b := range f.blocks {
		last := f.body[b.last]
		if last.Control == disasm.Jump || last.Control == disasm.Jcc {
			f.link(n, last.Target)
		}
		if !last.Ends() && (n+1 < len(f.blocks) && f.blocks[n+1].part == b.part) {
			f.link(n, last.Next())
		}
	}
}

// address returns the address of a block's first instruction.
func (f *Flow) address(n int) uint64 { return f.body[f.blocks[n].first].Addr }

func (f *Flow) link(from int, to uint64) {
	if n, ok := f.starts[to]; ok && !slices.Contains(f.blocks[n].preds, from) {
		f.blocks[n].preds = append(f.blocks[n].preds, from)
		f.blocks[from].succs = append(f.blocks[from].succs, n)
	}
}

// leaves reports whether the end of a block that leads to another part is the end of the function:
// the stack is the caller's again.
func (f *Flow) leaves(from, to *flowBlock) bool {
	return from.part != to.part && from.out.AtEntry()
}

// merge returns the state at the start of block n, nil if no way to it is known yet. The state is
// valid until the next merge. With forGood, values that differ once are kept apart from then on.
func (f *Flow) merge(n int, forGood bool) *State {
	b := f.blocks[n]
	var from []*State
	for _, p := range b.preds {
		if pb := f.blocks[p]; pb.out != nil && !f.leaves(pb, b) {
			from = append(from, pb.out)
		}
	}
	if len(from) == 0 {
		return nil
	}
	f.merged = from[0].copyTo(f.merged)
	in := f.merged
	if len(b.preds) == 1 {
		return in
	}
	at := f.body[b.first].Addr
	join := func(place uint64, v Value, others func(s *State) (Value, bool)) (Value, bool) {
		phi := Atom{Origin: AJoin, N: at<<16 | place}
		differs := b.joined[phi]
		for _, s := range from[1:] {
			w, ok := others(s)
			if !ok {
				return v, false
			}
			differs = differs || !v.same(w)
		}
		if !differs {
			return v, true
		}
		if forGood {
			b.joined[phi] = true
		}
		return single(phi), true
	}
	for r := range in.general() {
		in.regs[r], _ = join(uint64(r), in.regs[r], func(s *State) (Value, bool) { return s.regs[r], true })
	}
	kept := in.slots[:0]
	for _, x := range in.slots {
		place := 0x8000 | uint64(x.off)&0x7fff
		if v, ok := join(place, x.v, func(s *State) (Value, bool) { return s.onStack(x.off) }); ok {
			kept = append(kept, stackSlot{x.off, v})
		}
	}
	in.slots = kept
	return in
}

// run returns the state of block n before body[end]. It uses the memory of into, if that is not
// nil.
func (f *Flow) run(n, end int, into *State) *State {
	s := f.blocks[n].in.copyTo(into)
	for k := f.blocks[n].first; k < end; k++ {
		s.step(&f.body[k])
	}
	return s
}

// At returns the state before the instruction at addr. ok is false if there is none, or if no known
// way leads there.
func (f *Flow) At(addr uint64) (*State, bool) {
	n, ok := f.blockOf(addr)
	if !ok {
		return nil, false
	}
	b := f.blocks[n]
	for k := b.first; k <= b.last; k++ {
		if f.body[k].Addr == addr {
			return f.run(n, k, nil), true
		}
	}
	return nil, false
}

// blockOf returns the block that covers an address. ok is false if there is none, or if no known
// way leads there.
func (f *Flow) blockOf(addr uint64) (int, bool) {
	k, found := slices.BinarySearchFunc(f.order, addr, func(n int, a uint64) int { return cmp.Compare(f.address(n), a) })
	if !found {
		k--
	}
	if k < 0 {
		return 0, false
	}
	b := f.blocks[f.order[k]]
	return f.order[k], b.in != nil && addr <= f.body[b.last].Addr
}

// States visits the instructions to which known ways lead, each with the state before it. A state
// is valid until the next one.
func (f *Flow) States() iter.Seq2[disasm.Inst, *State] {
	return func(yield func(disasm.Inst, *State) bool) {
		var s *State
		for _, b := range f.blocks {
			if b.in == nil {
				continue
			}
			s = b.in.copyTo(s)
			for k := b.first; k <= b.last; k++ {
				if !yield(f.body[k], s) {
					return
				}
				s.step(&f.body[k])
			}
		}
	}
}

// Reached returns the instructions to which known ways lead.
func (f *Flow) Reached() []disasm.Inst { return slices.Concat(f.Blocks()...) }

// Blocks returns the instructions of the blocks to which known ways lead. The first block begins at
// the function's entry.
func (f *Flow) Blocks() [][]disasm.Inst {
	var reached [][]disasm.Inst
	for _, b := range f.blocks {
		if b.in != nil {
			reached = append(reached, f.body[b.first:b.last+1:b.last+1])
		}
	}
	return reached
}

// Leaves reports whether the jump i ends the function, as a tail call does.
func (f *Flow) Leaves(i disasm.Inst) bool {
	n, ok := f.blockOf(i.Addr)
	// only the last instruction of a block may leave
	if !ok || f.body[f.blocks[n].last].Addr != i.Addr {
		return false
	}
	from := f.blocks[n]
	switch i.Control {
	case disasm.JumpIndirect:
		return i.Ref != 0 || from.out.AtEntry() // a jump does not change the stack pointer
	case disasm.Jump, disasm.Jcc:
	default:
		return false
	}
	to, inside := f.starts[i.Target]
	return !inside || f.leaves(from, f.blocks[to])
}

// follow makes a state keep track of the stack, and of the identity of each unknown.
func (s *State) follow() {
	for r := range s.regs {
		s.name(disasm.Reg(r), 0)
	}
	s.regs[s.sp()] = single(Atom{Origin: AStack})
}

// general returns how many general registers the architecture has.
func (s *State) general() disasm.Reg {
	if s.arch == "arm64" {
		return disasm.Reg(len(s.regs))
	}
	return 16
}

func (s *State) sp() disasm.Reg {
	if s.arch == "arm64" {
		return disasm.ARMSP
	}
	return disasm.RSP
}

// AtEntry reports whether the stack pointer is the same as at the function's entry.
func (s *State) AtEntry() bool { return s.regs[s.sp()].Is(AStack, 0) }

// Holder returns a general register that holds v, or NoReg.
func (s *State) Holder(v Value) disasm.Reg {
	for r := range s.regs {
		if disasm.Reg(r) != s.sp() && s.regs[r].same(v) {
			return disasm.Reg(r)
		}
	}
	return disasm.NoReg
}

// Callee returns the address that an indirect call or jump goes to.
func (s *State) Callee(i disasm.Inst) Value {
	if s.arch == "arm64" {
		return s.regs[binary.LittleEndian.Uint32(i.Bytes)>>5&31]
	}
	if d, ok := i.X86(); ok {
		switch a := d.Args[0].(type) {
		case x86asm.Reg:
			if r, _ := disasm.RegX86(a); r != disasm.NoReg {
				return s.regs[r]
			}
		case x86asm.Mem:
			if at, ok := disasm.AddressX86(&i, a); ok {
				return s.loaded(s.value(at), 8, i.Addr)
			}
		}
	}
	return single(Atom{Origin: AnUnknown})
}

func (s *State) clone() *State { return s.copyTo(nil) }

// copyTo makes c (or a new state, if c is nil) the same as s.
func (s *State) copyTo(c *State) *State {
	if c == nil {
		c = &State{}
	}
	slots := append(c.slots[:0], s.slots...)
	*c = *s
	c.slots = slots
	return c
}

func (s *State) same(o *State) bool {
	for r := range s.general() {
		if !s.regs[r].same(o.regs[r]) {
			return false
		}
	}
	return slices.EqualFunc(s.slots, o.slots, func(a, b stackSlot) bool { return a.off == b.off && a.v.same(b.v) })
}

// Same reports whether two values of one Flow are the same.
func (v Value) Same(w Value) bool { return v.same(w) }

func (v Value) same(w Value) bool {
	return v.Off == w.Off && slices.EqualFunc(v.Atoms, w.Atoms, func(a, b Atom) bool {
		if a.Origin == ALoad { // memory may have changed between two loads
			return b.Origin == ALoad && a.at == b.at && a.at != 0
		}
		return a.Origin == b.Origin && a.N == b.N && a.Origin != AScaledRegister && (a.Origin != AnUnknown || a.N != 0)
	})
}

// name gives the unknown in a register the identity of the instruction at addr.
func (s *State) name(r disasm.Reg, addr uint64) {
	v := s.regs[r]
	for n, a := range v.Atoms {
		switch {
		case a.Origin == AnUnknown && a.N == 0, a.Origin == AScaledRegister:
			s.regs[r] = single(Atom{Origin: AnUnknown, N: addr<<5 + uint64(r) + 1})
			return
		case a.Origin == ALoad && a.at == 0:
			v.Atoms = slices.Clone(v.Atoms)
			v.Atoms[n].at = addr
			s.regs[r] = v
		}
	}
}

// slot returns the place on the stack that an address denotes, counted from the entry's stack
// pointer.
func slot(v Value) (off int64, ok bool) {
	return v.Off, len(v.Atoms) == 1 && v.Atoms[0].Origin == AStack
}

func (s *State) store(at Value, size int, v Value) {
	off, ok := slot(at)
	if !ok {
		return // compilers keep values on the stack only where no pointer leads
	}
	first := sort.Search(len(s.slots), func(k int) bool { return s.slots[k].off > off-8 })
	last := first
	for last < len(s.slots) && s.slots[last].off < off+int64(size) {
		last++
	}
	if size == 8 {
		s.slots = slices.Replace(s.slots, first, last, stackSlot{off, v})
	} else {
		s.slots = slices.Delete(s.slots, first, last)
	}
}

// onStack returns the value that is known to be at a place on the stack.
func (s *State) onStack(off int64) (Value, bool) {
	k, ok := slices.BinarySearchFunc(s.slots, off, func(x stackSlot, off int64) int { return cmp.Compare(x.off, off) })
	if !ok {
		return Value{}, false
	}
	return s.slots[k].v, true
}

func (s *State) loaded(at Value, size int, addr uint64) Value {
	if off, ok := slot(at); ok && size == 8 {
		if v, ok := s.onStack(off); ok {
			return v
		}
	}
	v := load(at, size, s.arch)
	for n, a := range v.Atoms {
		switch {
		case a.Origin == ALoad && a.at == 0:
			v.Atoms[n].at = addr
		case a.Origin == AnUnknown && a.N == 0:
			v.Atoms[n].N = addr<<5 + 1
		}
	}
	return v
}

// step is apply that also follows the stack.
func (s *State) step(i *disasm.Inst) {
	before := *s
	s.apply(*i)
	if s.arch == "arm64" {
		s.stackARM(&before, *i)
	} else {
		s.stackX86(&before, *i)
	}
	for r := range s.general() {
		s.name(r, i.Addr)
	}
}
