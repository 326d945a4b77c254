package bpf

import (
	"encoding/binary"
	"fmt"
	"io"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// OffCoreRecord says that a thread was off its core; the fields' comments are in sched.h.
type OffCoreRecord = schedAwayRecord

const recOffCore = uint16(schedAwayFlagREC_AWAY)

// isOffCore reports whether a ring entry is an OffCoreRecord.
func isOffCore(b []byte) bool {
	return len(b) == int(unsafe.Sizeof(OffCoreRecord{})) && binary.NativeEndian.Uint16(b[flagsAt:])&recOffCore != 0
}

// Sched is the loaded kernel side that records when threads leave their cores and get one again. It
// runs whenever any core of the machine changes threads. Its records go to the rings of the probes
// for which it was loaded.
type Sched struct {
	coll  *ebpf.Collection
	links closers
}

// LoadSched loads and attaches the programs. They record nothing until Begin names a process.
func (p *Probes) LoadSched() (*Sched, error) {
	spec, err := loadSched()
	if err != nil {
		return nil, err
	}
	if err := spec.Variables[schedVarNumCounters].Set(uint32(len(p.counters.Sources))); err != nil {
		return nil, err
	}
	shared := map[string]*ebpf.Map{}
	p.shareFolds(shared)
	for _, name := range []string{probeMapThreads, probeMapSilent, ".data.shared"} {
		shared[name] = p.coll.Maps[name]
	}
	if err := p.shareRings(spec, shared); err != nil {
		return nil, err
	}
	s := &Sched{}
	if s.coll, err = newCollection(spec, shared); err != nil {
		return nil, fmt.Errorf("load the programs that watch the scheduler: %w", err)
	}
	for _, name := range []string{schedProgSchedWakes, schedProgSchedMoves, schedProgSchedChanges} {
		l, err := link.AttachTracing(link.TracingOptions{Program: s.coll.Programs[name]})
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("attach to the scheduler's tracepoint %s: %w", spec.Programs[name].AttachTo, err)
		}
		s.links = append(s.links, l)
	}
	return s, nil
}

// Begin begins to record when the threads of a process are off their cores.
func (s *Sched) Begin(pid int) error {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	if err := s.coll.Maps[schedMapWatching].Put(uint32(pid), schedWatched{Since: uint64(now.Nano())}); err != nil {
		return fmt.Errorf("watch the threads of process %d: %w", pid, err)
	}
	return nil
}

// SchedRecords says what was written about a process's threads. Times are in ns.
type SchedRecords struct {
	Records  uint64
	Lost     uint64 // records for which there was no room
	LostTime uint64 // the times off a core that the lost records would have told
	Unseen   uint64 // how many switches the kernel did not tell
}

// End ends the records of a process, and says what was written about its threads.
func (s *Sched) End(pid int) (w SchedRecords) {
	var v schedWatched
	if s.coll.Maps[schedMapWatching].LookupAndDelete(uint32(pid), &v) != nil {
		return w
	}
	return SchedRecords{Records: v.Written, Lost: v.Lost, LostTime: v.LostTime, Unseen: v.Unseen}
}

// Close ends the records and frees the kernel side.
func (s *Sched) Close() error {
	err := s.links.Close()
	if s.coll != nil {
		s.coll.Close()
	}
	return err
}

var _ io.Closer = (*Sched)(nil)
