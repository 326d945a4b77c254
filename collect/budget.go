package collect

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ompp-attach/attribution"
	"ompp-attach/collect/budget"
	"ompp-attach/collect/links"
	"ompp-attach/collect/target"
	"ompp-attach/collect/urgent"
	"ompp-attach/collect/user"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// limiter bounds the probes' cost: the share of each thread's time that the thread's hits take.
// Groups of constructs that cost most are observed in periods only. A nil limiter sets no bound.
type limiter struct {
	share    float64
	governor *budget.Governor
	told     bool // the user has been told that the budget cannot be kept

	// Guarded by reader.mu. removed is written only while placer.mu is held, too.
	removed [event.NumGroups]bool // groups whose probes are removed
	ledger  *budget.Ledger
	worst   float64 // the highest Governor.Worst
}

// SetBudget bounds what the probes cost each thread, as a share of the thread's time (0.05 is 5 %).
// It must be called before the measurement starts. It waits for calibration, and fails if the cost
// of hits is not known.
func (m *Measurement) SetBudget(share float64) error {
	costs, err := m.Costs()
	if err != nil {
		return fmt.Errorf("no budget can be kept: %w", err)
	}
	m.Trace() // the kernel side would report a folded sum too late
	m.budget = &limiter{share: share, governor: budget.NewGovernor(share), ledger: budget.NewLedger(costs.CrowdTable())}
	return nil
}

// keepBudget lets the governor decide from the costs, and carries out the decisions, until ctx
// ends.
func (m *Measurement) keepBudget(ctx context.Context) {
	b := m.budget
	m.reader.mu.Lock()
	b.ledger.Begin(ktime())
	m.reader.mu.Unlock()
	tick := time.NewTicker(b.governor.Interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		m.reader.mu.Lock()
		now := ktime()
		paid := b.ledger.Turn(now)
		m.reader.mu.Unlock()
		for _, d := range b.governor.Decide(now, paid) {
			m.carryOut(d)
		}
		if b.governor.Short && !b.told {
			b.told = true
			m.reader.warn("The budget of %.3g %% could not be kept: what is observed all of the time (parallel regions, teams, target constructs, MPI calls) costs more by itself.", 100*b.share)
		}
		if worst := b.governor.Worst(budget.Horizon); worst > b.worst {
			m.reader.mu.Lock()
			b.worst = worst
			m.reader.mu.Unlock()
		}
	}
}

// carryOut carries out a decision of the governor.
func (m *Measurement) carryOut(d budget.Decision) {
	begin := time.Now()
	name, _ := m.wanted.User.GroupName(d.Group)
	switch d.Do {
	case budget.Remove:
		m.placer.removeGroup(d.Group)
		m.logf("%s: no probes from here on, their cost exceeds the budget (%s)", name, time.Since(begin).Round(time.Microsecond))
	case budget.Place:
		m.placer.placeGroup(d.Group)
		m.logf("%s: probes placed again in %s", name, time.Since(begin).Round(time.Microsecond))
	case budget.NewPeriod:
		m.reader.mu.Lock()
		m.reader.observeAll(d.Group, attribution.Period)
		m.reader.mu.Unlock()
	}
}

// observeAll tells all engines of a change in the observation of a group, as of now. reader.mu is
// held, so that no later event has been fed yet.
func (rd *reader) observeAll(g event.Group, change attribution.Change) {
	now := ktime()
	for _, p := range rd.procs {
		if p.ended != 0 {
			continue
		}
		w := attribution.Switch{At: now, Of: g.Constructs(), Change: change}
		w.CPU, w.Delay = target.ThreadTimes(int(p.pid))
		p.observe(w)
	}
}

// observe tells the process's engine of a change in what is observed.
func (p *Process) observe(w attribution.Switch) {
	p.engine.Observe(w)
	if p.recorder != nil {
		p.recorder.Stream.Switches = append(p.recorder.Stream.Switches, w)
	}
}

// groups returns the probes of all processes that are placed by group; placer.mu is held.
func (pc *placer) groups() (all []*links.Groups) {
	pc.reader.mu.Lock()
	defer pc.reader.mu.Unlock()
	for _, p := range pc.reader.procs {
		for _, files := range []map[target.FileID]placed{p.placed, p.code} {
			for _, pl := range files {
				for _, link := range append(slices.Clip(pl.further), pl.link) {
					if l, ok := link.(*links.Groups); ok && l != nil {
						all = append(all, l)
					}
				}
			}
		}
	}
	return all
}

// removeGroup removes the probes of a group in all processes.
func (pc *placer) removeGroup(g event.Group) {
	pc.mu.Lock()
	pc.reader.mu.Lock()
	pc.budget.removed[g] = true
	pc.reader.observeAll(g, attribution.Unobserved)
	pc.reader.mu.Unlock()
	var closings []func()
	for _, l := range pc.groups() {
		for _, link := range l.Detach(g) {
			closings = append(closings, func() { link.Close() })
		}
	}
	pc.mu.Unlock()
	go urgent.Do(closings...) // close waits until no thread is in a probe's program any more
}

// placeGroup places the probes of a group again, in all processes.
func (pc *placer) placeGroup(g event.Group) {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	for _, l := range pc.groups() {
		if err := l.Place(g); err != nil && !target.Ended(l.PID) {
			name, _ := pc.wanted.User.GroupName(g)
			pc.reader.warn("the probes of %s could not be placed again: %v; what was executed since then is extrapolated, or missing", name, err)
		}
	}
	pc.reader.mu.Lock()
	pc.budget.removed[g] = false
	pc.reader.observeAll(g, attribution.Observed)
	pc.reader.mu.Unlock()
}

// describe tells the profile how the budget was kept; reader.mu is held. u has the user's levels.
func (b *limiter) describe(p *profile.Profile, u *user.Regions) {
	if b == nil {
		return
	}
	window, worst := int64(budget.Horizon), b.worst
	if d := b.ledger.Measured(); d > 0 && d < window { // the whole run is shorter than a window
		window, worst = d, worst*float64(window)/float64(d)
	}
	p.Meta.Budget = &profile.Budget{Share: b.share, Horizon: window, Worst: worst}
	for i := range p.Meta.Observations {
		x := &p.Meta.Observations[i]
		for g := event.NoGroup + 1; g < event.NumGroups; g++ {
			if g.Constructs() == x.Of {
				x.Name, x.Levels = u.GroupName(g)
			}
		}
	}
}
