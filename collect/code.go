package collect

import (
	"time"

	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/probes"
	"ompp-attach/probes/inline"
	"ompp-attach/symbols"
)

// CodeFinder finds the places in the code of a program or library itself at which probes are
// wanted. It is called once per file.
type CodeFinder func(mod *symbols.Module) []probes.CodePoint

// AddFinder makes the measurement place the probes that f finds, in every file that a process maps.
// It must be called before the measurement starts.
func (m *Measurement) AddFinder(f CodeFinder) { m.placer.finders = append(m.placer.finders, f) }

// placeCode places the probes in the process's own code, in the files that
// have none yet; placer.mu is held.
func (pc *placer) placeCode(p *Process, mods []symbols.Module) error {
	if len(pc.finders) == 0 {
		return nil
	}
	if pc.imports != nil {
		pc.imports(target.ImportedBy(mods))
	}
	for i := range mods {
		mod := &mods[i]
		if _, ok := p.code[target.IDOf(mod)]; ok {
			continue
		}
		a, err := pc.codePlan(mod)
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

// codePlan returns the stored plan of the probes in a file's own code, or nil if none are wanted
// there; placer.mu is held.
func (pc *placer) codePlan(mod *symbols.Module) (*probes.Attached, error) {
	o := mod.Object()
	if known, ok := pc.code[o]; ok {
		return known.plan, known.err
	}
	var points []probes.CodePoint
	for _, find := range pc.finders {
		points = append(points, find(mod)...)
	}
	var known planned
	p := probes.NewCodePlan(o, points)
	pc.selection.Prune(p)
	if len(p.Placements) > 0 {
		pc.reader.mu.Lock()
		known.plan, known.err = pc.reader.decoder.Store(pc.kernel, p, pc.running)
		pc.reader.mu.Unlock()
	}
	pc.code[o] = known
	return known.plan, known.err
}

// MeasureInline makes the measurement place probes at constructs that make no call. It must be
// called before the measurement starts.
func (m *Measurement) MeasureInline() {
	m.wanted.Inlining = true
	m.AddFinder(findInline)
}

// findInline is the CodeFinder for constructs that GCC compiles to plain instructions.
func findInline(mod *symbols.Module) []probes.CodePoint {
	o := mod.Object()
	if !target.UsesGomp(o) {
		return nil
	}
	return inline.Of(o).Points(event.Gomp)
}

// CountAtomics makes the measurement count the executions of atomic and flush constructs that make
// no call. It must be called before the measurement starts.
func (m *Measurement) CountAtomics() {
	m.wanted.Atomics = true
	m.AddFinder(func(mod *symbols.Module) []probes.CodePoint {
		o := mod.Object()
		switch {
		case target.UsesGomp(o):
			return inline.Atomics(o).Points(event.Gomp)
		case o.Imports("__kmpc_fork_call"):
			return inline.Atomics(o).Points(event.Kmpc)
		}
		return nil
	})
}
