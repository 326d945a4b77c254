package event

// InlineEnd says how a construct ends that the compiler turned into plain instructions. It is the
// Value of the event that opens the construct.
type InlineEnd int64

// The ends.
const (
	// EndNext: nothing marks the end. The construct lasts until the thread's next event that
	// cannot lie in it.
	EndNext InlineEnd = iota
	// EndBarrier: it ends with its own barrier, which the runtime reports.
	EndBarrier
	// EndPoint: it ends at an instruction that has a probe.
	EndPoint
	// EndRegion: it ends with the parallel region. GCC leaves out the construct's own barrier
	// before the region's final barrier.
	EndRegion
)
