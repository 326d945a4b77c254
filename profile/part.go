package profile

// Part names one of the five times that each execution of a construct has: the whole, and the four
// phases. ThreadStats, Cost and Estimate name them as fields, which is how the recorded profile
// spells them, and list them by Parts.
type Part int

// The parts. ThreadStats says what each of them means.
const (
	Exec Part = iota // the whole
	Enter
	Body
	Barrier
	Exit
	NumParts
)

// Parts returns the times of the parts, to be read or changed.
func (s *ThreadStats) Parts() [NumParts]*Sum {
	return [NumParts]*Sum{Exec: &s.Exec, Enter: &s.Enter, Body: &s.Body, Barrier: &s.Barrier, Exit: &s.Exit}
}

// Parts returns the cost in each of the parts (ns), to be read or changed.
func (c *Cost) Parts() [NumParts]*int64 {
	return [NumParts]*int64{Exec: &c.Exec, Enter: &c.Enter, Body: &c.Body, Barrier: &c.Barrier, Exit: &c.Exit}
}

// Parts returns the estimates of the parts, to be read or changed.
func (x *Estimate) Parts() [NumParts]*Sum {
	return [NumParts]*Sum{Exec: &x.Exec, Enter: &x.Enter, Body: &x.Body, Barrier: &x.Barrier, Exit: &x.Exit}
}
