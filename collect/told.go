package collect

import (
	"slices"

	"ompp-attach/bpf"
	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/symbols"
)

// tellsLoops tells whether beginnings of loops in a file need no probe, because events of regions
// and barriers tell when loops begin. For that, all probes of libgomp must be in place before the
// file's code runs, and must stay, and no file may switch measurement off. The answer is not known
// while the loader has loaded no libraries yet. placer.mu is held.
func (pc *placer) tellsLoops(p *Process, mod *symbols.Module, mods []symbols.Module) (told, known bool) {
	o := mod.Object()
	if pc.running || pc.plans.Switches(mods) || !pc.wanted.Inlining || !target.RequiresGomp(o) || !p.program.launched || pc.budget != nil ||
		pc.selection.Leaves(event.Loop) || pc.follower == nil || !pc.watchLoader(p, mods) {
		return false, true
	}
	library := func(m symbols.Module) bool { return !m.Object().IsExecutable() && !target.IsLoader(&m) }
	if len(p.placed) == 0 && !slices.ContainsFunc(mods, library) {
		return false, false
	}
	if told = p.usesOnly(event.Gomp) && pc.plans.Tells(mod); told {
		pc.reader.mu.Lock()
		p.resolver.TellLoops(o)
		pc.reader.mu.Unlock()
	}
	return told, true
}

// usesOnly tells whether a runtime is probed in a process, and no other one.
func (p *Process) usesOnly(r event.Runtime) (ok bool) {
	for _, pl := range p.placed {
		if pl.plan.Runtime != r {
			return false
		}
		ok = true
	}
	return ok
}

// probeBeginnings places the probes at beginnings of loops in a file that were left out before.
// They are needed once a library is loaded that may switch measurement off and on. A loop that is
// told twice counts once. placer.mu is held.
func (pc *placer) probeBeginnings(p *Process, mod *symbols.Module, pl *placed) error {
	pl.told = false
	a, err := pc.plans.Beginnings(mod)
	if a == nil || err != nil {
		return err
	}
	link, err := pc.attachCode(p, mod, a, true)
	switch {
	case err != nil:
		return err
	case pl.link == nil:
		pl.link = link
	default:
		pl.link = bpf.Join(pl.link, link)
	}
	return nil
}
