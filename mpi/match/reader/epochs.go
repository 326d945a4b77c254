package reader

import (
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/pattern"
)

// Epochs of general active target synchronisation. A target opens an exposure epoch (MPI_Win_post)
// for a group of origins, and waits for its end (MPI_Win_wait). An origin opens an access epoch
// (MPI_Win_start) for a group of targets, and closes it (MPI_Win_complete). Between an origin and a
// target, on one window, the k-th access epoch belongs to the k-th exposure epoch.
//
// A test (MPI_Win_test) never waits. If one ended an exposure epoch, the target opens the next one
// without a wait.

// epochs holds the epochs of all windows.
type epochs struct {
	meetings map[epochKey]*meeting
	owners   map[ownerKey]*owner
	named    int // number of the latest call that names ranks (rank.named)
}

// epochKey names an origin and a target on a window.
type epochKey struct {
	group          int // index in run.groups
	origin, target *rank
}

// meeting holds the epochs of an origin and a target that have no partner yet: all are of one side.
type meeting struct{ accesses, exposures []*epoch }

// ownerKey names a rank on a window.
type ownerKey struct {
	group int
	rank  *rank
}

// owner is the state of a rank on a window.
type owner struct {
	access, exposure *epoch // the latest ones; nil: there is none
	// blurred: an epoch of this side (0: exposure, 1: access) was opened for a group that is not
	// known. So it is not known to whom later epochs of the rank belong.
	blurred [2]bool
}

// epoch is an access or an exposure epoch of one rank.
type epoch struct {
	access bool
	opened *member // its start or post
	closed *member // its complete or wait; nil: not seen yet
	over   bool    // closed will not be seen
	open   int     // ranks of the other side whose epoch is not known yet
	with   []*epoch
	dead   bool // some will not be known
	why    match.Reason
	told   [2]bool // opened and closed have been told
}

func (r *run) owner(group int, k *rank) *owner {
	key := ownerKey{group, k}
	o := r.epochs.owners[key]
	if o == nil {
		o = &owner{}
		r.epochs.owners[key] = o
	}
	return o
}

func (r *run) meeting(group int, origin, target *rank) *meeting {
	key := epochKey{group, origin, target}
	m := r.epochs.meetings[key]
	if m == nil {
		m = &meeting{}
		r.epochs.meetings[key] = m
	}
	return m
}

// epoch takes a call that opens or closes an epoch.
func (r *run) epoch(k *rank, c *match.Call, p pattern.Pattern) {
	m := &member{rank: k, call: k.call, at: k.place(c), start: c.Start, end: c.End}
	m.by = &waiter{rank: k, call: k.call, at: m.at, start: c.Start, end: c.End, open: 1}
	at, _, ok := r.in(k, c)
	if !ok {
		r.result.Epochs.Leave(k.unnamed())
		r.astray(k, c)
		return
	}
	o := r.owner(at, k)
	switch p {
	case pattern.Posting, pattern.Starting:
		e := &epoch{access: p == pattern.Starting, opened: m}
		if e.access {
			r.pending(k)
			r.cease(o.access)
			o.access = e
		} else {
			o.exposure = e
		}
		r.opens(at, o, e, c)
		r.finishEpoch(e)
	default:
		e := o.exposure
		if p == pattern.Closing {
			e = o.access
		}
		r.pending(k)
		if e == nil || e.closed != nil || e.over { // an epoch that was not seen to open
			r.result.Epochs.Leave(match.NoPartner)
			r.fail(m.by, match.NoPartner)
			return
		}
		e.closed = m
		r.finishEpoch(e)
		for _, x := range e.with {
			r.finishEpoch(x)
		}
	}
}

// opens looks for the epochs of the other side.
func (r *run) opens(at int, own *owner, e *epoch, c *match.Call) {
	k := e.opened.rank
	others, ok := r.members(k, c)
	side := own.side(e.access)
	if !ok && !*side {
		*side = true
		r.blur(at, k, e.access)
	}
	if *side || r.groups[at].doubted {
		e.kill(match.NoGroup)
		return
	}
	e.open = len(others)
	for _, o := range others {
		if o == nil {
			e.kill(match.NoLog)
			continue
		}
		origin, target := o, k
		if e.access {
			origin, target = k, o
		}
		m := r.meeting(at, origin, target)
		mine, theirs := &m.exposures, &m.accesses
		if e.access {
			mine, theirs = theirs, mine
		}
		switch {
		case len(*theirs) > 0:
			x := (*theirs)[0]
			*theirs = (*theirs)[1:]
			r.meet(e, x)
		case *r.owner(at, o).side(!e.access):
			e.kill(match.NoGroup)
		case !r.comparable(k, o):
			e.kill(match.Unaligned)
		case o.over:
			e.kill(match.NoPartner)
		default:
			*mine = append(*mine, e)
		}
	}
}

func (o *owner) side(access bool) *bool {
	if access {
		return &o.blurred[1]
	}
	return &o.blurred[0]
}

// members returns the ranks that a call names, each once; nil stands for a rank without a log. ok
// is false if they are not known.
func (r *run) members(k *rank, c *match.Call) (out []*rank, ok bool) {
	if c.Untold {
		return nil, false
	}
	r.epochs.named++
	for _, x := range c.Completes {
		comm, of := int(x>>32), int32(uint32(x))
		if comm >= len(k.comms) || k.comms[comm] < 0 {
			return nil, false
		}
		g := r.groups[k.comms[comm]]
		if g.doubted {
			return nil, false
		}
		from, to := of, of+1
		if of == match.Everyone {
			from, to = 0, g.size
		}
		for ; from < to; from++ {
			m := g.members[from]
			if m != nil && m.named == r.epochs.named {
				continue
			}
			if out = append(out, m); m != nil {
				m.named = r.epochs.named
			}
		}
	}
	return out, true
}

// meet notes that an access epoch and an exposure epoch belong together.
func (r *run) meet(a, b *epoch) {
	for _, x := range [2][2]*epoch{{a, b}, {b, a}} {
		x[0].open--
		x[0].with = append(x[0].with, x[1])
	}
	r.finishEpoch(b) // a is being opened
}

// blur drops the epochs that wait for a rank whose epochs are not known from now on.
func (r *run) blur(at int, k *rank, access bool) {
	for key, m := range r.epochs.meetings {
		switch {
		case key.group != at:
		case access && key.origin == k:
			r.leave(&m.exposures, match.NoGroup)
		case !access && key.target == k:
			r.leave(&m.accesses, match.NoGroup)
		}
	}
}

// leave drops epochs that wait for their partners.
func (r *run) leave(list *[]*epoch, why match.Reason) {
	for _, e := range *list {
		e.kill(why)
		r.finishEpoch(e)
	}
	*list = nil
}

func (e *epoch) kill(why match.Reason) {
	if !e.dead {
		e.dead, e.why = true, why
	}
}

// finishEpoch tells the waits of an epoch's calls, once they are known.
func (r *run) finishEpoch(e *epoch) {
	var others []*member
	for _, x := range e.with {
		switch {
		case e.access:
			others = append(others, x.opened)
		case x.closed != nil:
			others = append(others, x.closed)
		case x.over:
			e.kill(match.NoPartner)
		}
	}
	for i, m := range [2]*member{e.opened, e.closed} {
		known := e.open == 0 && (i == 0 || len(others) == len(e.with))
		if m == nil || e.told[i] || !known && !e.dead {
			continue
		}
		e.told[i] = true
		if e.dead {
			r.result.Epochs.Leave(e.why)
		} else {
			r.result.Epochs.Calls++
			r.result.Epochs.Matched++
		}
		switch {
		case !e.access && i == 0: // MPI_Win_post never waits
		case e.dead:
			r.fail(m.by, e.why)
		default:
			r.offer(m.by, m.ready(r, others, e.access))
		}
	}
}

// ready returns how long a call waited until the last of others had come. A target's wait ends
// after that. An origin's call may end before.
func (m *member) ready(r *run, others []*member, access bool) longest {
	l := longest{property: match.EarlyWait, after: match.EarlyWait}
	o := r.pick(m.rank, others, 1, entering)
	l.since(m, o)
	if access {
		l.property, l.after = match.LatePost, match.LatePost
		l.onlyIf(int64(m.end)-int64(o.at), o.bound)
	}
	if r.listener != nil && (!access || o.at < m.end) {
		l.last = o.entered()
	}
	if !access {
		for _, x := range others {
			r.tell(x.rank, x.start, m.rank, m.end)
		}
	}
	return l
}

// endEpochs drops the epochs that wait for a rank which has no more calls.
func (r *run) endEpochs(k *rank) {
	for key, m := range r.epochs.meetings {
		if key.origin == k {
			r.leave(&m.exposures, match.NoPartner)
		}
		if key.target == k {
			r.leave(&m.accesses, match.NoPartner)
		}
	}
	for key, o := range r.epochs.owners {
		if key.rank == k {
			r.cease(o.access)
		}
	}
}

// cease notes that an access epoch will not be closed any more, unless it has been.
func (r *run) cease(e *epoch) {
	if e == nil || e.closed != nil {
		return
	}
	e.over = true
	for _, x := range e.with {
		r.finishEpoch(x)
	}
}
