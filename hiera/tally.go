package hiera

import "fmt"

// Place is a call site, or an operation if it has no File and Line.
type Place struct {
	Category string
	Name     string
	File     string
	Line     int
}

// Exchange sums up the messages between two processes, as one side of them tells.
type Exchange struct {
	Messages uint64
	Sized    uint64 // messages whose size is known
	Bytes    uint64 // of these
	Time     int64  // in the operations, ns
	// Timed is the number of messages whose operations are in Time.
	Timed uint64
}

// Add adds other messages.
func (x *Exchange) Add(o Exchange) {
	x.Messages += o.Messages
	x.Sized += o.Sized
	x.Bytes += o.Bytes
	x.Time += o.Time
	x.Timed += o.Timed
}

// Elsewhere stands for partners whose rank in MPI_COMM_WORLD is not known.
const Elsewhere = -2

// Tally adds up the operations of one process.
type Tally struct {
	Process
	// Levels is the number of executions in each level.
	Levels []uint64
	// Places are the figures by call site.
	Places map[Place]*Figures
	// Exclusive is the time in operations of each category that is in no inner operation, ns,
	// summed over the threads.
	Exclusive map[string]int64
	// Communication is the time in MPI operations but those that begin or end the use of MPI, ns.
	// MPI operations inside others count once.
	Communication int64
	// StartEnds is the number of these.
	StartEnds uint64
	// Communicating is the number of threads that executed MPI operations, and Lives the sum of
	// how long these lived, ns; 0: as long as the process.
	Communicating int
	Lives         int64
	// Top is the time in operations of level 0, ns, summed over the threads.
	Top int64
	// Sent and Received are the messages by the partner's rank in MPI_COMM_WORLD, or Elsewhere.
	Sent, Received map[int]Exchange
	// Overlaps is the number of operations whose inner operations take longer than they do.
	Overlaps uint64
	// Unfinished is the number of operations that had not ended when the trace did.
	Unfinished uint64

	stack   []openOp
	threads int  // threads begun
	mpiSeen bool // in the current thread
}

// openOp is an operation that has begun.
type openOp struct {
	op     Op
	inner  int64 // time of the operations directly inside, ns
	mpi    bool  // it is an MPI operation, or lies in one
	figure *Figures
}

// NewTally returns the tally of a process without operations.
func NewTally(p Process) *Tally {
	return &Tally{Process: p, Places: map[Place]*Figures{}, Exclusive: map[string]int64{}, Sent: map[int]Exchange{}, Received: map[int]Exchange{}}
}

// Total returns how long the process lasted, ns.
func (t *Tally) Total() int64 { return t.End - t.Init }

// Operations returns the number of executions in all levels.
func (t *Tally) Operations() (n uint64) {
	for _, c := range t.Levels {
		n += c
	}
	return n
}

// Shared returns the whole of which communication is a part: the time of the threads that
// communicate, ns. If none does, it is the process's time.
func (t *Tally) Shared() int64 {
	if t.Lives > 0 {
		return max(t.Lives, t.Communication)
	}
	return t.Total() * int64(max(1, t.Communicating))
}

// Thread says that the operations that follow are another thread's.
func (t *Tally) Thread() {
	t.threads++
	t.Threads = max(t.Threads, t.threads)
	t.mpiSeen = false
}

func (t *Tally) place(op *Op) *Figures {
	at := Place{op.Category, op.Name, op.File, op.Line}
	f := t.Places[at]
	if f == nil {
		f = &Figures{}
		t.Places[at] = f
	}
	return f
}

// Level counts executions in a level, from 0.
func (t *Tally) Level(level int, executions uint64) {
	for len(t.Levels) <= level {
		t.Levels = append(t.Levels, 0)
	}
	t.Levels[level] += executions
}

// Limits of what a tally holds, so that a hostile trace cannot fill the memory.
const (
	MaxPlaces     = 1 << 17 // call sites of a process
	maxPartners   = 1 << 20 // further partners are Elsewhere
	maxCategories = 1000
)

// errMany says that a trace has too many call sites or categories.
var errMany = fmt.Errorf("a process has more than %d call sites, or more than %d levels of libraries", MaxPlaces, maxCategories)

// Enter says that an operation begins, inside of those that have not ended. It fails if the process
// has more than MaxPlaces call sites.
func (t *Tally) Enter(op *Op) error {
	if len(t.Places) >= MaxPlaces || len(t.Exclusive) >= maxCategories {
		return errMany
	}
	t.Level(len(t.stack), op.Executions)
	inMPI := len(t.stack) > 0 && t.stack[len(t.stack)-1].mpi
	if op.Category == MPI {
		switch {
		case startEnds[op.Name]:
			t.StartEnds += op.Executions
		case !inMPI:
			t.Communication += op.Time()
		}
		if !t.mpiSeen {
			t.mpiSeen = true
			t.Communicating++
		}
	}
	t.stack = append(t.stack, openOp{op: *op, mpi: inMPI || op.Category == MPI, figure: t.place(op)})
	return nil
}

// Leave says that the innermost operation ends.
func (t *Tally) Leave() {
	o := &t.stack[len(t.stack)-1]
	time := o.op.Time()
	own := time - o.inner
	if own < 0 {
		own = 0
		t.Overlaps++
	}
	if o.op.Open {
		t.Unfinished++
	}
	if o.op.Executions == 1 {
		o.figure.one(time, own, o.op.Bytes)
	} else {
		group := Figures{Count: o.op.Executions, Time: time, Exclusive: own}
		if o.op.Bytes >= 0 {
			group.Sized, group.Bytes = group.Count, uint64(o.op.Bytes)
		}
		o.figure.Add(&group)
	}
	t.Exclusive[o.op.Category] += own
	t.messages(&o.op)
	t.stack = t.stack[:len(t.stack)-1]
	if n := len(t.stack); n > 0 {
		t.stack[n-1].inner += time
		return
	}
	t.Top += time
}

// messages counts the messages of a point-to-point operation.
func (t *Tally) messages(op *Op) {
	if op.Category != MPI {
		return
	}
	x := Exchange{Messages: op.Executions, Time: op.Time(), Timed: op.Executions}
	if op.Bytes >= 0 {
		x.Sized, x.Bytes = op.Executions, uint64(op.Bytes)
	}
	to, from := op.Partners()
	if op.Dest != Unknown || op.Peer != Unknown {
		t.count(t.Sent, to, x)
	}
	if op.Source != Unknown || op.From != Unknown {
		t.count(t.Received, from, x)
	}
}

func (t *Tally) count(of map[int]Exchange, rank int, x Exchange) {
	if rank == Unknown || len(of) >= maxPartners {
		rank = Elsewhere
	}
	x.Add(of[rank])
	of[rank] = x
}

// AddGroup adds executions of one call site that were added up before: their figures, and the level
// that they are in. What op tells of messages is left out.
func (t *Tally) AddGroup(level int, op *Op, f *Figures) {
	t.Level(level, f.Count)
	t.place(op).Add(f)
	t.Exclusive[op.Category] += f.Exclusive
	if level == 0 {
		t.Top += f.Time
	}
}

// ByOperation returns the figures of each operation, over all call sites.
func (t *Tally) ByOperation() map[Place]*Figures {
	all := map[Place]*Figures{}
	for at, f := range t.Places {
		addTo(all, Place{Category: at.Category, Name: at.Name}, f)
	}
	return all
}

func addTo(all map[Place]*Figures, at Place, f *Figures) {
	if all[at] == nil {
		all[at] = &Figures{}
	}
	all[at].Add(f)
}

// Cost compares the process with a run that was not measured and took plain ns. share is by how
// much the process took longer. each is that additional time for each operation, ns.
func (t *Tally) Cost(plain int64) (share, each float64) {
	more := float64(t.Total() - plain)
	if n := t.Operations(); n > 0 {
		each = more / float64(n)
	}
	return more / float64(plain), each
}
