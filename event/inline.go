package event

// InlineEnd says how a construct ends that a compiler made plain instructions
// of: the Value of the event that opens it.
type InlineEnd int64

// The ends.
const (
	// EndNext: nothing marks it; it lasts until the thread's next event that
	// cannot lie in it.
	EndNext InlineEnd = iota
	// EndBarrier: with the construct's own barrier, which the runtime reports.
	EndBarrier
	// EndPoint: at an instruction that has a probe.
	EndPoint
	// EndRegion: with the parallel region, before whose final barrier GCC
	// leaves out the construct's own.
	EndRegion
)
