package collect

// The kernel side folds executions, and writes the sum when the thread has something else to
// report. So at a time where records are cut, no sum may reach across the cut.

// hold keeps threads from folding until letFold: all that was folded ended before any time that is
// read after the call.
func (c *common) hold() {
	if err := c.kernel.HoldFolds(); err != nil {
		c.logf("%v", err)
	}
}

// letFold undoes hold: all that is folded from now on begins after any time that was read before
// the call.
func (c *common) letFold() {
	if err := c.kernel.LetFold(); err != nil {
		c.logf("%v", err)
	}
}

// writeFolds makes the kernel side write what the threads of a process have folded. The process's
// probes must be gone, or the process be stopped.
func (c *common) writeFolds(p *Process, stopped bool) {
	if err := c.kernel.SettleFolds(int(p.pid), stopped); err != nil {
		c.logf("process %d: %v", p.pid, err)
	}
}

// Trace makes the kernel side report every hit by a record of its own: nothing is folded any more,
// and no edge is derived.
func (c *common) Trace() {
	c.hold()
	c.ExactEdges()
}

// ExactEdges makes the kernel side report the begin, the end of a barrier and the join of every
// execution, also of short and frequent ones. They are not derived then.
func (c *common) ExactEdges() {
	if err := c.kernel.ArmAll(); err != nil {
		c.logf("%v", err)
	}
}
