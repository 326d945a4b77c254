package collect

import (
	"slices"

	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/symbols"
)

// tellsLoops tells whether beginnings of loops in a file need no probe, as regions and barriers tell
// them: libgomp's probes are all in place before the file's code runs, and stay. The answer is not
// known while the loader has not yet loaded the runtime. placer.mu is held.
func (pc *placer) tellsLoops(p *Process, mod *symbols.Module, mods []symbols.Module) (told, known bool) {
	pc.reader.mu.Lock()
	defer pc.reader.mu.Unlock()
	o := mod.Object()
	if p.resolver.TellsLoops(o) {
		return true, true // also after a pause: the engine has been told
	}
	if !pc.wanted.Inlining || !target.UsesGomp(o) || !p.program.launched || pc.running || pc.budget != nil ||
		pc.selection.Leaves(event.Loop) || pc.follower == nil || !pc.watchLoader(p, mods) {
		return false, true
	}
	library := func(m symbols.Module) bool { return !m.Object().IsExecutable() && target.MayBeRuntime(m.Object()) }
	if len(p.placed) == 0 && !slices.ContainsFunc(mods, library) {
		return false, false
	}
	if told = p.usesOnly(event.Gomp); told {
		p.resolver.TellLoops(o)
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
