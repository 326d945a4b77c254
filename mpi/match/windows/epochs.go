package windows

import (
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/pattern"
	"ompp-attach/mpi/match/ranks"
	"ompp-attach/mpi/match/waits"
)

// Epochs matches the calls that open and close epochs of windows.
type Epochs struct {
	Count    match.Count
	clocks   *ranks.Clocks
	ledger   *waits.Ledger
	meetings map[epochKey]*meeting
	owners   map[ownerKey]*owner
	calls    int   // number of calls that named ranks
	named    []int // by rank: the number of the latest call that named the rank
}

// NewEpochs returns Epochs of ranks of which no call has been read yet.
func NewEpochs(all *ranks.All, clocks *ranks.Clocks, ledger *waits.Ledger) *Epochs {
	return &Epochs{clocks: clocks, ledger: ledger, meetings: map[epochKey]*meeting{}, owners: map[ownerKey]*owner{}, named: make([]int, len(all.Ranks))}
}

// epochKey names an origin and a target on a window.
type epochKey struct {
	group          *ranks.Group
	origin, target *ranks.Rank
}

// meeting holds the epochs of an origin and a target that have no partner yet. All of them are of
// one side.
type meeting struct{ accesses, exposures []*epoch }

// ownerKey names a rank on a window.
type ownerKey struct {
	group *ranks.Group
	rank  *ranks.Rank
}

// owner is the state of a rank on a window.
type owner struct {
	access, exposure *epoch // the latest ones; nil: there is none
	// blurred: an epoch (0: exposure, 1: access) was opened for a group that is not known. So it is
	// not known to which epochs later ones of the rank belong.
	blurred [2]bool
}

// epoch is an access or an exposure epoch of one rank.
type epoch struct {
	access bool
	opened *waits.Stay // its start or post
	closed *waits.Stay // its complete or wait; nil: not seen yet
	over   bool        // closed will never be seen
	open   int         // number of ranks of the other side whose epochs are not known yet
	with   []*epoch
	dead   bool // some of these epochs will never be known
	why    match.Reason
	by     [2]*waits.Waiter // of opened and closed
	told   [2]bool          // opened and closed have been told
}

func (r *Epochs) owner(group *ranks.Group, k *ranks.Rank) *owner {
	key := ownerKey{group, k}
	o := r.owners[key]
	if o == nil {
		o = &owner{}
		r.owners[key] = o
	}
	return o
}

func (r *Epochs) meeting(group *ranks.Group, origin, target *ranks.Rank) *meeting {
	key := epochKey{group, origin, target}
	m := r.meetings[key]
	if m == nil {
		m = &meeting{}
		r.meetings[key] = m
	}
	return m
}

// Take takes a call that opens or closes an epoch.
func (r *Epochs) Take(k *ranks.Rank, c *match.Call, p pattern.Pattern) {
	at, _, ok := k.In(c)
	if !ok {
		r.Count.Leave(k.Unnamed())
		r.ledger.Astray(k, c)
		return
	}
	m := waits.StayIn(k, c)
	by := m.Waiter()
	o := r.owner(at, k)
	switch p {
	case pattern.Posting, pattern.Starting:
		e := &epoch{access: p == pattern.Starting, opened: &m, by: [2]*waits.Waiter{by}}
		if e.access {
			r.ledger.Pending(k)
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
		r.ledger.Pending(k)
		if e == nil || e.closed != nil || e.over { // the opening of the epoch was not seen
			r.Count.Leave(match.NoPartner)
			r.ledger.Fail(by, match.NoPartner)
			return
		}
		e.closed, e.by[1] = &m, by
		r.finishEpoch(e)
		for _, x := range e.with {
			r.finishEpoch(x)
		}
	}
}

// opens looks for the epochs of the other side.
func (r *Epochs) opens(at *ranks.Group, own *owner, e *epoch, c *match.Call) {
	k := e.opened.Rank
	others, ok := r.others(k, c)
	side := own.side(e.access)
	if !ok && !*side {
		*side = true
		r.blur(at, k, e.access)
	}
	if *side || at.Doubted {
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
		case !r.clocks.Comparable(k, o):
			e.kill(match.Unaligned)
		case o.Over:
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

// others returns the ranks that a call names, each once. nil stands for a rank without a log. ok is
// false if the ranks are not known.
func (r *Epochs) others(k *ranks.Rank, c *match.Call) (out []*ranks.Rank, ok bool) {
	if c.Untold {
		return nil, false
	}
	r.calls++
	for _, x := range c.Completes {
		comm, of := int(x>>32), int32(uint32(x))
		if comm >= len(k.Comms) || k.Comms[comm] == nil {
			return nil, false
		}
		g := k.Comms[comm]
		if g.Doubted {
			return nil, false
		}
		from, to := of, of+1
		if of == match.Everyone {
			from, to = 0, g.Size
		}
		for ; from < to; from++ {
			m := g.Members[from]
			if m != nil && r.named[m.Index] == r.calls {
				continue
			}
			if out = append(out, m); m != nil {
				r.named[m.Index] = r.calls
			}
		}
	}
	return out, true
}

// meet notes that an access epoch and an exposure epoch belong together.
func (r *Epochs) meet(a, b *epoch) {
	for _, x := range [2][2]*epoch{{a, b}, {b, a}} {
		x[0].open--
		x[0].with = append(x[0].with, x[1])
	}
	r.finishEpoch(b) // a is being opened
}

// blur drops the epochs that wait for epochs of rank k: from now on, it is not known to whom these
// belong.
func (r *Epochs) blur(at *ranks.Group, k *ranks.Rank, access bool) {
	for key, m := range r.meetings {
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
func (r *Epochs) leave(list *[]*epoch, why match.Reason) {
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
func (r *Epochs) finishEpoch(e *epoch) {
	var others []*waits.Stay
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
	for i, m := range [2]*waits.Stay{e.opened, e.closed} {
		known := e.open == 0 && (i == 0 || len(others) == len(e.with))
		if m == nil || e.told[i] || !known && !e.dead {
			continue
		}
		e.told[i] = true
		if e.dead {
			r.Count.Leave(e.why)
		} else {
			r.Count.Match(1)
		}
		switch {
		case !e.access && i == 0: // MPI_Win_post never waits
		case e.dead:
			r.ledger.Fail(e.by[i], e.why)
		default:
			r.ledger.Offer(e.by[i], r.ready(m, others, e.access))
		}
	}
}

// ready returns how long a call waited until the last of the others had come. A target's call
// cannot end before that. An origin's call can.
func (r *Epochs) ready(m *waits.Stay, others []*waits.Stay, access bool) waits.One {
	l := waits.One{Property: match.EarlyWait, After: match.EarlyWait}
	o := waits.Last(r.clocks, m.Rank, others)
	l.Since(m.Start, o)
	if access {
		l.Property, l.After = match.LatePost, match.LatePost
		l.OnlyIf(int64(m.End)-int64(o.At), o.Bound)
	}
	if r.ledger.Listened() && (!access || o.At < m.End) {
		l.Last = o.Entered()
	}
	if !access {
		for _, x := range others {
			r.clocks.Tell(x.Rank, x.Start, m.Rank, m.End)
		}
	}
	return l
}

// End drops the epochs that wait for a rank which has no more calls.
func (r *Epochs) End(k *ranks.Rank) {
	for key, m := range r.meetings {
		if key.origin == k {
			r.leave(&m.exposures, match.NoPartner)
		}
		if key.target == k {
			r.leave(&m.accesses, match.NoPartner)
		}
	}
	for key, o := range r.owners {
		if key.rank == k {
			r.cease(o.access)
		}
	}
}

// cease notes that an access epoch will never be closed, unless it is closed already.
func (r *Epochs) cease(e *epoch) {
	if e == nil || e.closed != nil {
		return
	}
	e.over = true
	for _, x := range e.with {
		r.finishEpoch(x)
	}
}
