package align

import (
	"math"
	"strings"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/pattern"
)

// lineup holds the sequences of ranks side by side. The operations of all ranks are numbered.
type lineup struct {
	low    int     // number of places[0]
	places []place // without a gap
	// before[i] is the latest given of the operations before place i in which all others take data.
	// after[i] is the earliest taken of the operations from place i on in which a rank takes data
	// of all others.
	before, after []int64
	in            []*sequence
	first, last   int // the lowest number in any log, and one more than the highest
	// begins: operation number first is the first one of the job. ends: number last-1 is the last.
	begins, ends bool
}

// place is an operation of all ranks in a lineup, as far as their logs have it. A rank that takes
// data cannot leave before each rank that gives data has come. given is when the last giving rank
// came, and taken is when the first taking rank left (ns).
type place struct {
	item
	known bool // some rank has the operation
}

// admits reports whether an item may be a rank's call of the operation.
func (p *place) admits(x *item) bool {
	return p.op == x.op && p.root == x.root && x.given <= p.taken && p.given <= x.taken
}

// limits computes lineup.before and lineup.after of n operations.
func limits(n int, of func(i int) *item) (before, after []int64) {
	before, after = make([]int64, n+1), make([]int64, n+1)
	before[0], after[n] = math.MinInt64, math.MaxInt64
	for i := range n {
		before[i+1] = before[i]
		if x := of(i); x.toAll {
			before[i+1] = max(before[i], x.given)
		}
	}
	for i := n - 1; i >= 0; i-- {
		after[i] = after[i+1]
		if x := of(i); x.ofAll {
			after[i] = min(after[i+1], x.taken)
		}
	}
	return before, after
}

// add puts a sequence into the lineup.
func (l *lineup) add(s *sequence, at int) {
	s.at, l.in = at, append(l.in, s)
	if len(l.places) == 0 {
		l.low, l.first, l.last = at, at, at
	}
	l.first, l.last = min(l.first, at-s.skipped), max(l.last, at+len(s.items)+s.rest)
	l.begins, l.ends = l.begins || s.begins, l.ends || s.ends
	if at < l.low {
		l.places = append(make([]place, l.low-at), l.places...)
		l.low = at
	}
	if more := at + len(s.items) - l.low - len(l.places); more > 0 {
		l.places = append(l.places, make([]place, more)...)
	}
	for i := range s.items {
		x, p := &s.items[i], &l.places[at+i-l.low]
		if !p.known {
			p.item, p.known = *x, true
			continue
		}
		p.given, p.taken = max(p.given, x.given), min(p.taken, x.taken)
		p.toAll, p.ofAll = p.toAll || x.toAll, p.ofAll || x.ofAll
	}
	l.before, l.after = limits(len(l.places), func(i int) *item { return &l.places[i].item })
}

// find returns the number of a sequence's first item. ok is false if the item can have no number,
// or several.
func (l *lineup) find(s *sequence) (at int, ok bool) {
	// The two outer numbers stand for all numbers beyond them: there the rank has none of the
	// lineup's operations.
	before, behind := l.low-len(s.items), l.low+len(l.places)
	least, most := l.within(s)
	if least <= before && l.fits(s, before) || most >= behind && l.fits(s, behind) {
		return 0, false
	}
	for n := max(before+1, least); n <= min(behind-1, most); n++ {
		if !l.fits(s, n) {
			continue
		}
		if ok {
			return 0, false
		}
		at, ok = n, true
	}
	return at, ok
}

// within returns the least and the greatest number that the first item of a sequence can have, as
// far as the first and the last operation of the job tell.
func (l *lineup) within(s *sequence) (least, most int) {
	least, most = math.MinInt, math.MaxInt
	if l.begins {
		least = l.first + s.skipped
	}
	if s.ends {
		least = max(least, l.last-len(s.items)-s.rest)
	}
	if s.begins {
		most = l.first + s.skipped
	}
	if l.ends {
		most = min(most, l.last-len(s.items)-s.rest)
	}
	return least, most
}

// holdsAll reports whether the lineup has the logs of all launched ranks.
func (l *lineup) holdsAll(logs []*match.RankCalls) bool {
	n := 0
	for _, s := range l.in {
		n += count(!logs[s.log].Attached)
	}
	for _, k := range logs {
		n -= count(!k.Attached)
	}
	return n == 0
}

// fits reports whether the first item of a sequence can have the number at.
func (l *lineup) fits(s *sequence, at int) bool {
	first, last := &s.items[0], &s.items[len(s.items)-1]
	behind, end := at+len(s.items), l.low+len(l.places)
	// When the rank began its first operation, it had left all operations before that. When it left
	// its last operation, it had not begun the operations after that.
	if at > l.low && l.before[min(at, end)-l.low] > first.begun || behind < end && last.left > l.after[max(behind, l.low)-l.low] {
		return false
	}
	for _, o := range l.in { // the same for each rank of the lineup, against this sequence
		if o.at > at && s.before[min(o.at, behind)-at] > o.items[0].begun {
			return false
		}
		if after := o.at + len(o.items); after < behind && o.items[len(o.items)-1].left > s.after[max(after, at)-at] {
			return false
		}
	}
	for n := max(at, l.low); n < min(behind, end); n++ {
		if !l.places[n-l.low].admits(&s.items[n-at]) {
			return false
		}
	}
	return true
}

// tell says where the logs in the lineup begin, by index of log. If only one of several logs is in
// the lineup, it says nothing.
func (l *lineup) tell(out []match.Start) {
	if len(l.in) == 1 && len(out) > 1 {
		return
	}
	collectives, makes := make([]int, len(l.places)+1), make([]int, len(l.places)+1)
	for i := range l.places {
		collectives[i+1] = collectives[i] + count(l.places[i].collective)
		makes[i+1] = makes[i] + count(l.places[i].makes)
	}
	least, fewest := math.MaxInt, math.MaxInt
	for _, s := range l.in {
		least = min(least, collectives[s.at-l.low]-s.collectives)
		fewest = min(fewest, makes[s.at-l.low]-s.makes)
	}
	for _, s := range l.in {
		out[s.log] = match.Start{Known: true, First: uint64(collectives[s.at-l.low] - s.collectives - least), Makings: makes[s.at-l.low] - s.makes - fewest}
	}
}

// plainOps are the operations without "_c": a call with wider counts is the same operation.
var plainOps = func() []mpi.Op {
	out := make([]mpi.Op, len(mpi.Operations))
	for i := range out {
		out[i] = mpi.Op(i)
		if plain, ok := mpi.ParseOp(strings.TrimSuffix(mpi.Operations[i].Name, "_c")); ok {
			out[i] = plain
		}
	}
	return out
}()

func plainOp(op mpi.Op) mpi.Op {
	if int(op) < len(plainOps) {
		return plainOps[op]
	}
	return op
}

// exchanges says whether a rank gives data that others need to leave the operation, and whether the
// rank takes such data. even says that the data of all giving, or taking, ranks have one size.
func exchanges(c *match.Call, own int32) (gives, takes, even bool) {
	switch name := plainOp(c.Op).String(); name {
	case "MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall", "MPI_Reduce_scatter_block", "MPI_Bcast", "MPI_Scatter", "MPI_Reduce", "MPI_Gather":
		even = true
	}
	switch c.Pattern() {
	case pattern.Barrier:
		return true, true, even
	case pattern.AllToAll:
		return c.Sends, c.Receives, even
	case pattern.OneToAll:
		return own == c.To && c.Sends, own != c.To && c.Receives, even
	case pattern.AllToOne:
		return own != c.To && c.Sends, own == c.To && c.Receives, even
	}
	return false, false, false
}
