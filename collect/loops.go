package collect

import (
	"errors"
	"fmt"
	"io"

	"ompp-attach/bpf"
	"ompp-attach/collect/links"
	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/probes"
	"ompp-attach/probes/sites"
	"ompp-attach/symbols"
)

// loopCalls are the probes of static loops of libomp that sit at their calls in a process's files,
// not at libomp's entry points. Loops that are all of their region have none.
type loopCalls struct {
	runtime *probes.Attached
	file    target.FileID // of the runtime
	path    string
	links   map[target.FileID]io.Closer
}

// attachRuntime places a runtime's probes for a process. Those of static loops are left to
// placeLoops where all calls of loops are known. placer.mu is held.
func (pc *placer) attachRuntime(p *Process, mod *symbols.Module, a *probes.Attached, mods []symbols.Module) (io.Closer, error) {
	entries, others := a.Divide(sites.Entry)
	spared := 0
	if a.Plan.Runtime == event.Kmpc && len(entries) > 0 && pc.mayLeaveOut(p, mods) {
		if err := sites.Closed(a.Plan.Object, mods); err != nil {
			pc.logf("process %d: all static loops are probed: %v", p.pid, err)
		} else {
			spared = sites.Spared(mods)
		}
	}
	if spared == 0 {
		return pc.attach(p, mod.HostPath, a)
	}
	pc.reader.samplesAt(a.Plan.Object, a.Plan.Probed())
	link, err := pc.kernel.Attach(mod.HostPath, int(p.pid), others)
	if err != nil {
		return nil, err
	}
	pc.logf("process %d: static loops are probed at their calls, but for %d calls of loops that are all of their region", p.pid, spared)
	p.loops = &loopCalls{a, target.IDOf(mod), mod.HostPath, map[target.FileID]io.Closer{}}
	return link, nil
}

// leftOut returns how many probes of a runtime are not placed.
func (l *loopCalls) leftOut(runtime *probes.Attached) int {
	if l == nil || l.runtime != runtime {
		return 0
	}
	entries, _ := runtime.Divide(sites.Entry)
	return len(entries)
}

// mayLeaveOut tells whether entry points of a process may be left without probes: libraries that it
// loads later are seen before their code runs, and its probes are its own. placer.mu is held.
func (pc *placer) mayLeaveOut(p *Process, mods []symbols.Module) bool {
	return p.program.launched && !pc.running && pc.budget == nil && !p.joins() && p.loops == nil &&
		pc.follower != nil && pc.watchLoader(p, mods)
}

// placeLoops places the probes at calls of static loops in files that have none yet. Where calls may
// come that are not known, the entry points get their probes again, and the calls lose theirs.
// placer.mu is held.
func (pc *placer) placeLoops(p *Process, mods []symbols.Module, incomplete error) error {
	l := p.loops
	if l == nil {
		return nil
	}
	if err := errors.Join(incomplete, sites.Closed(l.runtime.Plan.Object, mods)); err != nil {
		pc.logf("process %d: from here on all static loops are probed: %v", p.pid, err)
		return pc.probeEntries(p)
	}
	for i := range mods {
		mod := &mods[i]
		calls := sites.Of(mod.Object()).Wanted
		if l.links[target.IDOf(mod)] != nil || len(calls) == 0 {
			continue
		}
		a, err := pc.loopPlan(mod.Object(), calls, l.runtime)
		if err == nil {
			pc.reader.samplesAt(a.Plan.Object, a.Plan.Probed())
			l.links[target.IDOf(mod)], err = pc.kernel.Attach(mod.HostPath, int(p.pid), a.Points())
		}
		if err != nil {
			delete(l.links, target.IDOf(mod))
			return errors.Join(target.NotPlaced(int(p.pid), err), pc.probeEntries(p))
		}
		p.loopsLate = true
	}
	return nil
}

// loopPlan returns the stored plan of the probes at a file's calls. placer.mu is held.
func (pc *placer) loopPlan(o *symbols.Object, calls []sites.Call, runtime *probes.Attached) (*probes.Attached, error) {
	if known, ok := pc.loopPlans[o]; ok {
		return known.plan, known.err
	}
	var at []probes.Site
	for _, c := range calls {
		row := runtime.Plan.RowOf(c.Entry)
		if row == nil {
			return nil, fmt.Errorf("%s has no probe", c.Entry)
		}
		at = append(at, probes.Site{Inst: c.Inst, Symbol: c.Entry, Row: row})
	}
	var known planned
	pc.reader.mu.Lock()
	known.plan, known.err = pc.reader.decoder.Store(pc.kernel, probes.NewSitePlan(o, runtime.Plan.Runtime, at), pc.running)
	pc.reader.mu.Unlock()
	pc.loopPlans[o] = known
	return known.plan, known.err
}

// probeEntries places the probes at the entry points that were left out, and removes those at the
// calls. placer.mu is held.
func (pc *placer) probeEntries(p *Process) error {
	l := p.loops
	entries, _ := l.runtime.Divide(sites.Entry)
	link, err := pc.kernel.Attach(l.path, int(p.pid), entries)
	if err != nil {
		return target.NotPlaced(int(p.pid), err)
	}
	pl := p.placed[l.file]
	pl.link = bpf.Join(pl.link, link)
	pl.runtime.Probes += len(entries)
	p.placed[l.file] = pl
	links.Close(p.detachLoops())
	p.loopsLate = true
	return nil
}

// detachLoops returns the links of the probes at calls, for the caller to close.
func (p *Process) detachLoops() (all []io.Closer) {
	if p.loops != nil {
		for _, l := range p.loops.links {
			all = append(all, l)
		}
	}
	p.loops = nil
	return all
}

// tookLoops tells whether probes of loops of a process have been placed, or replaced, since the last
// call.
func (pc *placer) tookLoops(p *Process) bool {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	took := p.loopsLate
	p.loopsLate = false
	return took
}
