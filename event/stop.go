package event

// Stop is an interval of CLOCK_MONOTONIC (ns) in which the process was stopped to place probes. The
// engine's clock leaves it out.
type Stop struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// Stops are all stops of a process, in order.
type Stops []Stop

// Monotonic converts a time of the engine's clock to CLOCK_MONOTONIC, ns.
func (all Stops) Monotonic(t uint64) uint64 {
	for _, s := range all {
		if s.From > t {
			break
		}
		t += s.To - s.From
	}
	return t
}
