// Package strip records over time in which state each thread of the operating system is. A thread's
// time is cut into bins. When all bins are used, each two neighbours become one bin. A bin is then
// twice as long, and half of the bins are free again. Memory does not grow with time.
//
// A state is noted when its execution ends, and the time is taken from the state of the region
// around. A region inside ends before the region around it does. So a bin may be negative until the
// region around has ended.
//
// The cost of a strip must be small beside the engine's other work for an execution. So not every
// short execution is noted. A noted one also stands for the executions that were skipped before it.
package strip

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// State is what a thread does.
type State uint8

// The states. None is the time outside of every execution that is noted.
const (
	None State = iota
	Work
	Barrier
	Lock
	MPI
	Runtime
	numStates
)

// names are the states' names in the profile.
var names = [numStates]profile.State{Work: profile.StateWork, Barrier: profile.StateBarrier, Lock: profile.StateLock,
	MPI: profile.StateMPI, Runtime: profile.StateRuntime}

// Bounds.
const (
	bins       = 2048
	exact      = 1024 // short executions of a thread that are all noted
	firstShift = 18   // a bin is 2^18 ns long at first
	// The time that a chooser aims at between two notes: 2^firstPause ns at first, and later a
	// share 2^-perBin of a bin. Executions that are longer than that are all noted.
	firstPause  = 17
	perBin      = 6
	mostStride  = 512
	numChoosers = 8
)

// Thread is a thread of the operating system. A nil *Thread stands for a thread that is not
// followed.
type Thread struct {
	TID      uint32
	first    uint32 // number of short executions that are still noted without skipping any
	brief    uint64 // an execution below this length is short, ns
	choosers [numChoosers]chooser

	began uint64
	shift uint8
	cells []int64 // ns: numStates for each bin that was reached
}

// chooser chooses which short executions of a few constructs are noted. Executions of one construct
// are mostly alike. So a choice by construct is closer to the truth than one among all executions.
type chooser struct {
	skip   uint32 // number of executions to skip before the next one is noted
	stands uint32 // number of executions that the next noted one stands for
	stride uint32 // the mean of stands
	random uint32
	noted  uint64 // end of the latest execution that was noted, ns
}

func newThread(tid uint32, began uint64) *Thread {
	t := &Thread{TID: tid, began: began, shift: firstShift, first: exact}
	for i := range t.choosers {
		t.choosers[i] = chooser{stands: 1, stride: 1, random: tid, noted: began}
	}
	t.pace()
	return t
}

// pace sets the length below which an execution is short.
func (t *Thread) pace() { t.brief = 1 << max(firstPause, t.shift-perBin) }

// Due tells whether an execution of a construct is to be noted (Thread.Note). took is the
// execution's length, ns.
func (t *Thread) Due(c event.Construct, took uint64) bool {
	if t == nil {
		return false
	}
	if l := &t.choosers[c%numChoosers]; took < t.brief && l.skip > 0 {
		l.skip--
		return false
	}
	return true
}

// Note is a noted execution, which may stand for others as well.
type Note struct {
	thread       *Thread
	times        int64
	since, until uint64 // the times between which these executions lay, ns
}

// Note notes an execution of a construct that is due, from one time to another (ns).
func (t *Thread) Note(c event.Construct, from, to uint64) Note {
	n := Note{t, 1, from, to}
	if to-from >= t.brief {
		return n
	}
	l := &t.choosers[c%numChoosers]
	n.times = int64(l.stands)
	n.since = min(l.noted, from)
	if t.first > 0 {
		t.first--
	} else {
		l.adapt(to, t.brief)
	}
	l.noted = max(l.noted, to)
	return n
}

// adapt decides how many short executions are skipped before the next one is noted. The aim is one
// note in each pause (ns). The number is random: a loop over several executions would otherwise
// have the same one noted each time.
func (l *chooser) adapt(now, pause uint64) {
	switch since := now - min(l.noted, now); {
	case since < pause/2 && l.stride < mostStride:
		l.stride *= 2
	case since > 2*pause && l.stride > 1:
		l.stride /= 2
	}
	l.stands = 1
	if l.stride > 1 {
		l.random = l.random*1664525 + 1013904223 // Numerical Recipes
		l.stands = l.stride/2 + (l.random>>16)%(l.stride+1)
	}
	l.skip = l.stands - 1
}

// Move takes the time between two moments (ns) from one state to another one.
func (n *Note) Move(from, to State, a, b uint64) {
	if a < b {
		n.Spread(from, to, a, b, int64(b-a))
	}
}

// Spread takes a time d from one state to another one. It is known only that the time lay between
// two moments, so each bin gets its share.
func (n *Note) Spread(from, to State, a, b uint64, d int64) {
	if from == to || d <= 0 {
		return
	}
	if n.times > 1 {
		a, b, d = n.since, n.until, d*n.times
	}
	n.thread.move(from, to, a, max(b, a+1), d)
}

// move takes a time d, which lay between two moments, from one state to another one.
func (t *Thread) move(from, to State, a, b uint64, d int64) {
	if a >= t.began {
		i := int((a - t.began) >> t.shift)
		if at := i * int(numStates); i == int((b-t.began)>>t.shift) && at < len(t.cells) {
			c := t.cells[at : at+int(numStates)]
			c[from] -= d
			c[to] += d
			return
		}
	}
	t.moveFar(from, to, a, b, d)
}

func (t *Thread) moveFar(from, to State, a, b uint64, d int64) {
	a, b = max(a, t.began)-t.began, max(b, t.began)-t.began
	if a >= b {
		return
	}
	for (b-1)>>t.shift >= bins {
		t.double()
	}
	if n := (int((b-1)>>t.shift) + 1) * int(numStates); n > len(t.cells) {
		t.cells = append(t.cells, make([]int64, n-len(t.cells))...)
	}
	per := float64(d) / float64(b-a)
	for left := d; left > 0; {
		i := a >> t.shift
		end := min((i+1)<<t.shift, b)
		part := min(int64(per*float64(end-a)+0.5), left)
		if end == b {
			part = left
		}
		t.cells[i*uint64(numStates)+uint64(from)] -= part
		t.cells[i*uint64(numStates)+uint64(to)] += part
		left -= part
		a = end
	}
}

// double makes the bins twice as long.
func (t *Thread) double() {
	const n = int(numStates)
	half := (len(t.cells)/n + 1) / 2
	for i := range half {
		for s := range n {
			sum := t.cells[2*i*n+s]
			if second := (2*i + 1) * n; second < len(t.cells) {
				sum += t.cells[second+s]
			}
			t.cells[i*n+s] = sum
		}
	}
	t.cells = t.cells[:half*n]
	t.shift++
	t.pace()
}
