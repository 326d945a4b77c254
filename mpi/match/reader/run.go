package reader

import (
	"container/heap"
	"slices"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/handles"
	"ompp-attach/mpi/match/pattern"
)

// Run matches the calls of ranks. Each rank may have one log only. Calls of ranks on different
// machines are not matched (see RunAcross).
func Run(logs []*match.RankCalls) *match.Result { return (&run{waits: sums{}}).all(logs) }

// Pairs matches the calls of ranks as Run does, and tells the two ends of each message. Messages
// with one sender, receiver, communicator and tag are told in their order. No waits are added up.
func Pairs(logs []*match.RankCalls, tell func(send, receive match.Place)) *match.Result {
	return (&run{paired: tell}).all(logs)
}

func (r *run) all(logs []*match.RankCalls) *match.Result {
	r.epochs = epochs{meetings: map[epochKey]*meeting{}, owners: map[ownerKey]*owner{}}
	r.locks.held = map[lockKey]bool{}
	r.comms, r.inboxes, r.outboxes = map[string]int{}, map[inboxKey]*inbox{}, map[[2]*rank]*outbox{}
	for _, l := range logs {
		r.enroll(l)
	}
	r.left = r.backlog.Remainder()
	q := &cursors{}
	for _, k := range r.ranks {
		for _, t := range k.log.Threads {
			if c, ok := t.Next(); ok {
				k.open++
				q.list = append(q.list, &cursor{from: t, rank: k, call: c, start: r.common(k, c.Start), at: len(q.list)})
			}
		}
		if k.open == 0 {
			r.ended(k)
		}
	}
	heap.Init(q)
	for q.Len() > 0 {
		c := q.list[0]
		if len(r.locks.asked) > 0 {
			r.resolveLocks(c.start)
		}
		if c.rank.log.Until == 0 || c.call.Start < c.rank.log.Until {
			r.take(c.rank, c.call)
		}
		if q.advance(r) {
			continue
		}
		if c.rank.open--; c.rank.open == 0 {
			r.ended(c.rank)
		}
	}
	r.resolveLocks(^uint64(0))
	r.result.Waits = r.waits.list()
	return &r.result
}

// run is the state of a run.
type run struct {
	ranks    []*rank
	comms    map[string]int // by name: index in groups
	groups   []*group
	inboxes  map[inboxKey]*inbox
	outboxes map[[2]*rank]*outbox // by sender and receiver
	waits    sums                 // nil: waits are not added up
	result   match.Result

	// nil: only times of one machine are compared.
	clocks match.Clocks
	// See Orders; nil: not wanted.
	order    func(first *match.RankCalls, at uint64, then *match.RankCalls, by uint64)
	paired   func(send, receive match.Place) // see Pairs; nil: not wanted
	epochs   epochs
	locks    locks
	listener match.Listener // nil: nobody

	backlog  *match.Backlog  // nil: messages on older communicators are not matched
	left     match.Remainder // of backlog
	counting bool            // the run fills in backlog
	checking bool            // it looks for what contradicts backlog
}

// rank is the state of a rank.
type rank struct {
	log      *match.RankCalls
	index    int       // of its log
	call     int       // number of the latest call
	now      uint64    // its beginning
	busy     uint64    // when the last of its calls so far ended (ns)
	probe    *unplaced // nil: none
	comms    []int     // by index in RankCalls.Comms: index in run.groups; -1: it has no name
	open     int       // threads that have more calls
	over     bool      // there are no more calls
	requests handles.Table[operation]
	messages handles.Table[*side] // that MPI_Mprobe took; nil: there is none
	lates    lates
	held     int  // receives in its inboxes that are held
	start    int  // index in run.groups of MPI_Init's group; -1: none
	end      int  // the same of MPI_Finalize
	named    int  // the latest call that named the rank (epochs.named)
	blind    bool // it started persistent operations that are not known
	// begun are the requests that calls of the log made, if the rank was attached to.
	begun      map[uint64]struct{}
	prepared   map[uint64]int // groups of persistent collective operations, by request
	persistent []int          // the same groups, and those of other ranks' requests
}

// operation is a nonblocking operation. completedBy tells it the call that waited for its request.
type operation interface{ completedBy(r *run, w *waiter) }

// lost is an operation that was not matched, by the reason.
type lost match.Reason

func (l lost) completedBy(r *run, w *waiter) { r.fail(w, match.Reason(l)) }

// enroll notes a rank and its communicators.
func (r *run) enroll(l *match.RankCalls) {
	if l.Backlog != nil {
		r.backlog = l.Backlog
	}
	k := &rank{log: l, index: len(r.ranks), call: -1, requests: handles.New[operation](), messages: handles.New[*side](), prepared: map[uint64]int{}}
	if l.Attached {
		k.begun = map[uint64]struct{}{}
	}
	for _, c := range l.Comms {
		at := -1
		if c.Name != "" && c.Size > 0 && c.Rank >= 0 && c.Rank < c.Size {
			at = r.group(c.Name, c.Size)
			r.groups[at].join(c.Rank, k)
			r.groups[at].old = r.groups[at].old || c.Old
		}
		k.comms = append(k.comms, at)
	}
	if len(k.comms) > 0 && k.comms[0] >= 0 && (l.Attached || l.Start.Known) {
		r.groups[k.comms[0]].begin(l.Comms[0].Rank, l.Start)
	}
	k.start, k.end = -1, -1
	if len(k.comms) > 0 && k.comms[0] >= 0 {
		w := l.Comms[0]
		k.start, k.end = r.group(w.Name+"\x00begin", w.Size), r.group(w.Name+"\x00end", w.Size)
		r.groups[k.start].join(w.Rank, k)
		r.groups[k.end].join(w.Rank, k)
	}
	r.ranks = append(r.ranks, k)
}

func (r *run) group(name string, size int32) int {
	at, ok := r.comms[name]
	if !ok {
		at = len(r.groups)
		r.comms[name] = at
		r.groups = append(r.groups, &group{size: size, members: map[int32]*rank{}, next: map[int32]uint64{}, prepared: map[int32]int{}, open: map[uint64]*instance{}, limit: ^uint64(0)})
	}
	return at
}

// take takes the next call.
func (r *run) take(k *rank, c *match.Call) {
	p := c.Pattern()
	r.probed(k, c)
	k.now = c.Start
	r.took(k, c)
	if c.Request != 0 && (c.Later || c.Prepares() || p == pattern.Making) {
		r.renew(k, c)
	}
	if c.Request != 0 && k.begun != nil {
		k.begun[c.Request] = struct{}{}
	}
	switch {
	case c.Prepares():
		r.prepare(k, c)
	case p == pattern.Making:
	case p == pattern.Message:
		r.message(k, c)
	case p == pattern.Completing:
		r.completing(k, c)
	case p.Collective():
		r.collective(k, c, p)
		if p == pattern.Ending && r.counting && len(k.log.Comms) > 0 {
			r.countedBack(k)
		}
	case p == pattern.Restarting:
		r.restarted(k, c)
	case p >= pattern.Posting && p <= pattern.Exposed:
		r.epoch(k, c, p)
	case p == pattern.Locking:
		r.locking(k, c)
	case p == pattern.Unlocking:
		r.unlocking(k, c)
	case p == pattern.Unsupported:
		r.result.Collectives.Leave(match.NoRule)
		k.unknown(c, match.NoRule)
		r.astray(k, c)
	case p == pattern.Probing:
		r.probing(k, c)
	case p == pattern.Taking:
		r.taken(k, c)
	case p == pattern.MatchedRecvs:
		r.receiveTaken(k, c)
	}
	k.busy = max(k.busy, c.End)
}

// mprobe waits for a message. MPI_Improbe does not.
var mprobe, _ = mpi.ParseOp("MPI_Mprobe")

// unknown notes that the operation of a call's request was not matched, and why.
func (k *rank) unknown(c *match.Call, why match.Reason) {
	if c.Later && c.Request != 0 {
		k.begin(c, lost(why))
	}
}

// unnamed says why a communicator of a rank has no name.
func (k *rank) unnamed() match.Reason {
	if k.log.Attached {
		return match.OldComm
	}
	return match.NoComm
}

// in returns the index of the group of a call's communicator, and the caller's rank in that group.
func (r *run) in(k *rank, c *match.Call) (at int, own int32, ok bool) {
	if c.Comm < 0 || c.Comm >= len(k.comms) || k.comms[c.Comm] < 0 {
		return 0, 0, false
	}
	return k.comms[c.Comm], k.log.Comms[c.Comm].Rank, true
}

func (k *rank) place(c *match.Call) match.Place {
	return match.Place{Rank: k.log.Rank, Site: c.Site, Thread: c.Thread}
}

// completing takes a call that waits for requests.
func (r *run) completing(k *rank, c *match.Call) {
	if c.Untold {
		r.result.Requests.Leave(match.Untold)
		r.astray(k, c)
		return
	}
	w := &waiter{rank: k, call: k.call, at: k.place(c), start: c.Start, end: c.End, requests: true}
	ops := make([]operation, len(c.Completes))
	for i, q := range c.Completes {
		if q == 0 {
			continue
		}
		op, ok, gone := k.requests.Take(q, c.Start)
		r.untold(gone)
		switch _, begun := k.begun[q]; {
		case ok:
			ops[i] = op
		case k.begun != nil && !begun:
			ops[i] = lost(match.OldRequest)
		}
	}
	r.arrived(c, ops)
	ops = slices.DeleteFunc(ops, func(op operation) bool { return op == nil })
	w.open = len(ops)
	if slices.ContainsFunc(ops, func(op operation) bool { s, is := op.(*side); return !is || !s.send }) {
		r.pending(k)
	}
	for _, op := range ops {
		op.completedBy(r, w)
	}
}

// ended notes that a rank has no more calls, and drops the calls that wait for it.
func (r *run) ended(k *rank) {
	r.probed(k, nil)
	k.over = true
	r.leaveTaken(k)
	r.endMessages(k)
	r.endCollectives(k)
	r.endEpochs(k)
}

// cursor is a thread's next call.
type cursor struct {
	from match.Calls
	rank *rank
	call *match.Call
	// start is the call's beginning by the first rank's clock (see common). Only the order of
	// reading depends on start.
	start uint64
	at    int
}

// cursors orders threads by the beginnings of their next calls.
type cursors struct{ list []*cursor }

func (q *cursors) Len() int { return len(q.list) }

func (q *cursors) Less(i, j int) bool {
	a, b := q.list[i], q.list[j]
	return a.start < b.start || a.start == b.start && a.at < b.at
}

func (q *cursors) Swap(i, j int) { q.list[i], q.list[j] = q.list[j], q.list[i] }

// Push implements heap.Interface.
func (q *cursors) Push(x any) { q.list = append(q.list, x.(*cursor)) }

// Pop implements heap.Interface.
func (q *cursors) Pop() any {
	last := q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	return last
}

// advance takes the first thread's next call. A thread without further calls is taken out; ok is
// false then.
func (q *cursors) advance(r *run) (ok bool) {
	first := q.list[0]
	c, ok := first.from.Next()
	if !ok {
		heap.Pop(q)
		return false
	}
	first.call, first.start = c, r.common(first.rank, c.Start)
	heap.Fix(q, 0)
	return true
}

// partner reports whether a rank argument names a rank.
func partner(rank int32) bool { return rank >= 0 }

// isNobody reports whether a rank argument says that there is no message.
func isNobody(rank int32) bool { return rank == mpi.ProcNull || rank == mpi.NoPeer }
