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
// says whether the instruction at an address belongs to the region's first line, to another one, or
// to none. The region is entered where control comes to its first line, since optimised code may
// have instructions of the other lines anywhere. It is left where control goes to none of its
// lines. The probes may be hit at other times as well; the engine knows whether a thread is inside.
func LineProbes(o *symbols.Object, name string, function, identity uint64, lineOf func(uint64) LineKind) ([]CodePoint, error) {
	parts, err := disasm.Parts(o, function)
	if err != nil {
		return nil, fmt.Errorf("its function cannot be read: %w", err)
	}
	body := parts[0] // a cold part is left by throwing or by jumping back
	index := make(map[uint64]int, len(body))
	in, first := make([]bool, len(body)), make([]bool, len(body))
	targets, fromInside := map[uint64]bool{}, map[uint64]bool{}
	returns := false // control may come back to it by an exception or a longjmp
	for k, i := range body {
		index[i.Addr] = k
		kind := lineOf(i.Addr)
		in[k], first[k] = kind != OtherLine, kind == FirstLine
		if i.Control == disasm.Jump || i.Control == disasm.Jcc {
			targets[i.Target] = true
			fromInside[i.Target] = fromInside[i.Target] || in[k]
		}
		if !i.Ends() && in[k] {
			fromInside[i.Next()] = true
		}
		if name, ok := o.PLT(i.Target); ok && i.Control == disasm.Call {
			returns = returns || slices.Contains(landings, name)
		}
	}
	var points []CodePoint
	place := func(k int, edge event.Edge, value int64) {
		p := CodePoint{Name: name, VAddr: body[k].Addr, Identity: identity, Construct: event.UserRegion, Edge: edge, Value: value}
		if !slices.Contains(points, p) {
			points = append(points, p)
		}
	}
	// near returns the first instruction from k on at which a probe is cheap, as long as control
	// can only come from k and stays in k's kind of line. If there is none, it returns the first
	// instruction that may have a probe.
	near := func(k int) int {
		const few = 8
		usable := k
		for n := k; n < len(body) && n < k+few && in[n] == in[k] && (first[n] == first[k] || body[usable].Refused) && (n == k || !targets[body[n].Addr]); n++ {
			if body[n].Emulated && !body[n].Refused && !body[n].WritesSP {
				return n
			}
			if body[n].Transfers() || body[n].WritesSP {
				break
			}
			if body[usable].Refused {
				usable = n
			}
		}
		return usable
	}
	edge := func(from, to int) {
		switch {
		case first[to] && !first[from]:
			value := int64(event.UserLines)
			if fromInside[body[to].Addr] {
				value = event.UserLinesAgain
			}
			place(near(to), event.Enter, value)
		case in[from] && !in[to]:
			if body[from].Control != disasm.Jcc && !body[from].Refused && !entered(points, body[from].Addr) {
				// control that comes here leaves the region
				place(from, event.Release, event.UserLines)
			} else {
				place(near(to), event.Release, event.UserLines)
			}
		}
	}
	if first[0] {
		place(near(0), event.Enter, event.UserLines)
	}
	for k, i := range body {
		if (in[k] || returns) && (i.Control == disasm.Ret || i.Control == disasm.JumpIndirect && i.Ref != 0) {
			place(k, event.Release, event.UserLines)
		}
		if i.Control == disasm.Jump || i.Control == disasm.Jcc {
			if to, ok := index[i.Target]; ok {
				edge(k, to)
			} else if in[k] && i.Control == disasm.Jump {
				place(k, event.Release, event.UserLines)
			}
		}
		if !i.Ends() && k+1 < len(body) {
			edge(k, k+1)
		}
	}
	if !slices.ContainsFunc(points, func(p CodePoint) bool { return p.Edge == event.Enter }) {
		return nil, fmt.Errorf("no instruction leads into it")
	}
	return points, nil
}

// entered reports whether an Enter sits at an address.
func entered(points []CodePoint, at uint64) bool {
	return slices.ContainsFunc(points, func(p CodePoint) bool { return p.VAddr == at && p.Edge == event.Enter })
}
