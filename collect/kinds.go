package collect

import (
	"errors"
	"io"
	"slices"
	"sync"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes"
)

// kind is a set of constructs whose probes are taken away and placed together. Constructs of no
// kind (teams, MPI, offloading) are probed as long as the measurement lasts.
type kind struct {
	name string
	of   event.Constructs
}

var kinds = func() (all []kind) {
	for g := event.NoGroup + 1; g < event.NumGroups; g++ {
		all = append(all, kind{g.String(), g.Constructs()})
	}
	return all
}()

// kindOf gives for each construct the index of its kind, or len(kinds) if it has none.
var kindOf = func() (of [64]int) {
	for c := range of {
		of[c] = len(kinds)
		if i := slices.IndexFunc(kinds, func(k kind) bool { return k.of.Has(event.Construct(c)) }); i >= 0 {
			of[c] = i
		}
	}
	return of
}()

// kindLinks are the probes of a file in a process, by kind, so that each kind can be taken away and
// placed again. Guarded by Measurement.scanning.
type kindLinks struct {
	m     *Measurement
	p     *Process
	path  string
	plan  *probes.Attached
	links []io.Closer // by kind; last: of no kind; nil: taken away, or no probes
}

// attachKinds places a file's probes, except those of kinds that are away.
func (m *Measurement) attachKinds(p *Process, path string, a *probes.Attached) (io.Closer, error) {
	l := &kindLinks{m: m, p: p, path: path, plan: a, links: make([]io.Closer, len(kinds)+1)}
	for k := range l.links {
		if k < len(kinds) && m.budget.away(k) {
			continue
		}
		if err := l.place(k); err != nil {
			l.Close()
			return nil, err
		}
	}
	return l, nil
}

func (l *kindLinks) points(k int) []bpf.Point {
	if k < len(kinds) {
		return l.plan.Of(kinds[k].of)
	}
	var all event.Constructs
	for _, k := range kinds {
		all |= k.of
	}
	return l.plan.Others(all)
}

// place places the probes of kind k, if there are any to place.
func (l *kindLinks) place(k int) (err error) {
	points := l.points(k)
	if l.links[k] != nil || len(points) == 0 {
		return nil
	}
	l.links[k], err = l.m.share(l.p, kindPlan{l.plan, k}, func(pid int) (io.Closer, error) { return l.m.kernel.Attach(l.path, pid, points) })
	return err
}

// take returns the links of the probes of kind k, for the caller to close.
func (l *kindLinks) take(k int) []io.Closer {
	link := l.links[k]
	if link == nil {
		return nil
	}
	l.links[k] = nil
	return bpf.Parts(link)
}

// Close implements io.Closer. It closes all links at one time, for the reason that closeLinks
// gives.
func (l *kindLinks) Close() error {
	errs := make([]error, len(l.links))
	var wg sync.WaitGroup
	for k, link := range l.links {
		if link != nil {
			wg.Go(func() { errs[k] = link.Close() })
		}
	}
	wg.Wait()
	clear(l.links)
	return errors.Join(errs...)
}

// kindPlan identifies the part of a plan whose probes processes share.
type kindPlan struct {
	plan *probes.Attached
	kind int
}
