package collect

import (
	"fmt"
	"io"

	"ompp-attach/collect/target"
	"ompp-attach/preflight"
	"ompp-attach/probes"
)

// The ranks of a job share their probes. A probe for one process alone costs all processes that map
// the file, since the kernel calls every link at every hit. In return, a probe for all processes
// also costs processes that are not measured: half a microsecond a hit.

// sharedLink holds a file's probes that are placed for all processes.
type sharedLink struct {
	link  io.Closer
	users int
}

// part is one process's use of a sharedLink. Close ends the use, and must be called once.
type part struct {
	pc   *placer
	plan any
}

// attach places a file's probes for a process; placer.mu is held.
func (pc *placer) attach(p *Process, path string, a *probes.Attached) (io.Closer, error) {
	pc.reader.samplesAt(a.Plan.Object, a.Plan.Probed())
	if pc.budget != nil {
		return pc.attachGroups(p, path, a)
	}
	return pc.share(p, a, func(pid int) (io.Closer, error) { return pc.kernel.Attach(path, pid, a.Points()) })
}

// share places a plan's probes for a process. A rank of a job takes part in the plan's shared
// probes, which are placed if there are none yet. place is called with the process's PID, or with 0
// for all processes. placer.mu is held.
func (pc *placer) share(p *Process, plan any, place func(pid int) (io.Closer, error)) (io.Closer, error) {
	r := p.meta.MPI
	if r == nil || r.Size == 1 || p.alone {
		return place(int(p.pid))
	}
	pc.sharing.Lock()
	defer pc.sharing.Unlock()
	s := pc.shared[plan]
	if s == nil {
		link, err := place(0)
		if err != nil {
			return nil, err
		}
		s = &sharedLink{link: link}
		pc.shared[plan] = s
	}
	if err := pc.kernel.Share(int(p.pid)); err != nil {
		if s.users == 0 {
			s.link.Close()
			delete(pc.shared, plan)
		}
		return nil, err
	}
	s.users++
	p.shares = true
	return &part{pc, plan}, nil
}

// unshare keeps all shared probes from answering in a process; placer.mu is held. Closing the links
// would be too late: that may take long, and by then a process of the same PID that runs another
// program may share the probes anew.
func (pc *placer) unshare(p *Process) {
	if p.shares {
		pc.kernel.Unshare(int(p.pid))
		p.shares = false
	}
}

// Close implements io.Closer. The last part that is closed removes the probes. The process still
// answers to other shared probes until unshare.
func (s *part) Close() error {
	s.pc.sharing.Lock()
	defer s.pc.sharing.Unlock()
	l := s.pc.shared[s.plan]
	if l.users--; l.users > 0 {
		return nil
	}
	delete(s.pc.shared, s.plan)
	return l.link.Close()
}

// seccompTrouble refuses processes that the kernel would kill at a return probe.
func (pc *placer) seccompTrouble(pid int) error {
	p, err := preflight.ReadProcess(preflight.Root(), pid)
	if err != nil || !p.Seccomp || !pc.machine.SeccompKills(pc.kernel.Mode()) {
		return nil
	}
	return &target.AttachError{Sentence: fmt.Sprintf("process %d runs under a seccomp filter, and kernel %s may kill it at a return probe: use a kernel from 6.14 on, or run the program without the filter (containers: --security-opt seccomp=unconfined)", pid, pc.machine.Release)}
}
