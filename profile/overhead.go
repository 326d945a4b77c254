package profile

// Overhead is what the measurement cost the process: probe hits, and what each
// takes on this machine.
type Overhead struct {
	Mode   string      `json:"mode,omitempty"`   // how the probes were attached
	Failed string      `json:"failed,omitempty"` // why it is not known what hits cost, a sentence
	Probes []ProbeHits `json:"probes,omitempty"`
}

// Total is what all hits took of their threads' time, ns.
func (o *Overhead) Total() (ns int64) {
	for _, h := range o.Probes {
		ns += int64(h.Hits) * (h.Before + h.After)
	}
	return ns
}

// ProbeHits are the hits of one kind of probe that were reported.
type ProbeHits struct {
	Probe  string `json:"probe"`           // what it sat on: "nop5", "emulated", "call", "single-stepped", "return"
	Reads  int    `json:"reads,omitempty"` // reads of the thread's memory at each
	Kept   bool   `json:"kept,omitempty"`  // its record waited for others
	Hits   uint64 `json:"hits"`
	Before int64  `json:"before,omitempty"` // what one took, before its time stamp, ns
	After  int64  `json:"after,omitempty"`  // and after
}
