package matchtest

import (
	"math/rand/v2"

	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/pattern"
)

// Model is a program of some ranks. The model knows which calls belong together, and so who waited
// for whom. Each call has a call site of its own.
type Model struct {
	Rand     *rand.Rand
	Now      []uint64
	Calls    [][]match.Call
	sites    int
	request  uint64
	open     [][]*Event // by rank: of nonblocking operations that are not complete
	Events   []*Event   // of all messages and collective operations, at each rank
	unlocked uint64     // when the last lock was given back
	Until    []uint64   // by rank: when its log ends early; 0: its log has all calls
	Since    []uint64   // by rank: when it was attached to; nil: all were launched
	Ended    []bool     // by rank: it called MPI_Finalize while it was measured
	// Unordered: the ranks were attached to, and it is not known which of their calls belong
	// together.
	Unordered bool
}

// Event is one rank's part in a message or a collective operation.
type Event struct {
	Rank  int
	Begin int // index of its call in calls[rank]
	Wait  int // index of the call that waits for it, in calls[rank]; -1: there is none
	With  []*Event
	Kind  pattern.Pattern
	Send  bool
	root  int
	then  int // of a receive by MPI_Mprobe: index of the call of MPI_Mrecv; 0: none
}

// Receives reports whether the event is a receive of a message.
func (e *Event) Receives() bool { return e.Kind == pattern.Message && !e.Send }

func (m *Model) sleep(rank int) { m.Now[rank] += 1 + m.Rand.Uint64N(2000) }

// call adds a call that lasts until a time.
func (m *Model) call(rank int, c match.Call, until uint64) int {
	m.sites++
	c.Start, c.Site = m.Now[rank], m.sites
	c.End = max(c.Start+1, until)
	m.Now[rank] = c.End + 1
	m.Calls[rank] = append(m.Calls[rank], c)
	return len(m.Calls[rank]) - 1
}

func (m *Model) begin(e *Event, c match.Call, until uint64) {
	e.Begin = m.call(e.Rank, c, until)
	if e.Wait = e.Begin; c.Later {
		e.Wait = -1
		m.open[e.Rank] = append(m.open[e.Rank], e)
	}
	m.Events = append(m.Events, e)
}

func (m *Model) handle() uint64 { m.request++; return m.request }

// message sends a message between two ranks.
func (m *Model) message() {
	n := len(m.Now)
	from := m.Rand.IntN(n)
	to := (from + 1 + m.Rand.IntN(n-1)) % n
	tag := int32(m.Rand.IntN(3))
	m.sleep(from)
	m.sleep(to)
	s, r := &Event{Rank: from, Kind: pattern.Message, Send: true}, &Event{Rank: to, Kind: pattern.Message}
	s.With, r.With = []*Event{r}, []*Event{s}
	receive := Call("Recv", 0, 0, func(c *match.Call) { c.From, c.RecvTag = int32(from), tag })
	send := Call("Send", 0, 0, func(c *match.Call) { c.To, c.SendTag = int32(to), tag })
	sent, posted := m.Now[from], m.Now[to]
	end := posted
	switch m.Rand.IntN(4) {
	case 0:
		send = Call("Isend", 0, 0, func(c *match.Call) { c.To, c.SendTag, c.Request = int32(to), tag, m.handle() })
	case 1:
		send = Call("Bsend", 0, 0, func(c *match.Call) { c.To, c.SendTag = int32(to), tag })
	case 2: // eager
	case 3:
		send = Call("Ssend", 0, 0, func(c *match.Call) { c.To, c.SendTag = int32(to), tag })
		end = max(sent, posted) + m.Rand.Uint64N(50)
	}
	if send.Op != Op("Ssend") {
		end = sent + 1 + m.Rand.Uint64N(50)
	}
	if m.Rand.IntN(5) == 0 {
		m.taken(s, r, send, tag, max(sent, posted))
		return
	}
	m.begin(s, send, end)
	if send.Op != Op("Ssend") && m.Rand.IntN(4) == 0 { // MPI_Ssend would end too early
		p := &Event{Rank: to, Kind: pattern.Probing, With: []*Event{s}}
		m.begin(p, Call("Probe", 0, 0, func(c *match.Call) { c.From, c.RecvTag = int32(from), tag }), max(sent, posted)+m.Rand.Uint64N(50))
		posted = m.Now[to]
	}
	if m.Rand.IntN(2) == 0 {
		receive = Call("Irecv", 0, 0, func(c *match.Call) { c.From, c.RecvTag, c.Request = int32(from), tag, m.handle() })
		m.begin(r, receive, posted+1)
		return
	}
	m.begin(r, receive, max(sent, posted)+m.Rand.Uint64N(50))
}

// taken lets a rank take a message, which is there from a time on, and receive the message later. A
// send that needs its receiver ends after one of these calls.
func (m *Model) taken(s, r *Event, send match.Call, tag int32, there uint64) {
	handle := m.handle()
	m.begin(r, Call("Mprobe", 0, 0, Of(handle), From(int32(s.Rank), tag)), there+m.Rand.Uint64N(50))
	m.sleep(r.Rank)
	at := m.Now[r.Rank]
	r.then = m.call(r.Rank, Call("Mrecv", 0, 0, Of(handle)), at+m.Rand.Uint64N(50))
	end := m.Now[s.Rank] + 1 + m.Rand.Uint64N(50)
	if send.Op == Op("Ssend") {
		end = []uint64{at, there}[m.Rand.IntN(2)] + m.Rand.Uint64N(50)
	}
	m.begin(s, send, end)
}

var collectives = []string{"Barrier", "Bcast", "Reduce", "Allreduce", "Exscan", "Ibarrier", "Ibcast", "Ialltoall"}

// collective lets all ranks call an operation.
func (m *Model) collective() {
	name := collectives[m.Rand.IntN(len(collectives))]
	var all []*Event
	at := m.Rand.IntN(len(m.Now))
	var last, first uint64
	for rank := range m.Now {
		m.sleep(rank)
		last = max(last, m.Now[rank])
		if rank != at && (first == 0 || m.Now[rank] < first) {
			first = m.Now[rank]
		}
	}
	began := m.Now[at]
	lower := uint64(0)
	for rank := range m.Now {
		e := &Event{Rank: rank, Kind: pattern.Of(Op(name)), root: at}
		lower = max(lower, m.Now[rank])
		c := Call(name, 0, 0, Root(int32(at)))
		end := m.Now[rank]
		switch {
		case c.Later:
			c.Request = m.handle()
		case e.Kind == pattern.Barrier || e.Kind == pattern.AllToAll:
			end = last
		case e.Kind == pattern.OneToAll && rank != at:
			end = max(end, began)
		case e.Kind == pattern.AllToOne && rank == at:
			end = last
		case e.Kind == pattern.Prefix:
			end = max(end, lower)
		}
		m.begin(e, c, end+m.Rand.Uint64N(50))
		all = append(all, e)
	}
	for _, e := range all {
		e.With = all
	}
}

// complete lets a rank wait for some of the operations that it began, or test them.
func (m *Model) complete(rank int) {
	open := m.open[rank]
	m.Rand.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	n := min(len(open), 1+m.Rand.IntN(3))
	if m.sleep(rank); n == 0 {
		return
	}
	c := Call("Waitall", 0, 0)
	if n == 1 && m.Rand.IntN(3) == 0 {
		c = Call("Test", 0, 0)
	}
	end := m.Now[rank]
	for _, e := range open[:n] {
		c.Completes = append(c.Completes, m.Calls[rank][e.Begin].Request)
		end = max(end, m.ready(e)+m.Rand.Uint64N(50))
	}
	if c.Op == Op("Test") {
		m.Now[rank] = end // a test is repeated until it succeeds
		c.Completes = nil
	}
	at := m.call(rank, c, end)
	for _, e := range open[:n] {
		if e.Wait = at; c.Op == Op("Test") {
			e.Wait = -1
		}
	}
	m.open[rank] = open[n:]
}

// ready returns when an operation can be complete.
func (m *Model) ready(e *Event) (at uint64) {
	if e.Kind == pattern.Message && e.Send {
		return 0 // eager
	}
	for _, o := range e.With {
		if e.Kind != pattern.OneToAll || o.Rank == e.root {
			at = max(at, m.Of(o).Start)
		}
	}
	return at
}

// Of returns the call of an event.
func (m *Model) Of(e *Event) *match.Call { return &m.Calls[e.Rank][e.Begin] }

// NewModel returns a program of messages, collective operations and epochs. more adds other calls.
func NewModel(seed uint64, more ...func(*Model)) *Model {
	m := &Model{Rand: rand.New(rand.NewPCG(seed, 1))}
	n := 2 + m.Rand.IntN(4)
	m.Now, m.Calls, m.open, m.Until = make([]uint64, n), make([][]match.Call, n), make([][]*Event, n), make([]uint64, n)
	for range 200 {
		switch m.Rand.IntN(7 + len(more)) {
		case 0:
			m.collective()
		case 6:
			m.epochs()
		case 7:
			more[0](m)
		case 1, 2:
			m.complete(m.Rand.IntN(n))
		default:
			m.message()
		}
	}
	for rank := range n {
		for len(m.open[rank]) > 0 {
			m.complete(rank)
		}
	}
	return m
}

// Logs returns the logs of the ranks. They can be read once.
func (m *Model) Logs() (logs []*match.RankCalls) {
	for rank := range m.Calls {
		l := LogOf(rank, len(m.Calls), m.Calls[rank]...)
		l.Until = m.Until[rank]
		logs = append(logs, l)
	}
	return logs
}
