package profile

import (
	"cmp"
	"math/bits"
	"slices"

	"ompp-attach/mpi"
)

// MaxPartners is the number of partners that a profile holds for each thread at each call site. The
// first ones are held; those beyond are added up.
const MaxPartners = 256

// Traffic is what a thread exchanged with whom at an MPI call site, and how much at a time.
type Traffic struct {
	// Partners are ordered by communicator and rank.
	Partners []Partner `json:"partners,omitempty"`
	// Others is what was exchanged with partners beyond MaxPartners.
	Others Exchange `json:"others,omitzero"`
	BySize
}

// BySize holds the numbers of messages sent, of those received, and of collective operations, by
// size.
type BySize struct {
	Sent     Sizes `json:"sent,omitempty"`
	Received Sizes `json:"received,omitempty"`
	Moved    Sizes `json:"moved,omitempty"`
}

// None reports whether there are none.
func (b *BySize) None() bool { return b.Sent == nil && b.Received == nil && b.Moved == nil }

// Plus returns the sum of two. It changes neither.
func (b BySize) Plus(o BySize) BySize {
	return BySize{b.Sent.Plus(o.Sent), b.Received.Plus(o.Received), b.Moved.Plus(o.Moved)}
}

func (b BySize) minus(o BySize) BySize {
	return BySize{b.Sent.minus(o.Sent), b.Received.minus(o.Received), b.Moved.minus(o.Moved)}
}

// Partner is a process with which messages were exchanged.
type Partner struct {
	Comm int `json:"comm,omitempty"` // index in Profile.Comms; 0: MPI_COMM_WORLD
	// Rank in that communicator; mpi.AnySource (-2): a receive from MPI_ANY_SOURCE that did not
	// tell its source.
	Rank int32 `json:"rank"`
	Exchange
}

// Exchange counts messages. The bytes leave out messages of unknown size. Of a receive, the bytes
// are those asked for.
type Exchange struct {
	Sends uint64 `json:"sends,omitempty"` // messages sent, or put into the partner's memory
	Recvs uint64 `json:"recvs,omitempty"` // messages received, or fetched from there
	Out   uint64 `json:"out,omitempty"`   // bytes of Sends
	In    uint64 `json:"in,omitempty"`    // bytes of Recvs
}

// Add adds another count.
func (x *Exchange) Add(o Exchange) {
	x.Sends += o.Sends
	x.Recvs += o.Recvs
	x.Out += o.Out
	x.In += o.In
}

// Sizes counts messages by size. Element 0 counts those of 0 bytes, and element i those of at least
// 2^(i-1) bytes and less than 2^i.
type Sizes []uint64

// Count counts a message.
func (z *Sizes) Count(bytes uint64) {
	i := bits.Len64(bytes)
	*z = z.upTo(i)
	(*z)[i]++
}

func (z Sizes) upTo(i int) Sizes {
	if i < len(z) {
		return z
	}
	return append(z, make(Sizes, i+1-len(z))...)
}

// Plus returns the sum of two counts. It changes neither of them.
func (z Sizes) Plus(o Sizes) Sizes {
	if len(z) < len(o) {
		z, o = o, z
	}
	sum := slices.Clone(z)
	for i := range o {
		sum[i] += o[i]
	}
	return sum
}

func (z Sizes) minus(o Sizes) Sizes {
	out := slices.Clone(z)
	for i := range min(len(out), len(o)) {
		out[i] = less(out[i], o[i])
	}
	for len(out) > 0 && out[len(out)-1] == 0 {
		out = out[:len(out)-1]
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// Least returns the smallest size that element i of Sizes counts, in bytes.
func Least(i int) uint64 {
	if i == 0 {
		return 0
	}
	return 1 << (i - 1)
}

// Comm is a communicator or window in which a process had partners, or the parent of one.
type Comm struct {
	// Parent is the index in Profile.Comms of the communicator that it was made of, a lower one;
	// -1: it is MPI_COMM_WORLD, or was not seen being made.
	Parent int `json:"parent"`
	// By is the operation that made it; absent if that was not seen.
	By *mpi.Op `json:"by,omitempty"`
	// Order numbers, from 1, the operations that all processes of the parent had to call to make
	// communicators and windows of it: it is the same at all processes.
	Order int `json:"order,omitempty"`
	// Decides is the colour that the process gave, or whether ranks might be reordered
	// (mpi.Maker.Decides).
	Decides int32 `json:"decides,omitempty"`
	// Made is when the operation returned, ns of the kernel's CLOCK_MONOTONIC; 0: not recorded.
	Made  uint64 `json:"made_ns,omitempty"`
	Size  int32  `json:"size,omitempty"` // processes; 0: not known
	Rank  int32  `json:"rank,omitempty"` // the process's own
	Inter bool   `json:"inter,omitempty"`
	// Several: one entry for all that were not seen being made, or with NoRoom for all that the
	// list had no room for. Older versions put both into the former.
	Several bool `json:"several,omitempty"`
	NoRoom  bool `json:"no_room,omitempty"`
}

// AsParent reports whether the ranks are those of the parent.
func (c *Comm) AsParent() bool {
	if c.By == nil || c.Parent < 0 {
		return false
	}
	m, _ := c.By.Info().Makes()
	return m.Kinship == mpi.Copied || m.Kinship == mpi.Reordered && c.Decides == 0
}

// WorldRank translates a rank in a communicator to one in MPI_COMM_WORLD. ok is false if the
// profile does not tell: then the profiles of all the job's ranks may (package job).
func (p *Profile) WorldRank(comm int, rank int32) (world int32, ok bool) {
	for rank >= 0 && comm >= 0 && comm < len(p.Comms) {
		c := &p.Comms[comm]
		switch {
		case comm == 0:
			return rank, true
		case c.Size == 1 && !c.Inter && p.Meta.MPI != nil && p.Meta.MPI.Rank >= 0:
			return int32(p.Meta.MPI.Rank), true
		case !c.AsParent():
			return 0, false
		}
		comm = c.Parent
	}
	return 0, false
}

// Add adds messages of one partner.
func (t *Traffic) Add(comm int, rank int32, x Exchange) {
	at, found := slices.BinarySearchFunc(t.Partners, Partner{Comm: comm, Rank: rank}, byPartner)
	switch {
	case found:
		t.Partners[at].Exchange.Add(x)
	case len(t.Partners) < MaxPartners:
		t.Partners = slices.Insert(t.Partners, at, Partner{comm, rank, x})
	default:
		t.Others.Add(x)
	}
}

// Move charges messages that stand with a partner to another rank, in the communicator comm. It
// changes nothing if they do not stand there.
func (t *Traffic) Move(from Partner, comm int, rank int32) {
	if t == nil {
		return
	}
	at, found := slices.BinarySearchFunc(t.Partners, from, byPartner)
	x := from.Exchange
	if !found {
		return
	}
	old := &t.Partners[at].Exchange
	if old.Sends < x.Sends || old.Recvs < x.Recvs || old.Out < x.Out || old.In < x.In {
		return
	}
	if *old = old.minus(x); *old == (Exchange{}) {
		t.Partners = slices.Delete(t.Partners, at, at+1)
	}
	t.Add(comm, rank, x)
}

func byPartner(a, b Partner) int {
	return cmp.Or(cmp.Compare(a.Comm, b.Comm), cmp.Compare(a.Rank, b.Rank))
}

// Plus returns the sum of two threads' traffic, either of which may be nil. It changes neither.
func (t *Traffic) Plus(o *Traffic) *Traffic {
	if t == nil || o == nil {
		return cmp.Or(t, o)
	}
	sum := *t
	sum.Partners = slices.Clone(t.Partners)
	for _, p := range o.Partners {
		sum.Add(p.Comm, p.Rank, p.Exchange)
	}
	sum.Others.Add(o.Others)
	sum.BySize = t.BySize.Plus(o.BySize)
	return &sum
}

// minus takes an earlier state of the same traffic away.
func (t *Traffic) minus(o *Traffic) *Traffic {
	if t == nil || o == nil {
		return t
	}
	out := &Traffic{Others: t.Others.minus(o.Others), BySize: t.BySize.minus(o.BySize)}
	for _, p := range t.Partners {
		if at, found := slices.BinarySearchFunc(o.Partners, p, byPartner); found {
			p.Exchange = p.Exchange.minus(o.Partners[at].Exchange)
		}
		if p.Exchange != (Exchange{}) {
			out.Partners = append(out.Partners, p)
		}
	}
	if out.Partners == nil && out.Others == (Exchange{}) && out.None() {
		return nil
	}
	return out
}

func (x Exchange) minus(o Exchange) Exchange {
	return Exchange{less(x.Sends, o.Sends), less(x.Recvs, o.Recvs), less(x.Out, o.Out), less(x.In, o.In)}
}
