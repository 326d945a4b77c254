package collect

import (
	"errors"
	"fmt"
	"time"

	"ompp-attach/bpf"
	"ompp-attach/calibration"
	"ompp-attach/collect/advice"
	"ompp-attach/profile"
)

// costing is what probe hits cost on this machine, once that is known.
type costing struct {
	done    chan struct{}
	costs   *calibration.Costs
	err     error // why the costs are not known
	pending bool  // calibration is not over; guarded by Measurement.mu
}

// calibrate begins to measure what hits cost, on a program of the tool's own. Meanwhile the files
// of the measured process are read, and its probes placed. The engines get no events until
// calibration is over; records are set aside meanwhile.
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

// costsFound ends calibration: from now on the engines get events.
func (m *Measurement) costsFound(c *calibration.Costs, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.costing.costs, m.costing.err, m.costing.pending = c, err, false
	for _, p := range m.procs {
		m.tellCosts(p)
	}
}

// tellCosts tells an engine what hits cost, if that is known, so that it can take the cost out of
// times. The engine must not have had an event yet. Measurement.mu is held.
func (m *Measurement) tellCosts(p *Process) {
	c := &m.costing
	if c.pending || c.costs == nil {
		return
	}
	table := c.costs.Table()
	if m.budget == nil { // a budget deals with storms itself
		p.rates = advice.NewRates(&table)
	} else {
		p.engine.Budgeted()
	}
	p.engine.Costs(table)
	if p.recorder != nil {
		p.recorder.Stream.Costs = table
	}
}

// asideBytes is how much of each ring is set aside at most. A processor that does nothing but reach
// probes writes 100 MB a second, and the slowest way to calibrate takes less than half a second.
const asideBytes = 64 << 20

// setAside makes room in the rings while calibration is under way; mu is held.
func (m *Measurement) setAside() error {
	for _, r := range m.rings {
		if err := r.SetAside(asideBytes); err != nil {
			return err
		}
	}
	return nil
}

// Costs returns what a probe hit costs a thread on this machine, or an error that says why that is
// not known. It waits until calibration is over.
func (m *Measurement) Costs() (*calibration.Costs, error) {
	if m.costing.done == nil {
		return nil, errors.New("not measured")
	}
	<-m.costing.done
	return m.costing.costs, m.costing.err
}

// overhead adds to a process's counts of hits, which may be nil, how the probes were attached, and
// why their cost is not known.
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

// Calibrate measures what probe hits cost on this machine, without measuring any process.
func Calibrate() (*calibration.Costs, error) {
	k, err := bpf.LoadProbes(bpf.Session)
	if err != nil {
		return nil, fmt.Errorf("measure what probes cost: %w", err)
	}
	defer k.Close()
	return calibration.Measure(k)
}
