package align

import (
	"math"
	"slices"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/pattern"
)

const (
	mostAligned  = 4096    // operations of one rank that are compared, at most
	mostTogether = 1 << 19 // operations of all ranks together that are compared, at most
)

// Starts finds out with which operations on MPI_COMM_WORLD the logs begin. Numbers mean the same
// operation in all logs. Each call of logs returns the logs anew, from their beginnings; Starts
// reads them up to the first operations that all logs have.
func Starts(logs func() []*match.RankCalls, clocks match.Clocks) []match.Start {
	all := logs()
	var since int64 = math.MinInt64 // when all logs have begun
	for _, l := range all {
		if common := commonClock(all[0], l, clocks); common != nil {
			items := worldItems{calls: worldCalls{log: l}, makings: l.Makings, common: common}
			if x, _, ok := items.next(); ok {
				since = max(since, x.begun)
			}
		}
	}
	out := make([]match.Start, len(all))
	most := min(mostAligned, mostTogether/max(1, len(all)))
	var open []*sequence
	for i, l := range logs() {
		s := sequenceOf(l, most, since, commonClock(all[0], l, clocks))
		if s == nil || len(s.items) == 0 {
			continue
		}
		s.log = i
		open = append(open, s)
	}
	if len(open) == 0 {
		return out
	}
	launched := func(s *sequence) bool { return !all[s.log].Attached }
	first := max(0, slices.IndexFunc(open, launched))
	l := &lineup{}
	l.add(open[first], 0)
	open = slices.Delete(open, first, first+1)
	for placed := true; placed; {
		placed = false
		open = slices.DeleteFunc(open, func(s *sequence) bool {
			at, ok := l.find(s)
			if ok {
				l.add(s, at)
				placed = true
			}
			return ok
		})
	}
	if slices.ContainsFunc(all, func(l *match.RankCalls) bool { return !l.Attached }) && !l.holdsAll(all) {
		// A launched rank counts from the first operation of the job. The lineup lacks such a rank,
		// so its numbers would begin elsewhere.
		return out
	}
	l.tell(out)
	return out
}

// item is a call of an operation on MPI_COMM_WORLD that all ranks call in one order. Times are in
// ns.
type item struct {
	op           mpi.Op // without "_c"
	root         int32
	begun, left  int64 // the latest time of its beginning, the earliest of its end
	given, taken int64 // see place
	toAll, ofAll bool  // all others take its data; it takes data of all others
	// collective: it counts as a collective operation. makes: it makes a communicator or window.
	collective, makes bool
}

// sequence holds the items of a rank from the first one that ended when all logs had begun.
type sequence struct {
	log                int
	items              []item
	skipped, rest      int     // number of items of the log before and after these
	begins, ends       bool    // the log has the first operation of all; the log has the last one
	before, after      []int64 // as in lineup
	at                 int     // number of items[0], once that is known
	collectives, makes int     // items of the log before items[0]
}

// toCommon converts a time of a log to the clock that all logs share here. bound is how wrong the
// result may be (ns).
type toCommon func(t uint64) (at, bound int64)

// commonClock returns nil if the clocks of two logs cannot be compared.
func commonClock(first, l *match.RankCalls, clocks match.Clocks) toCommon {
	if first.Host == l.Host {
		return func(t uint64) (int64, int64) { return int64(t), 0 }
	}
	if clocks == nil || !clocks.Comparable(first.Host, l.Host) {
		return nil
	}
	return func(t uint64) (int64, int64) {
		at, bound := clocks.Convert(first.Host, l.Host, t)
		return int64(at), bound
	}
}

// sequenceOf reads the items of a log that ended since a time: the first ones, up to most.
func sequenceOf(l *match.RankCalls, most int, since int64, common toCommon) *sequence {
	if common == nil {
		return nil
	}
	s := &sequence{begins: !l.Attached}
	all := worldItems{calls: worldCalls{log: l}, makings: l.Makings, common: common}
	x, ended, ok := all.next()
	for ; ok && len(s.items) < most; x, ended, ok = all.next() {
		switch end, bound := common(ended); {
		case end+bound >= since:
			s.items = append(s.items, x)
		default:
			s.skipped++
			s.collectives, s.makes = s.collectives+count(x.collective), s.makes+count(x.makes)
		}
	}
	for ; ok; _, _, ok = all.next() {
		s.rest++
	}
	s.begins, s.ends = s.begins || all.calls.first, all.calls.finalized && !all.cut
	s.before, s.after = limits(len(s.items), func(i int) *item { return &s.items[i] })
	return s
}

// worldItems yields the items of a log. It ends as soon as an item may be missing.
type worldItems struct {
	calls   worldCalls
	makings []match.Making
	common  toCommon
	call    *match.Call // the next one
	begun   bool
	cut     bool // items are missing
}

// next returns an item, and when its call ended (ns).
func (w *worldItems) next() (x item, ended uint64, ok bool) {
	l := w.calls.log
	if !w.begun {
		w.call, w.begun = w.calls.next(), true
	}
	c := w.call
	switch {
	case w.cut || c == nil && len(w.makings) == 0:
		w.cut = w.cut || l.Until != 0 || l.MakingsUntil != 0
		return x, 0, false
	case len(w.makings) > 0 && (c == nil || w.makings[0].End <= c.End):
		x, ended = makingItem(w.makings[0], w.common), w.makings[0].End
		w.makings = w.makings[1:]
		w.cut = l.Until != 0 && ended >= l.Until // calls before this one may be missing
	default:
		x, ended = itemOf(c, l.Comms[0].Rank, w.common, w.calls.last()), c.End
		w.call = w.calls.next()
	}
	w.cut = w.cut || l.MakingsUntil != 0 && ended >= l.MakingsUntil
	return x, ended, !w.cut
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// worldCalls yields the calls of a log that are collective operations on MPI_COMM_WORLD, by their
// beginnings. MPI forbids that threads make such calls at the same time.
type worldCalls struct {
	log              *match.RankCalls
	ahead            []*match.Call // of each thread
	begun            bool
	first, finalized bool // among the calls read was MPI_Init; was MPI_Finalize
}

func (w *worldCalls) next() *match.Call {
	if !w.begun {
		w.begun = true
		for i := range w.log.Threads {
			w.ahead = append(w.ahead, w.read(i))
		}
	}
	first := -1
	for i, c := range w.ahead {
		if c != nil && (first < 0 || c.Start < w.ahead[first].Start) {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	c := *w.ahead[first]
	w.ahead[first] = w.read(first)
	return &c
}

// read returns the next collective operation on MPI_COMM_WORLD of a thread; nil: there is none.
func (w *worldCalls) read(thread int) *match.Call {
	for {
		c, ok := w.log.Threads[thread].Next()
		if !ok || w.log.Until != 0 && c.Start >= w.log.Until {
			return nil
		}
		switch p := c.Pattern(); {
		case p == pattern.Beginning:
			w.first = true
		case p == pattern.Ending:
			w.finalized = true
		case numbered(c) && c.Comm == 0:
			kept := *c
			return &kept
		}
	}
}

// last reports whether the latest call is the last one of the log. This call may have been under
// way when measurement ended. Then its end is not known.
func (w *worldCalls) last() bool {
	return !slices.ContainsFunc(w.ahead, func(c *match.Call) bool { return c != nil })
}

// numbered reports whether a call counts in the order of its communicator's collective operations.
func numbered(c *match.Call) bool {
	p := c.Pattern()
	return p.Collective() && p != pattern.Beginning && p != pattern.Ending && !c.Op.Info().Persistent
}

func makingItem(m match.Making, common toCommon) item {
	end, bound := common(m.End)
	return item{op: plainOp(m.Op), begun: end + bound, left: end - bound, given: math.MinInt64, taken: math.MaxInt64, makes: true}
}

// itemOf returns the item of a call of the rank own. cut says that the end of the call may not be
// known.
func itemOf(c *match.Call, own int32, common toCommon, cut bool) item {
	p := c.Pattern()
	start, sb := common(c.Start)
	end, eb := common(c.End)
	x := item{op: plainOp(c.Op), begun: start + sb, left: end - eb, given: math.MinInt64, taken: math.MaxInt64, collective: true, makes: p == pattern.Creating}
	if p.Rooted() {
		x.root = c.To
	}
	if cut || c.Later {
		x.left = start - sb
	}
	if c.Later || c.Unknown {
		return x
	}
	gives, takes, even := exchanges(c, own)
	if gives {
		x.given, x.toAll = start-sb, even && (p != pattern.AllToOne)
	}
	if takes && !cut {
		x.taken, x.ofAll = end+eb, even && (p != pattern.OneToAll)
	}
	return x
}
