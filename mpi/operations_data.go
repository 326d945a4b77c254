package mpi

// The operations that move data.

const bothCounts = CountSend | CountRecv

var pointToPoint = rows{
	{"Send", PointToPoint, CountSend, "buf scount stype peer tag comm", pointForms},
	{"Bsend", PointToPoint, CountSend, "buf scount stype peer tag comm", pointForms},
	{"Ssend", PointToPoint, CountSend, "buf scount stype peer tag comm", pointForms},
	{"Rsend", PointToPoint, CountSend, "buf scount stype peer tag comm", pointForms},
	{"Recv", PointToPoint, CountRecv, "buf rcount rtype peer tag comm status", pointForms},
	{"Mrecv", PointToPoint, CountRecv, "buf rcount rtype _ status", immediate},
	{"Psend_init", PointToPoint, CountSend, "buf partitions scount stype peer tag comm _ req", partitioned},
	{"Precv_init", PointToPoint, CountRecv, "buf partitions rcount rtype peer tag comm _ req", partitioned},
	{"Sendrecv", PointToPoint, bothCounts, "buf scount stype peer tag buf rcount rtype from rtag comm status", immediate},
	{"Sendrecv_replace", PointToPoint, bothCounts, "buf count type peer tag from rtag comm status", immediate},
}

var collective = rows{
	{"Barrier", Time, CountColl, "comm", nonblocking | persistentColl | extensionColl},
	{"Bcast", Bcast, CountColl, "buf count type root comm", anyColl},
	{"Reduce", Reduce, CountColl, "sbuf buf count type _ root comm", anyColl},
	{"Allreduce", Allreduce, CountColl, "sbuf buf count type _ comm", anyColl},
	{"Reduce_scatter", ReduceScatter, CountColl, "sbuf buf counts type _ comm", anyColl},
	{"Reduce_scatter_block", ReduceScatter, CountColl, "sbuf buf count type _ comm", anyColl},
	{"Gather", Gather, CountColl, "sbuf scount stype buf rcount rtype root comm", anyColl},
	{"Gatherv", Gather, CountColl, "sbuf scount stype buf rcounts _ rtype root comm", anyColl},
	{"Scatter", Scatter, CountColl, "buf scount stype rbuf rcount rtype root comm", anyColl},
	{"Scatterv", Scatter, CountColl, "buf scounts _ stype rbuf rcount rtype root comm", anyColl},
	{"Allgather", Allgather, CountColl, "sbuf scount stype buf rcount rtype comm", anyColl},
	{"Allgatherv", Allgather, CountColl, "sbuf scount stype buf rcounts _ rtype comm", anyColl},
	{"Alltoall", Alltoall, CountColl, "sbuf scount stype buf rcount rtype comm", anyColl},
	{"Alltoallv", Alltoall, CountColl, "sbuf scounts _ stype buf rcounts _ rtype comm", anyColl},
	{"Alltoallw", Alltoall, CountColl, "sbuf scounts _ stypes buf rcounts _ rtypes comm", anyColl},
	{"Scan", Scan, CountColl, "sbuf buf count type _ comm", anyColl},
	{"Exscan", Scan, CountColl, "sbuf buf count type _ comm", anyColl},
}

var neighbourhood = rows{
	{"Neighbor_allgather", NeighborAllgather, CountColl, "buf scount stype buf rcount rtype comm", anyColl},
	{"Neighbor_allgatherv", NeighborAllgather, CountColl, "buf scount stype buf rcounts _ rtype comm", anyColl},
	{"Neighbor_alltoall", NeighborAlltoall, CountColl, "buf scount stype buf rcount rtype comm", anyColl},
	{"Neighbor_alltoallv", NeighborAlltoall, CountColl, "buf scounts _ stype buf rcounts _ rtype comm", anyColl},
	{"Neighbor_alltoallw", NeighborAlltoall, CountColl, "buf scounts _ stypes buf rcounts _ rtypes comm", anyColl},
}

// oneSided are the operations of RMA. Bytes that the target sends back count as received. So
// Get_accumulate, Fetch_and_op and Compare_and_swap have a send and a receive side.
var oneSided = rows{
	{"Put", OneSided, 0, "buf scount stype peer _ _ _ win", requestBased | large},
	{"Get", OneSided, 0, "buf rcount rtype peer _ _ _ win", requestBased | large},
	{"Accumulate", OneSided, 0, "buf scount stype peer _ _ _ _ win", requestBased | large},
	{"Get_accumulate", OneSided, 0, "buf scount stype buf rcount rtype peer _ _ _ _ win", requestBased | large},
	{"Fetch_and_op", OneSided, 0, "buf buf type peer _ _ win", 0},
	{"Compare_and_swap", OneSided, 0, "buf buf buf type peer _ win", 0},
}

var files = rows{
	{"File_read", FileRead, 0, "file buf rcount rtype status", immediate},
	{"File_read_at", FileRead, 0, "file _ buf rcount rtype status", immediate},
	{"File_read_all", FileRead, 0, "file buf rcount rtype status", immediate | splitCollective},
	{"File_read_at_all", FileRead, 0, "file _ buf rcount rtype status", immediate | splitCollective},
	{"File_read_shared", FileRead, 0, "file buf rcount rtype status", immediate},
	{"File_read_ordered", FileRead, 0, "file buf rcount rtype status", large | splitCollective},
	{"File_write", FileWrite, 0, "file buf scount stype status", immediate},
	{"File_write_at", FileWrite, 0, "file _ buf scount stype status", immediate},
	{"File_write_all", FileWrite, 0, "file buf scount stype status", immediate | splitCollective},
	{"File_write_at_all", FileWrite, 0, "file _ buf scount stype status", immediate | splitCollective},
	{"File_write_shared", FileWrite, 0, "file buf scount stype status", immediate},
	{"File_write_ordered", FileWrite, 0, "file buf scount stype status", large | splitCollective},
}
