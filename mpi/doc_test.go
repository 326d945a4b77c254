package mpi

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var updateDoc = flag.Bool("update", false, "rewrite docs/mpi-volumes.md")

const volumesDoc = "../docs/mpi-volumes.md"

const volumesHead = `# What counts as sent and received

Volumes are bytes. MPI does not tell what a collective operation sends: that depends on its
implementation. There are the two accountings of Fürlinger and Moore, *OpenMP-centric Performance
Analysis of Hybrid Applications* (II.B.2 and Fig. 4): **naive**, as if by one message per pair of
processes, and **minimal**, what must leave or reach a process however it is done. ` + "`--volumes`" + `
chooses.

The table is what the program computes: ` + "`go test ./mpi -run TestVolumesDocumented -update`" + `
rewrites it. s and r are count times type size of the send and the receive side, d is both where
there is one count; Σ is the sum of an array of counts; np is the number of processes, of an
intercommunicator those of the remote group; out and in are a process's neighbours.

| operation | process | naive: sent | naive: received | minimal: sent | minimal: received |
| --- | --- | --- | --- | --- | --- |
`

const volumesTail = `
- Nonblocking operations and those with 64-bit counts (` + "`_c`" + `) count like the blocking one, when
  they are begun; persistent and partitioned ones whenever they are started. Probe, Wait, Test,
  Pack and all others only take time.
- What is received is what was asked for: a shorter message counts in full. Where a job received
  more than it sent, its report says so.
- ` + "`MPI_PROC_NULL`" + ` is 0 bytes, but a call. In place, a process's own part counts as it does
  otherwise.
- One process alone: Bcast, Reduce, Reduce_scatter and Scan move nothing under either accounting;
  those that count a process's own part in Fig. 4 (Gather, Scatter, Allgather, Alltoall) still do.
- Beyond Fig. 4 are Exscan, neighbourhoods, one-sided operations, MPI-IO (columns of its own) and
  intercommunicators.
- Fig. 4's text lacks, of Scan, a cell for the last process; it is taken for 0.
- An accumulate of ` + "`MPI_NO_OP`" + ` counts as if it sent its operand. Compare_and_swap sends the new
  value; the one compared with is not counted.
- recvC, sendC and collC count calls: receives, sends (a Sendrecv is both), and collective
  operations with Barrier and neighbourhoods. One-sided operations, MPI-IO and what is collective
  without communicating data (MPI_Comm_dup, MPI_Win_fence) are in none.
- Summed over all processes, naive has as much received as sent. Minimal has not for Bcast,
  Reduce, Reduce_scatter and Allgather: what is copied or combined on its way leaves, or reaches,
  a process once.
`

// The values of arguments for the table. They are primes, so that a product shows its factors.
const (
	docSend, docRecv = 1009, 10007
	docProcs, docIn  = 5, 3
)

var documented = []struct {
	ops, who string
	call     call
}{
	{"MPI_Send, Bsend, Ssend, Rsend, Psend", "", at(docProcs, 1).to(2)},
	{"MPI_Recv, Mrecv, Precv", "", at(docProcs, 1).to(2)},
	{"MPI_Sendrecv", "", at(docProcs, 1).to(2).from(0)},
	{"MPI_Sendrecv", "to MPI_PROC_NULL", at(docProcs, 1).to(null).from(0)},
	{"MPI_Sendrecv_replace", "", at(docProcs, 1).to(2).from(0)},
	{"MPI_Bcast", "root", at(docProcs, 1).to(1)},
	{"MPI_Bcast", "other", at(docProcs, 2).to(1)},
	{"MPI_Bcast", "root, intercommunicator", inter(docProcs, 1).to(here)},
	{"MPI_Scatter", "root", at(docProcs, 1).to(1)},
	{"MPI_Scatter", "other", at(docProcs, 2).to(1)},
	{"MPI_Scatter", "root, intercommunicator", inter(docProcs, 1).to(here)},
	{"MPI_Scatterv", "root", at(docProcs, 1).to(1)},
	{"MPI_Scatterv", "other", at(docProcs, 2).to(1)},
	{"MPI_Gather", "root", at(docProcs, 1).to(1)},
	{"MPI_Gather", "other", at(docProcs, 2).to(1)},
	{"MPI_Gather", "root, intercommunicator", inter(docProcs, 1).to(here)},
	{"MPI_Gatherv", "root", at(docProcs, 1).to(1)},
	{"MPI_Gatherv", "other", at(docProcs, 2).to(1)},
	{"MPI_Allgather", "all", at(docProcs, 1)},
	{"MPI_Allgatherv", "all", at(docProcs, 1)},
	{"MPI_Reduce", "root", at(docProcs, 1).to(1)},
	{"MPI_Reduce", "other", at(docProcs, 2).to(1)},
	{"MPI_Reduce", "root, intercommunicator", inter(docProcs, 1).to(here)},
	{"MPI_Reduce_scatter_block", "all", at(docProcs, 1)},
	{"MPI_Scan, Exscan", "first", at(docProcs, 0)},
	{"MPI_Scan, Exscan", "between", at(docProcs, 1)},
	{"MPI_Scan, Exscan", "last", at(docProcs, docProcs-1)},
	{"MPI_Allreduce", "all", at(docProcs, 1)},
	{"MPI_Allreduce", "all, intercommunicator", inter(docProcs, 1)},
	{"MPI_Alltoall", "all", at(docProcs, 1)},
	{"MPI_Alltoallv, Alltoallw", "all", at(docProcs, 1)},
	{"MPI_Neighbor_allgather", "all", graph(docProcs, docIn)},
	{"MPI_Neighbor_allgatherv", "all", graph(docProcs, docIn)},
	{"MPI_Neighbor_alltoall", "all", graph(docProcs, docIn)},
	{"MPI_Neighbor_alltoallv, Neighbor_alltoallw", "all", graph(docProcs, docIn)},
	{"MPI_Put, Accumulate", "origin", at(0, 0).to(1)},
	{"MPI_Get", "origin", at(0, 0).to(1)},
	{"MPI_Get_accumulate", "origin", at(0, 0).to(1)},
	{"MPI_Fetch_and_op, Compare_and_swap", "origin", at(0, 0).to(1)},
	{"MPI_Barrier", "all", at(docProcs, 1)},
}

// TestVolumesDocumented: docs/mpi-volumes.md says what Volume computes.
func TestVolumesDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString(volumesHead)
	for _, row := range documented {
		cells := volumeCells(t, row.ops, row.call)
		fmt.Fprintf(&b, "| %s | %s | %s |\n", row.ops, row.who, strings.Join(cells, " | "))
		if strings.HasPrefix(row.ops, "MPI_Reduce_scatter_block") {
			// The volumes of this operation are no products: rank 1's own part is one of five.
			b.WriteString(reduceScatterRow(t))
		}
	}
	b.WriteString(volumesTail)
	if *updateDoc {
		if err := os.WriteFile(volumesDoc, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	doc, err := os.ReadFile(volumesDoc)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(string(doc), "\n")
	for i, want := range strings.Split(b.String(), "\n") {
		if i >= len(got) || got[i] != want {
			t.Fatalf("%s, line %d is not\n%s\n(go test ./mpi -run TestVolumesDocumented -update rewrites it)", volumesDoc, i+1, want)
		}
	}
}

// volumeCells writes the four volumes of operations as formulas. All operations of a row of the
// table must have the same ones.
func volumeCells(t *testing.T, ops string, c call) (cells []string) {
	t.Helper()
	for i, name := range strings.Split(ops, ", ") {
		name = "MPI_" + strings.TrimPrefix(name, "MPI_")
		o, ok := ParseOp(name)
		if !ok {
			o, ok = ParseOp(name + "_init") // partitioned ones have no other form
			c = c.started()
		}
		if !ok {
			t.Fatalf("no operation %s", name)
		}
		op := o.Info()
		one := op.Send.Exists() && op.Send.Count == op.Recv.Count
		send, recv := op.Send.symbol("s", one), op.Recv.symbol("r", one)
		procs := "np"
		if op.Kind == NeighborAllgather || op.Kind == NeighborAlltoall {
			procs = "out"
		}
		var these []string
		for _, by := range []Accounting{Naive, Minimal} {
			v := c.data(docSend, docRecv).volume(o, by)
			these = append(these, product(t, v.Out, docSend, send, procs), product(t, v.In, docRecv, recv, procs))
		}
		if i > 0 && fmt.Sprint(these) != fmt.Sprint(cells) {
			t.Errorf("%s: %v, the others %v", name, these, cells)
		}
		cells = these
	}
	return cells
}

func (b *Buffer) symbol(s string, one bool) string {
	switch {
	case b.CountArray:
		return "Σ" + s
	case one:
		return "d"
	}
	return s
}

// product writes a volume as a symbol times a number of processes.
func product(t *testing.T, v, unit uint64, symbol, procs string) string {
	t.Helper()
	switch factor := v / unit; {
	case v%unit != 0:
		t.Fatalf("%d is no multiple of %d", v, unit)
	case factor == 0:
		return "0"
	case factor == 1:
		return symbol
	case factor == docProcs:
		return symbol + " · " + procs
	case factor == docProcs-1:
		return symbol + " · (" + procs + " - 1)"
	case factor == docIn:
		return symbol + " · in"
	default:
		t.Fatalf("%d times %d: by what?", factor, unit)
	}
	return ""
}

// reduceScatterRow returns the row of Reduce_scatter. All parts of its array but the process's own
// part leave. The own part arrives, combined.
func reduceScatterRow(t *testing.T) string {
	t.Helper()
	o, _ := ParseOp("MPI_Reduce_scatter")
	c := at(docProcs, 1).data(docSend+docRecv, docSend+docRecv).own(docRecv)
	cells := []string{"MPI_Reduce_scatter", "all"}
	for _, by := range []Accounting{Naive, Minimal} {
		v := c.volume(o, by)
		cells = append(cells, product(t, v.Out, docSend, "Σd of the others", "np"), product(t, v.In, docRecv, "own d", "np"))
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}
