package profile

import (
	"ompp-attach/mpi"
)

// MPIStats are a thread's MPI counters.
type MPIStats struct {
	T    int64 `json:"t,omitempty"`    // time in MPI calls, ns
	Cost int64 `json:"cost,omitempty"` // the part of T that the measurement's own probes took, ns
	// NoCore is the part of T in which the thread was ready to run and had no core, ns.
	NoCore int64  `json:"no_core,omitempty"`
	Calls  uint64 `json:"calls,omitempty"` // number of calls of any operation
	Sends  uint64 `json:"sends,omitempty"` // ompP's sendC, recvC, collC
	Recvs  uint64 `json:"recvs,omitempty"`
	Colls  uint64 `json:"colls,omitempty"`
	// Bytes sent and received, by way of accounting.
	Out     [mpi.NumAccountings]uint64 `json:"out,omitzero"`
	In      [mpi.NumAccountings]uint64 `json:"in,omitzero"`
	Read    uint64                     `json:"read,omitempty"` // bytes read and written by MPI-IO
	Written uint64                     `json:"written,omitempty"`
	// Calls whose volume is not known; the bytes above leave them out.
	Unknown uint64 `json:"unknown,omitempty"`
	// Wait is the part of T in calls made directly in a barrier or another wait: unobserved
	// tasks that were executed there made them.
	Wait int64 `json:"wait,omitempty"`
	// WaitNoCore is the part of Wait without a core.
	WaitNoCore int64 `json:"wait_no_core,omitempty"`
	// Min and Max are the bytes of the smallest and the largest call, in both directions
	// together, by way of accounting. Sized is the number of calls, and of operations that a
	// Start started, that move data and whose volume is known. The three are set for regions of
	// construct MPI only.
	Sized uint64                     `json:"sized,omitempty"`
	Min   [mpi.NumAccountings]uint64 `json:"min,omitzero"`
	Max   [mpi.NumAccountings]uint64 `json:"max,omitzero"`
}

// Add adds the counters of another thread, or of another place.
func (s *MPIStats) Add(o *MPIStats) {
	if o.Sized > 0 {
		for by := range s.Min {
			if s.Sized == 0 {
				s.Min[by], s.Max[by] = o.Min[by], o.Max[by]
			}
			s.Min[by], s.Max[by] = min(s.Min[by], o.Min[by]), max(s.Max[by], o.Max[by])
		}
	}
	s.T += o.T
	s.Cost += o.Cost
	s.NoCore += o.NoCore
	s.Wait += o.Wait
	s.WaitNoCore += o.WaitNoCore
	s.Calls += o.Calls
	s.Sends += o.Sends
	s.Recvs += o.Recvs
	s.Colls += o.Colls
	for by := range s.Out {
		s.Out[by] += o.Out[by]
		s.In[by] += o.In[by]
	}
	s.Read += o.Read
	s.Written += o.Written
	s.Sized += o.Sized
	s.Unknown += o.Unknown
}

// Plus returns the sum of two threads' counters, either of which may be nil. It changes neither of
// them: profiles that were derived from one another share them.
func (s *MPIStats) Plus(o *MPIStats) *MPIStats {
	if s == nil || o == nil {
		if s == nil {
			return o
		}
		return s
	}
	sum := *s
	sum.Add(o)
	return &sum
}
