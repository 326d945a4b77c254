package hiera

import (
	"slices"
	"strings"

	"ompp-attach/mpi"
)

// Categories of operations. Other categories are the names of libraries' levels.
const (
	MPI    = "mpi"
	OpenMP = "omp"
	OOPS   = "oops" // the class library of the paper
	User   = "user" // functions and marked regions that belong to no named level
)

// Unknown stands for a number that the trace does not tell.
const Unknown = -1

// Op is an operation, or a group of equal ones. Times are in ns, on the clock of its process.
type Op struct {
	Category string
	// Name is the operation: of mpi, the name of the paper's format (see OperationName); of omp,
	// the construct; of others, the method or function.
	Name   string
	Class  string // of a method; empty: none
	Object string // of a construct with a name; empty: none
	File   string
	Line   int

	Start, Finish int64
	// Idle is the part of the time from Start to Finish in which the operation stood still, or
	// between the executions of a group.
	Idle int64
	// Executions is the number of executions that the element stands for; 1 if it is one. Those of
	// a group have no single times.
	Executions uint64

	Bytes  int64 // of the message, or of all messages of a group; Unknown
	Dest   int   // rank in Comm to which a message goes; Unknown
	Source int   // rank in Comm from which a message is received; Unknown
	Root   int   // rank in Comm of a collective operation's root; Unknown
	Tag    int   // Unknown
	Comm   string
	// Peer and From are Dest and Source as ranks in MPI_COMM_WORLD; Unknown.
	Peer, From int
	Open       bool // it had not ended when the trace did
}

// Time returns how long the operation took, in ns.
func (o *Op) Time() int64 { return o.Finish - o.Start - o.Idle }

// World is the name of the communicator of all processes.
const World = "MPI_COMM_WORLD"

// Partners returns the ranks in MPI_COMM_WORLD to which the operation sends and from which it
// receives. It returns Unknown where there is no such rank, or none that is known.
func (o *Op) Partners() (to, from int) {
	to, from = o.Peer, o.From
	if o.Comm == "" || o.Comm == World {
		if to == Unknown {
			to = o.Dest
		}
		if from == Unknown {
			from = o.Source
		}
	}
	return to, from
}

// Process describes the process whose operations a trace holds.
type Process struct {
	Rank    int    // in MPI_COMM_WORLD, or the number of the process
	Init    int64  // when it began, ns
	End     int64  // when it ended, ns
	Host    string // empty: not told
	PID     int    // 0: not told
	Program string // empty: not told
	Threads int    // number of threads, also of those without operations; 0: one
}

// spelled holds the names of the paper's format that are not MPI's own.
var spelled = map[string]string{"bcast": "broadcast", "recv": "receive"}

// OperationName returns the name of an MPI operation in the paper's format: MPI_Allgather is
// allgather, MPI_Bcast broadcast, MPI_Recv receive.
func OperationName(mpiName string) string {
	name := strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(mpiName, "MPIX_"), "MPI_"))
	if s, ok := spelled[name]; ok {
		return s
	}
	return name
}

// startEnds are the operations that begin or end the use of MPI.
var startEnds = func() map[string]bool {
	names := map[string]bool{}
	for i := range mpi.Operations {
		if mpi.Operations[i].StartEnd() {
			names[OperationName(mpi.Operations[i].Name)] = true
		}
	}
	return names
}()

// paperOnly are the operations of the paper's document type that the tool does not measure.
var paperOnly = []string{"address", "type_extent", "type_hindexed", "type_hvector", "type_lb", "type_struct", "type_ub"}

// OperationNames returns the names of all MPI operations, sorted.
func OperationNames() []string {
	names := slices.Clone(paperOnly)
	for i := range mpi.Operations {
		names = append(names, OperationName(mpi.Operations[i].Name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// typeSizes are the sizes of MPI's basic types, in bytes, on the machines that the tool runs on.
var typeSizes = map[string]int64{
	"MPI_CHAR": 1, "MPI_SIGNED_CHAR": 1, "MPI_UNSIGNED_CHAR": 1, "MPI_BYTE": 1, "MPI_PACKED": 1, "MPI_CHARACTER": 1,
	"MPI_SHORT": 2, "MPI_UNSIGNED_SHORT": 2, "MPI_INT": 4, "MPI_UNSIGNED": 4, "MPI_FLOAT": 4, "MPI_INTEGER": 4, "MPI_REAL": 4,
	"MPI_LOGICAL": 4, "MPI_LONG": 8, "MPI_UNSIGNED_LONG": 8, "MPI_LONG_LONG": 8, "MPI_LONG_LONG_INT": 8, "MPI_DOUBLE": 8,
	"MPI_DOUBLE_PRECISION": 8, "MPI_COMPLEX": 8, "MPI_DOUBLE_COMPLEX": 16,
}

// Size returns the bytes of count elements of an MPI type; Unknown if the type is not a basic one.
func Size(count int64, mpiType string) int64 {
	const most = 1 << 40
	size, ok := typeSizes[mpiType]
	if !ok || count < 0 || count > most {
		return Unknown
	}
	return count * size
}
