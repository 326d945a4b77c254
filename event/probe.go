package event

// Probe says what kind of hit an event comes from: what the probe sat on, and how often the hit
// read the thread's memory. Both determine how much of its thread's time the hit took.
type Probe uint8

// What probes sit on: instructions, and returns. These values have no reads.
const (
	NoProbe         Probe = iota // no hit of a probe
	ProbeNop5                    // a 5-byte nop, which newer kernels turn into a call
	ProbeJump                    // a relative jump or another nop, which the kernel emulates
	ProbeEmulated                // another instruction that the kernel emulates
	ProbeCall                    // a relative call
	ProbeSingleStep              // an instruction that the kernel executes out of line
	// A function's return; the cost includes placing the return probe at the entry.
	ProbeReturn
	// An emulated instruction; the kernel side adds the hit up (see Folded).
	ProbeFolded
	ProbeFoldedJump   // a jump; the kernel side adds the hit up
	ProbeFoldedReturn // a return; the kernel side adds the hit up
	// The first of the kinds from ProbeNop5 to ProbeSingleStep whose hits
	// wrote no record (LeftOut).
	ProbeLeftOut
	lastProbe = ProbeLeftOut + leftOutKinds - 1
)

const (
	kindBits = 4 // as many as lastProbe needs
	readBits = 2
	maxReads = 1<<readBits - 1
	// NumProbes is the number of kinds of hits.
	NumProbes = 1 << (kindBits + readBits)
)

// Reading returns the kind of hit with n reads of user memory. More than three count as three.
func (p Probe) Reading(n int) Probe {
	return p&^(maxReads<<kindBits) | Probe(max(0, min(n, maxReads)))<<kindBits
}

// WithoutReads returns what the probe sat on, alone.
func (p Probe) WithoutReads() Probe { return p & (1<<kindBits - 1) }

// Reads returns the number of reads of user memory, at most three.
func (p Probe) Reads() int { return int(p >> kindBits & maxReads) }

// String returns the name of what the probe sat on.
func (p Probe) String() string {
	if i := int(p.WithoutReads()); i < len(probeNames) {
		return probeNames[i]
	}
	return "invalid"
}

var probeNames = [...]string{"none", "nop5", "jump", "emulated", "call", "single-stepped", "return",
	"folded", "folded jump", "folded return",
	"nop5, unrecorded", "jump, unrecorded", "emulated, unrecorded", "call, unrecorded", "single-stepped, unrecorded"}

// HitCost is the time that one hit takes of its thread, in ns: the parts before and after the time
// stamp that the hit reports.
type HitCost struct {
	Before int64 `json:"before,omitempty"`
	After  int64 `json:"after,omitempty"`
}

// Sum returns the whole time of a hit, in ns.
func (c HitCost) Sum() int64 { return c.Before + c.After }

// HitCosts are the costs of all kinds of hits. A cost of zero is not known.
type HitCosts struct {
	Kinds  [NumProbes]HitCost `json:"kinds"`
	Record int64              `json:"record"` // the part of After that writing the record takes, ns
}
