package clocks

// Record names the clock of a process's recorded times, with readings at the begin and end.
type Record struct {
	// Boot is the kernel's boot id. All processes with one boot id share a clock, also in
	// containers and time namespaces.
	Boot  string  `json:"boot"`
	Begin Reading `json:"begin"`
	End   Reading `json:"end"`
}

// Reading is what a kernel says of its clocks at one moment. Times are in ns.
type Reading struct {
	// CLOCK_MONOTONIC of the kernel, outside of time namespaces
	Monotonic int64 `json:"monotonic_ns"`
	Real      int64 `json:"real_ns"`   // CLOCK_REALTIME at that time
	Within    int64 `json:"within_ns"` // the longest time that may lie between the two readings
	// Synchronised: the kernel says that CLOCK_REALTIME is synchronised (adjtimex). CLOCK_REALTIME
	// then differs from the true time by MaxError at most, and presumably by EstError.
	Synchronised bool  `json:"synchronised"`
	MaxError     int64 `json:"max_error_ns"`
	EstError     int64 `json:"est_error_ns"`
	// Rate is the kernel's correction of the clock's rate, in millionths.
	Rate float64 `json:"rate_ppm"`
}

func (r *Reading) shift() int64 { return r.Real - r.Monotonic }

// Clock is the clock of a machine.
type Clock struct {
	// Shift is how far CLOCK_REALTIME was ahead of the clock at the first reading (ns). It is added
	// to all times of the clock, which makes differences between machines small numbers.
	Shift int64
	// Wander is the most by which the clock's rate may change while the job runs, as a share.
	Wander float64
	// Known are the kernel's claims of how far the clock is from the true time. It is empty if the
	// clock is not synchronised.
	Known []Known
	// Stepped: CLOCK_REALTIME was set while the job ran. So the claims are useless.
	Stepped bool
}

// Known is a claim: at the shifted time At (ns), the clock differs from the true time by Error (ns)
// at most.
type Known struct{ At, Error int64 }

// How much the rates of clocks change, as shares. An oscillator's rate follows its temperature
// (freely). A daemon that synchronises a clock changes its rate, too (steered).
const (
	freely  = 10e-6
	steered = 100e-6
)

// Of returns the clock of a machine, from the records of processes on it.
func Of(records []*Record) (c Clock) {
	if len(records) == 0 {
		return Clock{Wander: freely + steered}
	}
	first := &records[0].Begin
	c.Shift, c.Wander = first.shift(), freely
	for _, r := range records {
		for _, x := range []*Reading{&r.Begin, &r.End} {
			if x.Monotonic == 0 { // it was not read
				continue
			}
			apart := x.shift() - c.Shift
			c.Stepped = c.Stepped || max(apart, -apart) > x.Within+first.Within
			if x.Synchronised {
				c.Known = append(c.Known, Known{x.Monotonic + c.Shift, x.MaxError + x.Within + first.Within})
			}
			if x.Synchronised || x.Rate != first.Rate {
				c.Wander = freely + max(steered, 2e-6*max(x.Rate-first.Rate, first.Rate-x.Rate))
			}
		}
	}
	if c.Stepped {
		c.Known = nil
	}
	return c
}

// Shifted returns a time of the clock, shifted.
func (c *Clock) Shifted(t uint64) uint64 { return uint64(int64(t) + c.Shift) }
