package attribution

import (
	"slices"
	"testing"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// nowhere answers the engine's questions for streams without a program.
type nowhere struct{}

func (nowhere) Team(uint64) event.Construct              { return event.Parallel }
func (nowhere) Workshare(uint64) event.Construct         { return event.Loop }
func (nowhere) Barrier(uint64) BarrierKind               { return BarrierExplicit }
func (nowhere) Apart(Following) bool                     { return false }
func (nowhere) SingleBarrier(uint64, uint64) BarrierKind { return BarrierImplicit }
func (nowhere) LoopAfter(uint64) InlineLoop              { return InlineLoop{} }
func (nowhere) Seen(Key)                                 {}
func (nowhere) Around(uint64) (profile.Region, bool)     { return profile.Region{}, false }
func (nowhere) Code(uint64) []profile.Frame              { return nil }
func (nowhere) Region(k Key) profile.Region {
	return profile.Region{Construct: k.Construct, Location: profile.Location{Object: "program", Offset: k.Fn + k.Site}}
}

// streams are what the engine is measured with: one period of each, to be fed
// again and again, later each time.
var streams = []struct {
	name   string
	period []event.Event
}{
	{"criticals", criticalStream()},
	{"regions", regionStream(4)},
	{"calls", callStream(1)},
	{"calls from 100 sites", callStream(100)},
	{"barriers in a team", barrierStream(4)},
	{"criticals in a team", teamCriticalStream(4)},
	{"mixed", append(regionStream(4), criticalStream()...)},
}

const initialThread = 100

// criticalStream: a thread enters and leaves a critical ten times, half of
// them contended (libgomp: a free one is two events, a contended one four).
func criticalStream() (s []event.Event) {
	put := func(e event.Edge, f event.Flag) {
		s = append(s, event.Event{Time: uint64(100 * len(s)), PID: initialThread, TID: initialThread,
			Construct: event.Critical, Edge: e, Runtime: event.Gomp, Flags: f, SP: 0x7000, Site: 0x4010})
	}
	for range 5 {
		put(event.Enter, event.FreeAtOnce)
		put(event.Release, event.FreeAtOnce)
		put(event.Enter, 0)
		put(event.Acquired, 0)
		put(event.Release, 0)
		put(event.Released, 0)
	}
	return s
}

// callStream: a thread sends from each of several places, half of the times
// within a critical.
func callStream(sites int) (s []event.Event) {
	send, _ := mpi.ParseOp("MPI_Send")
	put := func(c event.Construct, e event.Edge, more event.Event) {
		more.Time, more.PID, more.TID, more.Construct, more.Edge, more.SP = uint64(100*len(s)), initialThread, initialThread, c, e, 0x7000
		s = append(s, more)
	}
	calls := func() {
		for i := range uint64(sites) {
			put(event.MPI, event.Released, event.Event{Site: 0x5000 + i, MPI: &event.MPICall{Op: send, Args: mpi.Args{Send: 8, Size: 2}}})
		}
	}
	calls()
	put(event.Critical, event.Enter, event.Event{Site: 0x4010, Flags: event.FreeAtOnce})
	calls()
	put(event.Critical, event.Release, event.Event{Flags: event.FreeAtOnce})
	return s
}

// regionStream: a team starts, every thread takes a dynamic loop with its
// barrier and an explicit barrier, and the team ends.
func regionStream(size int) (s []event.Event) {
	put := func(thread int, c event.Construct, e event.Edge, more event.Event) {
		more.Time, more.PID, more.TID = uint64(100*len(s)), initialThread, uint32(initialThread+thread)
		more.Construct, more.Edge, more.Runtime, more.SP = c, e, event.Gomp, 0x7000
		s = append(s, more)
	}
	const team = 0x9000
	put(0, event.Parallel, event.Fork, event.Event{Fn: 0x4100, Key: team, Size: int32(size), Site: 0x4020})
	for t := range size {
		put(t, event.Parallel, event.Begin, event.Event{Key: team, Num: int32(t)})
	}
	for t := range size {
		put(t, event.Loop, event.Open, event.Event{Site: 0x4110})
		put(t, event.Loop, event.Wait, event.Event{})
	}
	for t := range size {
		put(t, event.Loop, event.Waited, event.Event{})
		put(t, event.Barrier, event.Wait, event.Event{Site: 0x4120})
	}
	for t := range size {
		put(t, event.Barrier, event.Waited, event.Event{})
		put(t, event.Parallel, event.End, event.Event{})
	}
	put(0, event.Parallel, event.Join, event.Event{})
	return s
}

// barrierStream: a team passes one barrier after another.
func barrierStream(size int) []event.Event {
	return teamStream(size, func(put func(thread int, c event.Construct, e event.Edge, more event.Event)) {
		for range 20 {
			for t := range size {
				put(t, event.Barrier, event.Wait, event.Event{Site: 0x4120})
			}
			for t := range size {
				put(t, event.Barrier, event.Waited, event.Event{})
			}
		}
	})
}

// teamCriticalStream: the threads of a team wait for each other in a critical.
func teamCriticalStream(size int) []event.Event {
	return teamStream(size, func(put func(thread int, c event.Construct, e event.Edge, more event.Event)) {
		for range 20 {
			for t := range size {
				put(t, event.Critical, event.Enter, event.Event{Site: 0x4130})
			}
			for t := range size {
				put(t, event.Critical, event.Acquired, event.Event{})
				put(t, event.Critical, event.Release, event.Event{Flags: event.FreeAtOnce})
			}
		}
	})
}

// teamStream: a team starts, does something, and ends.
func teamStream(size int, do func(put func(thread int, c event.Construct, e event.Edge, more event.Event))) (s []event.Event) {
	put := func(thread int, c event.Construct, e event.Edge, more event.Event) {
		more.Time, more.PID, more.TID = uint64(100*len(s)), initialThread, uint32(initialThread+thread)
		more.Construct, more.Edge, more.Runtime, more.SP = c, e, event.Gomp, 0x7000
		s = append(s, more)
	}
	const team = 0x9000
	put(0, event.Parallel, event.Fork, event.Event{Fn: 0x4100, Key: team, Size: int32(size), Site: 0x4020})
	for t := range size {
		put(t, event.Parallel, event.Begin, event.Event{Key: team, Num: int32(t)})
	}
	do(put)
	for t := range size {
		put(t, event.Parallel, event.End, event.Event{})
	}
	put(0, event.Parallel, event.Join, event.Event{})
	return s
}

// player feeds a period again and again.
type player struct {
	engine *Engine
	period []event.Event
	shift  uint64
}

func newPlayer(period []event.Event) *player {
	p := &player{engine: New(initialThread, nowhere{}), period: slices.Clone(period)}
	p.engine.Costs(*testCosts())
	for i := range p.period {
		p.period[i].Probe = event.ProbeEmulated
		if c := p.period[i].MPI; c != nil {
			own := *c
			p.period[i].MPI = &own
		}
	}
	return p
}

func (p *player) play() {
	length := uint64(100 * len(p.period))
	for i := range p.period { // in place: what it takes to make an event is the decoder's
		if c := p.period[i].MPI; c != nil {
			c.Start = p.period[i].Time - min(80, p.period[i].Time)
		}
		p.engine.Feed(&p.period[i])
		p.period[i].Time += length
	}
	p.shift += length
	p.engine.Advance(p.shift)
}

func TestFeedAllocatesNothing(t *testing.T) {
	for _, s := range streams {
		t.Run(s.name, func(t *testing.T) { feedAllocatesNothing(t, newPlayer(s.period), len(s.period)) })
		// Each program that the tool starts was stopped once.
		t.Run(s.name+", stopped", func(t *testing.T) {
			p := newPlayer(s.period)
			p.engine.Stopped(Stop{From: 1, To: 2})
			feedAllocatesNothing(t, p, len(s.period))
		})
	}
}

func feedAllocatesNothing(t *testing.T, p *player, events int) {
	t.Helper()
	for range 10 { // regions, threads and teams are new once
		p.play()
	}
	if n := testing.AllocsPerRun(100, p.play); n != 0 {
		t.Errorf("%v allocations for %d events, want none", n, events)
	}
	if e := p.engine; e.in.Unmatched+e.in.Partial > 0 {
		t.Errorf("the stream is not what it should be: %d events unmatched, %d regions partial", e.in.Unmatched, e.in.Partial)
	}
}

func BenchmarkEngine(b *testing.B) {
	for _, s := range streams {
		b.Run(s.name, func(b *testing.B) {
			p := newPlayer(s.period)
			b.ReportAllocs()
			events := 0
			for b.Loop() {
				p.play()
				events += len(p.period)
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}
