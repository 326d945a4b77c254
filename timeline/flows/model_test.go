package flows

import (
	"fmt"
	"math/rand/v2"

	"ompp-attach/mpi"
	"ompp-attach/timeline"
)

// model is a model of MPI: it delivers messages as the standard says, and notes which receive took
// which message.
type model struct {
	rnd   *rand.Rand
	wild  bool // receives from any source or with any tag, and exchanges
	procs []*modelProc
	clock uint64
	truth map[string]bool // as messages has them
}

type modelProc struct {
	spans   []timeline.Span
	blocked bool
	queue   []modelMessage // that nobody has received
	posted  []modelReceive // that have no message
}

type modelMessage struct {
	from, tag int32
	span      int
}

type modelReceive struct {
	from, tag int32
	span      int
	returns   bool
}

func newModel(rnd *rand.Rand, wild bool) *model {
	m := &model{rnd: rnd, wild: wild, truth: map[string]bool{}}
	for range 2 + rnd.IntN(3) {
		m.procs = append(m.procs, &modelProc{})
	}
	return m
}

func (m *model) run() {
	for range 100 + m.rnd.IntN(900) {
		m.clock += 10
		n := m.rnd.IntN(len(m.procs))
		if p := m.procs[n]; !p.blocked {
			m.step(int32(n), p)
		}
	}
	for _, p := range m.procs {
		for i := range p.spans {
			if s := &p.spans[i]; s.To == 0 {
				s.To, s.Flags = m.clock+100, timeline.Open
			}
		}
	}
}

// step makes a process make a call.
func (m *model) step(n int32, p *modelProc) {
	peer, tag := int32(m.rnd.IntN(len(m.procs))), int32(m.rnd.IntN(2))
	if m.wild && m.rnd.IntN(8) == 0 {
		tag = 0
	}
	switch m.rnd.IntN(14) {
	case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9:
		p.spans = append(p.spans, called(nodeSend, m.clock, m.clock+1+m.rnd.Uint64N(30), peer, tag))
		m.send(modelMessage{n, tag, len(p.spans) - 1}, peer)
	case 10, 11:
		m.receive(n, p, nodeRecv, peer, tag)
	case 12:
		m.receive(n, p, nodeIrecv, peer, tag)
	default:
		if !m.wild || m.rnd.IntN(6) > 0 {
			return
		}
		s := called(nodeSendrecv, m.clock, 0, peer, tag)
		s.Call.Peer2 = int32(m.rnd.IntN(len(m.procs)))
		p.spans = append(p.spans, s)
		m.send(modelMessage{n, tag, len(p.spans) - 1}, peer)
		m.post(n, p, modelReceive{s.Call.Peer2, int32(m.rnd.IntN(2)), len(p.spans) - 1, true})
	}
}

func (m *model) receive(n int32, p *modelProc, node, from, tag int32) {
	if m.wild && m.rnd.IntN(40) == 0 {
		from = mpi.AnySource
	}
	if m.wild && m.rnd.IntN(40) == 0 {
		tag = -1
	}
	s := called(node, m.clock, 0, from, tag)
	if node == nodeIrecv {
		s.To = m.clock + 1
	}
	p.spans = append(p.spans, s)
	m.post(n, p, modelReceive{from, tag, len(p.spans) - 1, node == nodeRecv})
}

func (m *model) send(msg modelMessage, to int32) {
	p := m.procs[to]
	for i, r := range p.posted {
		if r.takes(&msg) {
			p.posted = append(p.posted[:i:i], p.posted[i+1:]...)
			m.deliver(to, p, r, msg)
			return
		}
	}
	p.queue = append(p.queue, msg)
}

func (m *model) post(n int32, p *modelProc, r modelReceive) {
	for i := range p.queue {
		if msg := p.queue[i]; r.takes(&msg) {
			p.queue = append(p.queue[:i:i], p.queue[i+1:]...)
			m.deliver(n, p, r, msg)
			return
		}
	}
	p.posted = append(p.posted, r)
	p.blocked = r.returns
}

func (r *modelReceive) takes(msg *modelMessage) bool {
	return (r.from == mpi.AnySource || r.from == msg.from) && (r.tag < 0 || r.tag == msg.tag)
}

func (m *model) deliver(n int32, p *modelProc, r modelReceive, msg modelMessage) {
	if !r.returns {
		return
	}
	p.blocked = false
	p.spans[r.span].To = m.clock + 5
	m.truth[fmt.Sprintf("%d.%d -> %d.%d", msg.from, msg.span, n, r.span)] = true
}
