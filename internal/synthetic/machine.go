// Package synthetic makes up what the probes of a large machine would tell, for
// tests and benchmarks: no machine here has as many threads.
package synthetic

import (
	"cmp"
	"slices"

	"ompp-attach/event"
)

// Process is the process's number, and that of its first thread; the others'
// follow.
const Process = 100000

// Machine is what a made-up program runs on.
type Machine struct {
	Threads int    // of the outermost team
	Rings   int    // that they write to
	Step    uint64 // ns between two events of a thread
}

// Nested teams: one in so many threads starts one, of so many threads.
const (
	nestedEach = 8
	nestedSize = 4
)

// Period is one iteration of a program's outermost loop, a parallel region. It has criticals, free
// and contended, a dynamic loop, an explicit barrier, and tasks that the creator's neighbour
// executes. It also has a lock, and nested teams with criticals.
type Period struct {
	Rings  [][]event.Event            // by ring, in the order in which they were written
	Length uint64                     // ns
	Events int                        // in all rings
	Counts map[event.Construct]uint64 // executions, by threads
	nested int                        // threads that only nested teams have
	first  uint32                     // the first of them
}

// period is one that is being made.
type period struct {
	*Period
	Machine
	lists [][]event.Event // by thread
	clock []uint64
	depth []int
}

// Period makes up one.
func (m Machine) Period() *Period {
	nested := (m.Threads + nestedEach - 1) / nestedEach * (nestedSize - 1)
	p := &period{Machine: m, Period: &Period{Counts: map[event.Construct]uint64{}, nested: nested, first: Process + uint32(m.Threads)}}
	n := m.Threads + nested
	p.lists, p.clock, p.depth = make([][]event.Event, n), make([]uint64, n), make([]int, n)
	all := make([]int, m.Threads)
	for i := range all {
		all[i] = i
	}
	const team = 0x900000
	p.region(all, team, 0x4100, 0, func(i int) {
		p.criticals(i, 0x4110)
		p.put(i, event.Loop, event.Open, event.Event{Site: 0x4120})
		p.put(i, event.Loop, event.Wait, event.Event{Site: 0x4124})
	}, func(i int) {
		p.put(i, event.Loop, event.Waited, event.Event{})
		p.count(event.Loop)
		p.criticals(i, 0x4130)
		p.put(i, event.Barrier, event.Wait, event.Event{Site: 0x4140})
	}, func(i int) {
		p.put(i, event.Barrier, event.Waited, event.Event{})
		p.count(event.Barrier)
		p.lock(i)
		p.create(i)
	}, func(i int) {
		p.executeNeighbours(i)
		if i%nestedEach == 0 {
			p.nest(i)
		}
	})
	p.deal()
	return p.Period
}

// put writes down an event of the i-th thread.
func (p *period) put(i int, c event.Construct, e event.Edge, more event.Event) {
	more.Time, more.PID, more.TID, more.Runtime = p.clock[i]+uint64(i%64), Process, Process+uint32(i), event.Gomp
	more.Construct, more.Edge, more.SP = c, e, uint64(0x7000000+0x10000*i-0x100*p.depth[i])
	p.lists[i] = append(p.lists[i], more)
	p.clock[i] += p.Step
	p.Length = max(p.Length, p.clock[i]+64)
	p.Events++
}

func (p *period) count(c event.Construct) { p.Counts[c]++ }

// region executes one with a team; all have done a part before any does the next.
func (p *period) region(threads []int, team, fn uint64, level int32, parts ...func(i int)) {
	primary := threads[0]
	p.put(primary, event.Parallel, event.Fork, event.Event{Fn: fn, Key: team, Size: int32(len(threads)), Num: level, Site: fn - 0x80})
	p.wait(threads)
	for num, i := range threads {
		p.depth[i]++
		p.put(i, event.Parallel, event.Begin, event.Event{Key: team, Num: int32(num)})
		p.count(event.Parallel)
	}
	for _, part := range parts {
		for _, i := range threads {
			part(i)
		}
		p.wait(threads)
	}
	for _, i := range threads {
		p.put(i, event.Parallel, event.End, event.Event{Num: level + 1})
		p.depth[i]--
	}
	p.wait(threads)
	p.put(primary, event.Parallel, event.Join, event.Event{})
}

// wait makes threads wait for each other.
func (p *period) wait(threads []int) {
	latest := uint64(0)
	for _, i := range threads {
		latest = max(latest, p.clock[i]+64)
	}
	for _, i := range threads {
		p.clock[i] = latest
	}
}

// criticals: every fourth is contended (libgomp: a free one is two events, a
// contended one four).
func (p *period) criticals(i int, site uint64) {
	p.count(event.Critical)
	if i%4 != 0 {
		p.put(i, event.Critical, event.Enter, event.Event{Site: site, Flags: event.FreeAtOnce})
		p.put(i, event.Critical, event.Release, event.Event{Site: site + 4, Flags: event.FreeAtOnce})
		return
	}
	p.put(i, event.Critical, event.Enter, event.Event{Site: site})
	p.put(i, event.Critical, event.Acquired, event.Event{})
	p.put(i, event.Critical, event.Release, event.Event{Site: site + 4})
	p.put(i, event.Critical, event.Released, event.Event{})
}

func (p *period) lock(i int) {
	p.count(event.Lock)
	lock := 0x8000 + 8*uint64(i)
	p.put(i, event.Lock, event.Enter, event.Event{Site: 0x4150, Fn: lock, Flags: event.FreeAtOnce})
	p.put(i, event.Lock, event.Release, event.Event{Site: 0x4154, Fn: lock, Flags: event.FreeAtOnce})
}

func task(i int) uint64 { return 0x700000 + 0x100*uint64(i) }

func (p *period) create(i int) {
	p.count(event.Task)
	p.put(i, event.Task, event.Enter, event.Event{Fn: 0x4200})
	p.put(i, event.Task, event.Result, event.Event{Key: task(i)})
	p.put(i, event.Task, event.Released, event.Event{})
}

func (p *period) executeNeighbours(i int) {
	p.count(event.TaskWait)
	p.count(event.TaskExec)
	key := task((i + 1) % p.Threads)
	p.put(i, event.TaskWait, event.Wait, event.Event{Site: 0x4160})
	p.put(i, event.TaskExec, event.Begin, event.Event{Key: key})
	p.put(i, event.TaskExec, event.End, event.Event{Key: key})
	p.put(i, event.TaskWait, event.Waited, event.Event{})
}

// nest starts a team within a thread's task, whose workers are made for it.
func (p *period) nest(i int) {
	threads := []int{i}
	for n := range nestedSize - 1 {
		threads = append(threads, p.Threads+i/nestedEach*(nestedSize-1)+n)
	}
	p.region(threads, 0xa00000+0x100*uint64(i), 0x4300, 1, func(i int) { p.criticals(i, 0x4310) })
}

// deal gives each ring its threads' events.
func (p *period) deal() {
	p.Period.Rings = make([][]event.Event, p.Machine.Rings)
	for i, l := range p.lists {
		r := i % len(p.Period.Rings)
		p.Period.Rings[r] = append(p.Period.Rings[r], l...)
	}
	for _, r := range p.Period.Rings {
		slices.SortStableFunc(r, func(a, b event.Event) int { return cmp.Compare(a.Time, b.Time) })
	}
}

// TIDs is the number from which the threads of nested teams are counted in the n-th period. libgomp
// makes new threads each time, and numbers come again.
func (p *Period) TIDs(n int) uint32 {
	const numbers = 1 << 22 // pid_max
	lots := uint32(numbers-Process-p.nested) / uint32(max(p.nested, 1))
	return uint32(p.nested) * (uint32(n) % lots)
}

// FirstNested is the number of the first thread that only nested teams have.
func (p *Period) FirstNested() uint32 { return p.first }

// Nth is an event as it is in the n-th period, which begins at a time.
func (p *Period) Nth(ev *event.Event, tids uint32, begin uint64) event.Event {
	out := *ev
	out.Time += begin
	if out.TID >= p.first {
		out.TID += tids
	}
	return out
}
