package matchtest

import (
	"fmt"

	"ompp-attach/mpi/match"
)

// Hosts are machines with clocks that differ from the true time.
type Hosts struct {
	Offset map[string]uint64
	Rate   map[string]float64
	// Error returns by how much a conversion is wrong, and the bound that the conversion claims.
	Error func() (error, bound int64)
}

func (h *Hosts) clock(host string, t uint64) uint64 {
	return h.Offset[host] + t + uint64(h.Rate[host]*float64(t))
}

// Comparable implements match.Clocks.
func (h *Hosts) Comparable(a, b string) bool { return true }

// Convert implements match.Clocks.
func (h *Hosts) Convert(to, from string, t uint64) (at uint64, bound int64) {
	err, bound := h.Error()
	true_ := uint64(float64(t-h.Offset[from]) / (1 + h.Rate[from]))
	return h.clock(to, true_) + uint64(err), bound
}

// OnHosts distributes the ranks of a model over machines. Times in logs are by their clocks.
func (m *Model) OnHosts(n int, rate float64) ([]*match.RankCalls, *Hosts) {
	h := &Hosts{Offset: map[string]uint64{}, Rate: map[string]float64{}}
	for i := range n {
		name := fmt.Sprint("node", i)
		h.Offset[name], h.Rate[name] = 1e12+m.Rand.Uint64N(1e9), rate*(2*m.Rand.Float64()-1)
	}
	logs := m.Logs()
	for rank, l := range logs {
		l.Host = fmt.Sprint("node", m.Rand.IntN(n))
		list := match.List{}
		for _, c := range m.Calls[rank] {
			c.Start, c.End = h.clock(l.Host, c.Start), h.clock(l.Host, c.End)
			list = append(list, c)
		}
		if l.Threads = []match.Calls{&list}; l.Until > 0 {
			l.Until = h.clock(l.Host, l.Until)
		}
	}
	return logs, h
}

// Uncompared are clocks of machines that all have the same time.
type Uncompared struct{}

// Comparable implements match.Clocks.
func (Uncompared) Comparable(_, _ string) bool { return true }

// Convert implements match.Clocks.
func (Uncompared) Convert(_, _ string, t uint64) (at uint64, bound int64) { return t, 0 }
