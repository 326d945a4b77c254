package reader

import (
	"math/rand/v2"

	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/pattern"
)

// model is a program of some ranks whose waits are known, since it is known which calls belong
// together. Each call has a site of its own.
type model struct {
	rand     *rand.Rand
	now      []uint64
	calls    [][]match.Call
	sites    int
	request  uint64
	open     [][]*event // by rank: of nonblocking operations that are not complete
	events   []*event   // of all messages and collective operations, at each rank
	unlocked uint64     // when the last lock was given back
	until    []uint64   // by rank; 0: its log has all
	since    []uint64   // by rank: when it was attached to; nil: all were launched
	ended    []bool     // by rank: it called MPI_Finalize while it was measured
	// unordered: the ranks were attached to, and it is not known which of their calls belong
	// together.
	unordered bool
}

// event is the part of a rank in a message or collective operation.
type event struct {
	rank  int
	begin int // index of its call in calls[rank]
	wait  int // the same of the call that waits for it; -1: there is none
	with  []*event
	kind  pattern.Pattern
	send  bool
	root  int
	then  int // of a receive by MPI_Mprobe: index of the call of MPI_Mrecv; 0: none
}

func (m *model) sleep(rank int) { m.now[rank] += 1 + m.rand.Uint64N(2000) }

// call adds a call that lasts until a time.
func (m *model) call(rank int, c match.Call, until uint64) int {
	m.sites++
	c.Start, c.Site = m.now[rank], m.sites
	c.End = max(c.Start+1, until)
	m.now[rank] = c.End + 1
	m.calls[rank] = append(m.calls[rank], c)
	return len(m.calls[rank]) - 1
}

func (m *model) begin(e *event, c match.Call, until uint64) {
	e.begin = m.call(e.rank, c, until)
	if e.wait = e.begin; c.Later {
		e.wait = -1
		m.open[e.rank] = append(m.open[e.rank], e)
	}
	m.events = append(m.events, e)
}

func (m *model) handle() uint64 { m.request++; return m.request }

// message sends a message between two ranks.
func (m *model) message() {
	n := len(m.now)
	from := m.rand.IntN(n)
	to := (from + 1 + m.rand.IntN(n-1)) % n
	tag := int32(m.rand.IntN(3))
	m.sleep(from)
	m.sleep(to)
	s, r := &event{rank: from, kind: pattern.Message, send: true}, &event{rank: to, kind: pattern.Message}
	s.with, r.with = []*event{r}, []*event{s}
	receive := call("Recv", 0, 0, func(c *match.Call) { c.From, c.RecvTag = int32(from), tag })
	send := call("Send", 0, 0, func(c *match.Call) { c.To, c.SendTag = int32(to), tag })
	sent, posted := m.now[from], m.now[to]
	end := posted
	switch m.rand.IntN(4) {
	case 0:
		send = call("Isend", 0, 0, func(c *match.Call) { c.To, c.SendTag, c.Request = int32(to), tag, m.handle() })
	case 1:
		send = call("Bsend", 0, 0, func(c *match.Call) { c.To, c.SendTag = int32(to), tag })
	case 2: // eager
	case 3:
		send = call("Ssend", 0, 0, func(c *match.Call) { c.To, c.SendTag = int32(to), tag })
		end = max(sent, posted) + m.rand.Uint64N(50)
	}
	if send.Op != op("Ssend") {
		end = sent + 1 + m.rand.Uint64N(50)
	}
	if m.rand.IntN(5) == 0 {
		m.taken(s, r, send, tag, max(sent, posted))
		return
	}
	m.begin(s, send, end)
	if send.Op != op("Ssend") && m.rand.IntN(4) == 0 { // it would end before the receive begins
		p := &event{rank: to, kind: pattern.Probing, with: []*event{s}}
		m.begin(p, call("Probe", 0, 0, func(c *match.Call) { c.From, c.RecvTag = int32(from), tag }), max(sent, posted)+m.rand.Uint64N(50))
		posted = m.now[to]
	}
	if m.rand.IntN(2) == 0 {
		receive = call("Irecv", 0, 0, func(c *match.Call) { c.From, c.RecvTag, c.Request = int32(from), tag, m.handle() })
		m.begin(r, receive, posted+1)
		return
	}
	m.begin(r, receive, max(sent, posted)+m.rand.Uint64N(50))
}

// taken lets a rank take a message, which is there from a time on, and receive it later. A send
// that needs its receiver ends after one of both.
func (m *model) taken(s, r *event, send match.Call, tag int32, there uint64) {
	handle := m.handle()
	m.begin(r, call("Mprobe", 0, 0, of(handle), from(int32(s.rank), tag)), there+m.rand.Uint64N(50))
	m.sleep(r.rank)
	at := m.now[r.rank]
	r.then = m.call(r.rank, call("Mrecv", 0, 0, of(handle)), at+m.rand.Uint64N(50))
	end := m.now[s.rank] + 1 + m.rand.Uint64N(50)
	if send.Op == op("Ssend") {
		end = []uint64{at, there}[m.rand.IntN(2)] + m.rand.Uint64N(50)
	}
	m.begin(s, send, end)
}

var collectives = []string{"Barrier", "Bcast", "Reduce", "Allreduce", "Exscan", "Ibarrier", "Ibcast", "Ialltoall"}

// collective lets all ranks call an operation.
func (m *model) collective() {
	name := collectives[m.rand.IntN(len(collectives))]
	var all []*event
	at := m.rand.IntN(len(m.now))
	var last, first uint64
	for rank := range m.now {
		m.sleep(rank)
		last = max(last, m.now[rank])
		if rank != at && (first == 0 || m.now[rank] < first) {
			first = m.now[rank]
		}
	}
	began := m.now[at]
	lower := uint64(0)
	for rank := range m.now {
		e := &event{rank: rank, kind: pattern.Of(op(name)), root: at}
		lower = max(lower, m.now[rank])
		c := call(name, 0, 0, root(int32(at)))
		end := m.now[rank]
		switch {
		case c.Later:
			c.Request = m.handle()
		case e.kind == pattern.Barrier || e.kind == pattern.AllToAll:
			end = last
		case e.kind == pattern.OneToAll && rank != at:
			end = max(end, began)
		case e.kind == pattern.AllToOne && rank == at:
			end = last
		case e.kind == pattern.Prefix:
			end = max(end, lower)
		}
		m.begin(e, c, end+m.rand.Uint64N(50))
		all = append(all, e)
	}
	for _, e := range all {
		e.with = all
	}
}

// complete lets a rank wait for some of what it began, or test it.
func (m *model) complete(rank int) {
	open := m.open[rank]
	m.rand.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	n := min(len(open), 1+m.rand.IntN(3))
	if m.sleep(rank); n == 0 {
		return
	}
	c := call("Waitall", 0, 0)
	if n == 1 && m.rand.IntN(3) == 0 {
		c = call("Test", 0, 0)
	}
	end := m.now[rank]
	for _, e := range open[:n] {
		c.Completes = append(c.Completes, m.calls[rank][e.begin].Request)
		end = max(end, m.ready(e)+m.rand.Uint64N(50))
	}
	if c.Op == op("Test") {
		m.now[rank] = end // until it succeeds
		c.Completes = nil
	}
	at := m.call(rank, c, end)
	for _, e := range open[:n] {
		if e.wait = at; c.Op == op("Test") {
			e.wait = -1
		}
	}
	m.open[rank] = open[n:]
}

// ready returns when an operation can be complete.
func (m *model) ready(e *event) (at uint64) {
	if e.kind == pattern.Message && e.send {
		return 0 // eager
	}
	for _, o := range e.with {
		if e.kind != pattern.OneToAll || o.rank == e.root {
			at = max(at, m.of(o).Start)
		}
	}
	return at
}

func (m *model) of(e *event) *match.Call { return &m.calls[e.rank][e.begin] }

// newModel returns a program of messages, collective operations and epochs, and of more.
func newModel(seed uint64, more ...func(*model)) *model {
	m := &model{rand: rand.New(rand.NewPCG(seed, 1))}
	n := 2 + m.rand.IntN(4)
	m.now, m.calls, m.open, m.until = make([]uint64, n), make([][]match.Call, n), make([][]*event, n), make([]uint64, n)
	for range 200 {
		switch m.rand.IntN(7 + len(more)) {
		case 0:
			m.collective()
		case 6:
			m.epochs()
		case 7:
			more[0](m)
		case 1, 2:
			m.complete(m.rand.IntN(n))
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

func (m *model) logs() (logs []*match.RankCalls) {
	for rank := range m.calls {
		l := logOf(rank, len(m.calls), m.calls[rank]...)
		l.Until = m.until[rank]
		logs = append(logs, l)
	}
	return logs
}
