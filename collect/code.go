package collect

import (
	"fmt"
	"io"
	"time"

	"ompp-attach/collect/plans"
	"ompp-attach/collect/target"
	"ompp-attach/probes"
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
	pc.plans.TellMapped(mods)
	again, switches := len(p.code) > 0, pc.plans.Switches(mods)
	for i := range mods {
		mod, id := &mods[i], target.IDOf(&mods[i])
		pl, ok := p.code[id]
		if !ok {
			told, known := pc.tellsLoops(p, mod, mods)
			if !known {
				continue
			}
			pl.told = told
			a, err := pc.plans.Code(mod, told)
			if err != nil {
				return err
			}
			if a != nil {
				if pl.link, err = pc.attachCode(p, mod, a, again); err != nil {
					// The kernel's answer stays the same, and each try holds up the process.
					p.code[id] = placed{}
					return fmt.Errorf("loops, master regions and others in the program's own code in %s are not in this report: %w", mod.Path, err)
				}
				pl.plan = a.Plan
			}
			p.code[id] = pl
		}
		if pl.told && switches {
			if err := pc.probeBeginnings(p, mod, &pl); err != nil {
				return err
			}
			p.code[id] = pl
		}
		further, err := pc.plans.Further(mod)
		if err != nil {
			return err
		}
		for len(pl.further) < len(further) {
			link, err := pc.attachCode(p, mod, further[len(pl.further)], again)
			if err != nil {
				return err
			}
			pl.further = append(pl.further, link)
			p.code[id] = pl
		}
	}
	return nil
}

// attachCode places the probes of a plan in a file's own code. again says that other files of the
// process were looked at before. placer.mu is held.
func (pc *placer) attachCode(p *Process, mod *symbols.Module, a *probes.Attached, again bool) (io.Closer, error) {
	begin := time.Now()
	link, err := pc.attach(p, mod.HostPath, a)
	if err != nil {
		return nil, target.NotPlaced(int(p.pid), err)
	}
	p.codeLate = p.codeLate || again
	pc.logf("process %d: %d probes placed in the code of %s in %s", p.pid, len(a.Points()), mod.Path, time.Since(begin).Round(time.Microsecond))
	return link, nil
}

// tookCode tells whether probes were placed in the process's own code because it has loaded a
// library, since the last call.
func (pc *placer) tookCode(p *Process) bool {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	took := p.codeLate
	p.codeLate = false
	return took
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
