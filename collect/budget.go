package collect

import (
	"context"
	"fmt"
	"time"

	"ompp-attach/attribution"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// budget keeps what the probes cost the program's threads below a share of their
// time: the dearest kinds of constructs are observed in periods only. nil: there
// is none.
type budget struct {
	share    float64
	costs    event.HitCosts
	governor *governor
	told     bool // that it cannot be kept

	// guarded by Measurement.mu; gone also does not change while scanning is held
	began  uint64               // CLOCK_MONOTONIC before anybody paid, ns; 0: nobody has
	until  uint64               // of the latest look at which somebody had paid
	gone   []bool               // by kind
	paid   map[uint32][]float64 // by thread, since the last look: by kind, and what has none, ns
	lastID uint32
	last   []float64 // lastID's
	worst  float64   // see governor.worst
}

// SetBudget lets the probes cost no thread more than a share of its time. To be
// called before measurement starts.
func (m *Measurement) SetBudget(share float64) error {
	costs, err := m.Costs()
	if err != nil {
		return fmt.Errorf("no budget can be kept: %w", err)
	}
	m.Trace() // a sum that the kernel keeps would be told too late
	m.budget = &budget{share: share, costs: costs.Table(), governor: newGovernor(share, len(kinds)),
		gone: make([]bool, len(kinds)), paid: map[uint32][]float64{}}
	return nil
}

// away tells whether a kind's probes are away.
func (b *budget) away(k int) bool { return b.gone[k] }

// pay notes what a hit has cost its thread; Measurement.mu is held.
func (b *budget) pay(ev *event.Event) {
	if b.last == nil || b.lastID != ev.TID {
		b.last, b.lastID = b.paid[ev.TID], ev.TID
		if b.last == nil {
			b.last = make([]float64, len(kinds)+1)
			b.paid[ev.TID] = b.last
		}
	}
	ns := b.costs.Kinds[ev.Probe%event.NumProbes].Sum()
	if ev.MPI != nil { // one event of two hits
		ns += b.costs.Kinds[event.ProbeReturn].Sum()
	}
	b.last[kindOf[ev.Construct]] += float64(ns) * float64(1+ev.Lost)
}

// keepBudget looks at the costs until ctx ends.
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

// act does what the governor has decided.
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

// watchAll tells all engines what is observed; mu is held, so that no later
// event has been fed.
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

// kindLinks returns the probes of all processes; scanning is held.
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

// takeAway takes a kind's probes away.
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
	go urgently(closings...) // the kernel waits until no thread is in a probe's program any more
}

// bringBack places a kind's probes again.
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

// describe tells a profile what the budget has led to; Measurement.mu is held.
func (b *budget) describe(p *profile.Profile) {
	if b == nil {
		return
	}
	window, worst := int64(budgetWindow), b.worst
	if d := since(b.until, b.began); d > 0 && d < window { // a short run is all of a window
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
