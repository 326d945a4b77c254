package perfetto

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"ompp-attach/mpi"
	"ompp-attach/report/words"
	"ompp-attach/timeline"
	"ompp-attach/timeline/flows"
)

// slice is an event that begins something, on a track.
type slice struct{ moment }

func (p *process) begin(s *slice, at uint64) {
	s.kind, s.at = sliceBegin, at
	p.tell(&s.moment)
}

func (p *process) end(track, at uint64) { p.tell(&moment{kind: sliceEnd, at: at, track: track}) }

// thread is a track, with the slices that are open on it.
type thread struct {
	*process
	uuid  uint64
	open  []uint64 // ends of the open slices, ns of the engine's clock; the innermost is last
	waits []wait   // of open spans, that begin later; in order of their times
	// Ends of flows within open spans, that come later; in order of their times.
	marks   []flows.Mark
	working []bool // of the open slices: whether the thread works there
	isAside bool
	since   uint64  // until which its work has been added
	aside   *thread // track of spans that overlap others without nesting in them; nil: none so far
}

// thread writes the spans of a thread of the operating system.
func (p *process) thread(tid uint32) error {
	t := &thread{process: p, uuid: p.trace.uuid()}
	var m message
	m.number(threadPID, p.pid)
	m.number(threadTID, unique(p.tids, uint64(tid)))
	named := false
	ends := marks{list: p.flows.Thread(int(p.number-1), tid)}
	counts := counting{rates: p.rates}
	for s, err := range p.file.All(tid) {
		var d *timeline.DamageError
		if errors.As(err, &d) {
			p.gap(&d.Gap, p.gapTrack())
			p.damaged(p.file, d)
			continue
		}
		if err != nil {
			return fmt.Errorf("read the timeline of thread %d: %w", tid, err)
		}
		if counts.span(s); s.Flags&timeline.Within != 0 {
			continue
		}
		if !named { // the first span tells the thread's number in OpenMP
			named = true
			name := fmt.Sprintf("thread %d", tid)
			if n := int(s.Thread); n >= 0 && n < len(p.file.Dictionary.Threads) {
				name = "OpenMP thread " + words.Thread(p.file.Dictionary.Threads[n])
			}
			m.text(threadName, name)
			p.packets.track(t.uuid, 0, "", trackThread, m)
		}
		t.span(s, ends.next())
		if p.err != nil {
			return fmt.Errorf("write the trace: %w", p.err)
		}
	}
	t.closeAll()
	counts.until(math.MaxUint64)
	return nil
}

// span writes a span with the ends of flows that belong to it. Spans that lie in it follow.
func (t *thread) span(s *timeline.Span, ends []flows.Mark) {
	t.until(s.From)
	region := t.file.Dictionary.Nodes[s.Node].Region
	l := t.labels[region]
	if s.Kind == timeline.Created {
		t.tell(&moment{kind: instant, at: t.at(s.From), track: t.uuid, name: "creates " + l.name, category: l.category, flow: t.task(s.Task)})
		return
	}
	if n := len(t.open); n > 0 && s.To > t.open[n-1] {
		t.outside().span(s, ends)
		return
	}
	e := slice{moment{track: t.uuid, name: l.name, category: l.category, arguments: t.arguments(s)}}
	if s.Task != 0 && s.Exec.C > 0 {
		e.terminates = t.task(s.Task)
	}
	e.flow = t.expect(ends)
	t.push(&e, s.From, s.To, t.atWork(s, region))
	t.waits = append(t.waits, waits(s, t.file.Dictionary.Regions[region].Construct)...)
	slices.SortStableFunc(t.waits, func(a, b wait) int { return cmp.Compare(a.from, b.from) })
}

// until writes what happens up to a time: ends of flows, ends of slices, begins of waits.
func (t *thread) until(at uint64) {
	for {
		n, next, mark := len(t.open), ^uint64(0), ^uint64(0)
		if len(t.waits) > 0 {
			next = t.waits[0].from
		}
		if len(t.marks) > 0 {
			mark = t.marks[0].At
		}
		switch {
		case mark <= at && mark <= next && (n == 0 || mark <= t.open[n-1]):
			t.tellEnd(&t.marks[0])
			t.marks = t.marks[1:]
		case n > 0 && t.open[n-1] <= at && t.open[n-1] <= next:
			t.pop()
		case next <= at:
			w := t.waits[0]
			t.waits = t.waits[1:]
			// Something within goes on: drawing both would move the ends.
			if n > 0 && w.to > t.open[n-1] {
				continue
			}
			t.push(&slice{moment{track: t.uuid, name: w.name, category: "waiting"}}, w.from, w.to, false)
		default:
			return
		}
	}
}

func (t *thread) closeAll() {
	t.until(^uint64(0) - 1)
	if t.aside != nil {
		t.aside.closeAll()
	}
}

func (t *thread) push(e *slice, from, to uint64, works bool) {
	t.worked(from)
	t.begin(e, t.at(from))
	t.open, t.working = append(t.open, to), append(t.working, works)
}

func (t *thread) pop() {
	n := len(t.open) - 1
	t.worked(t.open[n])
	t.end(t.uuid, t.at(t.open[n]))
	t.open, t.working = t.open[:n], t.working[:n]
}

// atWork tells whether the thread works in a span that begins. A sum of executions does not say
// when they were: it changes nothing.
func (t *thread) atWork(s *timeline.Span, region int) bool {
	if n := len(t.working); s.Kind == timeline.Fold {
		return n > 0 && t.working[n-1]
	}
	return works(&t.file.Dictionary.Regions[region])
}

// worked adds the time up to a moment, if the thread worked. What overlaps others counts there.
func (t *thread) worked(at uint64) {
	if n := len(t.working); n > 0 && t.working[n-1] && !t.isAside {
		t.process.working.add(t.since, at)
	}
	t.since = max(t.since, at)
}

// outside returns the track for spans that overlap others of this one: locks that are not unset in
// the reverse order.
func (t *thread) outside() *thread {
	if t.aside == nil {
		t.aside = &thread{process: t.process, uuid: t.trace.uuid(), isAside: true}
		t.packets.track(t.aside.uuid, t.uuid, "locks that overlap", 0, nil)
	}
	return t.aside
}

func (t *thread) at(ns uint64) uint64 { return t.file.Dictionary.Monotonic(ns) }

// arguments are the figures of a span that its length does not tell.
func (t *thread) arguments(s *timeline.Span) (a []argument) {
	a = t.rates.arguments(s)
	if s.Flags&timeline.Open != 0 {
		a = append(a, argument{name: "end", text: "not seen: the recording ended first"})
	}
	if s.Flags&timeline.Unseen != 0 {
		a = append(a, argument{name: "end", text: "not seen: the times are not known"})
	}
	if s.Flags&timeline.Approximate != 0 {
		a = append(a, argument{name: "times", text: "approximate: events are missing, or an end was derived"})
	}
	if s.Kind == timeline.Fold {
		return append(a, argument{name: "executions", n: int64(s.Exec.C)}, argument{name: "sum of their times, ns", n: s.Exec.T})
	}
	if s.Kind == timeline.Call {
		return append(a, callArguments(&s.Call)...)
	}
	if uint64(max(s.Exec.T, 0)) != s.To-s.From {
		a = append(a, argument{name: "without what stood still, ns", n: s.Exec.T})
	}
	return a
}

// callArguments tells partners and bytes of an MPI call.
func callArguments(c *timeline.MPI) (a []argument) {
	if c.Flags&mpi.UnknownVolume == 0 {
		if c.Out > 0 {
			a = append(a, argument{name: "bytes sent", n: int64(c.Out)})
		}
		if c.In > 0 {
			a = append(a, argument{name: "bytes received", n: int64(c.In)})
		}
	}
	if c.Peer >= 0 {
		a = append(a, argument{name: "partner or root, in the communicator", n: int64(c.Peer)})
	}
	if c.Size > 0 {
		a = append(a, argument{name: "processes in the communicator", n: int64(c.Size)})
	}
	return a
}
