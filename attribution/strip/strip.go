// Package strip follows in which state each thread of the operating system is, over time. A thread's
// time is cut into bins. When all bins are used up, neighbours are added up, so that a bin is twice
// as long and half of the bins are free again. Memory does not grow with time.
//
// A state is noted when its execution ends, and moved away from the state around: what a region
// holds comes before the region itself. So a bin may be negative until the region around has ended.
package strip

import "ompp-attach/profile"

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

// Bounds of the memory: 80 KiB for each of mostRows threads.
const (
	bins       = 2048
	mostRows   = 256
	exact      = 4096 // short executions of a thread that are all noted
	firstShift = 18   // a bin is 2^18 ns long at first
)

// Row is a thread. A nil *Row stands for a thread that is not followed.
type Row struct {
	TID   uint32
	began uint64
	shift uint8
	cells []int64 // ns: numStates for each bin that was reached

	// Of short executions: how many are to pass until one is noted, how many have passed, and how
	// often one was noted.
	stride, skip, next uint8
	short              uint16 // how many there were, up to exact
}

// strides are how many short executions pass for one that is noted. They vary, so that a loop with
// several constructs has each of them noted.
var strides = [8]uint8{11, 17, 13, 19, 7, 16, 23, 10}

// Weight tells for how many executions like it one of a length (ns) is to be noted; 0: it is not noted.
// Of those that a bin could hold more than 512 of, one in some is noted for all: what this
// adds to the cost of an execution must not show. The first short ones of a thread are all noted.
func (r *Row) Weight(length uint64) int64 {
	if r == nil || length<<9>>r.shift != 0 {
		return 1
	}
	if r.short < exact {
		r.short++
		return 1
	}
	if r.skip++; r.skip < r.stride {
		return 0
	}
	weight := int64(max(r.stride, 1))
	r.next++
	r.skip, r.stride = 0, strides[r.next%uint8(len(strides))]
	return weight
}

// Move takes the time between two moments (ns), so many times, from one state to another one.
func (r *Row) Move(from, to State, a, b uint64, times int64) {
	if r == nil || from == to || a >= b {
		return
	}
	if a >= r.began {
		i := int((a - r.began) >> r.shift)
		if at := i * int(numStates); i == int((b-r.began)>>r.shift) && at < len(r.cells) {
			c := r.cells[at : at+int(numStates)]
			c[from] -= int64(b-a) * times
			c[to] += int64(b-a) * times
			return
		}
	}
	r.moveFar(from, to, a, b, int64(b-a)*times)
}

// Spread takes a time d from one state to another one. It is known only that the time lay between
// two moments, so each bin gets its share.
func (r *Row) Spread(from, to State, a, b uint64, d int64) {
	if r == nil || from == to || d <= 0 {
		return
	}
	r.moveFar(from, to, a, max(b, a+1), d)
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
}

// Chart is a process.
type Chart struct {
	began uint64
	rows  []*Row
	byTID map[uint32]*Row
	more  int  // threads that are not followed
	Full  bool // no further thread is followed
	off   Row
}

// Row returns the row of a new thread; nil: there are too many. began is when the measurement began
// (engine's clock, ns). The first call decides.
func (c *Chart) Row(tid uint32, began uint64) *Row {
	if r := c.byTID[tid]; r != nil { // it went on after a pause, or another thread had the number
		return r
	}
	if c.Full || len(c.rows) >= mostRows {
		c.more++
		return nil
	}
	if len(c.rows) == 0 {
		c.began = began
		c.off = Row{began: began, shift: firstShift}
		c.byTID = map[uint32]*Row{}
	}
	r := &Row{TID: tid, began: c.began, shift: firstShift}
	c.rows, c.byTID[tid] = append(c.rows, r), r
	return r
}

// Off notes that measurement was switched off between two moments (ns).
func (c *Chart) Off(a, b uint64) {
	if len(c.rows) > 0 {
		c.off.Move(None, Work, a, b, 1)
	}
}

// Profile returns what the profile records, up to a time (ns). threads are the profile's; nil: nothing was
// followed.
func (c *Chart) Profile(threads []profile.Thread, end uint64) *profile.Strip {
	if len(c.rows) == 0 || end <= c.began {
		return nil
	}
	all := append([]*Row{&c.off}, c.rows...)
	shift := uint8(firstShift)
	for (end-1-c.began)>>shift >= bins {
		shift++
	}
	for _, r := range all {
		shift = max(shift, r.shift)
	}
	used := int((end-1-c.began)>>shift) + 1
	for _, r := range all {
		for r.shift < shift {
			r.double()
		}
		used = max(used, len(r.cells)/int(numStates))
	}
	seats := map[int]int{}
	for i := range threads {
		for _, tid := range threads[i].TIDs {
			if _, ok := seats[tid]; !ok {
				seats[tid] = i
			}
		}
	}
	p := &profile.Strip{Width: 1 << shift, Bins: used, More: c.more, Off: c.off.shares(Work)}
	for _, r := range c.rows {
		r.settle()
		row := profile.StripRow{TID: int(r.TID), Thread: -1}
		if i, ok := seats[row.TID]; ok {
			row.Thread = i
		}
		for s := Work; s < numStates; s++ {
			if shares := r.shares(s); shares != nil {
				if row.States == nil {
					row.States = map[profile.State][]byte{}
				}
				row.States[names[s]] = shares
			}
		}
		if row.States != nil {
			p.Rows = append(p.Rows, row)
		}
	}
	if len(p.Rows) == 0 {
		return nil
	}
	return p
}

// settle makes the states of a bin fill no more than the bin. A task in a barrier whose thread's arrival
// was not told would count twice, as would an execution whose region around was never charged.
func (r *Row) settle() {
	width := int64(1) << r.shift
	for at := 0; at < len(r.cells); at += int(numStates) {
		c, sum := r.cells[at:at+int(numStates)], int64(0)
		for s := Work; s < numStates; s++ {
			c[s] = max(c[s], 0)
			sum += c[s]
		}
		for s := Work; s < numStates && sum > width; s++ {
			c[s] = int64(float64(c[s]) * float64(width) / float64(sum))
		}
	}
}

// shares returns a state's share of each bin in 255ths, without the last bins that have none; nil:
// it has none at all.
func (r *Row) shares(s State) []byte {
	width := int64(1) << r.shift
	out := make([]byte, len(r.cells)/int(numStates))
	for i := range out {
		d := min(max(r.cells[i*int(numStates)+int(s)], 0), width)
		out[i] = byte((d*profile.WholeBin + width/2) / width)
	}
	n := len(out)
	for n > 0 && out[n-1] == 0 {
		n--
	}
	if n == 0 {
		return nil
	}
	return out[:n]
}
