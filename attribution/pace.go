package attribution

// Where probes take most of a thread's time, the thread shows the probes' pace and
// not its own: nothing follows from that for times without probes.

const (
	// paceBlock is the time (ns) of a thread over which its pace is looked at. A
	// storm that is shorter takes little of a period, whose end hardly cuts any.
	paceBlock = 1e6
	// paceGap (ns) is the most that counts of the time between two hits: in longer
	// ones the thread may have had no core.
	paceGap = paceBlock / 2
	// paceShare of a block is what probes may take at most for the rest of the block
	// to show the program's own pace: the error of the rest is that of the costs then.
	paceShare = 0.5
)

// pace follows what share of a thread's time its probes take.
type pace struct {
	last uint64 // hit
	time int64  // of the block so far, ns
	paid int64  // in the block, ns
}

// hit adds a hit. It answers what the probes took of a block that is over in which
// they took too much, else 0.
func (p *pace) hit(at uint64, cost int64) (dense int64) {
	p.time += min(span(p.last, at), paceGap)
	p.last = at
	p.paid += cost
	if p.time < paceBlock {
		return 0
	}
	if float64(p.paid) > paceShare*float64(p.time) {
		dense = p.paid
	}
	p.time, p.paid = 0, 0
	return dense
}

// notePace follows a thread's pace at a hit.
func (e *Engine) notePace(t *thread, at uint64, cost int64) {
	dense := t.pace.hit(at, cost)
	if dense == 0 {
		return
	}
	e.root.present(t.row).dense += dense
	for i := len(t.stack) - 1; i >= 0; i-- {
		if f := &t.stack[i]; f.team != nil && f.node.isRegion() {
			f.node.present(f.row).dense += dense
			return
		}
	}
}

// spread tells how a row's executions at a node are spread over those of the
// region around: where one of these has most of them, the others tell nothing of
// those that were not observed.
type spread struct {
	until   uint64  // executions up to the end of the region's latest execution
	squares float64 // of the executions in each of the region's, summed
}

// spreadUntil is a row's spread if the region's current execution ended now.
func (n *node) spreadUntil(row int) (x spread) {
	if row < len(n.spreads) {
		x = n.spreads[row]
	}
	if row < len(n.stats) {
		d := float64(n.stats[row].Exec.C - x.until)
		x.until, x.squares = n.stats[row].Exec.C, x.squares+d*d
	}
	return x
}

// noteSpread notes that an execution of a region is over for a row.
func (n *node) noteSpread(row int) {
	for _, c := range n.children {
		if c.isRegion() {
			continue
		}
		if row < len(c.stats) {
			for len(c.spreads) <= row {
				c.spreads = append(c.spreads, spread{})
			}
			c.spreads[row] = c.spreadUntil(row)
		}
		c.noteSpread(row)
	}
}
