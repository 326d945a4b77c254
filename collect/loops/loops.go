// Package loops holds the probes of libomp's static loops that sit at their calls in a process's
// files, not at libomp's entry points. Loops that are all of their region have none, and the
// thread's next event tells the ends of others.
package loops

import (
	"fmt"
	"io"

	"ompp-attach/bpf"
	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/probes"
	"ompp-attach/probes/sites"
	"ompp-attach/symbols"
)

// Calls are the probes at calls in a process. Nil: libomp's entry points are probed.
type Calls struct {
	File    target.FileID // of the runtime
	Path    string        // of the runtime's file, as the tool can open it
	runtime *probes.Attached
	links   map[target.FileID]io.Closer
}

// New makes the probes at calls of a runtime. None of them is placed yet.
func New(runtime *probes.Attached, mod *symbols.Module) *Calls {
	return &Calls{target.IDOf(mod), mod.HostPath, runtime, map[target.FileID]io.Closer{}}
}

// Divisible tells whether a runtime's plan has the probe of barriers. Barriers tell the ends of
// loops that probes at calls do not tell.
func Divisible(p *probes.Plan) bool {
	return p.Runtime == event.Kmpc && p.RowOf(sites.Barrier) != nil
}

// Entries returns the probes of a runtime at the entry points of static loops.
func Entries(runtime *probes.Attached) []bpf.Point {
	entries, _ := runtime.Divide(sites.Entry)
	return entries
}

// Others returns the other probes of a runtime.
func Others(runtime *probes.Attached) []bpf.Point {
	_, others := runtime.Divide(sites.Entry)
	return others
}

// Left returns the probes of a runtime that are not placed, because probes at calls stand for them.
func (l *Calls) Left(runtime *probes.Attached) []bpf.Point {
	if l == nil || l.runtime != runtime {
		return nil
	}
	return Entries(runtime)
}

// Runtime returns the runtime's plan.
func (l *Calls) Runtime() *probes.Attached { return l.runtime }

// Lacks tells whether a file has calls that need probes, and none are placed there.
func (l *Calls) Lacks(mod *symbols.Module) bool {
	return l.links[target.IDOf(mod)] == nil && len(sites.Of(mod.Object()).Wanted) > 0
}

// Add adds the link of the probes in a file.
func (l *Calls) Add(mod *symbols.Module, link io.Closer) { l.links[target.IDOf(mod)] = link }

// Detach returns the links of all probes, for the caller to close.
func (l *Calls) Detach() (all []io.Closer) {
	if l == nil {
		return nil
	}
	for _, link := range l.links {
		all = append(all, link)
	}
	return all
}

// Plan makes the plan of the probes at a file's calls of a runtime. others tells at which addresses
// other probes in the file's code sit.
func Plan(o *symbols.Object, runtime *probes.Plan, others func(vaddr uint64) bool) (*probes.Plan, error) {
	var at []probes.Site
	for _, c := range sites.Of(o).WantedWith(others) {
		row := runtime.RowOf(c.Entry)
		if row == nil {
			return nil, fmt.Errorf("%s has no probe", c.Entry)
		}
		if c.EndsNext {
			marked := *row
			marked.Marks |= event.EndsNext
			row = &marked
		}
		at = append(at, probes.Site{Inst: c.Inst, Symbol: c.Entry, Row: row})
	}
	return probes.NewSitePlan(o, runtime.Runtime, at), nil
}
