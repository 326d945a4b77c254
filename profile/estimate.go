package profile

import (
	"math"
	"ompp-attach/event"
	"strings"
)

// Observation says how long the executions of some constructs were observed, and how long they were
// not.
type Observation struct {
	// Name of a group of constructs, as the user knows it.
	Name string `json:"name,omitempty"`
	// Names of the levels, of a kind of levels.
	Levels     []string         `json:"levels,omitempty"`
	Of         event.Constructs `json:"of"`
	Unobserved int64            `json:"away_ns"` // wall time in which they were not observed
	// Wall time of the periods from which the rest is extrapolated.
	Sampled int64 `json:"sampled_ns"`
	Gaps    int   `json:"gaps"` // number of times that they were not observed
	// First is when they were not observed for the first time, in measured time since the
	// measurement began (ns); 0: not known. Before is the number of executions that had been
	// counted by then, which are all. Counted is the number of executions that were counted by the
	// end, without estimates: there may have been more. The parts of a profile between two
	// snapshots have none of the three.
	First   int64  `json:"first_ns,omitempty"`
	Before  uint64 `json:"before,omitempty"`
	Counted uint64 `json:"counted,omitempty"`
}

// Title returns the name of the constructs for the user.
func (x *Observation) Title() string {
	if x.Name != "" {
		return x.Name // cannot fail
	}
	names, _ := x.Of.MarshalText() // which cannot fail
	return strings.ReplaceAll(string(names), ",", ", ")
}

// Budget is the limit that --max-overhead sets to the measurement's cost.
type Budget struct {
	Share   float64 `json:"share"`     // of each thread's time, 0 to 1
	Horizon int64   `json:"window_ns"` // the limit holds for every interval of this length
	// The largest share of a thread's time that hits, by their known costs, took in such an
	// interval.
	Worst float64 `json:"worst"`
}

// Estimate is the part of a thread's figures at a node that was extrapolated. The figures include
// it.
type Estimate struct {
	Exec    Sum `json:"exec,omitzero"`
	Enter   Sum `json:"enter,omitzero"`
	Body    Sum `json:"body,omitzero"`
	Barrier Sum `json:"barrier,omitzero"`
	Exit    Sum `json:"exit,omitzero"`
	// Time of extrapolated children, ns: it is not in the exclusive time.
	Child int64 `json:"child,omitempty"`
	// The standard errors of Exec: of its count, and of its time in ns.
	CountError float64 `json:"count_error,omitempty"`
	TimeError  float64 `json:"time_error,omitempty"`
	// AtLeast: the figures are of the observed executions only. There were more, and their
	// number is not known.
	AtLeast bool `json:"at_least,omitempty"`
	// Inside: the exclusive time includes the time of such executions.
	Inside bool `json:"inside,omitempty"`
}

// Interval returns bounds between which the true number of executions lies in nine of ten cases.
// executions is the number in the figures; least is never below the number of observed ones.
func (x *Estimate) Interval(executions uint64) (least, most uint64) {
	observed := executions - min(executions, x.Exec.C)
	off := Sigmas * x.CountError
	return max(observed, uint64(max(0, math.Floor(float64(executions)-off)))), uint64(math.Ceil(float64(executions) + off))
}

// Plus returns the sum of two estimates, either of which may be nil. The errors are added too,
// because they may have one cause.
func (x *Estimate) Plus(y *Estimate) *Estimate {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	sum := *x
	for p, part := range sum.Parts() {
		part.Add(*y.Parts()[p])
	}
	sum.Child += y.Child
	sum.CountError += y.CountError
	sum.TimeError += y.TimeError
	sum.AtLeast = sum.AtLeast || y.AtLeast
	sum.Inside = sum.Inside || y.Inside
	return &sum
}

// Sigmas is the number of standard errors, on either side, of an interval that holds the truth in
// nine of ten cases. It is 1.64 for a normal distribution, and more where the periods are few.
const Sigmas = 2
