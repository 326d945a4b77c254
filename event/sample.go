package event

// Sample is where a thread was when a sampling interval was over.
type Sample struct {
	// Stack holds the instruction and, from the innermost out, the return
	// addresses of the calls that it lies in.
	Stack []uint64 `json:"st,omitempty"`
	// Weight is how much of the sampled event the sample stands for (ns, cycles).
	Weight uint64 `json:"w,omitempty"`
	// Kernel: the thread was in the kernel; Stack begins where it entered it.
	Kernel bool `json:"k,omitempty"`
	// Changing: a probe had just been hit, whose event is not told of yet.
	Changing bool `json:"chg,omitempty"`
	// Probe: the kernel was handling a probe, or the thread was in its trampoline.
	Probe bool `json:"prb,omitempty"`
	// Cut: the stack could not be followed to its end.
	Cut bool `json:"cut,omitempty"`
}
