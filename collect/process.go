package collect

import (
	"fmt"
	"io"
	"math"
	"slices"

	"golang.org/x/sys/unix"

	"ompp-attach/attribution"
	"ompp-attach/attribution/stream"
	"ompp-attach/bpf"
	"ompp-attach/clock"
	"ompp-attach/collect/advice"
	"ompp-attach/collect/loops"
	"ompp-attach/collect/places"
	"ompp-attach/collect/rank"
	"ompp-attach/collect/sampling"
	"ompp-attach/collect/target"
	"ompp-attach/collect/triggered"
	"ompp-attach/event"
	"ompp-attach/mpi/clocks"
	"ompp-attach/probes"
	"ompp-attach/profile"
	"ompp-attach/symbols"
	"ompp-attach/timeline"
	"ompp-attach/version"
)

// Process is one measured program image: a process until it ends or runs another program. A process
// that was taken out of reader.procs belongs to the goroutine that took it out.
type Process struct {
	pid     uint32
	handle  int // a pidfd, unless we have launched the process; -1: none
	program *Program
	first   bool // the process that we launched or attached to
	mapped  *symbols.Process
	// CLOCK_MONOTONIC, ns, read before the process was first looked at.
	found uint64
	gone  bool                  // it has ended, so nobody can hit its probes
	say   func(sentence string) // see Measurement.Say

	placement
	reading
}

// placement is what is placed in a process. Guarded by placer.mu.
type placement struct {
	placed    map[target.FileID]placed // runtimes
	code      map[target.FileID]placed // probes in files' own code
	placedMPI map[target.FileID]*placedMPI
	loops     *loops.Calls // nil: libomp's entry points are probed
	loopsLate bool         // see tookLoops
	codeLate  bool         // see tookCode
	libs      io.Closer    // the watch on its dynamic loader, if it was attached to
	cores     advice.Cores // on which it may run
	tasking   bool         // it may create tasks
	alone     bool         // it uses no shared probes
	shares    bool         // it takes part in shared probes
	paused    bool         // `ompp-attach pause` removed its probes
	detached  bool         // it gets no probes any more
}

// newPlacement returns the placement of a process without probes.
func newPlacement() placement {
	return placement{placed: map[target.FileID]placed{}, code: map[target.FileID]placed{}, placedMPI: map[target.FileID]*placedMPI{}}
}

// placed are the probes in a file.
type placed struct {
	link    io.Closer
	further []io.Closer // of probes in the file's own code that were wanted later
	told    bool        // beginnings of loops in the file's own code have no probes: see tellsLoops
	plan    *probes.Plan
	runtime profile.Runtime
}

// reading is the part of a Process that the reader uses. It holds the figures that the reader has
// read, and the engine with all that the engine needs. It is guarded by reader.mu. Times are of
// CLOCK_MONOTONIC, in ns.
type reading struct {
	engine   *attribution.Engine
	resolver *places.Resolver
	usage    *advice.Usage
	// Rates of the process's first second; nil: that is over, or the cost of hits is not known.
	rates        *advice.Rates
	recorder     *stream.Recorder     // see Measurement.RecordEvents; nil normally
	timeline     *timeline.Recorder   // see Measurement.RecordTimelines; nil normally
	triggers     *triggered.Snapshots // see Timelines.When; nil normally
	sampled      sampling.Process
	schedRecords *profile.SchedRecords // nil: no records so far
	rank         rank.Rank

	began     uint64          // when its measured time began
	ended     uint64          // when its measured time ended; 0: it goes on
	stopped   uint64          // when it was stopped for its probes; 0: it runs
	continued uint64          // when we last continued it
	pausedAt  uint64          // when `ompp-attach pause` paused it; 0: not paused
	resumedAt uint64          // when `ompp-attach resume` last resumed it
	existing  int             // number of its threads when it was attached to
	cpu0, cpu target.CPUTimes // as its measured time began, and as last read
	cpuAt     uint64          // a time not later than that reading; 0: none
	// The processor time of ompp-attach itself at these two readings, and when the process was last
	// stopped, ns. What it took in stops is added to the first.
	tool0, tool, toolAtStop int64

	meta     profile.Meta
	warnings []string
	debugged bool             // the user was warned of its debugger
	profile  *profile.Profile // nil: not made yet
}

// newProcess registers a process before its first probe is placed.
func (lv *lives) newProcess(pid int, g *Program) *Process {
	if lv.follower != nil { // there is none in tests
		// This comes before describe: a later exec is reported as a life.
		lv.follower.Change(pid, bpf.FollowKnown, 0)
	}
	now := ktime()
	p := &Process{
		pid: uint32(pid), handle: -1, program: g, first: pid == g.pid, found: now, say: lv.say,
		placement: newPlacement(),
		reading:   reading{began: now, cpu0: target.ReadCPU(pid), tool0: target.ReadOwnCPU(), usage: advice.NewUsage()},
	}
	if !p.first || !g.launched {
		if fd, err := unix.PidfdOpen(pid, 0); err == nil {
			p.handle = fd
		}
	}
	p.mapped = target.PopFiles(pid)
	p.resolver = places.NewResolver(p.mapped, lv.wanted)
	if lv.kernel != nil { // there is none in tests
		if err := lv.kernel.Hear(pid); err != nil {
			lv.reader.warn("%v", err)
		}
	}
	lv.newEngine(p)
	p.readNoCore()
	p.meta = target.Describe(pid)
	p.meta.Tool, p.meta.Built = version.Of()
	p.meta.MPI = rank.Told(pid)
	p.meta.Clock = &clocks.Record{Boot: clock.BootID(), Begin: clock.Read()}
	if g.launched && lv.follower != nil {
		lv.startedBefore(p)
	}
	lv.reader.mu.Lock()
	lv.reader.sampling.Measures(&p.sampled)
	lv.reader.procs[uint32(pid)] = p
	lv.reader.tellCosts(p)
	for g := range event.NumGroups {
		if lv.budget != nil && lv.budget.removed[g] {
			p.observe(attribution.Switch{At: ktime(), Of: g.Constructs(), Change: attribution.Unobserved})
		}
	}
	lv.reader.mu.Unlock()
	lv.reader.beginSampling(p)
	lv.reader.beginSched(p)
	if !p.first && lv.reader.waiter != nil {
		lv.reader.waiter.Wake() // the reader now has to look more often (childEvery)
	}
	return p
}

// newEngine makes a process's engine, and tells it what the measurement records.
func (lv *lives) newEngine(p *Process) {
	var r attribution.Resolver = places.PerLibrary{Resolver: p.resolver, Usage: p.usage}
	if lv.recording {
		p.recorder = stream.NewRecorder(p.pid, r)
		r = p.recorder
	}
	p.engine = attribution.New(p.pid, r)
	if lo, hi, ok := target.MainStack(int(p.pid)); ok {
		p.engine.MainStack(lo, hi)
		if p.recorder != nil {
			p.recorder.Stream.StackLo, p.recorder.Stream.StackHi = lo, hi
		}
	}
	p.engine.Began(p.began)
	if lv.reader.sched != nil {
		p.engine.TellsOffCore()
		if p.recorder != nil {
			p.recorder.Stream.OffCoreTold = true
		}
	}
	if lv.calls {
		p.engine.LogCalls()
	}
	lv.recordTimeline(p)
}

func (p *Process) feed(ev *event.Event) {
	if p.meta.Attached && ev.Time < p.began || p.ended != 0 && ev.Time > p.ended {
		return // probes were being placed or removed one by one
	}
	if p.pausedAt != 0 && ev.Time > p.pausedAt || ev.Time < p.resumedAt {
		return
	}
	if ev.Construct == event.UserRegion && ev.Fn != 0 && ev.Value == event.UserMarker {
		p.resolver.NameMarker(ev)
	}
	if p.recorder != nil {
		kept := *ev
		kept.Counters = slices.Clone(ev.Counters) // the slice belongs to the ring
		if ev.Fold != nil {
			f := *ev.Fold
			f.Counters = slices.Clone(f.Counters)
			kept.Fold = &f
		}
		if ev.OffCore != nil {
			a := *ev.OffCore
			kept.OffCore = &a
		}
		p.recorder.Stream.Events = append(p.recorder.Stream.Events, kept)
	}
	p.engine.Feed(ev)
	p.usage.Feed(ev)
	if p.rates != nil {
		p.countRates(ev)
	}
}

func (p *Process) warnOnce(s string) {
	if !slices.Contains(p.warnings, s) {
		p.warnings = append(p.warnings, s)
	}
}

// countRates counts an event of a process's first second, and warns of a storm at its end; mu is
// held.
func (p *Process) countRates(ev *event.Event) {
	if p.rates == nil || !p.rates.Add(ev) {
		return
	}
	p.readCPU()
	if s := p.rates.Sentence(p.mostInHits(ev.Time)); s != "" && p.say != nil {
		p.say(fmt.Sprintf("process %d: %s", p.pid, s))
	}
	p.rates = nil
}

// readCPU reads a process's CPU times anew. If they cannot be read any more, the last ones stay.
func (p *Process) readCPU() {
	at := ktime()
	if c := target.ReadCPU(int(p.pid)); c != (target.CPUTimes{}) {
		p.cpu, p.cpuAt, p.tool = c, at, target.ReadOwnCPU()
	}
}

// mostInHits returns how long the process's hits until a time can have taken at most, ns. It
// returns math.MaxInt64 if the CPU times were last read before that time.
func (p *Process) mostInHits(until uint64) int64 {
	if p.cpuAt < until {
		return math.MaxInt64
	}
	user, system := p.cpuTimes()
	return profile.MostInHits(user + system)
}

// cpuTimes returns the process's CPU times within its measured time, ns.
func (p *Process) cpuTimes() (user, system int64) {
	return since(p.cpu.User, p.cpu0.User), since(p.cpu.System, p.cpu0.System)
}
