package collect

import (
	"maps"
	"slices"
	"time"

	"ompp-attach/collect/launch"
	"ompp-attach/collect/places"
	"ompp-attach/collect/rank"
)

// Snapshot returns the profiles of a program as of now. It has all processes that have ended, and
// the running processes up to the records that were read. The measurement goes on unchanged.
// Snapshot must not be called after Close.
func (g *Program) Snapshot() *Result { return g.snapshot(false) }

// SnapshotWhole is Snapshot, with the timelines that are kept in memory.
func (g *Program) SnapshotWhole() *Result { return g.snapshot(true) }

func (g *Program) snapshot(timelines bool) *Result {
	m := g.m
	shots := m.copyProcesses(g, timelines)
	m.profiles.mu.Lock()
	defer m.profiles.mu.Unlock()
	for _, p := range shots {
		taken, now := time.Now(), ktime()
		prof, at := p.engine.Snapshot(p.ended)
		p.profile = m.profiles.profileOf(p, prof, at)
		p.profile.Meta.SnapshotAt = taken.Add(-time.Duration(since(now, at)))
		p.completeTimeline(p.profile, m.profiles.say)
	}
	m.reader.mu.Lock()
	done := make([]*Process, 0, len(g.done)+len(shots))
	for _, p := range g.done {
		// The process has ended meanwhile.
		shots = slices.DeleteFunc(shots, func(s *Process) bool { return s.pid == p.pid && s.found == p.found })
		c := *p
		if p.profile != nil { // gather will change its description
			own := *p.profile
			own.Warnings = slices.Clip(own.Warnings)
			c.profile = &own
		}
		done = append(done, &c)
	}
	m.reader.mu.Unlock()
	return g.gather(append(done, shots...), launch.Ending{})
}

// Snapshot returns the profiles of all programs of the measurement as of now.
func (m *Measurement) Snapshot() *Result { return m.snapshot((*Program).Snapshot) }

// SnapshotWhole is Snapshot, with the timelines that are kept in memory.
func (m *Measurement) SnapshotWhole() *Result { return m.snapshot((*Program).SnapshotWhole) }

func (m *Measurement) snapshot(of func(*Program) *Result) *Result {
	res := &Result{}
	for _, g := range m.lives.programs.all() {
		res.add(of(g))
	}
	rank.OneEach(res.Profiles, res.First)
	return res
}

// foldsWritten is how long we wait for threads with folded executions to have one more hit, which
// writes them.
const foldsWritten = 2 * time.Millisecond

// copyProcesses copies what is known of a program's measured processes. What a thread has folded
// and not yet written is missing. timelines says whether timelines are copied, too.
func (m *Measurement) copyProcesses(g *Program, timelines bool) (shots []*Process) {
	m.hold()
	defer m.letFold()
	time.Sleep(foldsWritten)
	m.reader.catchUp()
	m.placer.mu.Lock()
	defer m.placer.mu.Unlock()
	m.reader.mu.Lock()
	defer m.reader.mu.Unlock()
	if m.reader.costing.pending { // nothing has been fed yet
		return nil
	}
	read := slices.Min(m.reader.readTo)
	for _, p := range m.reader.procs {
		if p.program != g || p.ended != 0 || p.began > read || p.engine.Events() == 0 && len(p.placed) == 0 && len(p.placedMPI) == 0 {
			continue
		}
		p.readCPU()
		c := p.copy(timelines)
		c.ended = read
		if p.stopped != 0 {
			c.ended = min(read, p.stopped)
		}
		shots = append(shots, c)
	}
	slices.SortFunc(shots, byPID)
	return shots
}

// copy copies the parts of a process that are read while its profile is made and that change
// meanwhile; placer.mu and reader.mu are held. A timeline that has a file of its own is not copied.
func (p *Process) copy(withTimeline bool) *Process {
	c := *p
	c.resolver, c.usage, c.recorder = p.resolver.Copy(), p.usage.Copy(), nil
	c.timeline = nil
	ask := places.PerLibrary{Resolver: c.resolver, Usage: c.usage}
	if withTimeline && p.timeline != nil && !p.timeline.Streams() {
		branch, err := p.timeline.Branch()
		if err == nil {
			c.timeline, c.engine = branch, p.engine.CopyTo(ask, branch)
		} else {
			c.warnings = append(slices.Clip(c.warnings), "This snapshot has no timeline: "+err.Error()+".")
		}
	}
	if c.timeline == nil {
		c.engine = p.engine.Copy(ask)
	}
	c.placed, c.code, c.placedMPI = maps.Clone(p.placed), maps.Clone(p.code), maps.Clone(p.placedMPI)
	c.cores = p.cores.Copy()
	c.warnings = append(slices.Clone(c.warnings), p.triggers.Sentences()...)
	c.triggers = nil // the reader goes on with them
	c.rank = p.rank.Copy()
	return &c
}
