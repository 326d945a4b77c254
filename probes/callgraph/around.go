package callgraph

import (
	"errors"
	"fmt"
	"slices"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/probes/disasm/values"
)

// Point is an instruction inside a runtime that gets a probe. Return probes would not do. A task's
// body is user code, nests to any depth, and may switch stacks; and the kernel drops return probes
// beyond 64 per thread.
type Point struct {
	VAddr uint64
	Cost  points.Cost
	When  points.When // the hits that count: Always, ZeroSet or ZeroClear
	// Reg is the register that holds the task's address there. It is NoReg if the point needs none,
	// or if the task exists on the stack only (GCC's undeferred tasks).
	Reg disasm.Reg
	In  string // the function that the point is in, named by its role here
}

// maxStretch bounds the length of the straight line behind a call on which a probe is looked for.
// libgomp initializes a new task of some 200 bytes there.
const maxStretch = 96

// Around finds the points before and after calls of tasks' functions.
func (f *Function) Around(calls []disasm.Inst, task func(call disasm.Inst) *values.Value) (begin, end []Point, err error) {
	for _, c := range calls {
		found, err := f.before(c, task(c))
		if err != nil {
			return nil, nil, err
		}
		begin = append(begin, found...)
	}
	if begin, err = bothWays(begin); err != nil {
		return nil, nil, err
	}
	end, err = f.After(calls, task)
	return begin, end, err
}

// In sets the function in which the points lie.
func In(name string, found []Point) []Point {
	for n := range found {
		found[n].In = name
	}
	return found
}

// bothWays makes one point of two where both ways of a conditional jump lead to calls.
func bothWays(found []Point) ([]Point, error) {
	var out []Point
	for _, p := range found {
		n := slices.IndexFunc(out, func(o Point) bool { return o.VAddr == p.VAddr })
		switch {
		case n < 0:
			out = append(out, p)
		case out[n].When != points.Always && p.When != points.Always && out[n].When != p.When && out[n].Reg == p.Reg:
			out[n].When = points.Always
		default:
			return nil, fmt.Errorf("the instruction at %#x stands for two calls", p.VAddr)
		}
	}
	return out, nil
}

// before finds the points that are hit once for each execution of the call, with the register that
// holds the task there. No register is wanted if task is nil.
func (f *Function) before(call disasm.Inst, task *values.Value) ([]Point, error) {
	none := func(disasm.Inst) bool { return false }
	fits := func(i disasm.Inst) bool {
		_, err := f.point(i, points.Always, task)
		return err == nil
	}
	found, err := points.Cut(f.Flow, []uint64{call.Addr}, none, fits)
	if err != nil {
		return nil, err
	}
	var out []Point
	for _, a := range found {
		p, err := f.point(a.Inst, a.When, task)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// point makes a point of an instruction. If task is not nil, it finds the register that holds the
// task there.
func (f *Function) point(i disasm.Inst, when points.When, task *values.Value) (Point, error) {
	p := pointAt(i, when)
	if i.Refused {
		return p, errors.New(i.Refusal())
	}
	if task != nil {
		s, ok := f.Flow.At(i.Addr)
		if !ok {
			return p, fmt.Errorf("what leads to %s is not known", i)
		}
		if p.Reg = s.Holder(*task); p.Reg == disasm.NoReg {
			return p, fmt.Errorf("no register holds the task at %s", i)
		}
	}
	return p, nil
}

// After finds points such that each of the calls is followed by exactly one hit. The register of a
// point holds the task that the call ran. Then a point may be hit after other code, too, where no
// register holds that task: libgomp's offloaded tasks end on the same way. Without a task, no other
// code leads to a point.
func (f *Function) After(calls []disasm.Inst, task func(call disasm.Inst) *values.Value) ([]Point, error) {
	body := slices.Concat(f.Parts...)
	index := map[uint64]int{}
	into := map[uint64][]disasm.Inst{}
	for n, i := range body {
		index[i.Addr] = n
		if i.Control == disasm.Jump || i.Control == disasm.Jcc {
			into[i.Target] = append(into[i.Target], i)
		}
	}
	// For each jump, the call that it directly follows.
	behind := map[uint64]disasm.Inst{}
	for _, call := range calls {
		for k := index[call.Next()]; k < len(body); k++ {
			if body[k].Control == disasm.Jump {
				behind[body[k].Addr] = call
			}
			if len(into[body[k].Addr]) > 0 || body[k].Emulated || body[k].Transfers() {
				break
			}
		}
	}
	found, covered := map[uint64]Point{}, map[uint64]bool{}
	for _, call := range calls {
		sameTask := func(other disasm.Inst) bool {
			a, b := task(call), task(other)
			return a == nil && b == nil || a != nil && b != nil && a.Same(*b)
		}
		own := func(jump disasm.Inst) (disasm.Inst, bool) {
			c, ok := behind[jump.Addr]
			return c, ok && sameTask(c)
		}
		at, also, err := f.stretch(body, index[call.Next()], into, own, task(call) != nil)
		if err != nil {
			return nil, fmt.Errorf("after %s: %w", call, err)
		}
		if found[call.Addr], err = f.point(at, points.Always, task(call)); err != nil {
			return nil, err
		}
		for _, c := range also {
			covered[c.Addr] = true
		}
	}
	var out []Point
	for _, call := range calls {
		if !covered[call.Addr] {
			out = append(out, found[call.Addr])
		}
	}
	return out, nil
}

// stretch looks for a cheap instruction from body[n] on, to which a call returns. It returns
// body[n] if there is none before other code joins. Ways from other calls may join if own finds
// that their jump belongs to such a call; also are these calls.
func (f *Function) stretch(body []disasm.Inst, n int, into map[uint64][]disasm.Inst, own func(jump disasm.Inst) (disasm.Inst, bool), hasTask bool) (at disasm.Inst, also []disasm.Inst, err error) {
	for k := n; k < len(body) && k < n+maxStretch; k++ {
		i, foreign := body[k], false
		for _, j := range into[i.Addr] {
			if call, ok := own(j); ok {
				also = append(also, call)
			} else {
				foreign = true
			}
		}
		switch {
		case foreign && k == n && !hasTask:
			return i, nil, fmt.Errorf("other code leads to %s", i)
		case foreign && k > n, i.Transfers() && !i.Emulated:
			return body[n], nil, nil
		case i.Emulated && !i.Refused:
			return i, also, nil
		}
	}
	return body[n], nil, nil
}
