// Package points finds the cheapest instructions at which a uprobe may safely sit. They stand for
// the call of a function, for its end, or for the execution of one of its instructions.
package points

import (
	"fmt"
	"slices"

	"ompp-attach/probes/disasm"
)

// Cost says by which way the kernel handles a hit of a probe point, cheapest first. Measured on a
// virtual machine, in ns per hit of an entry probe: 360, 600, 690, 690, 9,500. Published figures
// for bare metal are 137, -, 320, - and 909.
type Cost uint8

// The costs.
const (
	// 5-byte nop, which Linux 6.18 turns into a call; never chosen (see Inst.Refused)
	Nop5 Cost = iota
	// relative jump or other nop, on amd64: emulating one writes nothing to the stack
	JumpCost
	Emulated   // push; on arm64 all that the kernel emulates
	CallCost   // relative call
	SingleStep // executed out of line, with a trap on each side
)

// String returns the cost's name for messages.
func (c Cost) String() string {
	if names := [...]string{"nop5", "jump", "emulated", "call", "single-stepped"}; int(c) < len(names) {
		return names[c]
	}
	return "invalid"
}

// CostOf returns the cost of a probe on an instruction.
func CostOf(i disasm.Inst) Cost {
	switch {
	case i.IsNop5():
		return Nop5
	case !i.Emulated:
		return SingleStep
	case i.Arch == "amd64" && (i.Control == disasm.Nop || i.Control == disasm.Jump || i.Control == disasm.Jcc):
		return JumpCost
	case i.Control == disasm.Call:
		return CallCost
	}
	return Emulated
}

// When is a condition on the flags at a probe point, which a BPF program can check in the saved
// registers.
type When uint8

// The rules.
const (
	Always    When = iota // whatever the flags
	ZeroSet               // if the zero flag is set
	ZeroClear             // if the zero flag is clear
	SignClear             // if the sign flag is clear
)

// Need says what must be intact at a probe point besides the return address.
type Need struct {
	Args  disasm.ArgSet // argument registers that the probe reads
	Avoid []uint64      // addresses of instructions that already have a probe
	// Dear: if the entry cannot be used, an instruction that the kernel single-steps may be.
	Dear bool
}

// Point is a place for a uprobe in a function that is hit once per call.
type Point struct {
	VAddr uint64
	Len   int // bytes of the instruction there
	Cost  Cost
	// AfterAtomic says that an atomic exchange in memory lies before the point: the function may
	// already have acquired or released the lock.
	AfterAtomic bool
	// AfterCAS says in addition that the flags at the point tell the exchange's outcome. If they
	// are as FreeWhen says, the lock was free and is now held (ZeroSet), or nobody waited for its
	// release (SignClear).
	AfterCAS bool
	FreeWhen When        // Always without AfterCAS
	Cond     disasm.Cond // of the instruction at the point, if it is a conditional jump
}

// maxStraight bounds the search; the straight lines of runtime functions have
// fewer than 20 instructions.
const maxStraight = 64

// SafePoint returns the cheapest safe place for a probe that stands for the call of the function at
// entry. This is an instruction on the straight line from the entry that the kernel emulates.
// There, the return address is still where a return probe expects it ([rsp], x30), and the needed
// arguments are intact. If there is no such instruction, the point is the entry itself, which is
// single-stepped.
//
// An instruction to which the function can jump is passed over, because it could be hit more than
// once per call. Targets of jump tables are not seen. The error wraps ErrUndecodable, or tells that
// the kernel would refuse the entry and no better instruction is near.
func SafePoint(code disasm.Code, entry uint64, need Need) (Point, error) {
	first, err := disasm.Decode(code, entry)
	if err != nil {
		return Point{}, err
	}
	line := []disasm.Inst{first}
	if _, hi, ok := code.FuncRange(entry); ok {
		line = straightLine(code, first, hi)
	}
	best := Point{VAddr: entry, Len: first.Len, Cost: CostOf(first), Cond: first.Cond}
	refused := first.Refused || slices.Contains(need.Avoid, entry)
	better := func(i disasm.Inst) bool { return i.Emulated && CostOf(i) < best.Cost }
	if !refused && !slices.ContainsFunc(line[1:], better) {
		line = line[:1] // looking at the entry only spares decoding the whole function
	}
	targets, scanned := jumpTargets(code, entry, line)

	var written disasm.ArgSet
	for k, i := range line {
		if k > 0 && (!scanned || landsIn(targets, entry, i.Addr)) {
			break
		}
		if need.Args&written == 0 && !i.Refused && !slices.Contains(need.Avoid, i.Addr) &&
			(refused || CostOf(i) < best.Cost) && (i.Emulated || k == 0 || refused && need.Dear) {
			best = pointAt(line[:k+1])
			refused = false
		}
		if i.WritesSP || i.WritesLR || i.Transfers() {
			break
		}
		written |= i.WritesArgs
	}
	if refused {
		return Point{}, fmt.Errorf("%s, and there is no safe point near", first.Refusal())
	}
	return best, nil
}

// straightLine decodes from first to the first instruction that transfers
// control or changes the place of the return address, inclusive.
func straightLine(code disasm.Code, first disasm.Inst, hi uint64) []disasm.Inst {
	line := []disasm.Inst{first}
	for i := first; len(line) < maxStraight && !i.Transfers() && !i.WritesSP && !i.WritesLR && i.Next() < hi; {
		next, err := disasm.Decode(code, i.Next())
		if err != nil {
			break
		}
		line = append(line, next)
		i = next
	}
	return line
}

// jumpTargets returns the targets of all direct jumps of the function at entry
// and of the ranges that it jumps to. ok is false if the function could not be
// decoded in full, so that targets may be missing.
func jumpTargets(code disasm.Code, entry uint64, line []disasm.Inst) (targets []uint64, ok bool) {
	if len(line) == 1 {
		return nil, true // only the entry is a candidate
	}
	parts, err := disasm.Parts(code, entry)
	if err != nil {
		return nil, false
	}
	for _, p := range parts {
		for _, i := range p {
			if i.Control == disasm.Jump || i.Control == disasm.Jcc {
				targets = append(targets, i.Target)
			}
		}
	}
	return targets, true
}

func landsIn(targets []uint64, after, upTo uint64) bool {
	for _, t := range targets {
		if t > after && t <= upTo {
			return true
		}
	}
	return false
}

// pointAt describes the last instruction of a straight line as a probe point.
func pointAt(line []disasm.Inst) Point {
	i := line[len(line)-1]
	p := Point{VAddr: i.Addr, Len: i.Len, Cost: CostOf(i), Cond: i.Cond}
	p.AfterAtomic, p.FreeWhen = lockOutcome(line)
	p.AfterCAS = p.FreeWhen != Always
	return p
}
