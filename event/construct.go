package event

// Construct is an OpenMP construct as ompP names it in its reports.
type Construct uint8

// The constructs. The order is the one in which reports list them.
const (
	NoConstruct Construct = iota
	Parallel
	ParallelLoop
	ParallelSections
	ParallelWorkshare
	Teams
	Loop
	Sections
	Single
	Workshare
	Scope
	Distribute
	Master
	Masked
	Critical
	Ordered
	Lock
	NestLock
	Barrier
	Atomic
	Flush
	Reduction
	Cancel
	CancellationPoint
	Target
	TargetData
	TargetEnterData
	TargetExitData
	TargetUpdate
	Task
	TaskExec
	UntiedTask
	UntiedTaskExec
	TaskLoop
	TaskWait
	TaskGroup
	TaskYield
	UserRegion
	// MPI is a call of an MPI operation. The operation's name is the region's name.
	MPI
	// Unknown stands for a region instance that was under way when measurement began, so that
	// its identity was never seen.
	Unknown
	// ReductionBarrier is the implicit barrier of a construct in which libomp combines the threads'
	// results (__kmpc_reduce). It is a part of that construct: no region and no report has it.
	ReductionBarrier

	numConstructs
)

// String returns the construct's name in ompP's spelling.
func (c Construct) String() string {
	if c < numConstructs {
		return table[c].Name
	}
	return "INVALID"
}

// ParseConstruct is the inverse of Construct.String; ok is false for an unknown name.
func ParseConstruct(s string) (c Construct, ok bool) {
	for c := range numConstructs {
		if table[c].Name == s {
			return c, true
		}
	}
	return NoConstruct, false
}

// IsParallel reports whether the construct starts a team or a league of teams. Unknown counts as
// such a construct.
func (c Construct) IsParallel() bool {
	return c >= Parallel && c <= Teams || c == Unknown
}

// IsTasking reports whether the construct creates, executes or waits for explicit tasks.
func (c Construct) IsTasking() bool { return c >= Task && c <= TaskYield }

// CreatesTask reports whether the construct creates explicit tasks.
func (c Construct) CreatesTask() bool { return c == Task || c == UntiedTask || c == TaskLoop }

// ExecutesTask reports whether the construct is the execution of an explicit task.
func (c Construct) ExecutesTask() bool { return c == TaskExec || c == UntiedTaskExec }

// CanBeNamed reports whether source code may give the construct a name.
func (c Construct) CanBeNamed() bool { return c == Critical }

// MarshalText writes the construct's name, so that recorded profiles stay readable and do not
// depend on the numbering above. It never fails.
func (c Construct) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a name that MarshalText wrote. For another name it returns an
// UnknownNameError.
func (c *Construct) UnmarshalText(b []byte) error {
	v, ok := ParseConstruct(string(b))
	if !ok {
		return &UnknownNameError{Kind: "construct", Name: string(b)}
	}
	*c = v
	return nil
}

// UnknownNameError reports a name in a recorded file that this version does not know. Kind says
// what the name should have named.
type UnknownNameError struct{ Kind, Name string }

// Error implements error.
func (e *UnknownNameError) Error() string { return "unknown " + e.Kind + " " + e.Name }
