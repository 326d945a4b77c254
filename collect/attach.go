package collect

import (
	"context"
	"errors"
	"fmt"
	"math"

	"golang.org/x/sys/unix"

	"ompp-attach/collect/control"
	"ompp-attach/collect/launch"
	"ompp-attach/collect/rank"
	"ompp-attach/collect/target"
)

// joined is a running process that was attached to.
type joined struct {
	*Program
	process *Process
	fd      int // a pidfd, readable when the process ends
	res     *Result
}

// Attach measures running processes until ctx ends or all of them have ended. It calls attached
// once all probes are in place. If only some of the processes have ended or have no runtime, the
// result's troubles name them. If none can be measured, the error says why for each.
func (m *Measurement) Attach(ctx context.Context, pids []int, attached func()) (*Result, error) {
	m.placer.running = true
	stop := m.Start()
	var all []*joined
	var errs []error
	for _, pid := range pids {
		j, err := m.join(pid)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, j)
	}
	if refusal := m.wanted.User.Refuses(); refusal != nil {
		errs = []error{refusal}
		for _, j := range all {
			j.undo()
		}
		all = nil
	}
	if len(all) == 0 {
		_ = stop()
		return nil, errors.Join(errs...)
	}
	attached()
	m.untilEnded(ctx, all)
	for _, j := range all { // so that all end at the same time
		if j.res == nil {
			m.reader.endNow(j.pid)
		}
	}
	res := &Result{}
	for _, j := range all {
		if j.res == nil {
			j.end(detached)
		}
		res.add(j.res)
	}
	rank.OneEach(res.Profiles, res.First)
	for _, err := range errs {
		res.Troubles = append(res.Troubles, err.Error())
	}
	return res, stop()
}

// join attaches to one process.
func (m *Measurement) join(pid int) (*joined, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	twice := control.MeasuredTwice(pid) // before this run measures it
	j := &joined{Program: m.newProgram(pid, false), fd: fd}
	p := m.lives.newProcess(pid, j.Program)
	j.process = p
	m.reader.mu.Lock()
	p.meta.Attached = true
	p.began = math.MaxUint64 // no event counts yet
	m.reader.mu.Unlock()
	m.hold()
	defer m.letFold()
	err = m.follower.Follow(pid, j.flags(0))
	found := 0
	if err == nil {
		if found, err = m.placer.scan(p); err == nil && found == 0 {
			if found = m.placer.ownCode(p); found == 0 {
				err = target.NoRuntime(pid)
			}
		}
	}
	if found == 0 {
		j.undo()
		return nil, err
	}
	m.reader.warnOfDebugger(pid)
	m.reader.warnOfOther(p, twice)
	// Probes are placed one by one, and only now are all of them in place. A thread may be inside a
	// region whose beginning was not seen.
	m.reader.mu.Lock()
	defer m.reader.mu.Unlock()
	p.cpu0 = target.ReadCPU(pid) // before p.began: it covers all hits that count
	p.tool0 = target.ReadOwnCPU()
	p.began = ktime()
	tids := target.ThreadsOf(pid)
	p.existing = len(tids)
	p.engine.Existing(tids, p.began)
	p.readNoCore()
	if p.recorder != nil {
		p.recorder.Stream.Existing = tids
	}
	return j, nil
}

// undo undoes what join did.
func (j *joined) undo() {
	j.m.follower.Forget(j.pid)
	j.m.placer.removeProbes(j.process)
	unix.Close(j.process.handle)
	j.m.reader.mu.Lock()
	delete(j.m.reader.procs, j.process.pid)
	j.m.reader.mu.Unlock()
	unix.Close(j.fd)
}

func (j *joined) end(how string) {
	j.res = j.End(launch.Ending{How: how})
	unix.Close(j.fd)
}

// untilEnded returns when ctx ends or no process is left. It makes the profiles of the processes
// that end meanwhile.
func (m *Measurement) untilEnded(ctx context.Context, all []*joined) {
	fds := make([]int, len(all))
	for n, j := range all {
		fds[n] = j.fd
	}
	launch.AwaitEnds(ctx, fds, func(n int) {
		m.reader.endNow(all[n].pid)
		all[n].end(endedSomehow)
	})
}

// add appends the result of another program.
func (r *Result) add(o *Result) {
	if r.First == nil && len(r.Profiles) == 0 {
		r.First = o.First
	}
	r.Profiles = append(r.Profiles, o.Profiles...)
	r.Streams = append(r.Streams, o.Streams...)
	for p, t := range o.Timelines {
		r.timeline(p, t)
	}
	r.Troubles = append(r.Troubles, o.Troubles...)
	r.Lost, r.Unfound = max(r.Lost, o.Lost), o.Unfound
}
