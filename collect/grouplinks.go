package collect

import (
	"errors"
	"io"
	"sync"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes"
)

// groupLinks are the probes of a file in a process, by group of constructs, so that the probes of
// each group can be removed and placed again. The constructs of event.NoGroup are probed as long as
// the measurement lasts. Guarded by placer.mu.
type groupLinks struct {
	pc    *placer
	p     *Process
	path  string
	plan  *probes.Attached
	links [event.NumGroups]io.Closer // nil: removed, or no probes
}

// attachGroups places a file's probes, except those of groups that are removed.
func (pc *placer) attachGroups(p *Process, path string, a *probes.Attached) (io.Closer, error) {
	l := &groupLinks{pc: pc, p: p, path: path, plan: a}
	for g := range event.NumGroups {
		if pc.budget.removed[g] {
			continue
		}
		if err := l.place(g); err != nil {
			l.Close()
			return nil, err
		}
	}
	return l, nil
}

func (l *groupLinks) points(g event.Group) []bpf.Point {
	if g != event.NoGroup {
		return l.plan.Of(g.Constructs())
	}
	var grouped event.Constructs
	for g := event.NoGroup + 1; g < event.NumGroups; g++ {
		grouped |= g.Constructs()
	}
	return l.plan.Others(grouped)
}

// place places the probes of a group, if there are any to place.
func (l *groupLinks) place(g event.Group) (err error) {
	points := l.points(g)
	if l.links[g] != nil || len(points) == 0 {
		return nil
	}
	l.links[g], err = l.pc.share(l.p, groupPlan{l.plan, g}, func(pid int) (io.Closer, error) { return l.pc.kernel.Attach(l.path, pid, points) })
	return err
}

// detach returns the links of the probes of a group, for the caller to close.
func (l *groupLinks) detach(g event.Group) []io.Closer {
	link := l.links[g]
	if link == nil {
		return nil
	}
	l.links[g] = nil
	return bpf.Parts(link)
}

// Close implements io.Closer. It closes all links at one time, for the reason that closeLinks
// gives.
func (l *groupLinks) Close() error {
	var errs [event.NumGroups]error
	var wg sync.WaitGroup
	for g, link := range l.links {
		if link != nil {
			wg.Go(func() { errs[g] = link.Close() })
		}
	}
	wg.Wait()
	clear(l.links[:])
	return errors.Join(errs[:]...)
}

// groupPlan identifies the part of a plan whose probes processes share.
type groupPlan struct {
	plan  *probes.Attached
	group event.Group
}
