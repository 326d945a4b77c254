package timeline

import (
	"encoding/binary"
	"errors"

	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// A span begins with a byte of these flags, and its kind in the lowest two bits. Then come the node
// and the seat, if they differ from the span before; the end, as a difference; and the length. The
// fields that the other flags name follow.
const (
	kindBits  = 3
	otherSeat = 1 << 2
	otherNode = 1 << 3
	ownExec   = 1 << 4 // Exec is not one execution of the whole length
	hasParts  = 1 << 5
	hasMore   = 1 << 6
)

// The flags of hasMore's byte: fields that few spans have.
const (
	moreFlags = 1 << iota
	moreTeam
	moreTask
	moreLock
	moreCall
	moreCounts // since version 2
)

// The flags of a call's byte: fields that differ from the call before in the chunk.
const (
	callComm = 1 << iota
	callMade
	callRank
	callPeer
	callPeer2
	callTag
	callFlags
	callBytes
)

// How a part is written: two bits each.
const (
	partNone = iota
	partOnce // its count is 1
	partTime // its count is 0
	partBoth
)

// state holds the fields of the span before, which a span's bytes leave out if they are the same.
// It is empty at a chunk's beginning.
type state struct {
	node, seat       int32
	to               uint64
	team, task, lock uint64
	call             MPI
}

// put writes a span behind b.
func (st *state) put(b []byte, s *Span) []byte {
	at := len(b)
	first, more := byte(s.Kind)&kindBits, byte(0)
	b = append(b, 0)
	if s.Node != st.node {
		first |= otherNode
		b = binary.AppendUvarint(b, uint64(uint32(s.Node)))
		st.node = s.Node
	}
	if s.Thread != st.seat {
		first |= otherSeat
		b = binary.AppendUvarint(b, uint64(uint32(s.Thread)))
		st.seat = s.Thread
	}
	b = binary.AppendVarint(b, int64(s.To-st.to))
	st.to = s.To
	length := s.To - s.From
	b = binary.AppendUvarint(b, length)
	if s.Exec.C != 1 || s.Exec.T != int64(length) {
		first |= ownExec
		b = binary.AppendVarint(b, int64(length)-s.Exec.T)
		b = binary.AppendUvarint(b, s.Exec.C)
	}
	if s.Parts != ([NumParts]profile.Sum{}) {
		first |= hasParts
		b = putParts(b, &s.Parts)
	}
	if s.Flags != 0 {
		more |= moreFlags
	}
	if s.Team != 0 {
		more |= moreTeam
	}
	if s.Task != 0 {
		more |= moreTask
	}
	if s.Lock != 0 {
		more |= moreLock
	}
	if s.Kind == Call {
		more |= moreCall
	}
	if s.Counts != nil {
		more |= moreCounts
	}
	if more != 0 {
		first |= hasMore
		b = st.putMore(append(b, more), s, more)
	}
	b[at] = first
	return b
}

func putParts(b []byte, parts *[NumParts]profile.Sum) []byte {
	at := len(b)
	b = append(b, 0)
	for i := range parts {
		p, how := &parts[i], byte(partBoth)
		switch {
		case *p == profile.Sum{}:
			continue
		case p.C == 1:
			how = partOnce
		case p.C == 0:
			how = partTime
		}
		b[at] |= how << (2 * i)
		b = binary.AppendVarint(b, p.T)
		if how == partBoth {
			b = binary.AppendUvarint(b, p.C)
		}
	}
	return b
}

func (st *state) putMore(b []byte, s *Span, more byte) []byte {
	if more&moreFlags != 0 {
		b = append(b, byte(s.Flags))
	}
	if more&moreTeam != 0 {
		b = binary.AppendVarint(b, int64(s.Team-st.team))
		st.team = s.Team
	}
	if more&moreTask != 0 {
		b = binary.AppendVarint(b, int64(s.Task-st.task))
		st.task = s.Task
	}
	if more&moreLock != 0 {
		b = binary.AppendVarint(b, int64(s.Lock-st.lock))
		st.lock = s.Lock
	}
	if more&moreCall != 0 {
		b = st.putCall(b, &s.Call)
	}
	if more&moreCounts != 0 {
		b = putCounts(b, s.Counts)
	}
	return b
}

func (st *state) putCall(b []byte, c *MPI) []byte {
	at, was := len(b), &st.call
	b = append(b, 0)
	if c.Comm != was.Comm {
		b[at] |= callComm
		b = binary.AppendUvarint(b, c.Comm)
	}
	if c.Made != was.Made {
		b[at] |= callMade
		b = binary.AppendVarint(b, int64(c.Made-was.Made))
	}
	if c.Rank != was.Rank || c.Size != was.Size {
		b[at] |= callRank
		b = binary.AppendVarint(b, int64(c.Rank))
		b = binary.AppendVarint(b, int64(c.Size))
	}
	if c.Peer != was.Peer {
		b[at] |= callPeer
		b = binary.AppendVarint(b, int64(c.Peer))
	}
	if c.Peer2 != was.Peer2 {
		b[at] |= callPeer2
		b = binary.AppendVarint(b, int64(c.Peer2))
	}
	if c.Tag != was.Tag {
		b[at] |= callTag
		b = binary.AppendVarint(b, int64(c.Tag))
	}
	if c.Flags != was.Flags {
		b[at] |= callFlags
		b = append(b, byte(c.Flags))
	}
	if c.Out != was.Out || c.In != was.In {
		b[at] |= callBytes
		b = binary.AppendUvarint(b, c.Out)
		b = binary.AppendUvarint(b, c.In)
	}
	*was = *c
	return b
}

// errDamaged says that bytes are not as put writes them.
var errDamaged = errors.New("a part of the timeline is damaged")

// source reads numbers. bad tells that the bytes ended early, or held no number.
type source struct {
	b   []byte
	bad bool
}

func (r *source) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *source) unsigned() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *source) signed() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

// number reads an index, which is below 2^31.
func (r *source) number() int32 {
	v := r.unsigned()
	if v > 1<<31-1 {
		r.bad = true
	}
	return int32(v)
}

// take reads the next span. The error is errDamaged.
func (st *state) take(r *source, s *Span) error {
	first := r.byte()
	*s = Span{TID: s.TID, Kind: Kind(first & kindBits)}
	if first&otherNode != 0 {
		st.node = r.number()
	}
	if first&otherSeat != 0 {
		st.seat = r.number()
	}
	s.Node, s.Thread = st.node, st.seat
	st.to += uint64(r.signed())
	length := r.unsigned()
	s.To, s.From = st.to, st.to-length
	s.Exec = profile.Sum{T: int64(length), C: 1}
	if first&ownExec != 0 {
		s.Exec.T -= r.signed()
		s.Exec.C = r.unsigned()
	}
	if first&hasParts != 0 {
		how := r.byte()
		for i := range s.Parts {
			s.Parts[i] = takePart(r, how>>(2*i)&3)
		}
	}
	if first&hasMore != 0 {
		st.takeMore(r, s, r.byte())
	} else if s.Kind == Call {
		r.bad = true
	}
	if r.bad || first&(1<<7) != 0 || s.From > s.To {
		return errDamaged
	}
	return nil
}

func takePart(r *source, how byte) (p profile.Sum) {
	if how == partNone {
		return p
	}
	p.T = r.signed()
	switch how {
	case partOnce:
		p.C = 1
	case partBoth:
		p.C = r.unsigned()
	}
	return p
}

func (st *state) takeMore(r *source, s *Span, more byte) {
	if (s.Kind == Call) != (more&moreCall != 0) {
		r.bad = true
		return
	}
	if more&moreFlags != 0 {
		s.Flags = Flags(r.byte())
	}
	if more&moreTeam != 0 {
		st.team += uint64(r.signed())
		s.Team = st.team
	}
	if more&moreTask != 0 {
		st.task += uint64(r.signed())
		s.Task = st.task
	}
	if more&moreLock != 0 {
		st.lock += uint64(r.signed())
		s.Lock = st.lock
	}
	if more&moreCall != 0 {
		st.takeCall(r)
		s.Call = st.call
	}
	if more&moreCounts != 0 {
		s.Counts = takeCounts(r)
	}
}

func (st *state) takeCall(r *source) {
	has, c := r.byte(), &st.call
	if has&callComm != 0 {
		c.Comm = r.unsigned()
	}
	if has&callMade != 0 {
		c.Made += uint64(r.signed())
	}
	if has&callRank != 0 {
		c.Rank, c.Size = int32(r.signed()), int32(r.signed())
	}
	if has&callPeer != 0 {
		c.Peer = int32(r.signed())
	}
	if has&callPeer2 != 0 {
		c.Peer2 = int32(r.signed())
	}
	if has&callTag != 0 {
		c.Tag = int32(r.signed())
	}
	if has&callFlags != 0 {
		c.Flags = mpi.ArgFlag(r.byte())
	}
	if has&callBytes != 0 {
		c.Out, c.In = r.unsigned(), r.unsigned()
	}
}
