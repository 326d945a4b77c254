// Package calllog records the MPI calls of a rank, in few bytes each, for package match. The size
// of the record is bounded. A recorder that is full leaves out later calls, and says from which
// time on.
package calllog

import (
	"encoding/binary"
	"errors"
	"fmt"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
)

// MostBytes bounds the record of a process. A call takes some 12 bytes.
const MostBytes = 8 << 20

// Log is the recorded calls of a process. Times are of the recording engine's clock, ns.
type Log struct {
	// Ops are the operations that occur. Threads refer to them by index.
	Ops     []mpi.Op `json:"ops,omitempty"`
	Threads [][]byte `json:"threads,omitempty"` // of each thread, its calls (see Reader)
	// Came tells, for each thread, which messages its receives from any source or of any tag
	// received (Call.Came). Older versions of the tool do not read Came: to them such receives are
	// untold.
	Came  [][]byte `json:"came,omitempty"`
	Sites []Site   `json:"sites,omitempty"` // by Call.Site
	Calls uint64   `json:"calls"`           // in the log
	Left  uint64   `json:"left,omitempty"`  // calls left out for want of room
	// Until is the time from which on calls were left out or lost, or at which the first call that
	// failed began; 0: the log has all calls, and none failed.
	Until   uint64 `json:"until,omitempty"`
	Lost    bool   `json:"lost,omitempty"`    // records may have been lost from Until on
	Cancels bool   `json:"cancels,omitempty"` // the process cancelled requests
	// Stops are the intervals of CLOCK_MONOTONIC that the engine's clock leaves out.
	Stops event.Stops `json:"stops,omitempty"`
}

// Site is a call site: a node of the profile, and a thread; -1: the profile has none.
type Site struct {
	Node   int `json:"node"`
	Thread int `json:"thread"`
}

// Monotonic converts a time of the engine's clock to CLOCK_MONOTONIC, ns.
func (l *Log) Monotonic(t uint64) uint64 { return l.Stops.Monotonic(t) }

// Recorder records a process's calls.
type Recorder struct {
	Log
	bytes   int
	sites   map[Site]int
	ops     map[mpi.Op]int
	threads map[uint32]int // by thread id
	before  []before
}

// before holds a thread's last time and request. The next call's time and request are recorded as
// differences from them. calls is the number of calls since the last one that received something
// (Call.Came).
type before struct{ time, request, calls uint64 }

// NewRecorder returns an empty recorder.
func NewRecorder() *Recorder {
	return &Recorder{sites: map[Site]int{}, ops: map[mpi.Op]int{}, threads: map[uint32]int{}}
}

// Flags of a call.
const (
	flagSends = 1 << iota
	flagReceives
	flagUnknown
	flagLater
	flagUntold
	flagMessage    // ranks and tags follow
	flagCollective // a communicator, or a window, and a root follow
	flagCompletes  // requests, or members of a group, follow
)

// Add records a call of a thread. at is its call site, in the engine's numbers; c.Site is not used.
// Calls of one thread come in the order of their beginnings.
func (r *Recorder) Add(tid uint32, at Site, c *match.Call) {
	if r.bytes >= MostBytes {
		r.Left++
		r.stop(c.Start)
		return
	}
	if c.Failed {
		// It is not known whether the call moved its message. So later ones may belong to others.
		r.stop(c.Start)
	}
	i, ok := r.threads[tid]
	if !ok {
		i = len(r.Threads)
		r.threads[tid] = i
		r.Threads, r.before = append(r.Threads, nil), append(r.before, before{})
	}
	site, ok := r.sites[at]
	if !ok {
		site = len(r.Sites)
		r.sites[at], r.Sites = site, append(r.Sites, at)
	}
	op, ok := r.ops[c.Op]
	if !ok {
		op = len(r.Ops)
		r.ops[c.Op], r.Ops = op, append(r.Ops, c.Op)
	}
	n := len(r.Threads[i])
	r.Threads[i] = appendCall(r.Threads[i], &r.before[i], op, site, c)
	r.bytes += len(r.Threads[i]) - n + r.addCame(i, c)
	r.Calls++
}

// Lose says that records may be lost from a time on.
func (r *Recorder) Lose(from uint64) {
	r.Lost = true
	r.stop(from)
}

func (r *Recorder) stop(from uint64) {
	if r.Until == 0 || from < r.Until {
		r.Until = max(1, from)
	}
}

func appendCall(b []byte, was *before, op, site int, c *match.Call) []byte {
	flags := flagsOf(c)
	b = binary.AppendUvarint(b, uint64(op))
	b = append(b, flags)
	b = binary.AppendUvarint(b, uint64(site))
	b = binary.AppendVarint(b, int64(c.Start-was.time))
	b = binary.AppendUvarint(b, c.End-c.Start)
	was.time = c.End
	request := func(h uint64) {
		b = binary.AppendVarint(b, int64(h-was.request))
		was.request = h
	}
	if flags&(flagMessage|flagCollective) != 0 {
		b = binary.AppendVarint(b, int64(c.Comm))
		b = binary.AppendVarint(b, int64(c.To))
	}
	if flags&flagMessage != 0 {
		b = binary.AppendVarint(b, int64(c.From))
		b = binary.AppendVarint(b, int64(c.SendTag))
		b = binary.AppendVarint(b, int64(c.RecvTag))
	}
	if flags&flagLater != 0 {
		request(c.Request)
	}
	if flags&flagCompletes != 0 {
		b = binary.AppendUvarint(b, uint64(len(c.Completes)))
		for _, h := range c.Completes {
			request(h)
		}
	}
	return b
}

func flagsOf(c *match.Call) (f byte) {
	for _, x := range []struct {
		is   bool
		flag byte
	}{
		{c.Sends, flagSends}, {c.Receives, flagReceives}, {c.Unknown, flagUnknown}, {c.Later, flagLater}, {c.Untold, flagUntold},
		{match.IsMessage(c.Op), flagMessage}, {match.IsCollective(c.Op) || match.IsEpoch(c.Op) || match.IsLock(c.Op), flagCollective}, {len(c.Completes) > 0, flagCompletes},
	} {
		if x.is {
			f |= x.flag
		}
	}
	return f
}

// ErrDamaged says that a recorder cannot have written the log.
var ErrDamaged = errors.New("the log of MPI calls is damaged")

// Reader yields the calls of a thread, on CLOCK_MONOTONIC.
type Reader struct {
	numbers
	log   *Log
	came  came
	was   before
	index int
	call  match.Call
}

// Reader returns a reader of the calls of Threads[index].
func (l *Log) Reader(index int) *Reader {
	r := &Reader{log: l, numbers: numbers{data: l.Threads[index]}, index: index}
	if index < len(l.Came) {
		r.came.data = l.Came[index]
	}
	return r
}

// Next implements match.Calls. It stops at the first damaged call.
func (r *Reader) Next() (*match.Call, bool) {
	if len(r.data) == 0 || r.err != nil {
		return nil, false
	}
	c := &r.call
	*c = match.Call{Completes: c.Completes[:0], Came: c.Came[:0], Thread: r.index}
	op, flags := r.unsigned(), byte(0)
	if len(r.data) > 0 {
		flags, r.data = r.data[0], r.data[1:]
	}
	c.Sends, c.Receives, c.Unknown = flags&flagSends != 0, flags&flagReceives != 0, flags&flagUnknown != 0
	c.Later, c.Untold = flags&flagLater != 0, flags&flagUntold != 0
	site := r.unsigned()
	start := r.was.time + uint64(r.signed())
	end := start + r.unsigned()
	r.was.time = end
	if flags&(flagMessage|flagCollective) != 0 {
		c.Comm, c.To = int(r.signed()), int32(r.signed())
	}
	if flags&flagMessage != 0 {
		c.From, c.SendTag, c.RecvTag = int32(r.signed()), int32(r.signed()), int32(r.signed())
	}
	if c.Later {
		c.Request = r.request()
	}
	if flags&flagCompletes != 0 {
		for n := r.unsigned(); n > 0 && r.err == nil; n-- {
			c.Completes = append(c.Completes, r.request())
		}
	}
	if r.err == nil && (op >= uint64(len(r.log.Ops)) || site >= uint64(len(r.log.Sites)) || end < start) {
		r.err = fmt.Errorf("%w: operation %d, site %d", ErrDamaged, op, site)
	}
	if r.err == nil {
		r.err = r.came.next(c)
	}
	if r.err != nil {
		return nil, false
	}
	c.Op, c.Site = r.log.Ops[op], int(site)
	c.Start, c.End = r.log.Monotonic(start), r.log.Monotonic(end)
	return c, true
}

// Err returns why reading ended early; nil: it did not.
func (r *Reader) Err() error { return r.err }

func (r *Reader) request() uint64 {
	r.was.request += uint64(r.signed())
	return r.was.request
}
