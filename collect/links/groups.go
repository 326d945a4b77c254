package links

import (
	"errors"
	"io"
	"sync"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes"
)

// Groups are the probes of a file in a process, by group of constructs. The probes of each group
// can be removed and placed again. The constructs of event.NoGroup are probed as long as the
// measurement lasts. Groups take no lock.
type Groups struct {
	PID   int // of the process
	plan  *probes.Attached
	place func(part any, points []bpf.Point) (io.Closer, error)
	links [event.NumGroups]io.Closer // nil: removed, or no probes
}

// NewGroups makes the groups of a plan, and places no probes yet. The function place places the
// probes of a part of the plan. The part is the same value for all processes: see Shared.Join.
func NewGroups(pid int, plan *probes.Attached, place func(part any, points []bpf.Point) (io.Closer, error)) *Groups {
	return &Groups{PID: pid, plan: plan, place: place}
}

func (l *Groups) points(g event.Group) []bpf.Point {
	if g != event.NoGroup {
		return l.plan.Of(g.Constructs())
	}
	var grouped event.Constructs
	for g := event.NoGroup + 1; g < event.NumGroups; g++ {
		grouped |= g.Constructs()
	}
	return l.plan.Others(grouped)
}

// groupPlan identifies the part of a plan whose probes processes share.
type groupPlan struct {
	plan  *probes.Attached
	group event.Group
}

// Place places the probes of a group, if there are any to place. The error is that of placing.
func (l *Groups) Place(g event.Group) (err error) {
	points := l.points(g)
	if l.links[g] != nil || len(points) == 0 {
		return nil
	}
	l.links[g], err = l.place(groupPlan{l.plan, g}, points)
	return err
}

// Detach returns the links of the probes of a group, for the caller to close.
func (l *Groups) Detach(g event.Group) []io.Closer {
	link := l.links[g]
	if link == nil {
		return nil
	}
	l.links[g] = nil
	return bpf.Parts(link)
}

// Close implements io.Closer. It closes all links at one time, for the reason that the function
// Close gives.
func (l *Groups) Close() error {
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
