package waits

// charge charges the last thread to arrive at a barrier for the wait of another thread (ns). For
// each region, d is the last thread's time there without its own waiting, less the waiting thread's
// time there. The wait is shared out among all positive d and the last thread's own waiting. None
// of them gets more than its time. If the last thread was longer without a core than the waiting
// thread, the difference is a part of the sum of all d. charge returns the part of the wait that is
// due to the last thread's own waiting.
func (x *instance) charge(last, s *slot, wait int64) (indirect int64) {
	sum, waited, most, regions := int64(0), int64(0), 0, 0
	for i := range last.own {
		l := &last.own[i]
		waited += l.waited
		if d := l.excess(s.find(i, l)); d > 0 {
			sum += d
			most, regions = i, regions+1
		}
	}
	if regions == 1 && waited == 0 { // mostly
		d := min(sum, wait)
		x.blame(last, most, d)
		if last.noCore > s.noCore {
			x.noCore += min(last.noCore-s.noCore, d)
		}
		return 0
	}
	if sum+waited <= 0 {
		return 0
	}
	scale := min(1, float64(wait)/float64(sum+waited))
	for i := range last.own {
		l := &last.own[i]
		if d := l.excess(s.find(i, l)); d > 0 {
			x.blame(last, i, int64(float64(d)*scale))
		}
	}
	if last.noCore > s.noCore {
		x.noCore += int64(float64(min(last.noCore-s.noCore, sum)) * scale)
	}
	indirect = int64(float64(waited) * scale)
	x.indirect += indirect
	return indirect
}

// blame charges a region in which the last thread was (ns).
func (x *instance) blame(last *slot, i int, d int64) {
	if i == 0 {
		x.delay += d
		return
	}
	if l := &last.own[i]; l.node != nil {
		waitsAt(l.node, l.seat).Delay += d
	}
}

// excess returns how much longer a thread was in a region, without its own waiting, than another
// thread (ns). o is the other thread's time there; nil if it was not there.
func (l *pathTime) excess(o *pathTime) int64 {
	if o == nil {
		return l.all - l.waited
	}
	return l.all - l.waited - o.all
}

// find returns the thread's time in the region that another thread has at an index, nil if it was
// not in that region. Threads mostly pass regions in the same order.
func (s *slot) find(i int, l *pathTime) *pathTime {
	if i < len(s.own) && s.own[i].node == l.node {
		return &s.own[i]
	}
	for j := range s.own {
		if s.own[j].node == l.node {
			return &s.own[j]
		}
	}
	return nil
}
