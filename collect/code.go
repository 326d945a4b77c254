package collect

import (
	"time"

	"ompp-attach/collect/plans"
	"ompp-attach/collect/target"
	"ompp-attach/symbols"
)

// AddFinder makes the measurement place the probes that f finds, in every file that a process maps.
// It must be called before the measurement starts.
func (m *Measurement) AddFinder(f plans.Finder) { m.placer.plans.Find(f) }

// placeCode places the probes in the process's own code, in the files that
// have none yet; placer.mu is held.
func (pc *placer) placeCode(p *Process, mods []symbols.Module) error {
	if !pc.plans.Finds() {
		return nil
	}
	pc.plans.TellImports(mods)
	for i := range mods {
		mod := &mods[i]
		if _, ok := p.code[target.IDOf(mod)]; ok {
			continue
		}
		told, known := pc.tellsLoops(p, mod, mods)
		if !known {
			continue
		}
		a, err := pc.plans.Code(mod, told)
		if err != nil {
			return err
		}
		if a == nil {
			p.code[target.IDOf(mod)] = placed{}
			continue
		}
		begin := time.Now()
		link, err := pc.attach(p, mod.HostPath, a)
		if err != nil {
			return target.NotPlaced(int(p.pid), err)
		}
		pc.logf("process %d: %d probes placed in the code of %s in %s", p.pid, len(a.Points()), mod.Path, time.Since(begin).Round(time.Microsecond))
		p.code[target.IDOf(mod)] = placed{link: link, plan: a.Plan}
	}
	return nil
}

// ownCode returns in how many of a process's files probes of its own code are placed.
func (pc *placer) ownCode(p *Process) (files int) {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	for _, c := range p.code {
		if c.link != nil {
			files++
		}
	}
	return files
}

// MeasureInline makes the measurement place probes at constructs that make no call. It must be
// called before the measurement starts.
func (m *Measurement) MeasureInline() {
	m.wanted.Inlining = true
	m.placer.plans.FindInline()
}

// CountAtomics makes the measurement count the executions of atomic and flush constructs that make
// no call. It must be called before the measurement starts.
func (m *Measurement) CountAtomics() {
	m.wanted.Atomics = true
	m.AddFinder(plans.Atomics)
}
