package profile

// Subtract takes away the figures that o, an earlier state of the same figures, has. Counts do not
// go below 0. What cannot be told apart stays as it is: extremes, the errors of estimates, and
// marks. Nothing that o points to changes.
func (s *ThreadStats) Subtract(o *ThreadStats) {
	for p, part := range s.Parts() {
		part.subtract(*o.Parts()[p])
	}
	s.Child -= o.Child
	s.Task -= o.Task
	s.Tasks = less(s.Tasks, o.Tasks)
	s.MPI, s.Calls = s.MPI.minus(o.MPI), s.Calls.minus(o.Calls)
	s.Traffic = s.Traffic.minus(o.Traffic)
	s.Ranks = s.Ranks.minus(o.Ranks)
	s.Estimate = s.Estimate.minus(o.Estimate)
	s.Ends = s.Ends.minus(o.Ends)
	s.Cost, s.NoCore = s.Cost.minus(o.Cost), s.NoCore.minus(o.NoCore)
	s.Waits = s.Waits.minus(o.Waits)
	s.Sched = s.Sched.minus(o.Sched)
	s.Counters = SumCounters(s.Counters, negative(o.Counters))
	s.ChildCounters = SumCounters(s.ChildCounters, negative(o.ChildCounters))
	s.Uncounted = less(s.Uncounted, o.Uncounted)
	s.TakenOut -= o.TakenOut
}

func (s *Sum) subtract(o Sum) { s.T, s.C = s.T-o.T, less(s.C, o.C) }

func less(a, b uint64) uint64 { return a - min(a, b) }

func negative(v []int64) []int64 {
	out := make([]int64, len(v))
	for i := range v {
		out[i] = -v[i]
	}
	return out
}

func (c *Cost) minus(o *Cost) *Cost {
	if o == nil {
		return c
	}
	var back Cost
	for p, part := range back.Parts() {
		*part = -*o.Parts()[p]
	}
	back.Child, back.Task, back.Wait = -o.Child, -o.Task, -o.Wait
	if sum := c.Plus(&back); *sum != (Cost{}) {
		return sum
	}
	return nil
}

func (x *Estimate) minus(o *Estimate) *Estimate {
	if x == nil || o == nil {
		return x
	}
	out := *x
	for p, part := range out.Parts() {
		part.subtract(*o.Parts()[p])
	}
	out.Child -= o.Child
	return &out
}

func (s *MPIStats) minus(o *MPIStats) *MPIStats {
	if s == nil || o == nil {
		return s
	}
	out := *s
	out.T -= o.T
	out.Cost -= o.Cost
	out.NoCore -= o.NoCore
	out.Wait -= o.Wait
	out.WaitNoCore -= o.WaitNoCore
	for _, c := range []struct {
		n *uint64
		o uint64
	}{
		{&out.Calls, o.Calls}, {&out.Sends, o.Sends}, {&out.Recvs, o.Recvs}, {&out.Colls, o.Colls},
		{&out.Read, o.Read}, {&out.Written, o.Written}, {&out.Sized, o.Sized}, {&out.Unknown, o.Unknown},
	} {
		*c.n = less(*c.n, c.o)
	}
	for by := range out.Out {
		out.Out[by], out.In[by] = less(out.Out[by], o.Out[by]), less(out.In[by], o.In[by])
	}
	if out.Sized == 0 {
		out.Min, out.Max = MPIStats{}.Min, MPIStats{}.Max
	}
	if out == (MPIStats{}) {
		return nil
	}
	return &out
}

// empty tells whether nothing is left of a thread's figures.
func (s *ThreadStats) empty() bool {
	for _, part := range s.Parts() {
		if *part != (Sum{}) {
			return false
		}
	}
	for _, v := range append(append([]int64{s.Child, s.Task}, s.Counters...), s.ChildCounters...) {
		if v != 0 {
			return false
		}
	}
	return s.Tasks == 0 && s.MPI == nil && s.Traffic == nil && s.Ranks == nil && s.Calls == nil && s.Cost == nil && s.NoCore == nil && s.Waits == nil && s.Sched == nil && s.Estimate == nil && s.Ends == nil && s.Uncounted == 0
}
