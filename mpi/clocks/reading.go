package clocks

// Record says which clock the recorded times of a process are of, and what the kernel said of it.
type Record struct {
	// Boot is the kernel's boot id. Processes with one boot id share a clock, in whatever containers
	// and time namespaces they are.
	Boot  string  `json:"boot"`
	Begin Reading `json:"begin"`
	End   Reading `json:"end"`
}

// Reading is what a kernel said of its clocks at a time. Times are in ns.
type Reading struct {
	Monotonic int64 `json:"monotonic_ns"` // CLOCK_MONOTONIC of the kernel, outside of time namespaces
	Real      int64 `json:"real_ns"`      // CLOCK_REALTIME at that time
	Within    int64 `json:"within_ns"`    // how far Real and Monotonic may be apart from each other
	// Synchronised: the kernel says that CLOCK_REALTIME is synchronised (adjtimex), and differs from
	// the true time by MaxError at most, and presumably by EstError.
	Synchronised bool  `json:"synchronised"`
	MaxError     int64 `json:"max_error_ns"`
	EstError     int64 `json:"est_error_ns"`
	// Rate is by how much the kernel corrects the clock's rate, in millionths.
	Rate float64 `json:"rate_ppm"`
}

func (r *Reading) shift() int64 { return r.Real - r.Monotonic }

// Clock is the clock of a machine.
type Clock struct {
	// Shift is added to times of the clock before anything else: they are of one century then, and
	// differences are small numbers. It is what CLOCK_REALTIME was ahead, ns.
	Shift int64
	// Wander is by how much the clock's rate may change while the job runs, as a share.
	Wander float64
	// Known is how far shifted times are at most from the true time, at some times. None: the machine
	// does not know.
	Known []Known
	// Stepped: CLOCK_REALTIME was set while the job ran. It tells nothing then.
	Stepped bool
}

// Known says that a clock differs by Error from the true time at most, at a (shifted) time. ns.
type Known struct{ At, Error int64 }

// How much rates of clocks change. An oscillator's rate follows its temperature. A daemon that
// keeps a clock synchronised changes its rate to correct it.
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
