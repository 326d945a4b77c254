package mpi

// Messages describes the messages of a call: one that it sends to one process, one that it receives
// from one process, and the data of a collective operation. A nonblocking call has its messages
// when it is begun, a persistent operation each time it is started.
type Messages struct {
	Sends, Recvs, Colls bool  // which of them the call has; MPI_PROC_NULL stands for none
	To, From            int32 // the ranks in the communicator or window, or AnySource
	// Out and In are the bytes that are sent and received, if Known is set. Data is the number of
	// bytes that a collective operation moves from or to one process (count times type size): the
	// larger of both sides. If there is an array of counts, Data is the sum.
	Out, In, Data uint64
	Known         bool
}

// Messages returns a call's messages. The partner of a one-sided operation is its target: data put
// there are sent, and data taken from there are received.
func (o Op) Messages(a *Args) (m Messages) {
	op := o.Info()
	if op.prepares(a) {
		return m
	}
	m.Known = a.Flags&UnknownVolume == 0
	send, recv := op.sides(a)
	switch op.Kind {
	case PointToPoint, OneSided:
		m.To, m.From = a.Peer, a.Peer
		if op.Peer2 != None {
			m.From = a.Peer2
		}
		if op.Peer == None { // MPI_Mrecv names only its message
			m.From = AnySource
		}
		m.Sends, m.Recvs = send, recv
		m.Out, m.In = keep(a.Send, send), keep(a.Recv, recv)
	case Time, Start, FileRead, FileWrite:
	default:
		m.Colls = send || recv
		m.Data = max(keep(a.Send, send), keep(a.Recv, recv))
		if op.Kind == ReduceScatter && op.Recv.CountArray && a.Flags&Inter == 0 {
			m.Data = a.Send + a.Recv // the parts of the others, and the process's own part
		}
	}
	return m
}

// Kinship says what is known of the ranks of a communicator or window, if an operation makes it of
// another one.
type Kinship uint8

// The kinships.
const (
	Unrelated Kinship = iota // nothing: another operation, or members that the call does not name
	Copied                   // the ranks are those of the parent
	Reordered                // they are those of the parent unless an argument (reorder) is not 0
	Split                    // members are the processes that gave one colour, an argument
	Near                     // members share memory, or another resource of a host
	Cut                      // a grid of fewer dimensions, of MPI_Cart_sub
	Together                 // one communicator for all that are in any, of MPI_Comm_create
)

// Maker describes an operation that makes a communicator or a window.
type Maker struct {
	Kinship Kinship
	// Result is the argument that points to the communicator or window that is made. Decides is
	// the argument with the colour, or the one that says whether ranks may be reordered. None:
	// neither.
	Result, Decides int8
	Window          bool
	// Apart: not all processes of the parent make the call.
	Apart bool
}

// Makes returns how the operation makes a communicator or window; ok is false if it makes none.
func (op *Operation) Makes() (m Maker, ok bool) {
	m, ok = makers[op.Name]
	return m, ok
}

var makers = map[string]Maker{
	"MPI_Comm_dup":                   {Copied, 1, None, false, false},
	"MPI_Comm_dup_with_info":         {Copied, 2, None, false, false},
	"MPI_Comm_idup":                  {Copied, 1, None, false, false},
	"MPI_Comm_idup_with_info":        {Copied, 2, None, false, false},
	"MPI_Comm_split":                 {Split, 3, 1, false, false},
	"MPI_Comm_split_type":            {Near, 4, None, false, false},
	"MPI_Comm_create":                {Together, 2, None, false, false},
	"MPI_Comm_create_group":          {Unrelated, 3, None, false, true},
	"MPI_Cart_create":                {Reordered, 5, 4, false, false},
	"MPI_Cart_sub":                   {Cut, 2, None, false, false},
	"MPI_Graph_create":               {Reordered, 5, 4, false, false},
	"MPI_Dist_graph_create":          {Reordered, 8, 7, false, false},
	"MPI_Dist_graph_create_adjacent": {Reordered, 9, 8, false, false},
	"MPI_Intercomm_create":           {Unrelated, 5, None, false, true},
	"MPI_Intercomm_merge":            {Unrelated, 2, None, false, true},
	"MPI_Comm_accept":                {Unrelated, 4, None, false, false},
	"MPI_Comm_connect":               {Unrelated, 4, None, false, false},
	"MPI_Comm_spawn":                 {Unrelated, 6, None, false, false},
	"MPI_Comm_spawn_multiple":        {Unrelated, 7, None, false, false},
	"MPI_Win_create":                 {Copied, 5, None, true, false},
	"MPI_Win_create_c":               {Copied, 5, None, true, false},
	"MPI_Win_allocate":               {Copied, 5, None, true, false},
	"MPI_Win_allocate_c":             {Copied, 5, None, true, false},
	"MPI_Win_allocate_shared":        {Copied, 5, None, true, false},
	"MPI_Win_allocate_shared_c":      {Copied, 5, None, true, false},
	"MPI_Win_create_dynamic":         {Copied, 2, None, true, false},
}
