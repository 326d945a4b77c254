package collect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"ompp-attach/attribution/stream"
	"ompp-attach/bpf"
	"ompp-attach/collect/launch"
	"ompp-attach/collect/links"
	"ompp-attach/collect/rank"
	"ompp-attach/collect/target"
	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// Program is a process that was launched or attached to, with the processes that it starts. A
// measurement may have several.
type Program struct {
	m        *Measurement
	number   uint32
	pid      int
	launched bool
	alone    bool // the measurement has no other program, and will have none

	over        bool     // it is not measured any more; guarded by lives.mu
	userChecked bool     // guarded by lives.mu
	refused     error    // why it must not run; with the next two guarded by reader.mu
	troubles    []string // sentences about processes that have no profile to hold them
	done        []*Process
	making      sync.WaitGroup // of goroutines that make profiles of ended processes
}

// numberShift is the place of a program's number in the flags of a followed process. Children
// inherit the flags. So a child is known as the program's even if its fork was not reported.
const numberShift = 8

// programs are the programs of a measurement. No other lock is taken while its lock is held.
type programs struct {
	mu   sync.Mutex
	list []*Program // by number, from 1
}

// add numbers a program.
func (s *programs) add(g *Program) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, g)
	g.number = uint32(len(s.list))
}

// of returns the program that the flags of a followed process name, or nil.
func (s *programs) of(flags uint32) *Program {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := flags >> numberShift
	if n == 0 || int(n) > len(s.list) {
		return nil
	}
	return s.list[n-1]
}

// all returns all programs so far, in order of their numbers.
func (s *programs) all() []*Program {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

func (m *Measurement) newProgram(pid int, launched bool) *Program {
	g := &Program{m: m, pid: pid, launched: launched}
	m.lives.programs.add(g)
	return g
}

func (g *Program) flags(f uint32) uint32 { return f | g.number<<numberShift }

// Follow measures a process, its children and their children from the next program that the process
// runs. The measurement must have been started. Follow returns when calibration is over, which
// would take a processor from the program.
func (m *Measurement) Follow(pid int) (*Program, error) {
	if !m.follower.EndsStops() || launch.AlwaysGuarded() {
		if err := m.lives.guard.Start(m.follower.StoppedMap(), m.follower.FollowedMap()); err != nil {
			return nil, err
		}
	}
	_, _ = m.reader.costing.wait()
	g := m.newProgram(pid, true)
	if err := m.follower.Follow(pid, g.flags(bpf.FollowStop|bpf.FollowChildren|bpf.FollowFirst)); err != nil {
		return nil, err
	}
	return g, nil
}

// Refusal returns why the launched program was ended before it ran, or nil.
func (g *Program) Refusal() error {
	g.m.reader.mu.Lock()
	defer g.m.reader.mu.Unlock()
	return g.refused
}

// End ends the measurement of a program, because its first process has ended or measuring is to
// end. Processes of the program that still run go on without probes.
func (g *Program) End(e launch.Ending) *Result {
	m := g.m
	m.reader.endNow(g.pid)
	mine := func(flags uint32) bool { return flags>>numberShift == g.number }
	// Children that outlive the measurement must not wait for its profiles.
	m.follower.Release(mine)
	m.lives.mu.Lock()
	g.over = true
	m.lives.mu.Unlock()
	if m.follower.LetGo() { // we were held up, and learn only now who went on without probes
		m.follower.CatchUp(time.Second)
	}
	m.follower.Release(mine) // processes that were stopped meanwhile
	m.reader.mu.Lock()
	procs := slices.DeleteFunc(slices.Collect(maps.Values(m.reader.procs)), func(p *Process) bool { return p.program != g })
	for _, p := range procs {
		if p.first && e.CPU != (target.CPUTimes{}) {
			p.cpu, p.cpuAt, p.tool = e.CPU, ktime(), target.ReadOwnCPU()
		}
	}
	m.reader.mu.Unlock()
	slices.SortFunc(procs, byPID)
	if g.alone {
		go links.Close(m.placer.detachLoaders())
	}
	// All processes lose their probes before the first profile is made, which may take a while.
	for _, p := range procs {
		p.gone = p.gone || target.Ended(int(p.pid))
		m.lives.endMeasuring(p)
	}
	m.reader.drainAll()
	for _, p := range procs {
		how := "still running when measurement ended"
		switch {
		case p.first:
			how = e.How
		case target.Ended(int(p.pid)):
			how = endedSomehow
		}
		m.reader.retire(p)
		m.profiles.finish(p, how)
	}
	g.making.Wait()
	return g.result(e)
}

// byPID orders a program's processes.
func byPID(a, b *Process) int { return cmp.Or(firstFirst(a, b), cmp.Compare(a.pid, b.pid)) }

// firstFirst puts a program's first process before the others.
func firstFirst(a, b *Process) int {
	switch {
	case a.first == b.first:
		return 0
	case a.first:
		return -1
	}
	return 1
}

// Result is the outcome of a measurement, or of one of its programs.
type Result struct {
	Profiles []*profile.Profile // the first process's first, then in order of their ends
	// The profile of the process launched or attached to; nil if it used neither OpenMP nor MPI.
	First   *profile.Profile
	Exit    int              // exit status of a launched program; 128+N if killed by signal N
	Lost    uint64           // records dropped in the kernel
	Streams []*stream.Stream // with RecordEvents: of the Profiles, in their order
	// With RecordTimelines: of the profiles. A timeline whose plan streams has its file already.
	Timelines map[*profile.Profile]*timeline.Recorder
	Troubles  []string // sentences: why processes have no profile
	Unfound   []string // sentences: functions that were asked for and never found
}

// result makes the result of a program that has ended.
func (g *Program) result(e launch.Ending) *Result {
	g.m.reader.mu.Lock()
	slices.SortStableFunc(g.done, firstFirst)
	done := g.done
	g.m.reader.mu.Unlock()
	return g.gather(done, e)
}

// gather makes a result of processes whose profiles are made, and adds how many records the kernel
// side lost.
func (g *Program) gather(done []*Process, e launch.Ending) *Result {
	m := g.m
	res := &Result{Exit: e.Status}
	dropped, err := m.kernel.Dropped()
	if err == nil {
		for _, n := range dropped {
			res.Lost += n
		}
	}
	res.Lost += m.placer.droppedMPI()
	if m.wanted.User != nil {
		res.Unfound = m.wanted.User.Unmatched()
	}
	m.reader.mu.Lock()
	defer m.reader.mu.Unlock()
	m.logf("%d records of processes that were not followed, or not any more", m.reader.strays)
	res.Troubles = g.troubles
	for _, p := range done {
		if p.profile == nil || p.profile.Meta.Hits == 0 && !p.first && !p.rank.Begun {
			continue
		}
		p.profile.Meta.LostHits = res.Lost
		if p.first && g.launched {
			p.profile.Meta.Exit = e.Status
		}
		if res.Lost > 0 && len(m.lives.programs.all()) > 1 {
			p.profile.Warnings = append(p.profile.Warnings, fmt.Sprintf("The %d lost hits are those of all ranks on this node that were measured until this one ended.", res.Lost))
		}
		if p.first {
			res.First = p.profile
		}
		res.Profiles = append(res.Profiles, p.profile)
		if p.timeline != nil {
			res.timeline(p.profile, p.timeline)
		}
		if p.recorder != nil {
			res.Streams = append(res.Streams, p.recorder.Stream)
		}
	}
	rank.OneEach(res.Profiles, res.First)
	return res
}
