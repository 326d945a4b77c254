package attribution

// Where probes take most of a thread's time, the thread goes at the pace of the probes and not at
// its own. Nothing follows from such a time for times without probes.

// notePace follows a thread's pace at a hit.
func (st *stacks) notePace(t *thread, at uint64, cost int64) {
	dense := t.pace.Hit(at, cost)
	if dense == 0 {
		return
	}
	st.tree.Root.Present(t.row).Dense += dense
	for i := len(t.stack) - 1; i >= 0; i-- {
		if f := &t.stack[i]; f.team != nil && f.node.IsRegion() {
			f.node.Present(f.row).Dense += dense
			return
		}
	}
}
