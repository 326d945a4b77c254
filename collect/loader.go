package collect

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"ompp-attach/probes/insn"
	"ompp-attach/symbols"
)

// The dynamic loader tells debuggers when it has changed the list of libraries, by
// a call of _dl_debug_state. There a process is stopped until the libraries that it
// has loaded have their probes: none of their code has run. A loader is watched in
// all processes, once per file: to place a probe for each process that is launched,
// and above all to take it away again, takes longer than most programs run. The
// kernel side answers for followed processes only.

// watchLoader watches the loader of a process that a launched program consists of,
// until the measurement ends, or that of one that was attached to; false if there
// is none, or it cannot be watched. scanning is held.
func (m *Measurement) watchLoader(p *Process, mods []symbols.Module) bool {
	if p != nil && !p.program.launched {
		if p.libs == nil {
			p.libs = m.watchLoaders(mods, int(p.pid))
		}
		return p.libs != nil
	}
	for i := range mods {
		if !isLoader(&mods[i]) {
			continue
		}
		o := mods[i].Object()
		l, known := m.loaders[o]
		if !known {
			l = m.watchLoaders(mods[i:i+1], 0)
			m.loaders[o] = l
		}
		return l != nil
	}
	return false
}

// isLoader tells a dynamic loader. A static program has none.
func isLoader(mod *symbols.Module) bool {
	return strings.HasPrefix(filepath.Base(mod.Path), "ld") && len(mod.Object().Symbol("_dl_debug_state")) > 0
}

// watchLoaders puts a probe where a loader among mods tells that the list of
// libraries has changed, in one process or all (0); nil if there is no such place.
func (m *Measurement) watchLoaders(mods []symbols.Module, pid int) io.Closer {
	for i := range mods {
		if !isLoader(&mods[i]) {
			continue
		}
		l, err := m.placeWatch(&mods[i], pid)
		if err != nil {
			m.logf("%v; runtimes that programs load later are not seen", err)
			return nil
		}
		return l
	}
	return nil
}

func (m *Measurement) placeWatch(mod *symbols.Module, pid int) (io.Closer, error) {
	o := mod.Object()
	sp, err := insn.SafePoint(o, o.Symbol("_dl_debug_state")[0], insn.Need{})
	if err != nil {
		return nil, fmt.Errorf("watch the loader %s: %w", mod.Path, err)
	}
	off, ok := o.FileOffset(sp.VAddr)
	if !ok {
		return nil, fmt.Errorf("watch the loader %s: its code is not in its file", mod.Path)
	}
	const rState = 24 // struct r_debug (link.h): version, map, brk, state
	var state int64
	if v, ok := o.DataSymbol("_r_debug"); ok {
		state = int64(v + rState - sp.VAddr)
	}
	m.samplesAt(o, []uint64{sp.VAddr})
	return m.follower.WatchLibraries(mod.HostPath, pid, off, state)
}

// takeLoaders returns the watches on loaders, to be closed.
func (m *Measurement) takeLoaders() (links []io.Closer) {
	m.scanning.Lock()
	defer m.scanning.Unlock()
	for o, l := range m.loaders {
		if l != nil {
			links = append(links, l)
		}
		delete(m.loaders, o)
	}
	return links
}
