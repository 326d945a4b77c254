package properties

import "ompp-attach/severity"

type (
	// nodes says how the clocks of several nodes were compared.
	nodes struct {
		Machines    []machine `json:"machines"`
		Clocks      []clock   `json:"clocks"`
		Waits       uint64    `json:"waits"`
		Time        int64     `json:"time_ns"`
		Bound       int64     `json:"bound_ns"`
		Widest      int64     `json:"widest_ns"`
		Untold      uint64    `json:"untold"`
		NoLatecomer uint64    `json:"no_latecomer"`
	}
	machine struct {
		Hosts   []string `json:"hosts"`
		Ranks   []int    `json:"ranks"`
		Stepped bool     `json:"stepped,omitempty"`
	}
	// clock compares the clocks of two machines.
	clock struct {
		A            int     `json:"a"`
		B            int     `json:"b"`
		Messages     bool    `json:"messages"`
		Synchronised bool    `json:"synchronised"`
		Forth        uint64  `json:"forth"`
		Back         uint64  `json:"back"`
		Offset       int64   `json:"offset_ns"`
		LeastDrift   float64 `json:"least_drift_ppm"`
		MostDrift    float64 `json:"most_drift_ppm"`
		Bound        int64   `json:"bound_ns"`
		Unsteady     bool    `json:"unsteady,omitempty"`
		Conflict     int64   `json:"conflict_ns,omitempty"`
	}
)

func nodesOf(n *severity.Nodes, o Options) *nodes {
	if n == nil {
		return nil
	}
	a := &n.Across
	out := &nodes{Clocks: []clock{}, Waits: a.Waits, Time: a.T, Bound: a.Bound, Widest: a.Widest, Untold: a.Untold, NoLatecomer: a.NoLatecomer}
	for _, m := range n.Machines {
		x := machine{Ranks: m.Ranks, Stepped: m.Stepped}
		for _, h := range m.Hosts {
			x.Hosts = append(x.Hosts, o.Clean(h))
		}
		out.Machines = append(out.Machines, x)
	}
	for i := range n.Links {
		k := &n.Links[i]
		x := clock{A: k.A, B: k.B, Messages: k.Messages, Synchronised: k.Synchronised, Forth: k.Forth, Back: k.Back, Conflict: k.Conflict}
		if k.Messages || k.Synchronised { // otherwise nothing is known
			x.Offset, x.LeastDrift, x.MostDrift, x.Bound, x.Unsteady = n.Offset(k), k.Least*1e6, k.Most*1e6, k.Bound, k.Unsteady
		}
		out.Clocks = append(out.Clocks, x)
	}
	return out
}
