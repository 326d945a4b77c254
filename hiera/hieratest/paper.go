// Package hieratest generates the traces of the tables in the paper on HieraAnalyses (Seraphim,
// Seraphim and Travieso 2009). The program is molecular dynamics on four processes, once with MPI
// alone, and once with the class library OOPS. The operations, their places and their numbers are
// the paper's. The rows that the paper leaves out are of the file "elsewhere". For tests only.
package hieratest

import (
	"io"

	"ompp-attach/hiera"
	"ompp-attach/hiera/xmltrace"
)

// Count is a row of a table: an operation at a place, and how often it was executed.
type Count struct {
	Category, Name, File string
	Line                 int
	Count                int
}

// Table2 is the paper's Table 2: the operations of process 0 of the version with MPI.
var Table2 = []Count{
	{hiera.MPI, "allgather", "md.c", 107, 1}, {hiera.MPI, "allgather", "md.c", 108, 1},
	{hiera.MPI, "allgatherv", "md.c", 137, 1}, {hiera.MPI, "allgatherv", "md.c", 139, 1},
	{hiera.MPI, "allgatherv", "md.c", 150, 200}, {hiera.MPI, "allgatherv", "md.c", 156, 200},
	{hiera.MPI, "broadcast", "md.c", 37, 1}, {hiera.MPI, "broadcast", "md.c", 38, 1}, {hiera.MPI, "broadcast", "md.c", 39, 1},
	{hiera.MPI, "broadcast", "md.c", 40, 1}, {hiera.MPI, "broadcast", "md.c", 41, 1}, {hiera.MPI, "broadcast", "md.c", 42, 1},
	{hiera.MPI, "broadcast", "md.c", 43, 1}, {hiera.MPI, "broadcast", "md.c", 44, 1}, {hiera.MPI, "broadcast", "md.c", 45, 1},
	{hiera.MPI, "comm_split", "md.c", 101, 1}, {hiera.MPI, "comm_split", "md.c", 102, 1},
	{hiera.MPI, "receive", "auxfmd.c", 51, 9}, {hiera.MPI, "receive", "auxfmd.c", 90, 180}, {hiera.MPI, "receive", "auxfmd.c", 92, 180},
	{hiera.MPI, "reduce", "md.c", 171, 400}, {hiera.MPI, "reduce", "md.c", 175, 400}, {hiera.MPI, "reduce", "md.c", 183, 200},
	{hiera.MPI, "reduce", "md.c", 184, 200}, {hiera.MPI, "reduce", "md.c", 185, 200}, {hiera.MPI, "reduce", "md.c", 186, 200},
	{hiera.MPI, "scan", "md.c", 95, 1}, {hiera.MPI, "send", "auxfmd.c", 58, 9},
	{hiera.MPI, "type_commit", "md.c", 93, 1}, {hiera.MPI, "type_contiguous", "md.c", 92, 1},
}

// Table7 is the paper's Table 7: a part of the operations of process 2 of the version with OOPS.
var Table7 = []Count{
	{hiera.MPI, "allgather", "Topology.cc", 2655, 2}, {hiera.MPI, "allgatherv", "Topology.cc", 2622, 2},
	{hiera.MPI, "allreduce", "Topology.cc", 3672, 200}, {hiera.MPI, "allreduce", "Topology.cc", 3837, 600},
	{hiera.MPI, "broadcast", "Topology.cc", 2335, 5}, {hiera.MPI, "broadcast", "Topology.cc", 2423, 3},
	{hiera.MPI, "broadcast", "Topology.cc", 2434, 1}, {hiera.MPI, "reduce", "Topology.cc", 3892, 100000},
	{hiera.MPI, "scan", "Topology.cc", 4202, 1}, {hiera.OOPS, "broadcast", "molecularDynamicsOOPS.cc", 45, 1},
	{hiera.OOPS, "broadcast", "molecularDynamicsOOPS.cc", 46, 1}, {hiera.OOPS, "broadcast", "Topology.cc", 2423, 3},
	{hiera.OOPS, "broadcast", "Topology.cc", 2434, 1}, {hiera.OOPS, "distributionBlocked", "Application", 0, 1},
	{hiera.OOPS, "gather", "Topology.cc", 2622, 2}, {hiera.OOPS, "gather", "Topology.cc", 2655, 2},
	{hiera.OOPS, "gather", "Topology.h", 3019, 60}, {hiera.OOPS, "load", "Vector.h", 1606, 4},
	{hiera.OOPS, "localSize", "Vector.h", 1285, 4}, {hiera.OOPS, "localSize", "Vector.h", 1531, 4},
	{hiera.OOPS, "scan", "molecularDynamicsOOPS.cc", 105, 1}, {hiera.OOPS, "scan", "Topology.cc", 4202, 1},
	{hiera.OOPS, "scatter", "Vector.h", 1531, 4}, {hiera.OOPS, "scatter", "Topology.h", 3045, 4},
	{hiera.OOPS, "split", "Topology.cc", 2221, 2}, {hiera.OOPS, "split", "TopologyGrid.cc", 4273, 1},
	{hiera.OOPS, "store", "Vector.h", 1613, 60}, {hiera.OOPS, "sum", "molecularDynamicsOOPS.cc", 181, 50000},
	{hiera.OOPS, "sum", "molecularDynamicsOOPS.cc", 188, 50000},
}

// Times are a row of the paper's Tables 4, 5 and 9, in ns.
type Times struct{ Communication, Total, Plain int64 }

// MPITimes are Tables 4 and 5.
var MPITimes = []Times{{495700e3, 1784300e3, 1676900e3}, {915030e3, 1753440e3, 1655580e3}, {991050e3, 1753510e3, 1655580e3}, {972300e3, 1753490e3, 1655630e3}}

// OOPSTimes is Table 9. The paper does not tell the communication.
var OOPSTimes = []Times{{60e9, 239407456e3, 237457e6}, {60e9, 239288433e3, 237458e6}, {60e9, 239288600e3, 237459e6}, {60e9, 239288144e3, 237471e6}}

// generator writes operations that take equal times, one after the other.
type generator struct {
	w    *xmltrace.Writer
	op   hiera.Op
	now  int64
	each int64 // ns of an MPI operation
	rest int64 // ns that the first one takes more
}

func begin(w io.Writer, rank int, t Times, operations int64) *generator {
	p := hiera.Process{Rank: rank, Init: 0, End: t.Total}
	g := &generator{w: xmltrace.NewWriter(w, &p), each: t.Communication / operations, rest: t.Communication % operations}
	return g
}

func (g *generator) begin(c *Count, time int64) {
	g.op = hiera.Op{Category: c.Category, Name: c.Name, File: c.File, Line: c.Line, Executions: 1, Start: g.now, Finish: g.now + time,
		Bytes: hiera.Unknown, Dest: hiera.Unknown, Source: hiera.Unknown, Root: hiera.Unknown, Tag: hiera.Unknown, Peer: hiera.Unknown, From: hiera.Unknown}
	if c.Category == hiera.OOPS {
		g.op.Class = "OOPS::Group"
	}
}

// call writes an MPI operation. complete fills in its message.
func (g *generator) call(c *Count, complete func(*hiera.Op)) {
	time := int64(0)
	if c.Category == hiera.MPI {
		time, g.rest = g.each+g.rest, 0
	}
	g.begin(c, time)
	g.now += time
	if complete != nil {
		complete(&g.op)
	}
	g.w.Begin(&g.op)
	g.w.End()
}

// MPIVersion writes the trace of a process of the version with MPI: 8,828 operations in all.
func MPIVersion(w io.Writer, rank int) error {
	rows := append([]Count{}, Table2...)
	operations := int64(0)
	for i := range rows {
		if rank > 0 { // all messages are to or from process 0
			switch r := &rows[i]; {
			case r.Name == "receive" && r.Line == 51:
				r.Count = 3
			case r.Name == "receive":
				r.Count = 0
			case r.Name == "send":
				r.Count = 123
			}
		}
		operations += int64(rows[i].Count)
	}
	g := begin(w, rank, MPITimes[rank], operations)
	for i := range rows {
		for n := range rows[i].Count {
			partner := 0
			if rank == 0 {
				partner = 1 + n%3
			}
			g.call(&rows[i], func(op *hiera.Op) {
				switch op.Name {
				case "send":
					op.Dest, op.Bytes, op.Comm = partner, 1536*4, hiera.World
				case "receive":
					op.Source, op.Bytes, op.Comm = partner, 1536*4, hiera.World
				case "broadcast":
					op.Root, op.Bytes, op.Comm = 0, 4, hiera.World
				}
			})
		}
	}
	return g.w.Close()
}

// Load returns the statistics of the four processes that write writes. graph, if it is not nil,
// gets their operations.
func Load(write func(w io.Writer, rank int) error, graph *hiera.Graph) (*hiera.Statistics, error) {
	s := &hiera.Statistics{Program: "dinamica"}
	for rank := range 4 {
		r, w := io.Pipe()
		go func() { w.CloseWithError(write(w, rank)) }()
		tally, _, err := xmltrace.Load(r, graph)
		if err != nil {
			return nil, err
		}
		s.Processes = append(s.Processes, tally)
	}
	return s, nil
}

// chain is a row of operations, each inside the one before.
type chain struct {
	count int
	ops   []Count
}

func mpi(name, file string, line int) Count  { return Count{hiera.MPI, name, file, line, 0} }
func oops(name, file string, line int) Count { return Count{hiera.OOPS, name, file, line, 0} }

// chains are the operations of a process of the version with OOPS: level 0, 1, 2.
func chains(rank int) []chain {
	const cc, h, md, vector, away = "Topology.cc", "Topology.h", "molecularDynamicsOOPS.cc", "Vector.h", "elsewhere"
	last := []Count{oops("load", vector, 1606), oops("scatter", vector, 1531)}
	if rank == 0 { // it verifies sizes and converts indexes for the others
		last = []Count{last[0], {hiera.OOPS, "localToGlobal", away, 11, 32016}, {hiera.OOPS, "localSize", away, 12, 32512}, last[1]}
	}
	return []chain{
		{50000, []Count{oops("sum", md, 181), oops("sum", away, 1), mpi("reduce", cc, 3892)}},
		{50000, []Count{oops("sum", md, 188), oops("sum", away, 1), mpi("reduce", cc, 3892)}},
		{200, []Count{oops("sum", away, 2), oops("sum", away, 3), mpi("allreduce", cc, 3672)}},
		{600, []Count{oops("sum", away, 2), oops("sum", away, 3), mpi("allreduce", cc, 3837)}},
		{1, []Count{oops("broadcast", md, 45), oops("broadcast", away, 4), mpi("broadcast", cc, 2335)}},
		{1, []Count{oops("broadcast", md, 46), oops("broadcast", away, 4), mpi("broadcast", cc, 2335)}},
		{3, []Count{oops("broadcast", away, 5), oops("broadcast", away, 4), mpi("broadcast", cc, 2335)}},
		{3, []Count{oops("broadcast", away, 5), oops("broadcast", cc, 2423), mpi("broadcast", cc, 2423)}},
		{1, []Count{oops("broadcast", away, 5), oops("broadcast", cc, 2434), mpi("broadcast", cc, 2434)}},
		{2, []Count{oops("gather", away, 6), oops("gather", cc, 2655), mpi("allgather", cc, 2655)}},
		{2, []Count{oops("gather", cc, 2622), mpi("allgatherv", cc, 2622)}},
		{1, []Count{oops("scan", md, 105), mpi("scan", cc, 4202)}},
		{60, []Count{oops("store", vector, 1613), oops("gather", h, 3019)}},
		{64, []Count{oops("gather", away, 7), oops("localSize", away, 8)}},
		{3, []Count{oops("load", vector, 1606), oops("scatter", vector, 1531)}},
		{1, last},
		{4, []Count{oops("localSize", vector, 1285), oops("scatter", h, 3045)}},
		{1, []Count{oops("topologyGrid", away, 9), oops("split", "TopologyGrid.cc", 4273)}},
		{1, []Count{oops("scan", cc, 4202)}},
		{1, []Count{oops("distributionBlocked", "Application", 0)}},
		{2, []Count{oops("topologyPipe", away, 9)}},
		{1, []Count{oops("topologyPipe", away, 9), oops("split", away, 9)}},
		{2, []Count{oops("split", cc, 2221)}},
		{4, []Count{oops("localSize", vector, 1531)}},
		{798, []Count{oops("gather", away, 7)}},
	}
}

// OOPSVersion writes the trace of a process of the version with OOPS: 1,278,588 operations in all.
func OOPSVersion(w io.Writer, rank int) error {
	const communications = 100814
	g := begin(w, rank, OOPSTimes[rank], communications)
	for _, c := range chains(rank) {
		for range c.count {
			g.nested(c.ops)
		}
	}
	return g.w.Close()
}

// nested writes operations inside one another. Those with a number lie side by side.
func (g *generator) nested(ops []Count) {
	time, open := int64(0), 0
	if ops[len(ops)-1].Category == hiera.MPI {
		time, g.rest = g.each+g.rest, 0
	}
	for i := range ops {
		for range ops[i].Count {
			g.call(&ops[i], nil)
		}
		if ops[i].Count == 0 {
			g.begin(&ops[i], time)
			g.w.Begin(&g.op)
			open++
		}
	}
	g.now += time
	for range open {
		g.w.End()
	}
}
