package calibration

import (
	"math"

	"ompp-attach/event"
	"ompp-attach/probes/disasm/points"
)

// Split is a time in ns, split at the hit's time stamp: the probe's program reads the clock after
// the kernel has entered the probe.
type Split struct {
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// Sum is the whole time in ns.
func (s Split) Sum() float64 { return s.Before + s.After }

// Costs are the times that one hit of each kind takes of its thread's time, as Measure has measured
// them. The times of entry probes include one record.
type Costs struct {
	Mode       string `json:"mode"` // how the probes were attached (bpf.Mode)
	Nop5       Split  `json:"nop5"` // zero on architectures without this instruction
	Jump       Split  `json:"jump"` // likewise
	Emulated   Split  `json:"emulated"`
	Call       Split  `json:"call"`
	SingleStep Split  `json:"single_step"`
	Return     Split  `json:"return"` // what a probed return adds to the entry, with its record
	Folded     Split  `json:"folded"` // a hit that is folded: mean of a construct's begin and end
	// What a probed return adds to the entry where both are folded.
	FoldedReturn Split   `json:"folded_return"`
	Read         float64 `json:"read"`    // one more read of user memory, ns
	Ignored      float64 `json:"ignored"` // an emulated hit that writes no record, ns
	// Crowd compares one thread with many. The costs above are those of one thread.
	Crowd Crowd `json:"crowd,omitzero"`
}

// Instruction is the cost of a hit on an instruction of cost k, without reads of user memory.
func (c *Costs) Instruction(k points.Cost) Split {
	switch k {
	case points.Nop5:
		return c.Nop5
	case points.JumpCost:
		return c.Jump
	case points.CallCost:
		return c.Call
	case points.SingleStep:
		return c.SingleStep
	}
	return c.Emulated
}

// Hit is the cost in ns of a hit of a probe that reads the return address, on an instruction of
// cost k. With returns, it includes the hit at the function's return.
func (c *Costs) Hit(k points.Cost, returns bool) float64 {
	ns := c.Instruction(k).Sum() + c.Read
	if returns {
		ns += c.Return.Sum()
	}
	return ns
}

// Record is what writing one record adds to a hit, in ns.
func (c *Costs) Record() float64 { return max(0, c.Emulated.Sum()-c.Ignored) }

// Of is the cost of a hit, as far as its event describes the probe; zero for no probe.
func (c *Costs) Of(p event.Probe) Split {
	var s Split
	switch p.WithoutReads() {
	case event.ProbeNop5:
		s = c.Nop5
	case event.ProbeJump:
		s = c.Jump
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
	case event.ProbeFoldedJump:
		return c.foldedJump()
	case event.ProbeFoldedReturn:
		return c.FoldedReturn
	}
	if kind := p.WithoutReads(); kind >= event.ProbeLeftOut {
		if s = c.Of(kind - event.ProbeLeftOut + event.ProbeNop5); s != (Split{}) {
			s.After = max(0, s.After-c.Record())
		}
	}
	if s != (Split{}) {
		s.After += float64(p.Reads()) * c.Read // the clock is read before
	}
	return s
}

// foldedJump is the cost of a hit on a jump that is folded. What is measured of folding is measured
// on pushes.
func (c *Costs) foldedJump() Split {
	if c.Folded == (Split{}) {
		return Split{}
	}
	return Split{c.Jump.Before, max(0, c.Folded.After+c.Jump.After-c.Emulated.After)}
}

// CrowdTable returns the costs of all kinds of hits while as many threads as there are processors
// hit probes at once, in whole ns.
func (c *Costs) CrowdTable() (t event.HitCosts) {
	t = c.Table()
	if x := c.Crowd.Times(); x > 1 {
		for p := range t.Kinds {
			k := &t.Kinds[p]
			k.Before, k.After = int64(math.Round(x*float64(k.Before))), int64(math.Round(x*float64(k.After)))
		}
	}
	return t
}

// Table returns the costs of all kinds of hits of one thread, in whole ns.
func (c *Costs) Table() (t event.HitCosts) {
	for p := range t.Kinds {
		s := c.Of(event.Probe(p))
		t.Kinds[p] = event.HitCost{Before: int64(math.Round(s.Before)), After: int64(math.Round(s.After))}
	}
	t.Record = int64(math.Round(c.Record()))
	return t
}
