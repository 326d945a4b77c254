package collect

import (
	"io"

	"golang.org/x/sys/unix"

	"ompp-attach/collect/triggered"
	"ompp-attach/profile"
	"ompp-attach/timeline"
	"ompp-attach/timeline/trigger"
	"ompp-attach/version"
)

// Timelines says how single executions are recorded. Open makes the file of a process, if the plan
// streams. program is the first process of its program. Without Open, no such plan is possible.
type Timelines struct {
	Plan timeline.Plan
	Open func(pid, program int) (io.WriteCloser, error)
	// When are conditions. Executions that fulfil one have a snapshot written,
	// with what is kept then.
	When []*trigger.Condition
	dump func(pid int) (name string, err error)
}

// RecordTimelines makes the measurement record single executions, for Result.Timelines. It must be
// called before any process is measured.
func (m *Measurement) RecordTimelines(t *Timelines) {
	own := *t
	own.dump = m.Dump
	m.timelines = &own
}

// leastPriority is the nice value of the thread that compresses a timeline.
const leastPriority = 19

// recordTimeline begins to record a process's timeline if the user wants one. A timeline that
// cannot be recorded is no reason not to measure.
func (c *common) recordTimeline(p *Process) {
	if c.timelines == nil || c.timelines.Plan.Stream && c.timelines.Open == nil {
		return
	}
	tool, _ := version.Of()
	o := timeline.Options{Plan: c.timelines.Plan, PID: int(p.pid), Tool: tool, Began: p.engine.Clock(p.began), Say: c.say,
		// The priority of the calling thread only.
		Polite: func() { _ = unix.Setpriority(unix.PRIO_PROCESS, 0, leastPriority) }}
	if counters, column, turns, ok := c.counting.Numbers(); ok {
		o.Counting = &timeline.Counting{Counters: counters, Column: column, Turns: turns}
	}
	if c.timelines.Open != nil {
		o.Open = func() (io.WriteCloser, error) { return c.timelines.Open(int(p.pid), p.program.pid) }
	}
	rec, err := timeline.NewRecorder(o)
	if err != nil {
		if c.say != nil {
			c.say("no timeline is recorded: " + err.Error())
		}
		return
	}
	p.timeline = rec
	var sink timeline.Sink = rec
	if t := c.timelines; len(t.When) > 0 && t.dump != nil {
		p.triggers = triggered.New(rec, t.When, p.engine.Clock(p.began), func() (string, error) { return t.dump(int(p.pid)) }, c.say)
		sink = p.triggers.Sink()
	}
	p.engine.Timeline(sink)
}

// completeTimeline ends a process's timeline behind its engine. prof is nil if the process has no
// profile: then the timeline is dropped.
func (p *Process) completeTimeline(prof *profile.Profile, say func(string)) {
	if p.timeline == nil {
		return
	}
	if prof == nil {
		p.timeline.End(&timeline.Dictionary{})
	} else if d := p.timeline.Dictionary(); d != nil {
		d.Meta = prof.Meta
		// gather adds more, but only after a streamed timeline has ended.
		for _, l := range prof.Lost {
			d.Meta.LostHits += l.Events
		}
	}
	if err := p.timeline.Finish(); err != nil && say != nil {
		say(err.Error())
	}
}

// timeline adds a profile's timeline.
func (r *Result) timeline(p *profile.Profile, t *timeline.Recorder) {
	if d := t.Dictionary(); d != nil {
		d.Meta.LostHits = max(d.Meta.LostHits, p.Meta.LostHits)
	}
	if r.Timelines == nil {
		r.Timelines = map[*profile.Profile]*timeline.Recorder{}
	}
	r.Timelines[p] = t
}
