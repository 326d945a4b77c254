package collect

import (
	"io"

	"ompp-attach/collect/target"
	"ompp-attach/symbols"
)

// The dynamic loader tells debuggers that it has changed the list of libraries: it calls
// _dl_debug_state. A process is stopped there until the libraries that it has loaded have their
// probes, before any of their code runs. A loader file is watched once, for all processes. Placing
// a probe for each launched process, and above all removing it again, would take longer than most
// programs run. The kernel side reports followed processes only.

// watchLoader watches the dynamic loader of a process, and tells whether it is watched. The loader
// of a launched program is watched for all processes until the measurement ends. The loader of an
// attached process is watched for this process only. p is nil for a process that is not measured.
// placer.mu is held.
func (pc *placer) watchLoader(p *Process, mods []symbols.Module) bool {
	if p != nil && !p.program.launched {
		if p.libs == nil {
			p.libs = pc.watchLoaders(mods, int(p.pid))
		}
		return p.libs != nil
	}
	for i := range mods {
		if !target.IsLoader(&mods[i]) {
			continue
		}
		o := mods[i].Object()
		l, known := pc.loaders[o]
		if !known {
			l = pc.watchLoaders(mods[i:i+1], 0)
			pc.loaders[o] = l
		}
		return l != nil
	}
	return false
}

// watchLoaders watches the first dynamic loader among mods, in one process or in all (pid 0). It
// returns nil if there is no loader or it cannot be watched.
func (pc *placer) watchLoaders(mods []symbols.Module, pid int) io.Closer {
	for i := range mods {
		if !target.IsLoader(&mods[i]) {
			continue
		}
		l, err := pc.placeWatch(&mods[i], pid)
		if err != nil {
			pc.logf("%v; runtimes that programs load later are not seen", err)
			return nil
		}
		return l
	}
	return nil
}

func (pc *placer) placeWatch(mod *symbols.Module, pid int) (io.Closer, error) {
	at, err := target.LoaderPointOf(mod)
	if err != nil {
		return nil, err
	}
	pc.reader.samplesAt(mod.Object(), []uint64{at.VAddr})
	return pc.follower.WatchLibraries(mod.HostPath, pid, at.Offset, at.State)
}

// detachLoaders returns the watches on loaders, for the caller to close.
func (pc *placer) detachLoaders() (links []io.Closer) {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	for o, l := range pc.loaders {
		if l != nil {
			links = append(links, l)
		}
		delete(pc.loaders, o)
	}
	return links
}
