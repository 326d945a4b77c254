package event

// Sample is a thread's place at the end of a sampling interval.
type Sample struct {
	// Stack holds the address of the current instruction, then the return addresses of the
	// calls around it, from the innermost outwards.
	Stack []uint64 `json:"st,omitempty"`
	// Weight is the amount of the sampled event that the sample stands for (ns, cycles).
	Weight uint64 `json:"w,omitempty"`
	// Kernel: the thread was in the kernel. Stack begins at the place where it entered the
	// kernel.
	Kernel bool `json:"k,omitempty"`
	// Changing: a probe had just been hit, whose event has not been read yet.
	Changing bool `json:"chg,omitempty"`
	// Probe: the kernel was handling a probe, or the thread was in a probe's trampoline.
	Probe bool `json:"prb,omitempty"`
	// Cut: the stack could not be followed to its end.
	Cut bool `json:"cut,omitempty"`
}
