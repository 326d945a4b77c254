package critical

import "ompp-attach/mpi/match"

// MostCalls bounds the calls of a phase that are kept: some 200 MB. If a phase has more calls, its
// path is not known.
const MostCalls = 4 << 20

// Place is where a rank spent time: in the calls at a call site, or between such a call and the
// rank's call before it.
type Place struct {
	Rank int // index of the rank's log
	Site int // as in match.Call
	In   bool
}

// Time is a rank's time at a place, ns.
type Time struct {
	Path int64 // on the job's critical path
	// Own is the rank's time without waits for other ranks. Calls that may have waited are left
	// out.
	Own int64
	// Delay is how long other ranks waited because this rank spent more time here than they did.
	// Far is how long other ranks waited for a third rank, which had waited for this one for the
	// same reason.
	Delay, Far int64
	// Indirect is the part of the rank's own waits here that is due to earlier waits of the late
	// rank. Passed is the part of other ranks' waits that is due to the rank's waits here.
	Indirect, Passed int64
}

// Result is the outcome of a Path. Times are in ns.
type Result struct {
	Times map[Place]*Time
	// Stretches has the path's times between two calls, by both calls.
	Stretches map[Stretch]int64
	// Length is the length of the path: the sum of its parts in Times and of Unknown. If ranks were
	// attached to, the path goes from the first to the last call at which all ranks met.
	Length, Unknown int64
	// Waited is the time of all waits. NoCause is the part of it that is in no Delay and no Far.
	Waited, NoCause int64
	// Saves is what the job would save at most by balance, by path number (see New).
	Saves map[Work]int64
	// Phases is the number of phases. Lost is the number of those whose path is not known,
	// because their calls exceed MostCalls.
	Phases, Lost int
	// Bound is how much longer another path may be, because clocks of machines were compared. Turns
	// is the number of times at which the path changed the rank.
	Bound int64
	Turns uint64
	// Overlap is the index of a rank with several calls at one time; -1: there is none. If there is
	// one, nothing is known.
	Overlap int
}

// Stretch is the time of a rank between two calls that follow each other.
type Stretch struct {
	Rank       int // index of the rank's log
	Site, Last int // as in match.Call: of the later call, of the earlier one; -1: it has no site
}

// Work names a call path of all ranks: the time in the calls there, or before them.
type Work struct {
	Path int
	In   bool
}

// state says what is known of a call's wait.
type state uint8

const (
	free    state = iota // the call waited for no rank
	open                 // not known yet whether it waited
	unknown              // never known
	waited
)

type call struct {
	start, end uint64 // ns
	at         uint64 // when the wait was over, by the rank's clock (ns)
	bound      int64  // how wrong at may be
	site       int32
	rank, call int32 // for whom it waited
	state      state
	begun      bool // MPI_Start began it: site is that of the rank's next call
}

// calls are the calls of a rank since the beginning of the phase.
type calls struct {
	first int // number of list[0]
	next  int // number of the next call
	list  []call
	last  call // the latest call
}

func (c *calls) at(number int) *call {
	if i := number - c.first; i >= 0 && i < len(c.list) {
		return &c.list[i]
	}
	return nil
}

// Path finds the critical path. It implements match.Listener.
type Path struct {
	Result
	ranks  []calls
	hosts  map[string]bool
	path   func(rank, site int) int
	kept   int // calls in all lists
	most   int // of kept
	synced bool
	from   uint64           // when the phase began, by the clock of the first rank (ns)
	over   bool             // the phase has too many calls
	cut    bool             // some log ends early
	part   bool             // some rank was attached to: only phases between two meetings count
	own    []map[Work]int64 // by rank: its own times in the phase
	on     map[Work]int64   // the path of the phase
}

// New returns a Path for the calls of logs. path returns the number, from 0, of the call path of a
// rank's call site. Call paths of different ranks are one if they have one number. Sites without a
// call path have -1.
func New(logs []*match.RankCalls, path func(rank, site int) int) *Path {
	p := &Path{Result: Result{Times: map[Place]*Time{}, Stretches: map[Stretch]int64{}, Saves: map[Work]int64{}, Overlap: -1}, ranks: make([]calls, len(logs)),
		hosts: map[string]bool{}, path: path, most: MostCalls, on: map[Work]int64{}}
	for _, l := range logs {
		p.hosts[l.Host] = true
		p.cut, p.part = p.cut || l.Until != 0, p.part || l.Attached
		p.own = append(p.own, map[Work]int64{})
	}
	return p
}

// Took implements match.Listener.
func (p *Path) Took(rank int, c *match.Call) {
	k := &p.ranks[rank]
	k.next++
	if c.Start < k.last.end {
		p.Overlap = rank
	}
	if rank == 0 && p.from == 0 {
		p.from = c.Start
	}
	k.last = call{start: c.Start, end: c.End, site: int32(c.Site), begun: c.Start == c.End && p.path(rank, c.Site) < 0}
	if !k.last.begun {
		for i := len(k.list) - 1; i >= 0 && k.list[i].begun; i-- {
			k.list[i].site = k.last.site
		}
	}
	if p.over {
		return
	}
	if p.kept == p.most {
		p.forget()
		p.over = true
		return
	}
	if len(k.list) == 0 {
		k.first = k.next - 1
	}
	k.list = append(k.list, k.last)
	p.kept++
}

// forget drops the calls of the phase so far.
func (p *Path) forget() {
	for i := range p.ranks {
		p.ranks[i].list = nil
	}
	p.kept = 0
}

// Pending implements match.Listener.
func (p *Path) Pending(rank, number int) {
	if c := p.ranks[rank].at(number); c != nil {
		c.state = open
	}
}

// Known implements match.Listener.
func (p *Path) Known(rank, number int, last match.Origin) {
	c := p.ranks[rank].at(number)
	switch {
	case c == nil:
	case last.Unknown:
		c.state = unknown
	case last.At <= c.start:
		c.state = free
	default:
		c.state, c.at, c.bound = waited, min(last.At, c.end), last.Bound
		c.rank, c.call = int32(last.Rank), int32(last.Call)
	}
}

// Together implements match.Listener. It ends a phase.
func (p *Path) Together(numbers []int, last match.Origin) {
	took := max(0, int64(last.At)-int64(p.from))
	switch {
	case p.part && !p.synced: // the phase began before all ranks were attached to
	case p.over:
		p.Phases++
		p.lose(took)
	default:
		p.Phases++
		p.walk(last.Rank, last.Call, took)
		p.balance(numbers, took)
		p.delays(numbers)
	}
	p.kept, p.from = 0, last.At
	for i := range p.ranks {
		k := &p.ranks[i]
		// The calls were forgotten: the next phase begins with the call at which the ranks met.
		if p.over && numbers[i] == k.next-1 && len(p.hosts) == 1 {
			k.last.state, k.last.at = waited, max(last.At, k.last.start)
			k.first, k.list = numbers[i], append(k.list, k.last)
		}
		k.list = append([]call(nil), k.list[min(max(0, numbers[i]-k.first), len(k.list)):]...)
		k.first = k.next - len(k.list)
		p.kept += len(k.list)
	}
	p.over, p.synced = false, true
}

// lose counts a phase of took ns, the path of which is not known.
func (p *Path) lose(took int64) {
	p.Lost++
	p.Length, p.Unknown = p.Length+took, p.Unknown+took
}

// Finish ends the last phase, and returns the outcome.
func (p *Path) Finish() *Result {
	if p.Overlap >= 0 || len(p.ranks) == 0 {
		return &Result{Overlap: p.Overlap}
	}
	if p.part { // it is not known how the last phase ended
		return &p.Result
	}
	last, ends := -1, int64(-1)
	for i := range p.ranks {
		if k := &p.ranks[i]; len(k.list) > 0 {
			since := p.from // all ranks have one clock
			if p.synced {
				since = k.list[0].over()
			}
			if t := int64(k.last.end) - int64(since); t > ends {
				last, ends = i, t
			}
		}
	}
	p.Phases++
	switch {
	case p.over, p.cut, last < 0, !p.synced && len(p.hosts) > 1: // the end is not known
		p.lose(max(0, ends))
	default:
		p.walk(last, p.ranks[last].next, ends)
		numbers := make([]int, len(p.ranks))
		for i := range p.ranks {
			numbers[i] = p.ranks[i].next
		}
		p.balance(numbers, ends)
		p.delays(numbers)
	}
	return &p.Result
}

// over returns when the wait of a call was over, by its rank's clock.
func (c *call) over() uint64 {
	if c.state == waited {
		return c.at
	}
	return c.start
}
