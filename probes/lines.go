package probes

import (
	"fmt"
	"slices"

	"ompp-attach/event"
	"ompp-attach/probes/disasm"
	"ompp-attach/symbols"
)

// LineKind says how an instruction's line relates to a region of lines.
type LineKind uint8

// The kinds of lines.
const (
	OtherLine LineKind = iota
	FirstLine
	LaterLine
)

// landings are functions whose callers catch exceptions or are the target of a longjmp. A region
// that was left in that way ends with the function at the latest.
var landings = []string{"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "__cxa_begin_catch"}

// LineProbes finds where control enters and leaves a region of source lines in one function. lineOf
// says whether the instruction at an address belongs to the region's first line, to another line of
// the region, or to none. The region is entered where control comes to its first line, since
// optimised code may have instructions of the other lines anywhere. The region is left where
// control goes to none of its lines. The probes may be hit at other times as well; the engine knows
// whether a thread is inside.
func LineProbes(o *symbols.Object, name string, function, identity uint64, lineOf func(uint64) LineKind) ([]CodePoint, error) {
	parts, err := disasm.Parts(o, function)
	if err != nil {
		return nil, fmt.Errorf("its function cannot be read: %w", err)
	}
	// a cold part is left by throwing or by jumping back
	b := newLineBorders(o, parts[0], lineOf)
	b.point = CodePoint{Name: name, Identity: identity, Construct: event.UserRegion}
	b.find()
	if !slices.ContainsFunc(b.points, func(p CodePoint) bool { return p.Edge == event.Enter }) {
		return nil, fmt.Errorf("no instruction leads into it")
	}
	return b.points, nil
}

// lineBorders finds the probes of a region of lines in the body of a function.
type lineBorders struct {
	body       []disasm.Inst
	index      map[uint64]int // of the instruction at an address
	in, first  []bool         // by instruction: it is of the region, of its first line
	targets    map[uint64]bool
	fromInside map[uint64]bool // addresses to which control comes from the region
	returns    bool            // control may come back to the function by an exception or a longjmp

	point  CodePoint // what all points have in common
	points []CodePoint
}

func newLineBorders(o *symbols.Object, body []disasm.Inst, lineOf func(uint64) LineKind) *lineBorders {
	b := &lineBorders{body: body, index: make(map[uint64]int, len(body)), in: make([]bool, len(body)), first: make([]bool, len(body)),
		targets: map[uint64]bool{}, fromInside: map[uint64]bool{}}
	for k, i := range body {
		b.index[i.Addr] = k
		kind := lineOf(i.Addr)
		b.in[k], b.first[k] = kind != OtherLine, kind == FirstLine
		if i.Control == disasm.Jump || i.Control == disasm.Jcc {
			b.targets[i.Target] = true
			b.fromInside[i.Target] = b.fromInside[i.Target] || b.in[k]
		}
		if !i.Ends() && b.in[k] {
			b.fromInside[i.Next()] = true
		}
		if name, ok := o.PLT(i.Target); ok && i.Control == disasm.Call {
			b.returns = b.returns || slices.Contains(landings, name)
		}
	}
	return b
}

// find places probes at all ways into the region and out of it.
func (b *lineBorders) find() {
	if b.first[0] {
		b.place(b.near(0), event.Enter, event.UserLines)
	}
	for k, i := range b.body {
		if (b.in[k] || b.returns) && (i.Control == disasm.Ret || i.Control == disasm.JumpIndirect && i.Ref != 0) {
			b.place(k, event.Release, event.UserLines)
		}
		if i.Control == disasm.Jump || i.Control == disasm.Jcc {
			if to, ok := b.index[i.Target]; ok {
				b.way(k, to)
			} else if b.in[k] && i.Control == disasm.Jump {
				b.place(k, event.Release, event.UserLines)
			}
		}
		if !i.Ends() && k+1 < len(b.body) {
			b.way(k, k+1)
		}
	}
}

// way places the probe of control that goes from one instruction to another, if it enters or leaves
// the region.
func (b *lineBorders) way(from, to int) {
	switch {
	case b.first[to] && !b.first[from]:
		value := int64(event.UserLines)
		if b.fromInside[b.body[to].Addr] {
			value = event.UserLinesAgain
		}
		b.place(b.near(to), event.Enter, value)
	case b.in[from] && !b.in[to]:
		at := b.near(to)
		if i := &b.body[from]; i.Control != disasm.Jcc && !i.Refused && !entered(b.points, i.Addr) {
			at = from // control that comes here leaves the region
		}
		b.place(at, event.Release, event.UserLines)
	}
}

// near returns the first instruction from k on at which a probe is cheap. It goes on only while
// control can come from k alone and stays in k's kind of line. If there is none, it returns the
// first instruction that may have a probe.
func (b *lineBorders) near(k int) int {
	const few = 8
	usable := k
	for n := k; n < len(b.body) && n < k+few; n++ {
		i := &b.body[n]
		if b.in[n] != b.in[k] || b.first[n] != b.first[k] && !b.body[usable].Refused || n > k && b.targets[i.Addr] {
			break
		}
		if i.Emulated && !i.Refused && !i.WritesSP {
			return n
		}
		if i.Transfers() || i.WritesSP {
			break
		}
		if b.body[usable].Refused {
			usable = n
		}
	}
	return usable
}

func (b *lineBorders) place(k int, edge event.Edge, value int64) {
	p := b.point
	p.VAddr, p.Edge, p.Value = b.body[k].Addr, edge, value
	if !slices.Contains(b.points, p) {
		b.points = append(b.points, p)
	}
}

// entered reports whether an Enter sits at an address.
func entered(points []CodePoint, at uint64) bool {
	return slices.ContainsFunc(points, func(p CodePoint) bool { return p.VAddr == at && p.Edge == event.Enter })
}
