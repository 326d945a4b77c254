package strip

import (
	"slices"

	"ompp-attach/profile"
)

// mostThreads bounds the threads that are followed. Each takes 100 KiB at most.
const mostThreads = 256

// Chart holds the rows of a process's threads.
type Chart struct {
	began   uint64
	threads []*Thread
	byTID   map[uint32]*Thread
	more    int  // threads that are not followed
	Full    bool // no further thread is followed
	off     Thread
}

// Thread returns what is noted of a new thread; nil: there are too many. began is when the
// measurement began (engine's clock, ns). The first call decides.
func (c *Chart) Thread(tid uint32, began uint64) *Thread {
	if t := c.byTID[tid]; t != nil { // it went on after a pause, or another thread had the number
		return t
	}
	if c.Full || len(c.threads) >= mostThreads {
		c.more++
		return nil
	}
	if len(c.threads) == 0 {
		c.began = began
		c.off = *newThread(0, began)
		c.byTID = map[uint32]*Thread{}
	}
	t := newThread(tid, c.began)
	c.threads, c.byTID[tid] = append(c.threads, t), t
	return t
}

// Off notes that measurement was switched off between two moments (ns).
func (c *Chart) Off(a, b uint64) {
	if len(c.threads) > 0 && a < b {
		c.off.move(None, Work, a, b, int64(b-a))
	}
}

// Profile returns the strip for the profile, up to the time end (ns). threads are the profile's.
// The result is nil if no thread was followed.
func (c *Chart) Profile(threads []profile.Thread, end uint64) *profile.Strip {
	if len(c.threads) == 0 || end <= c.began {
		return nil
	}
	all := append([]*Thread{&c.off}, c.threads...)
	shift := uint8(firstShift)
	for (end-1-c.began)>>shift >= bins {
		shift++
	}
	for _, t := range all {
		shift = max(shift, t.shift)
	}
	used := int((end-1-c.began)>>shift) + 1
	for _, t := range all {
		for t.shift < shift {
			t.double()
		}
		used = max(used, len(t.cells)/int(numStates))
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
	for _, t := range c.threads {
		t := t.fitted()
		row := profile.StripRow{TID: int(t.TID), Thread: -1}
		if i, ok := seats[row.TID]; ok {
			row.Thread = i
		}
		for s := Work; s < numStates; s++ {
			if shares := t.shares(s); shares != nil {
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

// fitted returns a thread in which no bin holds more time than its length. A noted execution stands
// for others, so a bin may hold too much time, or a negative one. The difference is moved to the
// bins behind it, up to the length of mostMoved bins.
func (t *Thread) fitted() *Thread {
	t = &Thread{TID: t.TID, shift: t.shift, cells: slices.Clone(t.cells)}
	width := int64(1) << t.shift
	var moved [numStates]int64
	for at := 0; at < len(t.cells); at += int(numStates) {
		c, sum := t.cells[at:at+int(numStates)], int64(0)
		for s := Work; s < numStates; s++ {
			moved[s] += c[s]
			c[s] = max(moved[s], 0)
			sum += c[s]
		}
		for s := Work; s < numStates; s++ {
			if sum > width {
				c[s] = int64(float64(c[s]) * float64(width) / float64(sum))
			}
			moved[s] = max(-mostMoved*width, min(moved[s]-c[s], mostMoved*width))
		}
	}
	return t
}

const mostMoved = 8

// Bins returns how long a thread was in each state in each bin (ns), by the notes alone: no bin is
// fitted. width is the length of a bin (ns).
func (c *Chart) Bins(tid uint32) (bins []map[profile.State]int64, width uint64) {
	t := c.byTID[tid]
	if t == nil {
		return nil, 0
	}
	for at := 0; at < len(t.cells); at += int(numStates) {
		bin := map[profile.State]int64{}
		for s := Work; s < numStates; s++ {
			bin[names[s]] = t.cells[at+int(s)]
		}
		bins = append(bins, bin)
	}
	return bins, 1 << t.shift
}

// shares returns a state's share of each bin in 255ths. Trailing bins without the state are left
// out. The result is nil if no bin has the state.
func (t *Thread) shares(s State) []byte {
	width := int64(1) << t.shift
	out := make([]byte, len(t.cells)/int(numStates))
	for i := range out {
		d := min(max(t.cells[i*int(numStates)+int(s)], 0), width)
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
