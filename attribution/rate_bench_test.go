package attribution

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/timeline"
)

// Streams of machines with as many producers as no test machine has. Each producer makes events
// one after the other: 1 M events per second of all together are many (docs/benchmarks.md).

// BenchmarkProducers measures how fast the events of many threads, or of many ranks, are taken.
func BenchmarkProducers(b *testing.B) {
	b.Run("64 threads", func(b *testing.B) {
		p := newPlayer(regionStream(64))
		benchmarkRate(b, len(p.period), p.play)
	})
	b.Run("256 ranks", func(b *testing.B) {
		p := newRanks(256)
		benchmarkRate(b, p.events(), p.play)
	})
}

// TestProducers checks that the streams are what they should be: nothing is left over, and each
// arrival at a barrier and each call is counted.
func TestProducers(t *testing.T) {
	const periods = 5
	check := func(p *player, arrivals, calls uint64) {
		t.Helper()
		prof := p.engine.Finish(p.shift)
		var got, made uint64
		for _, n := range prof.Nodes[1:] {
			for _, s := range n.Stats {
				if s.Waits != nil {
					got += s.Waits.Wait.C
				}
				if prof.Regions[n.Region].Construct == event.MPI {
					made += s.Exec.C
				}
			}
		}
		if got != arrivals || made != calls || prof.Meta.Unmatched+prof.Meta.Partial > 0 {
			t.Errorf("%d arrivals, want %d; %d calls, want %d; %d unmatched, %d partial", got, arrivals, made, calls, prof.Meta.Unmatched, prof.Meta.Partial)
		}
	}
	threads, all := newPlayer(regionStream(64)), newRanks(256)
	for range periods {
		threads.play()
		all.play()
	}
	const barriers = 3 // of a loop, explicit, and the region's
	check(threads, periods*barriers*64, 0)
	for _, p := range all {
		check(p, periods*barriers*2, periods*(exchanges*5+reductions))
	}
}

// benchmarkRate reports how many events per second of processor time a function works off, which
// works off some of them at a time. Processor time says the same on a machine that others use.
func benchmarkRate(b *testing.B, events int, play func()) {
	for range 3 { // regions, threads and teams are new once
		play()
	}
	b.ReportAllocs()
	done := 0
	began := processorTime(b)
	for b.Loop() {
		play()
		done += events
	}
	b.ReportMetric(float64(done)/(processorTime(b)-began).Seconds()/1e6, "Mevents/s")
}

func processorTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// ranks are processes with an engine each, of which one thread reads the events in turn, as a
// node's collector does.
type ranks []*player

func newRanks(n int) (all ranks) {
	for rank := range n {
		all = append(all, newPlayer(rankStream(rank, n)))
	}
	return all
}

func (all ranks) events() (n int) {
	for _, p := range all {
		n += len(p.period)
	}
	return n
}

func (all ranks) play() {
	for _, p := range all {
		p.play()
	}
}

// What a rank calls in one period, besides its team.
const (
	exchanges  = 8 // with each of two neighbours
	reductions = 2
)

// rankStream: a rank exchanges messages with its neighbours, takes part in reductions, and starts a
// team of two threads.
func rankStream(rank, size int) (s []event.Event) {
	put := func(site uint64, op string, args mpi.Args) {
		o, ok := mpi.ParseOp(op)
		if !ok {
			panic("no " + op)
		}
		at := uint64(100 * len(s))
		args.Rank, args.Size = int32(rank), int32(size)
		s = append(s, event.Event{Time: at, PID: initialThread, TID: initialThread, Construct: event.MPI, Edge: event.Released,
			SP: 0x7000, Site: site, MPI: &event.MPICall{Op: o, Args: args}})
	}
	for range exchanges {
		for _, peer := range []int{(rank + 1) % size, (rank + size - 1) % size} {
			put(0x5000, "MPI_Isend", mpi.Args{Send: 4096, Peer: int32(peer)})
			put(0x5010, "MPI_Irecv", mpi.Args{Recv: 4096, Peer: int32(peer)})
		}
		put(0x5020, "MPI_Waitall", mpi.Args{})
	}
	for range reductions {
		put(0x5030, "MPI_Allreduce", mpi.Args{Send: 8, Recv: 8})
	}
	team := regionStream(2)
	for i := range team {
		team[i].Time += uint64(100 * len(s))
	}
	return append(s, team...)
}

// tally counts the spans that a recorder is told.
type tally struct {
	*timeline.Recorder
	spans int
}

// Span implements timeline.Sink.
func (c *tally) Span(s *timeline.Span) {
	c.spans++
	c.Recorder.Span(s)
}

// BenchmarkRecording measures how fast one core records executions, one by one and without loss.
// The core runs the engine, and a recorder that compresses and writes to a file meanwhile.
func BenchmarkRecording(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	name := filepath.Join(b.TempDir(), "x.timeline")
	rec, err := timeline.NewRecorder(timeline.Options{Plan: timeline.Plan{Cap: 1 << 40, Stream: true}, Wait: true,
		Open: func() (io.WriteCloser, error) { return os.Create(name) }})
	if err != nil {
		b.Fatal(err)
	}
	to := &tally{Recorder: rec}
	p := newPlayer(append(regionStream(4), criticalStream()...))
	p.engine.Timeline(to)
	rnd := rand.New(rand.NewPCG(1, 2))
	began := processorTime(b)
	for b.Loop() {
		for i := range p.period { // no two periods are alike: these would take no room
			p.period[i].Time = p.shift + uint64(100*i) + rnd.Uint64N(80)
		}
		p.play()
	}
	end := p.shift
	p.engine.Finish(end)
	took := processorTime(b) - began
	if err := rec.Finish(); err != nil || len(rec.Gaps()) > 0 {
		b.Fatalf("not all was recorded: %v, gaps %+v", err, rec.Gaps())
	}
	st, err := os.Stat(name)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(to.spans)/took.Seconds()/1e6, "Mspans/s")
	b.ReportMetric(float64(st.Size())/float64(to.spans), "B/span")
}
