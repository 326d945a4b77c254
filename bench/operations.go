package main

import "strings"

// operation is what a target does over and over (bench/programs/ops.c, mpi.c).
type operation struct {
	title   string
	mode    string
	threads int
	goal    float64 // most that ours may cost, in empty probes
	only    string  // the one runtime that has it; empty: all
	counted bool    // measured with counters, too
}

// What ours may cost by the goals: constructs that the kernel adds up, and those
// that are reported one by one.
const (
	folded   = 1.15
	streamed = 1.3
)

// group are operations that one process performs in turn, so that a tool has to
// be attached only once for all of them.
type group []operation

var groups = []group{
	{
		{title: "parallel", mode: "region", threads: 1, goal: streamed, counted: true},
		{title: "parallel", mode: "region", threads: 2, goal: streamed},
		{title: "barrier", mode: "barrier", threads: 1, goal: streamed},
		{title: "barrier", mode: "barrier", threads: 2, goal: streamed},
		{title: "single", mode: "single", threads: 1, goal: streamed},
		{title: "single", mode: "single", threads: 2, goal: streamed},
	},
	{
		{title: "loop, static", mode: "static", threads: 1, goal: streamed},
		{title: "loop, static", mode: "static", threads: 2, goal: streamed},
		{title: "loop, dynamic", mode: "dynamic", threads: 1, goal: streamed},
		{title: "loop, dynamic", mode: "dynamic", threads: 2, goal: streamed},
		{title: "loop, reduction", mode: "reduction", threads: 1, goal: streamed},
		{title: "loop, reduction", mode: "reduction", threads: 2, goal: streamed},
		{title: "sections", mode: "sections", threads: 1, goal: streamed},
		{title: "sections", mode: "sections", threads: 2, goal: streamed},
	},
	{
		{title: "critical, free", mode: "critical", threads: 1, goal: folded, counted: true},
		{title: "critical, contended", mode: "critical", threads: 2, goal: folded},
		{title: "lock, free", mode: "lock", threads: 1, goal: folded},
		{title: "lock, contended", mode: "lock", threads: 2, goal: folded},
		{title: "atomic, free", mode: "atomic", threads: 1, goal: folded, only: "libgomp"},
		{title: "atomic, contended", mode: "atomic", threads: 2, goal: folded, only: "libgomp"},
		{title: "ordered", mode: "ordered", threads: 1, goal: folded},
		{title: "ordered", mode: "ordered", threads: 2, goal: folded},
	},
	{
		{title: "task", mode: "task", threads: 1, goal: streamed},
		{title: "task", mode: "task", threads: 2, goal: streamed},
		{title: "taskwait", mode: "taskwait", threads: 1, goal: streamed},
	},
}

var mpiGroup = group{
	{title: "MPI_Comm_rank", mode: "rank", threads: 1, goal: streamed},
	{title: "MPI_Test", mode: "test", threads: 1, goal: streamed},
	{title: "MPI_Iprobe", mode: "iprobe", threads: 1, goal: streamed},
	{title: "MPI_Irecv, MPI_Send, MPI_Wait, to itself", mode: "sendrecv", threads: 1, goal: streamed},
	{title: "MPI_Allreduce, alone", mode: "allreduce", threads: 1, goal: streamed},
}

// of returns the operations of a group that a runtime has and that are wanted.
func (g group) of(t *target) (out group) {
	for _, op := range g {
		if (op.only == "" || op.only == t.runtime) && wanted(t.runtime+": "+op.title) {
			out = append(out, op)
		}
	}
	return out
}

// has tells whether a group performs an operation.
func (g group) has(mode string) bool {
	for _, op := range g {
		if op.mode == mode {
			return true
		}
	}
	return false
}

// titles names the operations for those who watch.
func (g group) titles() string {
	var names []string
	for _, op := range g {
		if len(names) == 0 || names[len(names)-1] != op.title {
			names = append(names, op.title)
		}
	}
	return strings.Join(names, "; ")
}
