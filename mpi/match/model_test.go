package match

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ompp-attach/mpi"
)

// model is a program of some ranks whose waits are known, since it is known which calls belong
// together. Each call has a site of its own.
type model struct {
	rand     *rand.Rand
	now      []uint64
	calls    [][]Call
	sites    int
	request  uint64
	open     [][]*event // by rank: of nonblocking operations that are not complete
	events   []*event   // of all messages and collective operations, at each rank
	unlocked uint64     // when the last lock was given back
	until    []uint64   // by rank; 0: its log has all
}

// event is the part of a rank in a message or collective operation.
type event struct {
	rank  int
	begin int // index of its call in calls[rank]
	wait  int // the same of the call that waits for it; -1: there is none
	with  []*event
	kind  pattern
	send  bool
	root  int
}

func (m *model) sleep(rank int) { m.now[rank] += 1 + m.rand.Uint64N(2000) }

// call adds a call that lasts until a time.
func (m *model) call(rank int, c Call, until uint64) int {
	m.sites++
	c.Start, c.Site = m.now[rank], m.sites
	c.End = max(c.Start+1, until)
	m.now[rank] = c.End + 1
	m.calls[rank] = append(m.calls[rank], c)
	return len(m.calls[rank]) - 1
}

func (m *model) begin(e *event, c Call, until uint64) {
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
	s, r := &event{rank: from, kind: message, send: true}, &event{rank: to, kind: message}
	s.with, r.with = []*event{r}, []*event{s}
	receive := call("Recv", 0, 0, func(c *Call) { c.From, c.RecvTag = int32(from), tag })
	send := call("Send", 0, 0, func(c *Call) { c.To, c.SendTag = int32(to), tag })
	sent, posted := m.now[from], m.now[to]
	end := posted
	switch m.rand.IntN(4) {
	case 0:
		send = call("Isend", 0, 0, func(c *Call) { c.To, c.SendTag, c.Request = int32(to), tag, m.handle() })
	case 1:
		send = call("Bsend", 0, 0, func(c *Call) { c.To, c.SendTag = int32(to), tag })
	case 2: // eager
	case 3:
		send = call("Ssend", 0, 0, func(c *Call) { c.To, c.SendTag = int32(to), tag })
		end = max(sent, posted) + m.rand.Uint64N(50)
	}
	if send.Op != op("Ssend") {
		end = sent + 1 + m.rand.Uint64N(50)
	}
	m.begin(s, send, end)
	if m.rand.IntN(2) == 0 {
		receive = call("Irecv", 0, 0, func(c *Call) { c.From, c.RecvTag, c.Request = int32(from), tag, m.handle() })
		m.begin(r, receive, posted+1)
		return
	}
	m.begin(r, receive, max(sent, posted)+m.rand.Uint64N(50))
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
		e := &event{rank: rank, kind: patterns[op(name)], root: at}
		lower = max(lower, m.now[rank])
		c := call(name, 0, 0, root(int32(at)))
		end := m.now[rank]
		switch {
		case c.Later:
			c.Request = m.handle()
		case e.kind == barrier || e.kind == allToAll:
			end = last
		case e.kind == oneToAll && rank != at:
			end = max(end, began)
		case e.kind == allToOne && rank == at:
			end = last
		case e.kind == prefix:
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
	if e.kind == message && e.send {
		return 0 // eager
	}
	for _, o := range e.with {
		if e.kind != oneToAll || o.rank == e.root {
			at = max(at, m.of(o).Start)
		}
	}
	return at
}

func (m *model) of(e *event) *Call { return &m.calls[e.rank][e.begin] }

// newModel returns a program of messages, collective operations and epochs, and of more.
func newModel(seed uint64, more ...func(*model)) *model {
	m := &model{rand: rand.New(rand.NewPCG(seed, 1))}
	n := 2 + m.rand.IntN(4)
	m.now, m.calls, m.open, m.until = make([]uint64, n), make([][]Call, n), make([][]*event, n), make([]uint64, n)
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

func (m *model) logs() (logs []*RankCalls) {
	for rank := range m.calls {
		l := logOf(rank, len(m.calls), m.calls[rank]...)
		l.Until = m.until[rank]
		logs = append(logs, l)
	}
	return logs
}

// seen reports whether a rank's log has a call.
func (m *model) seen(rank, call int) bool {
	return m.until[rank] == 0 || m.calls[rank][call].Start < m.until[rank]
}

// matched reports whether the log of every rank has its part.
func (m *model) matched(e *event) bool {
	for _, o := range append([]*event{e}, e.with...) {
		if !m.seen(o.rank, o.begin) {
			return false
		}
	}
	for rank := range m.until { // it is not known who holds a lock
		if e.kind == locking && m.until[rank] > 0 && m.until[rank] <= m.of(e).End {
			return false
		}
	}
	return true
}

// truth returns the waits by property and places, in ns, without those in the wrong order.
func (m *model) truth() map[string]int64 {
	type at struct{ rank, call int }
	byCall := map[at][]*event{}
	for _, e := range m.events {
		if e.wait >= 0 && m.seen(e.rank, e.wait) {
			byCall[at{e.rank, e.wait}] = append(byCall[at{e.rank, e.wait}], e)
		}
	}
	out := map[string]int64{}
	for w, list := range byCall {
		c := &m.calls[w.rank][w.call]
		best, name := int64(0), ""
		for _, e := range list {
			if !m.matched(e) {
				best = -1
				break
			}
			if wait, n := m.waits(e, c); wait > best || wait == best && name != "" && n < name {
				best, name = wait, n
			}
		}
		if best > 0 {
			out[name] += best
		}
		for _, e := range list { // the send that waited longest
			if wait, n := m.waits(e, c); best > 0 && n == name && wait == best && e.send && m.overtakes(e) {
				out[strings.Replace(name, fmt.Sprint(LateReceiver), fmt.Sprint(LateReceiverOrder), 1)] += best
			}
		}
	}
	return out
}

// overtakes reports whether a message was received before an older one of the same sender.
func (m *model) overtakes(e *event) bool {
	r := e.with[0]
	return slices.ContainsFunc(m.events, func(o *event) bool {
		if o.kind != message || !o.send || o.rank != e.rank || o.with[0].rank != r.rank || !m.seen(o.rank, o.begin) {
			return false
		}
		return m.of(o).Start < m.of(e).Start && (!m.seen(r.rank, o.with[0].begin) || m.of(o.with[0]).Start > m.of(r).Start)
	})
}

// waits returns how long a call waited for an operation, with the property and the places.
func (m *model) waits(e *event, c *Call) (int64, string) {
	if len(e.with) == 0 {
		return 0, ""
	}
	property, due := LateSender, m.of(e.with[0])
	pick := func(better func(o, due *Call) bool, of func(*event) bool) {
		due = nil
		for _, o := range e.with {
			if k := m.of(o); of(o) && (due == nil || better(k, due)) {
				due = k
			}
		}
	}
	later := func(o, due *Call) bool { return o.Start > due.Start }
	all := func(*event) bool { return true }
	switch e.kind {
	case message:
		if e.send {
			if property = LateReceiver; due.Start >= c.End || c.Op == op("Bsend") {
				return 0, ""
			}
		}
	case barrier:
		property = WaitAtBarrier
		pick(later, all)
	case allToAll:
		property = WaitAtNxN
		pick(later, all)
	case prefix:
		property = EarlyScan
		pick(later, func(o *event) bool { return o.rank <= e.rank })
	case starting, closing:
		property = LatePost
		if pick(later, all); due.Start >= c.End {
			return 0, ""
		}
	case locking:
		property = LockContention
		pick(later, all)
	case exposed:
		property = EarlyWait
		pick(later, all)
	case oneToAll:
		if property = LateBroadcast; e.rank == e.root {
			return 0, ""
		}
		pick(later, func(o *event) bool { return o.rank == e.root })
	case allToOne:
		if property = EarlyReduce; e.rank != e.root {
			return 0, ""
		}
		pick(func(o, due *Call) bool { return o.Start < due.Start }, func(o *event) bool { return o != e })
	}
	t := min(int64(due.Start), int64(c.End)) - int64(c.Start)
	return t, fmt.Sprintf("%d: %d<%d", property, c.Site, due.Site)
}

func (r *Result) found() map[string]int64 {
	out := map[string]int64{}
	for _, w := range r.Waits {
		switch w.Property {
		case LateSenderDone, LateReceiverDone, BarrierCompletion, NxNCompletion, WrongOrder, WrongOrderOther:
			continue
		}
		out[fmt.Sprintf("%d: %d<%d", w.Property, w.At.Site, w.Due.Site)] += w.T
	}
	return out
}

// TestModel compares the matcher with programs whose waits are known.
func TestModel(t *testing.T) {
	waits := 0
	for seed := range uint64(300) {
		m := newModel(seed)
		if seed%3 > 0 { // logs of some ranks stop early
			rank := m.rand.IntN(len(m.now))
			m.until[rank] = m.rand.Uint64N(m.now[rank])
		}
		want, r := m.truth(), Run(m.logs())
		if got := r.found(); !maps.Equal(got, want) {
			t.Fatalf("seed %d:\ngot  %v\nwant %v", seed, got, want)
		}
		waits += len(want)
		m.checkCounts(t, r)
	}
	if waits < 3000 {
		t.Errorf("%d waits only", waits)
	}
}

// checkCounts compares the numbers of what was matched, and what was not.
func (m *model) checkCounts(t *testing.T, r *Result) {
	t.Helper()
	var sends, receives, collectives, epochs, locks Count
	for _, e := range m.events {
		if !m.seen(e.rank, e.begin) {
			continue
		}
		n := &collectives
		if e.kind == message && e.send {
			n = &sends
		} else if e.kind == message {
			n = &receives
		} else if e.kind >= posting && e.kind <= exposed {
			n = &epochs
		} else if e.kind == locking {
			n = &locks
		}
		if n.Calls++; m.matched(e) {
			n.Matched++
		} else {
			n.Left[NoPartner]++
		}
	}
	if r.Sends != sends || r.Receives != receives || r.Collectives != collectives || r.Epochs != epochs || r.Locks != locks {
		t.Fatalf("got  %+v %+v %+v %+v %+v\nwant %+v %+v %+v %+v %+v",
			r.Sends, r.Receives, r.Collectives, r.Epochs, r.Locks, sends, receives, collectives, epochs, locks)
	}
}

// TestModelWildcards: receives that do not tell their source make waits unknown, never wrong.
func TestModelWildcards(t *testing.T) {
	known := 0
	for seed := range uint64(200) {
		m := newModel(seed)
		want := m.truth()
		total := 0
		for _, e := range m.events {
			if c := m.of(e); e.kind == message && !e.send {
				if total++; m.rand.IntN(40) == 0 {
					c.From = mpi.AnySource
				}
			}
		}
		r := Run(m.logs())
		known += int(r.Receives.Matched)
		for name, wait := range r.found() {
			if want[name] != wait {
				t.Fatalf("seed %d: %s: %d, not %d", seed, name, wait, want[name])
			}
		}
		if n := r.Receives; int(n.Calls) != total || n.Matched+n.Left[Wildcard]+n.Left[NoPartner] != n.Calls || r.Sends.Matched != n.Matched {
			t.Fatalf("seed %d: %+v", seed, r)
		}
	}
	if known < 10000 {
		t.Errorf("%d receives were matched only", known)
	}
}

// TestThreadsInTurn: it does not matter how the calls of a rank are divided among threads that never call
// MPI at the same time.
func TestThreadsInTurn(t *testing.T) {
	for seed := range uint64(50) {
		m := newModel(seed)
		logs := m.logs()
		want := Run(logs).found()
		for rank, l := range m.logs() {
			byThread := make([]List, 3)
			for _, c := range m.calls[rank] {
				c.Thread = m.rand.IntN(3)
				byThread[c.Thread] = append(byThread[c.Thread], c)
			}
			l.Threads = nil
			for i := range byThread {
				l.Threads = append(l.Threads, &byThread[i])
			}
			logs[rank] = l
		}
		if got := Run(logs).found(); !maps.Equal(got, want) {
			t.Fatalf("seed %d: got %v\nwant %v", seed, got, want)
		}
	}
}
