package mpi

// Formula computes a property of an MPI handle from a process's memory: the size of a datatype or
// of a communicator. The tool derives it from the library's own accessor function. It is small
// enough for the kernel side to evaluate at each call. The first case with a guard that holds
// applies. If no guard holds, the property is not known.
type Formula []Case

// Case is one branch of a formula. It applies if handle & Mask == Equal.
type Case struct {
	Mask, Equal uint64
	Steps       []Step
}

// StepOp is an operation on the accumulator A. A is the handle at the beginning.
type StepOp uint8

// The steps. B is the address at which the library is loaded (its load bias: 0 for a program with
// fixed addresses). S has the saved values. Arithmetic is on unsigned integers of 64 bits.
const (
	StepHandle       StepOp = iota // A = the handle
	StepConst                      // A = Value
	StepBase                       // A = B + Value
	StepAdd                        // A += Value
	StepAddBase                    // A += B + Value
	StepMul                        // A *= Value
	StepAnd                        // A &= Value
	StepShiftRight                 // A >>= Value
	StepSignExtend32               // A = (s64)(s32)A
	StepEqual                      // A = A == Value ? 1 : 0
	StepLoad8                      // A = *(u8 *)(A + Value)
	StepLoad16                     // A = *(u16 *)(A + Value)
	StepLoad32                     // A = *(u32 *)(A + Value)
	StepLoad64                     // A = *(u64 *)(A + Value)
	StepSave                       // S[Value] = A
	StepAddSaved                   // A += S[Value]
	StepMulSaved                   // A *= S[Value]
)

// Step is one step of a formula.
type Step struct {
	Op    StepOp
	Value int64
}

// MaxSteps bounds the steps of a case, MaxCases the cases of a formula, and MaxSaved the saved
// values. The kernel's verifier needs these bounds. The longest known case has 19 steps. It is for
// an MPICH object that is neither predefined nor among the first few.
const (
	MaxSteps = 20
	MaxCases = 6
	MaxSaved = 2
)

// Eval evaluates a formula as the kernel side does. read returns n bytes of the process's memory as
// a little-endian number. ok is false if no case applies to the handle, or if the memory could not
// be read.
func (f Formula) Eval(handle, base uint64, read func(addr uint64, n int) (uint64, error)) (value uint64, ok bool) {
	for _, c := range f {
		if handle&c.Mask == c.Equal {
			return c.eval(handle, base, read)
		}
	}
	return 0, false
}

func (c Case) eval(handle, base uint64, read func(addr uint64, n int) (uint64, error)) (uint64, bool) {
	if len(c.Steps) > MaxSteps {
		return 0, false
	}
	a, saved := handle, [MaxSaved]uint64{}
	for _, s := range c.Steps {
		v := uint64(s.Value)
		switch s.Op {
		case StepHandle:
			a = handle
		case StepConst:
			a = v
		case StepBase:
			a = base + v
		case StepAdd:
			a += v
		case StepAddBase:
			a += base + v
		case StepMul:
			a *= v
		case StepAnd:
			a &= v
		case StepShiftRight:
			a >>= v & 63
		case StepSignExtend32:
			a = uint64(int64(int32(a)))
		case StepEqual:
			if a == v {
				a = 1
			} else {
				a = 0
			}
		case StepLoad8, StepLoad16, StepLoad32, StepLoad64:
			x, err := read(a+v, 1<<(s.Op-StepLoad8))
			if err != nil {
				return 0, false
			}
			a = x
		case StepSave:
			saved[v%MaxSaved] = a
		case StepAddSaved:
			a += saved[v%MaxSaved]
		case StepMulSaved:
			a *= saved[v%MaxSaved]
		default:
			return 0, false
		}
	}
	return a, true
}
