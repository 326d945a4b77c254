package inline

import (
	"cmp"
	"fmt"
	"slices"

	"ompp-attach/event"
	"ompp-attach/probes"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/symbols"
)

// Construct is a construct for which the program makes no call.
type Construct struct {
	Construct event.Construct
	Fn        uint64 // the function that contains it
	Identity  uint64 // an address in it, which names it in its events
	// File, Begin and Last are the lines of the construct's directive if Exact is set, else the
	// lines of its code. Without debug information no line is known.
	File        string
	Begin, Last int
	Exact       bool
	Merged      string   // lines of the loops that GCC merged with this one
	Notes       []string // what its figures leave out, in whole sentences
	End         event.InlineEnd
	Enter       []Point // exactly one of them is hit per execution
	Leave       []Point // the same, if End is EndPoint
	After       After   // what tells where it begins, beside Enter
}

// Point is an instruction for a probe.
type Point struct {
	VAddr uint64
	When  points.When
	Cost  points.Cost
}

// Unseen is a construct that no probe can see.
type Unseen struct {
	Fn     uint64
	What   string // the directive and its place
	Reason string
}

// Inlined holds what was found in one file.
type Inlined struct {
	Constructs []Construct
	Unseen     []Unseen
	// Loops are the outlined functions that consist of one static loop and nothing else: parallel
	// loops.
	Loops []uint64
}

var found, foundAtomics symbols.Memo[*Inlined]

// Of returns what was found in a file. The file is analysed when first asked for.
func Of(o *symbols.Object) *Inlined { return found.Of(o, analyse) }

// At returns the construct with this identity.
func (x *Inlined) At(identity uint64) (Construct, bool) {
	i := slices.IndexFunc(x.Constructs, func(c Construct) bool { return c.Identity == identity })
	if i < 0 {
		return Construct{}, false
	}
	return x.Constructs[i], true
}

// edges returns the edges that the points of a construct report.
func (c *Construct) edges() (enter, leave event.Edge) {
	if c.Construct == event.Loop {
		return event.Open, event.Close
	}
	return event.Enter, event.Release
}

// Points returns the probes for all constructs. r is the runtime for which the program was
// compiled.
func (x *Inlined) Points(r event.Runtime) (all []probes.CodePoint) {
	for i := range x.Constructs {
		c := &x.Constructs[i]
		enter, leave := c.edges()
		add := func(ps []Point, edge event.Edge) {
			for _, p := range ps {
				all = append(all, probes.CodePoint{
					Name: fmt.Sprintf("[%s of line %d: %s]", c.Construct, c.Begin, edge), VAddr: p.VAddr, When: p.When,
					Identity: c.Identity, Construct: c.Construct, Edge: edge, Runtime: r, Marks: event.Inline, Value: int64(c.End)})
			}
		}
		add(c.Enter, enter)
		add(c.Leave, leave)
	}
	if slices.ContainsFunc(x.Constructs, func(c Construct) bool { return c.Construct == event.Atomic || c.Construct == event.Flush }) {
		return all // such points only count, so several may share an instruction
	}
	return separate(all)
}

// separate keeps one point on an instruction. If a construct begins where others end, its beginning
// also tells their end. So their points are removed, and the remaining point must be hit by every
// thread.
func separate(all []probes.CodePoint) (out []probes.CodePoint) {
	opens := func(p *probes.CodePoint) bool { return p.Edge == event.Open || p.Edge == event.Enter }
	slices.SortStableFunc(all, func(a, b probes.CodePoint) int { return cmp.Compare(a.VAddr, b.VAddr) })
	for _, p := range all {
		last := len(out) - 1
		if last < 0 || out[last].VAddr != p.VAddr {
			out = append(out, p)
			continue
		}
		when := points.Always
		if out[last].When == p.When {
			when = p.When
		}
		if opens(&p) {
			out[last] = p
		}
		out[last].When = when
	}
	return out
}

// IsLoop reports whether the outlined function at fn is a static loop and
// nothing else.
func (x *Inlined) IsLoop(fn uint64) bool { return slices.Contains(x.Loops, fn) }
