// Package reporttest has profiles and jobs for tests of reports.
package reporttest

import (
	"bytes"
	"testing"
	"time"

	"ompp-attach/attribution"
	"ompp-attach/attribution/stream"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// Tape is a recorded run written by hand, times in milliseconds.
type Tape struct {
	T *testing.T
	S stream.Stream
}

// MS is a millisecond in nanoseconds.
const MS = 1_000_000

// At records an event of a thread.
func (r *Tape) At(ms64 uint64, tid uint32, c event.Construct, e event.Edge, more event.Event) {
	more.Time, more.PID, more.TID, more.Construct, more.Edge, more.Runtime = ms64*MS, 1, tid, c, e, event.Gomp
	r.S.Events = append(r.S.Events, more)
}

// Call records an MPI call.
func (r *Tape) Call(from, to uint64, tid uint32, op string, site uint64, a mpi.Args) {
	o, ok := mpi.ParseOp(op)
	if !ok {
		r.T.Fatalf("no operation %s", op)
	}
	r.At(to, tid, event.MPI, event.Released, event.Event{Site: site, MPI: &event.MPICall{Op: o, Start: from * MS, Args: a}})
}

// Place is the place of a construct or of an operation's call.
func (r *Tape) Place(k attribution.Key, name string, begin, end int) {
	if k.Construct == event.MPI {
		op, _ := mpi.ParseOp(name)
		k.Fn = uint64(op)
	} else {
		k.Runtime = event.Gomp
	}
	r.S.Places = append(r.S.Places, stream.Placed{Key: k, Region: profile.Region{Construct: k.Construct, Name: name,
		Location: profile.Location{File: "/src/main.c", Begin: begin, End: end, Function: "main"}}})
}

// Profile returns the tape's profile after it was recorded and read.
func (r *Tape) Profile(end uint64, rank, size int) *profile.Profile {
	r.T.Helper()
	var buf bytes.Buffer
	if err := stream.Encode(&buf, &r.S); err != nil {
		r.T.Fatal(err)
	}
	s, err := stream.Decode(&buf)
	if err != nil {
		r.T.Fatal(err)
	}
	s.End = end * MS
	p := attribution.Replay(s)
	p.Meta = profile.Meta{Target: profile.Target{Program: "hybrid", PID: 1},
		Machine: profile.Machine{Host: "node1", Kernel: "6.18.0", Arch: "x86_64"}, Writer: profile.Writer{Tool: "test"},
		Life: profile.Life{Start: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Duration: int64(end * MS), Ended: "exit status 0"}, Trust: profile.Trust{Hits: p.Meta.Hits},
		MPI: &profile.MPIJob{Library: "Open MPI 4.1.4", Rank: rank, Size: size, Level: "MPI_THREAD_MULTIPLE"}}
	return p
}

// Region records a parallel region. work records the events of each thread.
func (r *Tape) Region(begins, joins uint64, threads uint32, work func(tid uint32)) {
	const team = 7
	r.At(begins, 1, event.Parallel, event.Fork, event.Event{Fn: 300, Key: team, Size: int32(threads), Site: 90})
	for tid := uint32(1); tid <= threads; tid++ {
		r.At(begins, tid, event.Parallel, event.Begin, event.Event{Key: team, Num: int32(tid - 1)})
		work(tid)
	}
	r.At(joins, 1, event.Parallel, event.Join, event.Event{})
}
