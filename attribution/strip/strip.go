// Package strip follows in which state each thread of the operating system is, over time. A thread's
// time is cut into bins. When all bins are used up, neighbours are added up, so that a bin is twice
// as long and half of the bins are free again. Memory does not grow with time.
//
// A state is noted when its execution ends, and moved away from the state around: what a region
// holds comes before the region itself. So a bin may be negative until the region around has ended.
//
// What a strip costs must not show beside what the engine does for an execution. So of many short
// executions one stands for all since the one before that was noted.
package strip

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// State is what a thread does.
type State uint8

// The states. None is the time outside of all that is followed.
const (
	None State = iota
	Work
	Barrier
	Lock
	MPI
	Runtime
	numStates
)

// names are the states as the profile has them.
var names = [numStates]profile.State{Work: profile.StateWork, Barrier: profile.StateBarrier, Lock: profile.StateLock,
	MPI: profile.StateMPI, Runtime: profile.StateRuntime}

// Bounds.
const (
	bins       = 2048
	exact      = 1024 // short executions of a thread that are all noted
	firstShift = 18   // a bin is 2^18 ns long at first
	// How long it is, mostly, between two notes of a lane: 2^17 ns at first, and later 1/64 of a bin.
	// Executions that are longer are all noted.
	firstPause = 17
	perBin     = 6
	mostStride = 512
	lanes      = 8
)

// Row is a thread. A nil *Row stands for a thread that is not followed.
type Row struct {
	TID   uint32
	first uint32 // how many short executions are noted yet whatever comes
	brief uint64 // an execution that is shorter is short, ns
	lanes [lanes]lane

	began uint64
	shift uint8
	cells []int64 // ns: numStates for each bin that was reached
}

// lane is short executions of some constructs. Those of one construct are mostly alike. So a few of
// them tell more than as many of all.
type lane struct {
	skip   uint32 // how many pass until one is noted
	stands uint32 // for how many that one stands
	stride uint32 // the mean of stands
	random uint32
	noted  uint64 // when one ended that was noted, the latest, ns
}

func newRow(tid uint32, began uint64) *Row {
	r := &Row{TID: tid, began: began, shift: firstShift, first: exact}
	for i := range r.lanes {
		r.lanes[i] = lane{stands: 1, stride: 1, random: tid, noted: began}
	}
	r.pace()
	return r
}

// pace finds how long a short execution is.
func (r *Row) pace() { r.brief = 1 << max(firstPause, r.shift-perBin) }

// Due tells whether an execution of a construct that took a time (ns) is to be noted, by Note.
func (r *Row) Due(c event.Construct, took uint64) bool {
	if r == nil {
		return false
	}
	if l := &r.lanes[c%lanes]; took < r.brief && l.skip > 0 {
		l.skip--
		return false
	}
	return true
}

// Note is an execution that is noted, for some others, too.
type Note struct {
	row          *Row
	times        int64
	since, until uint64 // when these executions were
}

// Note notes an execution of a construct that is due, from one time to another (ns).
func (r *Row) Note(c event.Construct, from, to uint64) Note {
	n := Note{r, 1, from, to}
	if to-from >= r.brief {
		return n
	}
	l := &r.lanes[c%lanes]
	n.times = int64(l.stands)
	n.since = min(l.noted, from)
	if r.first > 0 {
		r.first--
	} else {
		l.adapt(to, r.brief)
	}
	l.noted = max(l.noted, to)
	return n
}

// adapt decides how many short executions pass until the next one is noted, so that it is about a time
// (ns). They are a random number, so that a loop with several executions has each of them noted as often.
func (l *lane) adapt(now, pause uint64) {
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
	n.row.move(from, to, a, max(b, a+1), d)
}

// move takes a time d, which lay between two moments, from one state to another one.
func (r *Row) move(from, to State, a, b uint64, d int64) {
	if a >= r.began {
		i := int((a - r.began) >> r.shift)
		if at := i * int(numStates); i == int((b-r.began)>>r.shift) && at < len(r.cells) {
			c := r.cells[at : at+int(numStates)]
			c[from] -= d
			c[to] += d
			return
		}
	}
	r.moveFar(from, to, a, b, d)
}

func (r *Row) moveFar(from, to State, a, b uint64, d int64) {
	a, b = max(a, r.began)-r.began, max(b, r.began)-r.began
	if a >= b {
		return
	}
	for (b-1)>>r.shift >= bins {
		r.double()
	}
	if n := (int((b-1)>>r.shift) + 1) * int(numStates); n > len(r.cells) {
		r.cells = append(r.cells, make([]int64, n-len(r.cells))...)
	}
	per := float64(d) / float64(b-a)
	for left := d; left > 0; {
		i := a >> r.shift
		end := min((i+1)<<r.shift, b)
		part := min(int64(per*float64(end-a)+0.5), left)
		if end == b {
			part = left
		}
		r.cells[i*uint64(numStates)+uint64(from)] -= part
		r.cells[i*uint64(numStates)+uint64(to)] += part
		left -= part
		a = end
	}
}

// double makes the bins twice as long.
func (r *Row) double() {
	const n = int(numStates)
	half := (len(r.cells)/n + 1) / 2
	for i := range half {
		for s := range n {
			sum := r.cells[2*i*n+s]
			if second := (2*i + 1) * n; second < len(r.cells) {
				sum += r.cells[second+s]
			}
			r.cells[i*n+s] = sum
		}
	}
	r.cells = r.cells[:half*n]
	r.shift++
	r.pace()
}
