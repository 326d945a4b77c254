package profile

import (
	"math"
	"ompp-attach/event"
	"strings"
)

// Observation says how long the executions of some constructs were observed,
// and how long not.
type Observation struct {
	Name    string           `json:"name,omitempty"` // what the user may call them
	Of      event.Constructs `json:"of"`
	Away    int64            `json:"away_ns"`    // not observed, wall time
	Sampled int64            `json:"sampled_ns"` // the periods from which that is extrapolated
	Gaps    int              `json:"gaps"`       // how many times they were not observed
}

// Title names the constructs for the user.
func (x *Observation) Title() string {
	if x.Name != "" {
		return x.Name
	}
	names, _ := x.Of.MarshalText() // which cannot fail
	return strings.ReplaceAll(string(names), ",", ", ")
}

// Budget is what the measurement may cost.
type Budget struct {
	Share  float64 `json:"share"`     // of each thread's time
	Window int64   `json:"window_ns"` // over any such time
	Worst  float64 `json:"worst"`     // the largest share that hits by their known costs took of a thread's time in such a window
}

// Estimate is the part of a thread's figures at a node that was extrapolated:
// they include it.
type Estimate struct {
	Exec    Span  `json:"exec,omitzero"`
	Enter   Span  `json:"enter,omitzero"`
	Body    Span  `json:"body,omitzero"`
	Barrier Span  `json:"barrier,omitzero"`
	Exit    Span  `json:"exit,omitzero"`
	Child   int64 `json:"child,omitempty"` // ns, taken out of the exclusive time for extrapolated children
	// The standard errors of Exec: of the count, and of the time in ns.
	CountError float64 `json:"count_error,omitempty"`
	TimeError  float64 `json:"time_error,omitempty"`
	// AtLeast: there were more executions, and it is not known how many: the figures
	// are of those that were observed.
	AtLeast bool `json:"at_least,omitempty"`
	// Inside: the exclusive time holds that of such executions.
	Inside bool `json:"inside,omitempty"`
}

// Interval is where the number of executions lies in nine of ten cases, of which
// some were observed.
func (x *Estimate) Interval(executions uint64) (least, most uint64) {
	observed := executions - min(executions, x.Exec.C)
	off := Sigmas * x.CountError
	return max(observed, uint64(max(0, math.Floor(float64(executions)-off)))), uint64(math.Ceil(float64(executions) + off))
}

// Plus returns the sum of two estimates; their errors may have one cause, and
// are added as well.
func (x *Estimate) Plus(y *Estimate) *Estimate {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	sum := *x
	sum.Exec.Add(y.Exec)
	sum.Enter.Add(y.Enter)
	sum.Body.Add(y.Body)
	sum.Barrier.Add(y.Barrier)
	sum.Exit.Add(y.Exit)
	sum.Child += y.Child
	sum.CountError += y.CountError
	sum.TimeError += y.TimeError
	sum.AtLeast = sum.AtLeast || y.AtLeast
	sum.Inside = sum.Inside || y.Inside
	return &sum
}

// Sigmas is how many standard errors on either side make an interval that holds
// the truth in nine of ten cases: 1.64 of a normal distribution, more of few
// periods.
const Sigmas = 2
