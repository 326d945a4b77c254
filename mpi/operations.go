package mpi

// Operations are the C entry points of MPI.
var Operations = []Operation{
	{Name: "MPI_Send", Kind: PointToPoint, Counts: CountSend, Args: 6, Send: Buffer{Count: 1, Type: 2},
		Recv: Buffer{Count: None, Type: None}, Peer: 3, Peer2: None, Tag: 4, SendBuf: 0, RecvBuf: None, Comm: 5, Handle: CommHandle, Request: None},
}
