package profile

import "math"

// Ends describes a thread's times at a node that hold derived ends (Meta.Edges): the ends of most
// executions were not measured. The times of ThreadStats include the derived ones.
type Ends struct {
	Startup  End `json:"startup,omitzero"`  // in Enter, and as much less in Body
	Barrier  End `json:"barrier,omitzero"`  // in Exec of a BARRIER, in Barrier of other constructs
	Shutdown End `json:"shutdown,omitzero"` // in Exit
}

// End is the derived part of one such time.
type End struct {
	Count uint64 `json:"count"` // of executions whose end was derived
	Time  int64  `json:"t"`     // the sum of their derived times, ns
	// Due is the sum that would have been derived by what was known at the end (ns). Early derived
	// times rest on less.
	Due int64 `json:"due"`
	// Variance is the variance of Due, ns squared, because a sample stands for all.
	Variance float64 `json:"variance"`
}

// Interval returns bounds of the true time of these executions (ns).
// They hold in nine of ten cases.
func (x *End) Interval() (least, most int64) {
	off := Sigmas * math.Sqrt(x.Variance)
	return max(0, int64(float64(x.Due)-off)), int64(math.Ceil(float64(x.Due) + off))
}

// Add adds the derived part of another thread's, or of another place's, time. The errors of the two
// are independent: each has a sample of its own.
func (x *End) Add(o *End) {
	x.Count += o.Count
	x.Time += o.Time
	x.Due += o.Due
	x.Variance += o.Variance
}

// subtract takes away an earlier state. The error of the rest is not known. It is at most the error
// of the whole.
func (x *End) subtract(o *End) {
	x.Count = less(x.Count, o.Count)
	x.Time -= o.Time
	x.Due -= o.Due
}

// each returns the parts.
func (x *Ends) each() [3]*End { return [3]*End{&x.Startup, &x.Barrier, &x.Shutdown} }

// Plus returns the sum of two, either of which may be nil. It changes neither.
func (x *Ends) Plus(o *Ends) *Ends {
	switch {
	case x == nil:
		return o
	case o == nil:
		return x
	}
	sum := *x
	for i, e := range sum.each() {
		e.Add(o.each()[i])
	}
	return &sum
}

func (x *Ends) minus(o *Ends) *Ends {
	if x == nil || o == nil {
		return x
	}
	out := *x
	derived := uint64(0)
	for i, e := range out.each() {
		e.subtract(o.each()[i])
		derived += e.Count
	}
	if derived == 0 {
		return nil
	}
	return &out
}
