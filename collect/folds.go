package collect

// The kernel side adds up executions, and tells of them when their thread has
// something else to tell. So times at which records are cut must find nothing
// folded across them.

// hold keeps threads from folding until letFold: what is folded has ended before
// a time that is taken after the call.
func (m *Measurement) hold() {
	if err := m.kernel.HoldFolds(); err != nil {
		m.logf("%v", err)
	}
}

// letFold undoes hold: what is folded begins after a time that was taken before.
func (m *Measurement) letFold() {
	if err := m.kernel.LetFold(); err != nil {
		m.logf("%v", err)
	}
}

// settleFolds lets the threads of a process write what they have folded: its
// probes are gone, or it is stopped.
func (m *Measurement) settleFolds(p *Process, stopped bool) {
	if err := m.kernel.SettleFolds(int(p.pid), stopped); err != nil {
		m.logf("process %d: %v", p.pid, err)
	}
}

// Trace makes the kernel side report every hit by itself.
func (m *Measurement) Trace() { m.hold() }
