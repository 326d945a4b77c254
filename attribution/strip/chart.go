package strip

import (
	"slices"

	"ompp-attach/profile"
)

// mostRows bounds the threads that are followed. Each takes 100 KiB at most.
const mostRows = 256

// Chart holds the rows of a process's threads.
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
		c.off = *newRow(0, began)
		c.byTID = map[uint32]*Row{}
	}
	r := newRow(tid, c.began)
	c.rows, c.byTID[tid] = append(c.rows, r), r
	return r
}

// Off notes that measurement was switched off between two moments (ns).
func (c *Chart) Off(a, b uint64) {
	if len(c.rows) > 0 && a < b {
		c.off.move(None, Work, a, b, int64(b-a))
	}
}

// Profile returns the strip for the profile, up to the time end (ns). threads are the profile's. The
// result is nil if no thread was followed.
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
		r := r.settled()
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

// settled returns a row in which no bin holds more time than its length. A noted execution stands
// for others, so a bin may hold too much time, or a negative one. The difference is moved to the
// bins behind it, up to the length of mostMoved bins.
func (r *Row) settled() *Row {
	r = &Row{TID: r.TID, shift: r.shift, cells: slices.Clone(r.cells)}
	width := int64(1) << r.shift
	var moved [numStates]int64
	for at := 0; at < len(r.cells); at += int(numStates) {
		c, sum := r.cells[at:at+int(numStates)], int64(0)
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
	return r
}

const mostMoved = 8

// Bins returns how long a thread was in each state in each bin (ns), by the notes alone: no bin is
// settled. width is the length of a bin (ns).
func (c *Chart) Bins(tid uint32) (bins []map[profile.State]int64, width uint64) {
	r := c.byTID[tid]
	if r == nil {
		return nil, 0
	}
	for at := 0; at < len(r.cells); at += int(numStates) {
		bin := map[profile.State]int64{}
		for s := Work; s < numStates; s++ {
			bin[names[s]] = r.cells[at+int(s)]
		}
		bins = append(bins, bin)
	}
	return bins, 1 << r.shift
}

// shares returns a state's share of each bin in 255ths. Trailing bins without the state are left
// out. The result is nil if no bin has the state.
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
