package calibration

import (
	"math"

	"ompp-attach/event"
	"ompp-attach/probes/insn"
)

// Split is a time in ns, divided at the moment that the hit reports: the probe's
// program reads the clock after the kernel's way in.
type Split struct {
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// Sum is the whole.
func (s Split) Sum() float64 { return s.Before + s.After }

// Costs are what one hit of each kind takes of its thread's time. Those of entry
// probes include one record.
type Costs struct {
	Mode       string  `json:"mode"` // how the probes were attached
	Nop5       Split   `json:"nop5"` // zero where the architecture has none
	Emulated   Split   `json:"emulated"`
	Call       Split   `json:"call"`
	SingleStep Split   `json:"single_step"`
	Return     Split   `json:"return"`  // what a function's return adds, if it is probed as well, with its record
	Folded     Split   `json:"folded"`  // a hit that is added up, of those that begin and end a construct the middle
	Kept       float64 `json:"kept"`    // what a record saves that waits for others, ns
	Read       float64 `json:"read"`    // one more read of user memory, ns
	Ignored    float64 `json:"ignored"` // a hit on an emulated instruction that reports nothing, ns
}

// Class is the cost of a hit on an instruction of that class, without a read of
// user memory.
func (c *Costs) Class(k insn.Cost) Split {
	switch k {
	case insn.Nop5:
		return c.Nop5
	case insn.CallCost:
		return c.Call
	case insn.SingleStep:
		return c.SingleStep
	}
	return c.Emulated
}

// Hit is the whole cost in ns of one probe that reads the return address, on an
// instruction of that class; with returns, also of the function's return.
func (c *Costs) Hit(k insn.Cost, returns bool) float64 {
	ns := c.Class(k).Sum() + c.Read
	if returns {
		ns += c.Return.Sum()
	}
	return ns
}

// Record is what one record adds to a hit, ns.
func (c *Costs) Record() float64 { return max(0, c.Emulated.Sum()-c.Ignored) }

// Of is the cost of what an event says of its probe; zero of no probe.
func (c *Costs) Of(p event.Probe) Split {
	var s Split
	switch p.Class() {
	case event.ProbeNop5:
		s = c.Nop5
	case event.ProbeEmulated:
		s = c.Emulated
	case event.ProbeCall:
		s = c.Call
	case event.ProbeSingleStep:
		s = c.SingleStep
	case event.ProbeReturn:
		s = c.Return
	case event.ProbeFolded:
		return c.Folded
	case event.ProbeFoldedReturn:
		return Split{c.Return.Before, max(0, c.Return.After-c.Record())}
	}
	if s != (Split{}) {
		s.After += float64(p.Reads()) * c.Read // the clock is read before
		if p.IsKept() {
			s.After = max(0, s.After-c.Kept)
		}
	}
	return s
}

// Table is the costs of all kinds of events, in whole ns.
func (c *Costs) Table() (t event.HitCosts) {
	for p := range t.Kinds {
		s := c.Of(event.Probe(p))
		t.Kinds[p] = event.HitCost{Before: int64(math.Round(s.Before)), After: int64(math.Round(s.After))}
	}
	t.Record = int64(math.Round(c.Record()))
	return t
}
