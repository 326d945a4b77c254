package mpi

import (
	"math/rand/v2"
	"testing"
)

// call is a call as it was read. It has MPICH's constants, and by default an intracommunicator.
type call struct{ Raw }

// at is a call in a communicator of np processes, made by the process of rank me.
func at(np, me int32) call { return call{Raw{Args: Args{Size: np, Rank: me}}} }

// inter is a call in an intercommunicator. np is the size of the remote group.
func inter(np, me int32) call { return call{Raw{Args: Args{Size: np, Rank: me, Flags: Inter}}} }

// graph is a call in a neighbourhood.
func graph(out, in int32) call { return call{Raw{Args: Args{Size: out, In: in}}} }

func (c call) to(peer int32) call    { c.Peer = peer; return c }
func (c call) from(peer int32) call  { c.Peer2 = peer; return c }
func (c call) data(s, r uint64) call { c.Send, c.Recv = s, r; return c }
func (c call) own(n uint64) call     { c.Own = n; return c }
func (c call) local(n int32) call    { c.In = n; return c }
func (c call) inPlace() call {
	c.SendBuf, c.RecvBuf = MPICHConstants.InPlace, MPICHConstants.InPlace
	return c
}
func (c call) started() call { c.Flags |= Started; return c }
func (c call) volume(o Op, by Accounting) Volume {
	a := o.Args(&c.Raw, &MPICHConstants)
	return o.Volume(&a, by)
}

const (
	null    = -1  // MPICH's MPI_PROC_NULL
	anyone  = -2  // MPI_ANY_SOURCE
	here    = -3  // MPI_ROOT
	garbage = 777 // value of an argument that has no meaning
)

// TestVolumes: numbers worked out by hand from Fig. 4.
func TestVolumes(t *testing.T) {
	for _, tc := range []struct {
		op, who                                  string
		call                                     call
		minimalOut, minimalIn, naiveOut, naiveIn uint64
	}{
		{"MPI_Send", "", at(4, 1).to(2).data(10, 0), 10, 0, 10, 0},
		{"MPI_Send", "to nobody", at(4, 1).to(null).data(10, 0), 0, 0, 0, 0},
		{"MPI_Send", "garbage at the other side", at(4, 1).to(2).data(10, garbage), 10, 0, 10, 0},
		{"MPI_Isend", "to itself", at(1, 0).to(0).data(10, 0), 10, 0, 10, 0},
		{"MPI_Bsend_c", "", at(4, 1).to(2).data(1<<40, 0), 1 << 40, 0, 1 << 40, 0},
		{"MPI_Recv", "", at(4, 1).to(2).data(0, 30), 0, 30, 0, 30},
		{"MPI_Recv", "of anyone", at(4, 1).to(anyone).data(0, 30), 0, 30, 0, 30},
		{"MPI_Irecv", "of nobody", at(4, 1).to(null).data(0, 30), 0, 0, 0, 0},
		{"MPI_Mrecv", "", at(4, 1).data(0, 30), 0, 30, 0, 30},
		{"MPI_Sendrecv", "", at(4, 1).to(2).from(0).data(10, 30), 10, 30, 10, 30},
		{"MPI_Sendrecv", "to nobody", at(4, 3).to(null).from(2).data(10, 30), 0, 30, 0, 30},
		{"MPI_Sendrecv", "of nobody", at(4, 0).to(1).from(null).data(10, 30), 10, 0, 10, 0},
		{"MPI_Sendrecv_replace", "", at(4, 1).to(2).from(0).data(10, 10), 10, 10, 10, 10},
		{"MPI_Isendrecv_replace", "with nobody", at(4, 1).to(null).from(null).data(10, 10), 0, 0, 0, 0},
		{"MPI_Send_init", "prepares", at(4, 1).to(2).data(10, 0), 0, 0, 0, 0},
		{"MPI_Send_init", "started", at(4, 1).to(2).data(10, 0).started(), 10, 0, 10, 0},
		{"MPI_Precv_init", "started", at(4, 1).to(2).data(0, 30).started(), 0, 30, 0, 30},
		{"MPI_Start", "", at(4, 1).data(garbage, garbage), 0, 0, 0, 0},

		{"MPI_Bcast", "root", at(4, 2).to(2).data(10, 10), 10, 0, 30, 0},
		{"MPI_Bcast", "other", at(4, 1).to(2).data(10, 10), 0, 10, 0, 10},
		{"MPI_Bcast", "alone", at(1, 0).to(0).data(10, 10), 0, 0, 0, 0},
		{"MPI_Bcast", "inter, root", inter(4, 1).to(here).data(10, 10), 10, 0, 40, 0},
		{"MPI_Bcast", "inter, root's group", inter(4, 1).to(null).data(garbage, garbage), 0, 0, 0, 0},
		{"MPI_Bcast", "inter, other group, rank like the root's", inter(4, 1).to(1).data(10, 10), 0, 10, 0, 10},
		{"MPI_Bcast_init", "root, prepares", at(4, 2).to(2).data(10, 10), 0, 0, 0, 0},
		{"MPI_Bcast_init", "root, started", at(4, 2).to(2).data(10, 10).started(), 10, 0, 30, 0},

		{"MPI_Reduce", "root", at(4, 0).to(0).data(10, 10), 0, 10, 0, 30},
		{"MPI_Reduce", "root, in place", at(4, 0).to(0).data(10, 10).inPlace(), 0, 10, 0, 30},
		{"MPI_Reduce", "last", at(4, 3).to(0).data(10, 10), 10, 0, 10, 0},
		{"MPI_Reduce", "alone", at(1, 0).to(0).data(10, 10), 0, 0, 0, 0},
		{"MPI_Ireduce", "inter, root", inter(4, 1).to(here).data(10, 10), 0, 10, 0, 40},
		{"MPI_Reduce", "inter, root's group", inter(4, 1).to(null).data(garbage, garbage), 0, 0, 0, 0},
		{"MPI_Reduce", "inter, other group", inter(2, 1).to(1).data(10, 10), 10, 0, 10, 0},

		{"MPI_Allreduce", "", at(4, 3).data(10, 10), 30, 30, 30, 30},
		{"MPI_Allreduce", "in place", at(4, 3).data(10, 10).inPlace(), 30, 30, 30, 30},
		{"MPI_Allreduce", "alone", at(1, 0).data(10, 10), 0, 0, 0, 0},
		{"MPI_Iallreduce_c", "inter", inter(4, 3).data(10, 10), 40, 40, 40, 40},

		// counts 1, 2, 3, 4 of 10 bytes
		{"MPI_Reduce_scatter", "rank 1", at(4, 1).data(100, 100).own(20), 80, 20, 80, 60},
		{"MPI_Reduce_scatter", "last, in place", at(4, 3).data(100, 100).own(40).inPlace(), 60, 40, 60, 120},
		{"MPI_Reduce_scatter", "alone", at(1, 0).data(10, 10).own(10), 0, 0, 0, 0},
		{"MPI_Reduce_scatter", "inter", inter(3, 1).local(4).data(100, 100).own(20), 100, 20, 100, 60},
		{"MPI_Reduce_scatter_block", "", at(4, 1).data(10, 10), 30, 10, 30, 30},
		{"MPI_Reduce_scatter_block", "in place", at(4, 1).data(10, 10).inPlace(), 30, 10, 30, 30},
		{"MPI_Reduce_scatter_block", "alone", at(1, 0).data(10, 10), 0, 0, 0, 0},
		{"MPI_Reduce_scatter_block", "inter, 2 here, 4 there", inter(4, 1).local(2).data(10, 10), 20, 10, 20, 40},

		{"MPI_Gather", "root", at(4, 2).to(2).data(10, 10), 10, 40, 10, 40},
		{"MPI_Gather", "root, in place", at(4, 2).to(2).data(garbage, 10).inPlace(), 10, 40, 10, 40},
		{"MPI_Gather", "other", at(4, 3).to(2).data(10, garbage), 10, 0, 10, 0},
		{"MPI_Gather", "alone", at(1, 0).to(0).data(10, 10), 10, 10, 10, 10},
		{"MPI_Gather", "inter, root", inter(4, 1).to(here).data(garbage, 10), 0, 40, 0, 40},
		{"MPI_Gather", "inter, root's group", inter(4, 0).to(null).data(garbage, garbage), 0, 0, 0, 0},
		{"MPI_Gather", "inter, other group", inter(4, 1).to(1).data(10, garbage), 10, 0, 10, 0},
		{"MPI_Gatherv", "root", at(4, 2).to(2).data(30, 100).own(30), 30, 100, 30, 100},
		{"MPI_Gatherv", "root, in place", at(4, 2).to(2).data(garbage, 100).own(30).inPlace(), 30, 100, 30, 100},
		{"MPI_Igatherv", "last", at(4, 3).to(2).data(40, garbage).own(garbage), 40, 0, 40, 0},

		{"MPI_Scatter", "root", at(4, 2).to(2).data(10, 10), 40, 10, 40, 10},
		{"MPI_Scatter", "root, in place", at(4, 2).to(2).data(10, garbage).inPlace(), 40, 10, 40, 10},
		{"MPI_Scatter", "other", at(4, 3).to(2).data(garbage, 10), 0, 10, 0, 10},
		{"MPI_Scatter", "inter, root", inter(4, 1).to(here).data(10, garbage), 40, 0, 40, 0},
		{"MPI_Scatter", "inter, other group", inter(4, 1).to(1).data(garbage, 10), 0, 10, 0, 10},
		{"MPI_Scatterv", "root", at(4, 2).to(2).data(100, 30).own(30), 100, 30, 100, 30},
		{"MPI_Scatterv", "root, in place", at(4, 2).to(2).data(100, garbage).own(30).inPlace(), 100, 30, 100, 30},
		{"MPI_Scatterv", "last", at(4, 3).to(2).data(garbage, 40).own(garbage), 0, 40, 0, 40},

		{"MPI_Allgather", "", at(4, 3).data(10, 10), 10, 40, 40, 40},
		{"MPI_Allgather", "in place", at(4, 3).data(garbage, 10).inPlace(), 10, 40, 40, 40},
		{"MPI_Allgather", "alone", at(1, 0).data(10, 10), 10, 10, 10, 10},
		{"MPI_Allgather", "inter, nothing to send", inter(3, 1).data(0, 10), 0, 30, 0, 30},
		{"MPI_Allgatherv", "rank 2", at(4, 2).data(30, 100).own(30), 30, 100, 120, 100},
		{"MPI_Allgatherv", "rank 2, in place", at(4, 2).data(garbage, 100).own(30).inPlace(), 30, 100, 120, 100},

		{"MPI_Alltoall", "", at(4, 3).data(10, 10), 40, 40, 40, 40},
		{"MPI_Alltoall", "in place", at(4, 3).data(garbage, 10).inPlace(), 40, 40, 40, 40},
		{"MPI_Ialltoall", "inter", inter(3, 3).data(10, 20), 30, 60, 30, 60},
		{"MPI_Alltoallv", "", at(4, 3).data(100, 70), 100, 70, 100, 70},
		{"MPI_Alltoallw", "in place", at(4, 3).data(garbage, 70).inPlace(), 70, 70, 70, 70},

		{"MPI_Scan", "first", at(4, 0).data(10, 10), 10, 0, 10, 0},
		{"MPI_Scan", "between", at(4, 1).data(10, 10), 10, 10, 10, 10},
		{"MPI_Exscan", "last, in place", at(4, 3).data(10, 10).inPlace(), 0, 10, 0, 10},
		{"MPI_Scan", "alone", at(1, 0).data(10, 10), 0, 0, 0, 0},
		{"MPI_Barrier", "", at(4, 1).data(garbage, garbage), 0, 0, 0, 0},

		{"MPI_Neighbor_allgather", "", graph(3, 2).data(10, 10), 10, 20, 30, 20},
		{"MPI_Neighbor_allgather", "no neighbours", graph(0, 0).data(10, 10), 0, 0, 0, 0},
		{"MPI_Neighbor_allgatherv", "", graph(3, 2).data(10, 70), 10, 70, 30, 70},
		{"MPI_Neighbor_alltoall", "", graph(3, 2).data(10, 20), 30, 40, 30, 40},
		{"MPI_Ineighbor_alltoallw", "", graph(3, 2).data(50, 70), 50, 70, 50, 70},

		{"MPI_Put", "", at(0, 0).to(2).data(10, 0), 10, 0, 10, 0},
		{"MPI_Rget", "", at(0, 0).to(2).data(0, 30), 0, 30, 0, 30},
		{"MPI_Get", "of nobody", at(0, 0).to(null).data(0, 30), 0, 0, 0, 0},
		{"MPI_Get_accumulate", "", at(0, 0).to(2).data(10, 30), 10, 30, 10, 30},
		{"MPI_Fetch_and_op", "", at(0, 0).to(2).data(8, 8), 8, 8, 8, 8},
		{"MPI_Compare_and_swap", "", at(0, 0).to(2).data(8, 8), 8, 8, 8, 8},
		{"MPI_Win_fence", "", at(0, 0).data(garbage, garbage), 0, 0, 0, 0},
		{"MPI_Wait", "", at(0, 0).data(garbage, garbage), 0, 0, 0, 0},
	} {
		o, ok := ParseOp(tc.op)
		if !ok {
			t.Errorf("no operation %s", tc.op)
			continue
		}
		for by, want := range map[Accounting]Volume{
			Minimal: {Out: tc.minimalOut, In: tc.minimalIn},
			Naive:   {Out: tc.naiveOut, In: tc.naiveIn},
		} {
			if got := tc.call.volume(o, by); got != want {
				t.Errorf("%s %s, accounting %d: %+v, want %+v", tc.op, tc.who, by, got, want)
			}
		}
	}
}

func TestFileVolumes(t *testing.T) {
	for name, want := range map[string]Volume{
		"MPI_File_read_at":               {Read: 30},
		"MPI_File_iread_shared_c":        {Read: 30},
		"MPI_File_read_all_begin":        {Read: 30},
		"MPI_File_read_all_end":          {},
		"MPI_File_write":                 {Written: 10},
		"MPI_File_iwrite_all":            {Written: 10},
		"MPI_File_write_ordered_begin_c": {Written: 10},
		"MPI_File_open":                  {},
	} {
		o, ok := ParseOp(name)
		if !ok {
			t.Errorf("no operation %s", name)
		}
		for by := range NumAccountings {
			if got := at(0, 0).data(10, 30).volume(o, by); got != want {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
	}
}

func TestCounted(t *testing.T) {
	for _, tc := range []struct {
		op                  string
		flags               ArgFlag
		sends, recvs, colls uint64
	}{
		{"MPI_Ssend", 0, 1, 0, 0},
		{"MPI_Irecv_c", 0, 0, 1, 0},
		{"MPI_Imrecv", 0, 0, 1, 0},
		{"MPI_Sendrecv_replace", 0, 1, 1, 0},
		{"MPI_Ibarrier", 0, 0, 0, 1},
		{"MPI_Ineighbor_alltoallw", 0, 0, 0, 1},
		{"MPI_Rsend_init", 0, 0, 0, 0},
		{"MPI_Rsend_init", Started, 1, 0, 0},
		{"MPI_Recv_init", Started, 0, 1, 0},
		{"MPI_Barrier_init", 0, 0, 0, 0},
		{"MPIX_Barrier_init", Started, 0, 0, 1},
		{"MPI_Start", 0, 0, 0, 0},
		{"MPI_Waitall", 0, 0, 0, 0},
		{"MPI_Probe", 0, 0, 0, 0},
		{"MPI_Comm_dup", 0, 0, 0, 0},
		{"MPI_Put", 0, 0, 0, 0},
		{"MPI_File_write_all", 0, 0, 0, 0},
	} {
		o, ok := ParseOp(tc.op)
		if !ok {
			t.Errorf("no operation %s", tc.op)
		}
		s, r, c := o.Counted(&Args{Flags: tc.flags})
		if s != tc.sends || r != tc.recvs || c != tc.colls {
			t.Errorf("%s, flags %d: %d sends, %d receives, %d collectives, want %d, %d, %d", tc.op, tc.flags, s, r, c, tc.sends, tc.recvs, tc.colls)
		}
	}
}

// TestMinimalIsNotMore: minimal never counts more than naive, whatever the call.
func TestMinimalIsNotMore(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range Operations {
		for range 200 {
			np := 1 + rng.Int32N(6)
			a := Args{Send: rng.Uint64N(100), Recv: rng.Uint64N(100), Size: np, In: rng.Int32N(4),
				Rank: rng.Int32N(np), Peer: rng.Int32N(np+3) - 3, Peer2: rng.Int32N(np+1) - 1,
				Flags: []ArgFlag{0, Inter, Started, Inter | Started}[rng.IntN(4)]}
			m, n := Op(i).Volume(&a, Minimal), Op(i).Volume(&a, Naive)
			if m.Out > n.Out || m.In > n.In || m.Read != n.Read || m.Written != n.Written {
				t.Fatalf("%v %+v: minimal %+v, naive %+v", Op(i), a, m, n)
			}
		}
	}
}
