package advice

import (
	"maps"
	"slices"

	"ompp-attach/event"
)

// Usage follows, over time, how many threads of each OpenMP runtime of a process are inside
// parallel regions, and which runtime each place calls. Events of different threads come in any
// order, which does not change sums over stretches of time.
type Usage struct {
	libraries map[uint16]*library // by event.Event.Instance
	threads   map[uint32]*inside
	width     uint64 // ns of a stretch
	// ns of threads in regions of the second inside regions of the first.
	nested  map[[2]uint16]uint64
	origin  uint64            // when the first stretch begins, CLOCK_MONOTONIC, ns
	callers map[uint64]uint16 // by address of a construct or function: its library
	recent  [64]*inside       // of threads, by the low digits of their ids
	lately  [64]uint64        // of callers, by the low digits of their addresses
	twins   bool              // two libraries of one kind: callers of inner constructs count
	latest  *library          // the library asked for last, nil if none was, and its instance
	asked   uint16
}

// library is one loaded OpenMP runtime.
type library struct {
	kind    event.Runtime
	path    string
	maxTeam int
	busy    []uint64 // per stretch: ns of threads inside regions, summed over threads
}

// inside tells what regions a thread is in, by their libraries, outermost first.
type inside struct {
	tid     uint32
	regions []uint16
	since   uint64 // when the innermost region was entered, or returned to
}

const (
	firstWidth  = uint64(10e6) // 10 ms
	maxStretch  = 2048         // of stretches; then every two are merged
	manyThreads = 4096         // with more, threads outside of regions are forgotten
	deepestTeam = 64           // deeper: a program that leaves regions by longjmp
)

// NewUsage returns the usage of a process that uses no runtime yet.
func NewUsage() *Usage {
	return &Usage{libraries: map[uint16]*library{}, threads: map[uint32]*inside{}, callers: map[uint64]uint16{}, nested: map[[2]uint16]uint64{}, width: firstWidth}
}

// Add registers a runtime before its first event.
func (u *Usage) Add(instance uint16, kind event.Runtime, path string) {
	for _, l := range u.libraries {
		u.twins = u.twins || l.kind == kind && l.path != path
	}
	u.libraries[instance] = &library{kind: kind, path: path}
}

// library returns a runtime, or nil if none was registered. Mostly the last one is asked for again.
func (u *Usage) library(instance uint16) *library {
	if u.latest == nil || u.asked != instance {
		u.latest, u.asked = u.libraries[instance], instance
	}
	return u.latest
}

// Feed adds an event of any thread of the process.
func (u *Usage) Feed(ev *event.Event) {
	if u.twins {
		u.called(ev.Site, ev.Instance)
	}
	if ev.Edge != event.Fork && ev.Edge != event.Begin && ev.Edge != event.End {
		return
	}
	l := u.library(ev.Instance)
	if l == nil {
		return
	}
	u.called(ev.Fn, ev.Instance)
	l.maxTeam = max(l.maxTeam, int(ev.Size))
	if ev.Edge == event.Fork {
		return
	}
	if u.origin == 0 {
		u.origin = ev.Time
	}
	t := u.thread(ev.TID)
	if ev.Lost > 0 { // the thread's regions are not known any more
		t.regions = t.regions[:0]
	}
	u.chargeThread(t, ev.Time)
	t.since = ev.Time
	switch n := len(t.regions); {
	case ev.Edge == event.Begin && n < deepestTeam:
		t.regions = append(t.regions, ev.Instance)
	case ev.Edge == event.End && n > 0:
		t.regions = t.regions[:n-1]
	}
	if len(t.regions) == 0 && len(u.threads) > manyThreads {
		delete(u.threads, ev.TID) // most such threads have ended
		u.recent[ev.TID%uint32(len(u.recent))] = nil
	}
}

func (u *Usage) thread(tid uint32) *inside {
	slot := &u.recent[tid%uint32(len(u.recent))]
	if t := *slot; t != nil && t.tid == tid {
		return t
	}
	t := u.threads[tid]
	if t == nil {
		t = &inside{tid: tid}
		u.threads[tid] = t
	}
	*slot = t
	return t
}

// Finish charges the regions that are open when the measurement ends or is paused. inside tells
// whether a thread was inside a region. Usage alone cannot tell: libgomp ends its workers by a
// function that begins like a region's (gomp_free_pool_helper, gomp_pause_pool_helper).
func (u *Usage) Finish(end uint64, inside func(tid uint32) bool) {
	for _, t := range u.threads {
		if inside(t.tid) {
			u.chargeThread(t, end)
		}
	}
	clear(u.threads)
	clear(u.recent[:])
}

func (u *Usage) called(addr uint64, instance uint16) {
	slot := &u.lately[addr>>2%uint64(len(u.lately))]
	// Probes in the program's own code are of no library.
	if addr == 0 || *slot == addr || u.library(instance) == nil {
		return
	}
	*slot = addr
	if _, known := u.callers[addr]; !known {
		u.callers[addr] = instance
	}
}

// chargeThread charges a thread's time since its last event to the library of its innermost region.
func (u *Usage) chargeThread(t *inside, now uint64) {
	n := len(t.regions)
	if n == 0 || now <= t.since {
		return
	}
	innermost := t.regions[n-1]
	u.charge(innermost, t.since, now)
	for i := n - 2; i >= 0; i-- {
		if outer := t.regions[i]; outer != innermost {
			u.nested[[2]uint16{outer, innermost}] += now - t.since
			break
		}
	}
}

// charge adds a span of one thread's time to a library's stretches.
func (u *Usage) charge(instance uint16, from, to uint64) {
	l := u.library(instance)
	from = max(from, u.origin)
	if l == nil || to <= from {
		return
	}
	for (to-u.origin)/u.width >= maxStretch {
		u.coarsen()
	}
	for at := from; at < to; {
		i := (at - u.origin) / u.width
		end := min(u.origin+(i+1)*u.width, to)
		for uint64(len(l.busy)) <= i {
			l.busy = append(l.busy, 0)
		}
		l.busy[i] += end - at
		at = end
	}
}

func (u *Usage) coarsen() {
	u.width *= 2
	for _, l := range u.libraries {
		n := (len(l.busy) + 1) / 2
		for i := range n {
			sum := l.busy[2*i]
			if 2*i+1 < len(l.busy) {
				sum += l.busy[2*i+1]
			}
			l.busy[i] = sum
		}
		l.busy = l.busy[:n]
	}
}

// Copy copies the parts that finish and the warnings read or change.
func (u *Usage) Copy() *Usage {
	c := *u
	c.libraries, c.threads, c.latest = map[uint16]*library{}, map[uint32]*inside{}, nil
	for i, l := range u.libraries {
		own := *l
		own.busy = slices.Clone(l.busy)
		c.libraries[i] = &own
	}
	for tid, t := range u.threads {
		c.threads[tid] = &inside{tid, slices.Clone(t.regions), t.since}
	}
	c.nested, c.callers = maps.Clone(u.nested), maps.Clone(u.callers)
	return &c
}
