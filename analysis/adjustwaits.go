package analysis

import "ompp-attach/profile"

// adjustWaits takes out of the waits at barriers what adjust has taken out of the barriers' times:
// first the part of the wait that was for threads which probes had slowed down, then the thread's own
// hits, from the completion and then from the wait. What others are charged with for these waits
// shrinks in proportion, so that the sums stay equal (profile.Waits).
func adjustWaits(a, measured *profile.Profile) {
	was, is := int64(0), int64(0)
	for i := range a.Nodes {
		w, t := adjustNodeWaits(&a.Nodes[i], &measured.Nodes[i])
		was, is = was+w, is+t
	}
	if was == is {
		return
	}
	for i := range a.Nodes {
		for j := range a.Nodes[i].Stats {
			if w := a.Nodes[i].Stats[j].Waits; w != nil {
				out := *w
				out.Late.T, out.Delay = portion(w.Late.T, is, was), portion(w.Delay, is, was)
				a.Nodes[i].Stats[j].Waits = &out
			}
		}
	}
}

// adjustNodeWaits adjusts the threads' own waits at a node. It returns the sum of the waits before
// and after (ns).
func adjustNodeWaits(n, measured *profile.Node) (was, is int64) {
	for j := range n.Stats {
		s, old := &n.Stats[j], &measured.Stats[j]
		if s.Waits == nil {
			continue
		}
		w := *s.Waits
		was += w.Wait.T
		if cut := barrierTime(old) - barrierTime(s); cut > 0 && s.Cost != nil {
			forOthers := within(min(s.Cost.Wait, cut), w.Wait.T)
			w.Wait.T, cut = w.Wait.T-forOthers, cut-forOthers
			done := within(cut, w.Done.T)
			w.Done.T -= done
			w.Wait.T -= within(cut-done, w.Wait.T)
		}
		is += w.Wait.T
		s.Waits = &w
	}
	if was != is {
		for j := range n.Stats {
			if w := n.Stats[j].Waits; w != nil {
				w.Last.T = portion(w.Last.T, is, was)
			}
		}
	}
	return was, is
}

// barrierTime returns a thread's time in the barriers of a node: of a construct's barrier, or of an
// explicit one, which has no phases (ns).
func barrierTime(s *profile.ThreadStats) int64 {
	if s.Barrier.C == 0 && s.Enter == (profile.Span{}) && s.Body == (profile.Span{}) {
		return s.Exec.T
	}
	return s.Barrier.T
}

// portion returns the part of a time that is to the whole as one sum is to another.
func portion(t, is, was int64) int64 {
	if was <= 0 || is >= was {
		return t
	}
	return int64(float64(t) * float64(is) / float64(was))
}
