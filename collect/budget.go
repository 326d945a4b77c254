package collect

import (
	"context"
	"fmt"
	"time"

	"ompp-attach/attribution"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// budget keeps what the probes cost the program's threads below a share of their time: the kinds of
// constructs that cost most are observed in periods only. A nil budget sets no limit.
type budget struct {
	share    float64
	costs    event.HitCosts
	governor *governor
	told     bool // the user has been told that the budget cannot be kept

	// Guarded by Measurement.mu. gone is written only while scanning is held, too.
	began  uint64               // CLOCK_MONOTONIC, ns, before the first cost; 0: no costs yet
	until  uint64               // CLOCK_MONOTONIC, ns, of the last look that found costs
	gone   []bool               // by kind: its probes are away
	paid   map[uint32][]float64 // ns since the last look, by thread and kind; last: of no kind
	lastID uint32
	last   []float64 // paid[lastID], to save a look-up
	worst  float64   // see governor.worst
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
	m.budget = &budget{share: share, costs: costs.Table(), governor: newGovernor(share, len(kinds)),
		gone: make([]bool, len(kinds)), paid: map[uint32][]float64{}}
	return nil
}

// away tells whether the probes of kind k are away.
func (b *budget) away(k int) bool { return b.gone[k] }

// pay adds what a hit has cost to its thread's costs; Measurement.mu is held.
func (b *budget) pay(ev *event.Event) {
	if b.last == nil || b.lastID != ev.TID {
		b.last, b.lastID = b.paid[ev.TID], ev.TID
		if b.last == nil {
			b.last = make([]float64, len(kinds)+1)
			b.paid[ev.TID] = b.last
		}
	}
	ns := b.costs.Kinds[ev.Probe%event.NumProbes].Sum()
	if ev.MPI != nil { // an MPI event stands for two hits
		ns += b.costs.Kinds[event.ProbeReturn].Sum()
	}
	b.last[kindOf[ev.Construct]] += float64(ns) * float64(1+ev.Lost)
}

// keepBudget has the governor look at the costs, and carries out its decisions, until ctx ends.
func (m *Measurement) keepBudget(ctx context.Context) {
	b := m.budget
	looked := ktime()
	tick := time.NewTicker(b.governor.interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		m.mu.Lock()
		now := ktime()
		paid := b.paid
		b.paid, b.last = map[uint32][]float64{}, nil
		if len(paid) > 0 {
			if b.began == 0 {
				b.began = looked
			}
			b.until = now
		}
		looked = now
		m.mu.Unlock()
		for _, a := range b.governor.look(now, paid) {
			m.act(a)
		}
		if b.governor.short && !b.told {
			b.told = true
			m.warn("The budget of %.3g %% could not be kept: what is observed all of the time, parallel regions and MPI calls, costs more by itself.", 100*b.share)
		}
		if worst := b.governor.worst(budgetWindow); worst > b.worst {
			m.mu.Lock()
			b.worst = worst
			m.mu.Unlock()
		}
	}
}

// act carries out a decision of the governor.
func (m *Measurement) act(a act) {
	begin := time.Now()
	k := kinds[a.kind]
	switch a.what {
	case takeAway:
		m.takeAway(a.kind)
		m.logf("%s: no probes from here on, their cost exceeds the budget (%s)", k.name, time.Since(begin).Round(time.Microsecond))
	case bringBack:
		m.bringBack(a.kind)
		m.logf("%s: probes placed again in %s", k.name, time.Since(begin).Round(time.Microsecond))
	case newPeriod:
		m.mu.Lock()
		m.watchAll(attribution.Watch{At: ktime(), Of: k.of, Change: attribution.Period})
		m.mu.Unlock()
	}
}

// watchAll tells all engines of a change in what is observed. mu is held, so that no later event
// has been fed yet.
func (m *Measurement) watchAll(w attribution.Watch) {
	for _, p := range m.procs {
		if p.ended != 0 {
			continue
		}
		w.CPU, w.Delay = threadTimes(int(p.pid))
		p.watch(w)
	}
}

func (p *Process) watch(w attribution.Watch) {
	p.engine.Watch(w)
	if p.recorder != nil {
		p.recorder.Stream.Watches = append(p.recorder.Stream.Watches, w)
	}
}

// kindLinks returns the probes of all processes that are placed by kind; scanning is held.
func (m *Measurement) kindLinks() (all []*kindLinks) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.procs {
		for _, files := range []map[fileID]placed{p.placed, p.code} {
			for _, pl := range files {
				if l, ok := pl.link.(*kindLinks); ok && l != nil {
					all = append(all, l)
				}
			}
		}
	}
	return all
}

// takeAway removes the probes of a kind in all processes.
func (m *Measurement) takeAway(k int) {
	m.scanning.Lock()
	m.mu.Lock()
	m.budget.gone[k] = true
	m.watchAll(attribution.Watch{At: ktime(), Of: kinds[k].of, Change: attribution.Away})
	m.mu.Unlock()
	var closings []func()
	for _, l := range m.kindLinks() {
		for _, link := range l.take(k) {
			closings = append(closings, func() { link.Close() })
		}
	}
	m.scanning.Unlock()
	go urgently(closings...) // close waits until no thread is in a probe's program any more
}

// bringBack places the probes of a kind again, in all processes.
func (m *Measurement) bringBack(k int) {
	m.scanning.Lock()
	defer m.scanning.Unlock()
	for _, l := range m.kindLinks() {
		if err := l.place(k); err != nil && !ended(int(l.p.pid)) {
			m.warn("the probes of %s could not be placed again: %v; what was executed since then is extrapolated, or missing", kinds[k].name, err)
		}
	}
	m.mu.Lock()
	m.budget.gone[k] = false
	m.watchAll(attribution.Watch{At: ktime(), Of: kinds[k].of, Change: attribution.Back})
	m.mu.Unlock()
}

// describe tells the profile how the budget was kept; Measurement.mu is held.
func (b *budget) describe(p *profile.Profile) {
	if b == nil {
		return
	}
	window, worst := int64(budgetWindow), b.worst
	if d := since(b.until, b.began); d > 0 && d < window { // the whole run is shorter than a window
		window, worst = d, worst*float64(window)/float64(d)
	}
	p.Meta.Budget = &profile.Budget{Share: b.share, Window: window, Worst: worst}
	for i := range p.Meta.Observations {
		x := &p.Meta.Observations[i]
		for _, k := range kinds {
			if k.of == x.Of {
				x.Name = k.name
			}
		}
	}
}
