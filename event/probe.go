package event

// Probe is a kind of probe hit: what tells how much of its thread's time it
// takes. It is one of the classes, to which ReadsUser may be added.
type Probe uint8

// The classes: by the instruction that the probe sits on, and returns.
const (
	NoProbe         Probe = iota // the event comes from no hit of a probe
	ProbeNop5                    // a 5-byte nop, which newer kernels turn into a call
	ProbeEmulated                // an instruction that the kernel emulates
	ProbeCall                    // a relative call
	ProbeSingleStep              // an instruction that the kernel executes out of line
	ProbeReturn                  // a function's return, with what asking for it took at the entry

	// ReadsUser: the thread's memory is read once more, for the return address.
	ReadsUser Probe = 8
	// NumProbes is above all kinds.
	NumProbes Probe = 16
)

// Class is the kind without ReadsUser.
func (p Probe) Class() Probe { return p &^ ReadsUser }

// String names the kind's class.
func (p Probe) String() string {
	if names := [...]string{"none", "nop5", "emulated", "call", "single-stepped", "return"}; int(p.Class()) < len(names) {
		return names[p.Class()]
	}
	return "invalid"
}

// HitCost is what one hit takes of its thread's time: the parts before and
// after the time stamp that it reports, in ns.
type HitCost struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}

// Sum is the whole.
func (c HitCost) Sum() int64 { return c.Before + c.After }

// HitCosts are the costs of all kinds; those that are not known are zero.
type HitCosts [NumProbes]HitCost
