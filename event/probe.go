package event

// Probe is the kind of the probe hit that an event comes from: what tells how
// much of its thread's time the hit took. It is a class, how often the thread's
// memory is read for it, and whether its record waits for others.
type Probe uint8

// The classes: by the instruction that the probe sits on, and returns.
const (
	NoProbe           Probe = iota // no hit of a probe
	ProbeNop5                      // a 5-byte nop, which newer kernels turn into a call
	ProbeEmulated                  // an instruction that the kernel emulates
	ProbeCall                      // a relative call
	ProbeSingleStep                // an instruction that the kernel executes out of line
	ProbeReturn                    // a function's return, with what asking for it took at the entry
	ProbeFolded                    // an emulated instruction, and the kernel side adds the hit up (see Folded)
	ProbeFoldedReturn              // a return that it adds up
)

const (
	classBits = 3
	readBits  = 2
	maxReads  = 1<<readBits - 1
	kept      = 1 << (classBits + readBits)
	// NumProbes is how many kinds there are.
	NumProbes = 2 * kept
)

// Reading is a class's kind with so many reads of user memory, of which more
// than three count as three.
func (p Probe) Reading(n int) Probe {
	return p&^(maxReads<<classBits) | Probe(max(0, min(n, maxReads)))<<classBits
}

// Kept is the same kind, of a hit whose record waits for others.
func (p Probe) Kept() Probe { return p | kept }

// IsKept tells whether the record waits for others.
func (p Probe) IsKept() bool { return p&kept != 0 }

// Class is the kind's class, without its reads.
func (p Probe) Class() Probe { return p & (1<<classBits - 1) }

// Reads is how often user memory is read.
func (p Probe) Reads() int { return int(p >> classBits & maxReads) }

// String names the class.
func (p Probe) String() string {
	if names := [...]string{"none", "nop5", "emulated", "call", "single-stepped", "return", "folded", "folded return"}; int(p.Class()) < len(names) {
		return names[p.Class()]
	}
	return "invalid"
}

// HitCost is what one hit takes of its thread's time: the parts before and
// after the time stamp that it reports, in ns.
type HitCost struct {
	Before int64 `json:"before,omitempty"`
	After  int64 `json:"after,omitempty"`
}

// Sum is the whole.
func (c HitCost) Sum() int64 { return c.Before + c.After }

// HitCosts are the costs of all kinds of hits; zero ones are not known.
type HitCosts struct {
	Kinds  [NumProbes]HitCost `json:"kinds"`
	Record int64              `json:"record"` // the part of After that writing the record takes, ns
}
