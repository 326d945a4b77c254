package collect

import (
	"errors"
	"fmt"
	"time"

	"ompp-attach/calibration"
	"ompp-attach/collect/advice"
	"ompp-attach/profile"
)

// costing is what probe hits cost on this machine, once that is known.
type costing struct {
	done    chan struct{}
	costs   *calibration.Costs
	err     error // why the costs are not known
	pending bool  // calibration is not over; guarded by reader.mu
}

// calibrate begins to measure what hits cost, on a program of the tool's own. Meanwhile the files
// of the measured process are read, and its probes placed. The engines get no events until
// calibration is over; records are set aside meanwhile.
func (rd *reader) calibrate() {
	rd.costing.done, rd.costing.pending = make(chan struct{}), true
	go func() {
		defer close(rd.costing.done)
		begin := time.Now()
		c, err := calibration.Measure(rd.kernel)
		if err != nil {
			rd.logf("%v", err)
		} else {
			rd.logf("calibrated in %s: %+v", time.Since(begin).Round(time.Microsecond), *c)
		}
		rd.costsFound(c, err)
	}()
}

// costsFound ends calibration: from now on the engines get events.
func (rd *reader) costsFound(c *calibration.Costs, err error) {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	rd.costing.costs, rd.costing.err, rd.costing.pending = c, err, false
	for _, p := range rd.procs {
		rd.tellCosts(p)
	}
}

// tellCosts tells an engine what hits cost, if that is known, so that it can take the cost out of
// times. The engine must not have had an event yet. reader.mu is held.
func (rd *reader) tellCosts(p *Process) {
	c := &rd.costing
	if c.pending || c.costs == nil {
		return
	}
	table := c.costs.Table()
	if rd.budget == nil { // a budget deals with storms itself
		p.rates = advice.NewRates(&table)
		p.rates.Function = func(fn uint64) (name, without string) {
			f, _ := p.resolver.User.LevelFunction(fn)
			if f.Name == "" {
				return "", ""
			}
			return f.Level + ": " + f.Name, f.Without
		}
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

// setAside makes room in the rings while calibration is under way; reader.mu is held.
func (rd *reader) setAside() error {
	for _, r := range rd.rings {
		if err := r.SetAside(asideBytes); err != nil {
			return err
		}
	}
	return nil
}

// Costs returns what a probe hit costs a thread on this machine, or an error that says why that is
// not known. It waits until calibration is over.
func (m *Measurement) Costs() (*calibration.Costs, error) { return m.reader.costing.wait() }

// wait waits until calibration is over, and returns its outcome.
func (c *costing) wait() (*calibration.Costs, error) {
	if c.done == nil {
		return nil, errors.New("not measured")
	}
	<-c.done
	return c.costs, c.err
}

// overhead adds to a process's counts of hits, which may be nil, how the probes were attached, and
// why their cost is not known.
func (rd *reader) overhead(o *profile.Overhead) *profile.Overhead {
	if o == nil {
		o = &profile.Overhead{}
	}
	o.Mode = rd.kernel.Mode().String()
	c, err := rd.costing.wait()
	if err != nil {
		o.Failed = fmt.Sprintf("It is not known what the probes cost: %v.", err)
	} else if x := c.Crowd.Times(); x > 1 {
		o.Threads, o.Times = c.Crowd.Threads, x
	}
	return o
}
