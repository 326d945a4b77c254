package collect

import (
	"errors"
	"fmt"
	"time"

	"ompp-attach/attribution"
	"ompp-attach/calibration"
)

// costing is what probe hits cost here, once that is known.
type costing struct {
	done  chan struct{}
	costs *calibration.Costs
	err   error // why it is not known
}

// calibrate finds out what hits cost, on a program of the tool's own, while the
// files of the measured one are read. Nobody may read the rings before it is over.
func (m *Measurement) calibrate() {
	m.costing.done = make(chan struct{})
	go func() {
		defer close(m.costing.done)
		begin := time.Now()
		m.costing.costs, m.costing.err = calibration.Measure(m.kernel)
		if m.costing.err != nil {
			return
		}
		m.logf("calibrated in %s: %+v", time.Since(begin).Round(time.Microsecond), *m.costing.costs)
	}()
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
func (m *Measurement) overhead(o *attribution.Overhead) *attribution.Overhead {
	if o == nil {
		o = &attribution.Overhead{}
	}
	o.Mode = m.kernel.Mode().String()
	if _, err := m.Costs(); err != nil {
		o.Failed = fmt.Sprintf("It is not known what the probes cost: %v.", err)
	}
	return o
}
