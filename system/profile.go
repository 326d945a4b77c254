package system

import (
	"time"

	"ompp-attach/event"
	"ompp-attach/mpi"
)

// Format is the file's `format`, by which a reader knows a system profile.
const Format = "ompp-attach system profile"

// Version is the version of the file's schema (docs/system.md).
const Version = 1

// Profile is what a machine and its software cost.
type Profile struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Tool    string    `json:"tool"` // the version of ompp-attach that has measured
	Taken   time.Time `json:"taken"`
	Method  Method    `json:"method"`
	// Interrupted: the user ended the measurement. What had been measured is here.
	Interrupted bool `json:"interrupted,omitempty"`
	// Others is how many CPUs of the affinity mask were used by others meanwhile, or given to
	// others by a hypervisor. Above some hundredths the figures show the noise, too.
	Others   float64    `json:"others_cpus"`
	LeftOut  []LeftOut  `json:"left_out,omitempty"`
	Machine  Machine    `json:"machine"`
	Software Software   `json:"software"`
	OpenMP   []OpenMP   `json:"openmp,omitempty"`
	MPI      []MPI      `json:"mpi,omitempty"`
	Eager    []Eager    `json:"eager,omitempty"`
	Hybrid   []Hybrid   `json:"hybrid,omitempty"`
	Compute  []Rate     `json:"compute,omitempty"`
	Probe    *ProbeCost `json:"probe,omitempty"`
}

// Method says how long each figure was measured: until its standard error is below Error times the
// figure, or one of the bounds is reached.
type Method struct {
	Quick   bool    `json:"quick,omitempty"` // fewer sizes and numbers, shorter bounds
	Error   float64 `json:"error"`           // 0.03 is 3 %
	Samples int     `json:"samples"`         // the most samples of a figure
	Seconds float64 `json:"seconds"`         // the longest time for a figure
}

// LeftOut is a part that was not measured, or not wholly.
type LeftOut struct {
	Part   string `json:"part"`
	Reason string `json:"reason"` // one sentence
}

// Stop says why the measuring of a figure ended.
type Stop string

// The reasons.
const (
	Precise Stop = "precise" // the standard error is below the wanted one
	Bound   Stop = "bound"   // the most samples or the longest time were reached
)

// Figure is the result of several samples. Each sample is the mean of many executions.
type Figure struct {
	N      int     `json:"n"` // samples
	Median float64 `json:"median"`
	// Error is the standard error of the median. It is half of the interval, between samples in
	// order, that holds the true median with a probability of 68 %.
	Error   float64 `json:"error"`
	Mean    float64 `json:"mean"`
	Min     float64 `json:"min"`
	Stopped Stop    `json:"stopped"`
}

// OpenMP is the cost of one execution of a construct, by EPCC's method. It is the time with the
// construct less the time of the same work without the construct. Times are wall times in ns. A
// cost that is small against the noise may come out below zero.
type OpenMP struct {
	Construct event.Construct `json:"construct"`
	// Variant tells apart the measurements of one construct, as "static" and "dynamic" of a
	// loop. The construct's first one in the file is the usual one.
	Variant string `json:"variant,omitempty"`
	Threads int    `json:"threads"`
	// Shared: the threads contended, and one execution was after the other. Then the cost is the
	// time from one execution of the team to the next. If all threads have as many executions, a
	// thread's own takes Threads times as long. Otherwise each thread executes the construct, at
	// the same time.
	Shared    bool    `json:"shared,omitempty"`
	Cost      Figure  `json:"cost_ns"`
	Reference float64 `json:"reference_ns"` // median of the time without the construct
	// Oversubscribed: there were more threads than CPUs for them.
	Oversubscribed bool `json:"oversubscribed,omitempty"`
}

// Where is how far processes are from each other: the nearest part of the machine that has them
// all.
type Where string

// The distances, from near to far. With Node, processes are on several sockets, or they were not
// bound, so that their distance changes.
const (
	Core    Where = "core"    // hardware threads of one core
	Complex Where = "complex" // cores with one last-level cache
	Socket  Where = "socket"
	Node    Where = "node"
	Nodes   Where = "nodes" // several nodes
)

// distances are all distances, in order.
var distances = []Where{Core, Complex, Socket, Node, Nodes}

// MPI is the time of one call of an operation, in ns.
//
// Of MPI_Send, the time is half a round trip: a send and its receive. Of MPI_Sendrecv, both
// processes send at once. Of MPI_Isend, one process has a window of messages under way, and the
// time is that of one message: the bandwidth. Of a collective operation, the time is the longest of
// the processes', and the root goes round.
type MPI struct {
	Operation mpi.Op `json:"operation"`
	// Bytes is what the call's count argument says: of MPI_Alltoall, what one process sends to
	// one other.
	Bytes          uint64 `json:"bytes"`
	Processes      int    `json:"processes"`
	Where          Where  `json:"where"`
	Nodes          int    `json:"nodes"`
	Cost           Figure `json:"cost_ns"`
	Oversubscribed bool   `json:"oversubscribed,omitempty"`
}

// Eager is the longest message that MPI_Send hands over without waiting for the receiver.
type Eager struct {
	Where Where `json:"where"`
	// Bytes is the longest message that did not wait, Waits the shortest that did. Waits is 0 if
	// none of the lengths tried waited.
	Bytes uint64 `json:"bytes"`
	Waits uint64 `json:"waits,omitempty"`
}

// Hybrid is the time of one message, half a round trip, if several threads of two processes
// communicate, or if the others compute meanwhile.
type Hybrid struct {
	Threads       int    `json:"threads"`       // of each process
	Communicating int    `json:"communicating"` // of these; each has a partner in the other process
	Bytes         uint64 `json:"bytes"`
	Where         Where  `json:"where"`
	Nodes         int    `json:"nodes"`
	// Cost is the time until each communicating thread has passed on one message. The other
	// threads compute.
	Cost           Figure `json:"cost_ns"`
	Oversubscribed bool   `json:"oversubscribed,omitempty"`
}

// Rate is how fast threads compute or move data, all together.
type Rate struct {
	Kernel         string `json:"kernel"`
	Unit           string `json:"unit"` // "flop/s" or "byte/s"
	Threads        int    `json:"threads"`
	Rate           Figure `json:"rate"`
	Oversubscribed bool   `json:"oversubscribed,omitempty"`
}

// ProbeCost is what one hit of a probe of ours takes of its thread's time, in ns.
type ProbeCost struct {
	Mode       string  `json:"mode"` // how probes are attached
	Nop5       float64 `json:"nop5_ns"`
	Jump       float64 `json:"jump_ns,omitempty"` // on x86-64; not in older profiles
	Emulated   float64 `json:"emulated_ns"`       // on x86-64 a push; else what the kernel emulates
	Call       float64 `json:"call_ns"`
	SingleStep float64 `json:"single_step_ns"`
	Return     float64 `json:"return_ns"` // the function's return, in addition
	Folded     float64 `json:"folded_ns"`
}
