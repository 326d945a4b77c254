package attribution

import (
	"maps"
	"slices"

	"ompp-attach/attribution/stack"
	"ompp-attach/event"
)

// A model of what the kernel side folds (bpf/fold.h). It takes a stream in which every hit is told
// by itself, and makes the one that the kernel would have written.

const foldSlots = 8

// opened is a construct that a thread has begun and not told of.
type opened struct {
	events []event.Event // that streaming would have told
	phase  stack.Phase
	hits   uint64
	whole  bool // it ends when its call returns
}

type foldThread struct {
	open   *opened
	slots  []event.Event // of Edge Folded
	sp     uint64
	latest uint64
	// Stack pointer of a call that begins a construct and was told of; nil: it has returned.
	told *uint64
}

// folded is a stream that was folded, with the times at which its events were
// written, which are not those at which they happened.
type folded struct {
	events  []event.Event
	written []uint64
}

type foldModel struct {
	folded
	threads map[uint32]*foldThread
	bySP    bool
	slots   int
	whole   bool // what the event at hand begins is one call
}

// isWhole tells whether what an event begins is over when its call returns.
func isWhole(events []event.Event) bool {
	first := &events[0]
	if first.Construct != event.Atomic {
		return first.Construct == event.Flush
	}
	next := slices.IndexFunc(events[1:], func(ev event.Event) bool { return ev.TID == first.TID && ev.Construct == event.Atomic })
	return next >= 0 && events[1+next].Edge == event.Released
}

// foldStream folds a stream. Threads have some slots, at most as many as the
// kernel's; the process is stopped at times.
func foldStream(events []event.Event, slots int, stops []Stop) folded {
	m := &foldModel{threads: map[uint32]*foldThread{}, slots: slots}
	for i := range events {
		switch ev := &events[i]; {
		case ev.Edge == event.Off || ev.Edge == event.On: // such processes do not fold
			return folded{events, timesOf(events)}
		case ev.Construct == event.UserRegion:
			m.bySP = true
		}
	}
	for i, ev := range events {
		t := m.threads[ev.TID]
		if t == nil {
			t = &foldThread{}
			m.threads[ev.TID] = t
		}
		for _, s := range stops {
			if t.latest <= s.From && ev.Time > s.From {
				m.settle(t, s.From)
			}
		}
		t.latest = max(t.latest, ev.Time)
		m.whole = isWhole(events[i:])
		if !isFoldable(&ev) || !m.fold(t, ev) {
			m.settle(t, ev.Time)
			m.write(ev, ev.Time)
			if ev.Edge == event.Enter && ev.Flags&event.NoReturn == 0 {
				t.told = &ev.SP
			}
		}
	}
	for _, tid := range slices.Sorted(maps.Keys(m.threads)) {
		m.settle(m.threads[tid], m.threads[tid].latest)
	}
	return m.folded
}

func timesOf(events []event.Event) (at []uint64) {
	for i := range events {
		at = append(at, events[i].Time)
	}
	return at
}

func isFoldable(ev *event.Event) bool {
	switch ev.Construct {
	case event.Critical, event.Ordered, event.Atomic, event.Lock, event.NestLock, event.Flush:
		return ev.Edge != event.Sampled && ev.Lost == 0 && ev.Flags&^(event.FreeAtOnce|event.NoReturn|event.Inside) == 0
	}
	return false
}

func (m *foldModel) write(ev event.Event, at uint64) {
	m.events = append(m.events, ev)
	m.written = append(m.written, at)
}

// settle writes all that a thread has folded.
func (m *foldModel) settle(t *foldThread, at uint64) {
	m.settleSlots(t, at)
	if t.open == nil {
		return
	}
	for _, ev := range t.open.events {
		ev.Counters = t.open.events[0].Counters
		m.write(ev, at)
	}
	if t.open.phase == stack.Entering {
		t.told = &t.open.events[0].SP
	}
	if more := t.open.hits - uint64(len(t.open.events)); more > 0 {
		first := t.open.events[0]
		first.Edge, first.Flags, first.Counters, first.Fold = event.Folded, 0, nil, &event.Fold{Hits: more, Last: first.Time}
		m.write(first, at)
	}
	t.open = nil
}

func (m *foldModel) settleSlots(t *foldThread, at uint64) {
	for _, ev := range t.slots {
		if ev.Fold.Executions == 0 { // which counted nothing
			ev.Counters = nil
		}
		m.write(ev, at)
	}
	t.slots = nil
}

// fold takes an event if the kernel would not tell of it.
func (m *foldModel) fold(t *foldThread, ev event.Event) bool {
	o := t.open
	same := o != nil && o.events[0].Construct == ev.Construct
	if ev.Edge == event.Acquired || ev.Edge == event.Result {
		t.told = nil
	}
	atOnce := ev.Flags&(event.FreeAtOnce|event.NoReturn) != 0
	switch ev.Edge {
	case event.Enter:
		if t.told != nil && *t.told == ev.SP {
			return false
		}
		if o != nil {
			if same && o.phase == stack.Entering && o.events[0].SP == ev.SP {
				o.hits++ // told twice of one call
				return true
			}
			return false
		}
		t.open = &opened{events: []event.Event{ev}, phase: stack.Entering, hits: 1, whole: m.whole}
		switch {
		case m.whole:
			t.open.phase = stack.Leaving
		case atOnce:
			t.open.phase = stack.InBody
		}
		return true
	case event.Acquired, event.Result:
		if !same {
			return false
		}
		o.hits++
		switch {
		case o.phase != stack.Entering: // it was free
		case ev.Edge == event.Result && ev.Value == 0:
			m.add(t, &ev, 0)
		default:
			o.events, o.phase = append(o.events, ev), stack.InBody
		}
		return true
	case event.Release:
		lock := ev.Construct == event.Lock || ev.Construct == event.NestLock
		if !same || o.phase != stack.InBody || lock && ev.Fn != o.events[0].Fn {
			return false
		}
		o.hits++
		if atOnce {
			m.add(t, &ev, 1)
			return true
		}
		o.events, o.phase = append(o.events, ev), stack.Leaving
		return true
	case event.Released:
		switch {
		case same && o.phase == stack.Leaving:
			o.hits++
			m.add(t, &ev, 1)
		case same:
			o.hits++
		default:
			return false
		}
		return true
	}
	return false
}

// add adds up what is open, which ends.
func (m *foldModel) add(t *foldThread, last *event.Event, executions uint64) {
	o, end := t.open, last.Time
	t.open = nil
	first := o.events[0]
	if m.bySP && t.sp != first.SP {
		m.settleSlots(t, end)
	}
	t.sp = first.SP
	sum := event.Event{Time: first.Time, PID: first.PID, TID: first.TID, Construct: first.Construct, Edge: event.Folded,
		Runtime: first.Runtime, Instance: first.Instance, Flags: first.Flags & event.Inside, Site: first.Site, Fn: first.Fn, Loc: first.Loc}
	if m.bySP {
		sum.SP = first.SP
	}
	if first.Construct == event.Lock || first.Construct == event.NestLock {
		sum.Fn = 0
	}
	i := slices.IndexFunc(t.slots, func(s event.Event) bool {
		s.Time, s.Fold = sum.Time, nil
		return sameEvent(&s, &sum)
	})
	if i < 0 {
		if len(t.slots) == m.slots {
			m.settleSlots(t, end)
		}
		sum.Counters = first.Counters
		sum.Fold = &event.Fold{Counters: make([]uint64, len(first.Counters))}
		t.slots = append(t.slots, sum)
		i = len(t.slots) - 1
	}
	f := t.slots[i].Fold
	f.Last = end
	f.Hits += o.hits
	if executions == 0 {
		return
	}
	f.Executions++
	for i := range f.Counters {
		f.Counters[i] += last.Counters[i] - first.Counters[i]
	}
	if o.whole {
		f.Exit += end - first.Time
		return
	}
	f.Bodies++
	at := first.Time
	for _, ev := range o.events[1:] {
		switch ev.Edge {
		case event.Release:
			f.Body += ev.Time - at
			at = ev.Time
			f.Exit += end - at
			return
		default:
			f.Enter += ev.Time - at
			at = ev.Time
		}
	}
	f.Body += end - at
}

func sameEvent(a, b *event.Event) bool {
	return a.TID == b.TID && a.Construct == b.Construct && a.Runtime == b.Runtime && a.Instance == b.Instance && a.Flags == b.Flags &&
		a.SP == b.SP && a.Site == b.Site && a.Fn == b.Fn && a.Loc == b.Loc
}
