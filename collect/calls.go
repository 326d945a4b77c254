package collect

import (
	"errors"
	"io"

	"ompp-attach/bpf"
	"ompp-attach/collect/links"
	"ompp-attach/collect/loops"
	"ompp-attach/collect/target"
	"ompp-attach/probes"
	"ompp-attach/probes/sites"
	"ompp-attach/symbols"
)

// attachRuntime places a runtime's probes for a process. Where all calls of loops are known,
// placeLoops places the probes of static loops instead. placer.mu is held.
func (pc *placer) attachRuntime(p *Process, mod *symbols.Module, a *probes.Attached, mods []symbols.Module) (io.Closer, error) {
	spared := 0
	if loops.Divisible(a.Plan) && len(loops.Entries(a)) > 0 && pc.mayLeaveOut(p, mods) {
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
	link, err := pc.kernel.Attach(mod.HostPath, int(p.pid), loops.Others(a))
	if err != nil {
		return nil, err
	}
	pc.logf("process %d: static loops are probed at their calls, but for %d calls that other probes tell", p.pid, spared)
	p.loops = loops.New(a, mod)
	return link, nil
}

// mayLeaveOut tells whether entry points of a process may be left without probes. For that,
// libraries that the process loads later must be seen before their code runs, and no other process
// may share its probes. A user's region by lines may begin between a loop's end and the event that
// would tell it. placer.mu is held.
func (pc *placer) mayLeaveOut(p *Process, mods []symbols.Module) bool {
	return p.program.launched && !pc.running && pc.budget == nil && !pc.wanted.User.HasLines() &&
		!p.joins() && p.loops == nil && pc.follower != nil && pc.watchLoader(p, mods)
}

// placeLoops places the probes at calls of static loops in files that have none yet. If there may
// be calls that are not known, placeLoops probes the entry points again, and removes the probes at
// the calls. placer.mu is held.
func (pc *placer) placeLoops(p *Process, mods []symbols.Module, incomplete error) error {
	l := p.loops
	if l == nil {
		return nil
	}
	if err := errors.Join(incomplete, sites.Closed(l.Runtime().Plan.Object, mods)); err != nil {
		pc.logf("process %d: from here on all static loops are probed: %v", p.pid, err)
		return pc.probeEntries(p)
	}
	for i := range mods {
		mod := &mods[i]
		if !l.Lacks(mod) {
			continue
		}
		var link io.Closer
		pc.plans.TellMapped(mods)
		a, err := pc.plans.Loops(mod, l.Runtime().Plan)
		if err == nil {
			pc.reader.samplesAt(a.Plan.Object, a.Plan.Probed())
			link, err = pc.kernel.Attach(mod.HostPath, int(p.pid), a.Points())
		}
		if err != nil {
			return errors.Join(target.NotPlaced(int(p.pid), err), pc.probeEntries(p))
		}
		l.Add(mod, link)
		p.loopsLate = true
	}
	return nil
}

// probeEntries places the probes of static loops at the entry points, which had none. It removes
// the probes at the calls. placer.mu is held.
func (pc *placer) probeEntries(p *Process) error {
	l := p.loops
	entries := loops.Entries(l.Runtime())
	link, err := pc.kernel.Attach(l.Path, int(p.pid), entries)
	if err != nil {
		return target.NotPlaced(int(p.pid), err)
	}
	pl := p.placed[l.File]
	pl.link = bpf.Join(pl.link, link)
	pl.runtime.Probes += len(entries)
	p.placed[l.File] = pl
	p.loops, p.loopsLate = nil, true
	links.Close(l.Detach())
	return nil
}

// tookLoops tells whether probes of loops of a process have been placed, or replaced, since the
// last call.
func (pc *placer) tookLoops(p *Process) bool {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	took := p.loopsLate
	p.loopsLate = false
	return took
}
