package mpi

import (
	"math/rand/v2"
	"testing"
)

// relation reports whether the bytes that all ranks send (out) and receive (in) agree.
type relation func(out, in, np uint64) bool

func equal(out, in, np uint64) bool { return out == in }

// A broadcast's data must leave once, and must reach every other process. A reduction's data go the
// other way round.
func toOthers(out, in, np uint64) bool   { return in == out*(np-1) || np == 1 && in == 0 }
func fromOthers(out, in, np uint64) bool { return out == in*(np-1) || np == 1 && out == 0 }

// The data of Allgather must leave each process once, and must reach every process, the sender
// included.
func toAll(out, in, np uint64) bool { return in == out*np }

// The sums that the accountings conserve. Under naive, each byte that is sent is received. Minimal
// looks at each process by itself. If data are copied or combined on their way, only one copy must
// leave or reach a process.
var conserved = []struct {
	op             string
	minimal, naive relation
}{
	{"MPI_Bcast", toOthers, equal},
	{"MPI_Reduce", fromOthers, equal},
	{"MPI_Allreduce", equal, equal},
	{"MPI_Reduce_scatter", fromOthers, equal},
	{"MPI_Reduce_scatter_block", fromOthers, equal},
	{"MPI_Gather", equal, equal},
	{"MPI_Gatherv", equal, equal},
	{"MPI_Scatter", equal, equal},
	{"MPI_Scatterv", equal, equal},
	{"MPI_Allgather", toAll, equal},
	{"MPI_Allgatherv", toAll, equal},
	{"MPI_Alltoall", equal, equal},
	{"MPI_Alltoallv", equal, equal},
	{"MPI_Alltoallw", equal, equal},
	{"MPI_Scan", equal, equal},
	{"MPI_Exscan", equal, equal},
	{"MPI_Sendrecv", equal, equal}, // around a ring
}

// TestConserved lets all processes of a communicator make a call, in place if that is allowed, and
// not in place. It compares the bytes that they send with the bytes that they receive.
func TestConserved(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tc := range conserved {
		o, ok := ParseOp(tc.op)
		if !ok {
			t.Fatalf("no operation %s", tc.op)
		}
		for range 300 {
			job := newExchange(rng, o.Info())
			for by, holds := range map[Accounting]relation{Minimal: tc.minimal, Naive: tc.naive} {
				var out, in uint64
				for me := range job.np {
					v := job.call(me).volume(o, by)
					out += v.Out
					in += v.In
				}
				if !holds(out, in, uint64(job.np)) {
					t.Fatalf("%s, accounting %d, %d processes, root %d: %d bytes out, %d in", tc.op, by, job.np, job.root, out, in)
				}
			}
		}
	}
}

// exchange is a collective call of np processes; each sends part[me][j] bytes
// to j.
type exchange struct {
	op       *Operation
	np, root int32
	inPlace  bool
	part     [][]uint64
}

func newExchange(rng *rand.Rand, op *Operation) *exchange {
	e := &exchange{op: op, np: 1 + rng.Int32N(7), inPlace: rng.IntN(2) == 0}
	e.root = rng.Int32N(e.np)
	one := rng.Uint64N(1000)
	sizes := make([]uint64, e.np)
	for i := range sizes {
		sizes[i] = one
		if op.Send.CountArray || op.Recv.CountArray {
			sizes[i] = rng.Uint64N(1000)
		}
	}
	for me := range e.np {
		row := make([]uint64, e.np)
		for j := range row {
			switch {
			case op.Kind == Alltoall && op.Send.CountArray && e.inPlace:
				row[j] = sizes[me] * sizes[j] // in place: as much each way
			case op.Kind == Alltoall && op.Send.CountArray:
				row[j] = rng.Uint64N(1000)
			case op.Kind == Scatter || op.Kind == ReduceScatter:
				row[j] = sizes[j]
			default:
				row[j] = sizes[me]
			}
		}
		e.part = append(e.part, row)
	}
	return e
}

// call is the call of process me, with garbage where MPI ignores arguments.
func (e *exchange) call(me int32) call {
	op, c := e.op, at(e.np, me)
	sent, received := e.part[me], make([]uint64, e.np)
	for i := range received {
		received[i] = e.part[i][me]
	}
	if op.Kind == ReduceScatter {
		received = sent // one array of counts for both
	}
	side := func(b *Buffer, parts []uint64) uint64 {
		if b.CountArray {
			return sum(parts)
		}
		return parts[me]
	}
	c = c.data(side(&op.Send, sent), side(&op.Recv, received)).to(e.root)
	if op.Send.Own {
		c = c.own(sent[me])
	} else if op.Recv.Own {
		c = c.own(received[me])
	}
	if op.Send.AtRoot && me != e.root {
		c.Send, c.Own = garbage, garbage
	}
	if op.Recv.AtRoot && me != e.root {
		c.Recv, c.Own = garbage, garbage
	}
	if op.Peer2 != None {
		return c.to((me+1)%e.np).from((me+e.np-1)%e.np).data(e.part[0][0], e.part[0][0])
	}
	if !e.inPlace || op.Root && me != e.root {
		return c
	}
	switch {
	case op.Kind == Scatter:
		c.Recv = garbage
	case op.Kind == Gather || op.Kind == Allgather || op.Kind == Alltoall:
		c.Send = garbage
	}
	return c.inPlace()
}

func sum(parts []uint64) (s uint64) {
	for _, p := range parts {
		s += p
	}
	return s
}
