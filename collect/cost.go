package collect

import (
	"errors"
	"fmt"
	"time"

	"ompp-attach/calibration"
	"ompp-attach/profile"
)

// costing is what probe hits cost here, once that is known.
type costing struct {
	done    chan struct{}
	costs   *calibration.Costs
	err     error // why it is not known
	pending bool  // neither is known yet; guarded by Measurement.mu
}

// calibrate finds out what hits cost, on a program of the tool's own, while the
// files of the measured one are read and its probes placed. Until it is over the
// engines get no events: what comes meanwhile is set aside.
func (m *Measurement) calibrate() {
	m.costing.done, m.costing.pending = make(chan struct{}), true
	go func() {
		defer close(m.costing.done)
		begin := time.Now()
		c, err := calibration.Measure(m.kernel)
		if err != nil {
			m.logf("%v", err)
		} else {
			m.logf("calibrated in %s: %+v", time.Since(begin).Round(time.Microsecond), *c)
		}
		m.costsFound(c, err)
	}()
}

// costsFound lets the engines have events from here on.
func (m *Measurement) costsFound(c *calibration.Costs, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.costing.costs, m.costing.err, m.costing.pending = c, err, false
	for _, p := range m.procs {
		m.tellCosts(p)
	}
}

// tellCosts lets a process's engine take out what hits cost, if that is known; it
// has had no event yet. Measurement.mu is held.
func (m *Measurement) tellCosts(p *Process) {
	c := &m.costing
	if c.pending || c.costs == nil {
		return
	}
	table := c.costs.Table()
	if m.budget == nil { // which takes care of that
		p.rates = newRates(&table)
	} else {
		p.engine.Budgeted()
	}
	p.engine.Costs(table)
	if p.recorder != nil {
		p.recorder.Stream.Costs = table
	}
}

// asideBytes is how much of each ring is set aside at most: a processor writes
// 100 MB a second if it does nothing but reach probes, and the slowest way to
// calibrate takes less than half of one.
const asideBytes = 64 << 20

// setAside makes room in the rings before it is known what hits cost; mu is held.
func (m *Measurement) setAside() error {
	for _, r := range m.rings {
		if err := r.SetAside(asideBytes); err != nil {
			return err
		}
	}
	return nil
}

// Costs returns what a probe hit costs a thread on this machine, or why that is
// not known. It waits until it has been measured.
func (m *Measurement) Costs() (*calibration.Costs, error) {
	if m.costing.done == nil {
		return nil, errors.New("not measured")
	}
	<-m.costing.done
	return m.costing.costs, m.costing.err
}

// overhead adds to a process's hits by kind how it is known what they cost.
func (m *Measurement) overhead(o *profile.Overhead) *profile.Overhead {
	if o == nil {
		o = &profile.Overhead{}
	}
	o.Mode = m.kernel.Mode().String()
	if _, err := m.Costs(); err != nil {
		o.Failed = fmt.Sprintf("It is not known what the probes cost: %v.", err)
	}
	return o
}
