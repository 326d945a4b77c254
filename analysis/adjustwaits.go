package analysis

import "ompp-attach/profile"

// adjustWaits takes out of the waits at barriers what adjust has taken out of the barriers' times.
// First it takes out the part of the wait for threads that probes had slowed down. Then it takes
// out the thread's own hits: from the completion, and then from the wait. Others are charged with
// these waits. Their charges shrink in proportion, so that the sums stay equal (profile.Waits).
func adjustWaits(a, measured *profile.Profile) {
	var barriers, locks, tasks shrunk
	for i := range a.Nodes {
		b, l := adjustNodeWaits(&a.Nodes[i], &measured.Nodes[i])
		tasks.add(forTasks(&a.Nodes[i]))
		barriers.add(b)
		locks.add(l)
	}
	if barriers.was == barriers.is && locks.was == locks.is && tasks.was == tasks.is {
		return
	}
	for i := range a.Nodes {
		for j := range a.Nodes[i].Stats {
			if w := a.Nodes[i].Stats[j].Waits; w != nil {
				out := *w
				out.Late.T, out.Delay, out.NoCore = barriers.part(w.Late.T), barriers.part(w.Delay), barriers.part(w.NoCore)
				out.Indirect, out.Passed, out.Far = barriers.part(w.Indirect), barriers.part(w.Passed), barriers.part(w.Far)
				for _, t := range []*int64{&out.NoTask.T, &out.LateTask.T, &out.ForTask.T, &out.OfTask.T} {
					*t = tasks.part(barriers.part(*t))
				}
				out.Held.T, out.Shared = locks.part(w.Held.T), locks.part(w.Shared)
				a.Nodes[i].Stats[j].Waits = &out
			}
		}
	}
}

// forTasks returns how long threads waited for tasks at a node, and how much of that the adjusted
// time of their waits leaves (ns).
func forTasks(n *profile.Node) (x shrunk) {
	for j := range n.Stats {
		if w := n.Stats[j].Waits; w != nil {
			in := w.Wait.T + w.Done.T
			if w.Wait.C == 0 {
				in = barrierTime(&n.Stats[j])
			}
			t := w.NoTask.T + w.ForTask.T
			x.add(shrunk{t, within(t, in)})
		}
	}
	return x
}

// shrunk is a sum of times before and after (ns).
type shrunk struct{ was, is int64 }

func (x *shrunk) add(o shrunk) { x.was, x.is = x.was+o.was, x.is+o.is }

// part returns what is left of a part of the sum.
func (x *shrunk) part(t int64) int64 {
	if x.was <= 0 || x.is >= x.was {
		return t
	}
	return int64(float64(t) * float64(x.is) / float64(x.was))
}

// adjustNodeWaits adjusts the threads' own waits at a node. It returns the sums of the waits at
// barriers, and of those for holders of locks.
func adjustNodeWaits(n, measured *profile.Node) (barriers, locks shrunk) {
	for j := range n.Stats {
		s, old := &n.Stats[j], &measured.Stats[j]
		if s.Waits == nil {
			continue
		}
		w := *s.Waits
		if cut := barrierTime(old) - barrierTime(s); cut > 0 && s.Cost != nil {
			forOthers := within(min(s.Cost.Wait, cut), w.Wait.T)
			w.Wait.T, cut = w.Wait.T-forOthers, cut-forOthers
			done := within(cut, w.Done.T)
			w.Done.T -= done
			w.Wait.T -= within(cut-done, w.Wait.T)
		}
		if cut := old.Enter.T - s.Enter.T; cut > 0 {
			handed := within(cut, w.Handed)
			w.Handed -= handed
			contended := within(cut-handed, w.Contended.T)
			w.Contended.T -= contended
			w.NoHolder.T -= within(cut-handed-contended, w.NoHolder.T)
		}
		ownTime := shrunk{old.Exec.T - old.Child, s.Exec.T - s.Child}
		w.OnPath = ownTime.part(w.OnPath)
		barriers.add(shrunk{s.Waits.Wait.T, w.Wait.T})
		locks.add(shrunk{s.Waits.Contended.T, w.Contended.T})
		s.Waits = &w
	}
	for j := range n.Stats {
		if w := n.Stats[j].Waits; w != nil {
			w.Last.T = barriers.part(w.Last.T)
		}
	}
	return barriers, locks
}

// barrierTime returns a thread's time in the barriers of a node: of a construct's barrier, or of an
// explicit one, which has no phases (ns).
func barrierTime(s *profile.ThreadStats) int64 {
	if s.Barrier.C == 0 && s.Enter == (profile.Sum{}) && s.Body == (profile.Sum{}) {
		return s.Exec.T
	}
	return s.Barrier.T
}
