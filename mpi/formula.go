package mpi

// Formula computes something of an MPI handle from a process's memory: a
// datatype's size, a communicator's size. It is derived from the library's own
// accessor and small enough to be evaluated by the kernel side at each call.
// The first case whose guard holds is the one; if none does, the answer is not
// known.
type Formula []Case

// Case is one branch of a formula: it applies if (handle >> Shift) & Mask ==
// Equal.
type Case struct {
	Shift uint8
	Mask  uint64
	Equal uint64
	Steps []Step
}

// StepOp is what a step does to the accumulator A, which begins as the handle.
type StepOp uint8

// The steps. B is the address at which the library is loaded (its load bias), S a saved value.
const (
	StepShiftRight StepOp = iota // A >>= Value
	StepAnd                      // A &= Value
	StepMul                      // A *= Value
	StepAdd                      // A += Value
	StepAddBase                  // A += B + Value
	StepLoad32                   // A = *(u32 *)(A + Value)
	StepLoad64                   // A = *(u64 *)(A + Value)
	StepSave                     // S = A
	StepAddSaved                 // A += S
	StepHandle                   // A = the handle
	StepConst                    // A = Value
)

// Step is one step of a formula.
type Step struct {
	Op    StepOp
	Value int64
}

// MaxSteps bounds a case's steps and MaxCases a formula's cases: the kernel's
// verifier wants bounds.
const (
	MaxSteps = 12
	MaxCases = 6
)
