package waits

import "ompp-attach/profile"

// ask divides two times of a thread by what the scheduler did. They are the thread's wait in a
// barrier, and the time from the last arrival until the thread left. tasks is the part of the
// second time in which the thread executed tasks (ns).
func (s *slot) ask(last uint64, wait, tasks int64) {
	w := Wait{Node: s.barrier, Seat: s.seat, Reason: AtBarrier, From: s.at, To: last, T: wait, tasks: s.tasks}
	s.offCore.Ask(w)
	if s.leave != 0 {
		w.Reason, w.From, w.To, w.T = Completing, last, s.leave, max(0, int64(s.leave-last)-tasks)
		s.offCore.Ask(w)
	}
}

// blameOffCore notes which part of another thread's wait (ns) is due to the last thread's time off
// its core. That is how much longer the last thread was off its core than the waiting thread, since
// they were last together.
func (x *instance) blameOffCore(last, s *slot, wait int64) {
	d := profile.OffCore{T: wait,
		Asleep:    last.off.Asleep - s.off.Asleep,
		Late:      last.off.Late - s.off.Late,
		Preempted: last.off.Preempted - s.off.Preempted}
	fit(&d)
	x.due.Add(d)
}

// chargeOffCore charges the last thread with the others' waits that are due to its time off its
// core (blameOffCore).
func (x *instance) chargeOffCore(l *slot) {
	var by []profile.Share
	off := l.offCore.sum(l.since, l.at, &by)
	s := schedAt(l.from, l.seat)
	part := 0.0
	if ready := off.Ready(); ready > 0 {
		part = min(1, float64(x.due.Ready())/float64(ready))
	}
	x.due.Foreign, x.due.Moves = int64(float64(off.Foreign)*part), off.Moves
	s.Due.Add(x.due)
	addDue(s, by, part)
}

// blameOffCore charges a lock's holder with another thread's wait d for the lock (ns). It divides d
// in proportion to what the scheduler did with the holder between from and to, when the holder had
// the lock.
func (u *Use) blameOffCore(from, to uint64, d int64) {
	if d <= 0 || from >= to {
		return
	}
	var by []profile.Share
	off := u.offCore.sum(from, to, &by)
	part := float64(d) / float64(to-from)
	off.Scale(part)
	off.T = d
	fit(&off)
	s := schedAt(u.Node, u.Seat)
	s.Held.Add(off)
	addDue(s, by, part)
}

// addDue adds a part of the times in which rivals had the core.
func addDue(s *profile.Sched, by []profile.Share, part float64) {
	for _, b := range by {
		if b.T = int64(float64(b.T) * part); b.T > 0 {
			s.DueBy = profile.AddShare(s.DueBy, b)
		}
	}
}
