package collect

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"ompp-attach/clock"
	"ompp-attach/collect/advice"
	"ompp-attach/collect/launch"
	"ompp-attach/collect/places"
	"ompp-attach/collect/rank"
	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/files"
	"ompp-attach/mpi/clocks"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// profiles makes the profiles of processes that are not fed any more, and of copies of processes.
type profiles struct {
	*common
	reader *reader

	mu    sync.Mutex // held while one profile is made: profiles share the debug files
	debug places.DebugFiles
}

// endedSomehow stands in the report for a process if it is not known how the process ended.
const endedSomehow = "the process ended"

// detached stands in the report for a process that went on when its measurement ended.
const detached = "detached"

// finish makes the profile of a process. ended says how its measurement ended. The caller has
// removed the process's probes, drained its records, and taken the process out of procs.
func (pf *profiles) finish(p *Process, ended string) {
	pf.mu.Lock()
	defer pf.mu.Unlock()
	exit := 0
	if p.handle >= 0 {
		if e, ok := launch.EndingOf(int(p.pid), p.handle); ok && ended == endedSomehow {
			ended, exit = e.How, e.Status
		}
		unix.Close(p.handle)
		p.handle = -1
	}
	// From here on no other goroutine uses the process, so the reader does not wait while places
	// are looked up.
	// The process had nothing to be measured.
	if p.engine.Events() == 0 && len(p.placed) == 0 && len(p.placedMPI) == 0 {
		pf.reader.mu.Lock()
		p.program.troubles = append(p.program.troubles, p.warnings...)
		pf.reader.mu.Unlock()
		p.completeTimeline(nil, pf.say)
		return
	}
	pf.debug.FetchFor(p.resolver, pf.logf)
	end := p.ended
	prof := pf.profileOf(p, p.engine.Finish(end), end)
	prof.Meta.Ended, prof.Meta.Exit = ended, exit
	p.completeTimeline(prof, pf.say)
	pf.reader.mu.Lock()
	p.profile = prof
	pf.reader.mu.Unlock()
	if p.recorder != nil {
		p.recorder.Stream.Began, p.recorder.Stream.End, p.recorder.Stream.Stops = p.began, end, p.engine.Stops()
	}
}

// profileOf completes the profile that an engine gave: it adds all else that is known of the
// process. end is the time at which the profile ends. profiles.mu is held.
func (pf *profiles) profileOf(p *Process, prof *profile.Profile, end uint64) *profile.Profile {
	told := prof.Meta // by the engine
	prof.Meta = p.meta
	if c := p.meta.Clock; c != nil { // there is none in tests
		prof.Meta.Clock = &clocks.Record{Boot: c.Boot, Begin: c.Begin, End: clock.Read()}
	}
	prof.Meta.Trust, prof.Meta.Off, prof.Meta.Observations = told.Trust, told.Off, told.Observations
	pf.reader.mu.Lock()
	pf.budget.describe(prof, pf.wanted.User)
	pf.reader.mu.Unlock()
	prof.Meta.UserTime, prof.Meta.SysTime = p.cpuTimes()
	prof.Meta.ToolTime = max(0, p.tool-p.tool0)
	prof.Meta.Overhead = pf.reader.overhead(told.Overhead)
	prof.Meta.Overhead.Bound(p.mostInHits(end))
	pf.reader.describeSampling(prof, p)
	prof.Meta.Sched = p.schedRecords
	prof.Meta.Duration = p.engine.Elapsed(p.began, end)
	prof.Meta.HasTasks, prof.Meta.CPUs, prof.Meta.Quota = p.tasking, p.cores.CPUs(), p.cores.Quota()
	if p.rank.Job != nil { // otherwise p.meta has what the launcher told
		prof.Meta.MPI = p.rank.Job
	}
	rank.MarkSamples(prof)
	prof.Objects = p.resolver.Objects(prof)
	for _, pl := range p.placed {
		prof.Meta.Runtimes = append(prof.Meta.Runtimes, pl.runtime)
	}
	has := map[event.Runtime]bool{}
	for _, pl := range p.placed {
		has[pl.plan.Runtime] = true
	}
	probed := func(mod *symbols.Module) bool { _, ok := p.code[target.IDOf(mod)]; return ok }
	prof.Unseen = append(p.resolver.Unseen(has, probed), p.resolver.User.NotSeen(p.resolver.Modules(), prof.Regions)...)
	prof.Warnings = append(append(prof.Warnings, p.warnings...), p.resolver.Covered()...)
	prof.Warnings = append(prof.Warnings, p.triggers.Sentences()...)
	if n := pf.kernel.Unheeded(); n > 0 {
		prof.Warnings = append(prof.Warnings, fmt.Sprintf("Too many processes had switched measurement off at one time: %d times ompp_off had no effect in some process.", n))
	}
	for _, f := range files.Stuck() {
		prof.Warnings = append(prof.Warnings, f+" was not read, because its file system does not answer: what it would have told is missing.")
	}
	if w := advice.Contention(&pf.machine, len(prof.Threads)); w != "" {
		prof.Warnings = append(prof.Warnings, w)
	}
	if p.meta.Attached && p.engine.Events() == 0 {
		prof.Warnings = append(prof.Warnings, advice.Silence(p.existing, len(prof.Samples) > 0))
	}
	pf.counting.Complete(prof)
	pf.selection.Hide(prof)
	p.usage.Finish(end, p.engine.WasInside)
	prof.Warnings = append(prof.Warnings, p.usage.Oversubscribed(&p.cores)...)
	if w := p.usage.GCCOnLibomp(p.resolver.FileOf, target.ImportedBy(p.resolver.Modules())); w != "" {
		prof.Warnings = append([]string{w}, prof.Warnings...) // more important than any other
	}
	return prof
}

// since returns the time between two times, in ns; 0 if from is the later one. That is so if the
// two times are of clocks with different resolutions, or if a process ended while it was being
// stopped.
func since(to, from uint64) int64 {
	if to < from {
		return 0
	}
	return int64(to - from)
}
