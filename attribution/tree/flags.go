package tree

// Flags say of a region what the notes of the profile depend on.
type Flags uint8

// The flags.
const (
	// Unobserved: the construct was not observed for some of the time, to keep within a budget.
	Unobserved Flags = 1 << iota
	// AtLeast: how much was executed meanwhile is not known.
	AtLeast
	// Inline: the construct makes no call, and a probe in the program's own code told it.
	Inline
)
