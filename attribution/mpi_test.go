package attribution

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/attribution/calls"
	"ompp-attach/attribution/stack"
	"ompp-attach/attribution/stream"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// mpiTable renders the counters of a profile, one line per node and thread that did anything in
// MPI. A line is: path thread exec.T/C calls in T sent received s r c.
func mpiTable(p *profile.Profile) []string {
	var out []string
	path := make([]string, len(p.Nodes))
	path[0] = "program"
	for i, n := range p.Nodes {
		if n.Parent >= 0 {
			path[i] = fmt.Sprintf("%s@%d", p.Regions[n.Region].Construct, p.Regions[n.Region].Location.Begin)
			if n.Parent > 0 {
				path[i] = path[n.Parent] + "/" + path[i]
			}
		}
		for _, s := range n.Stats {
			if s.MPI == nil {
				continue
			}
			th, m := p.Threads[s.Thread], s.MPI
			line := fmt.Sprintf("%s %d:%d exec %d/%d mpi %d/%d out %d in %d calls %d %d %d",
				path[i], th.Root, th.Num, s.Exec.T, s.Exec.C, m.T, m.Calls, m.Out[mpi.Minimal], m.In[mpi.Minimal], m.Sends, m.Recvs, m.Colls)
			if m.Unknown > 0 {
				line += fmt.Sprintf(" unknown %d", m.Unknown)
			}
			if m.Wait > 0 {
				line += fmt.Sprintf(" wait %d", m.Wait)
			}
			if m.Sized > 0 {
				line += fmt.Sprintf(" each %d-%d of %d", m.Min[mpi.Minimal], m.Max[mpi.Minimal], m.Sized)
			}
			out = append(out, line)
		}
	}
	return out
}

// mpiCase is a stream, of which existing threads were there from 0 on.
type mpiCase struct {
	name     string
	existing []int
	events   string
	want     string
	notes    []string // of regions of construct MPI
	partial  uint64
}

var mpiCases = []mpiCase{
	{name: "outside any region",
		events: `
			20 1 released mpi site=400 op=MPI_Send from=10 bytes=8
			40 1 released mpi site=400 op=MPI_Send from=25 bytes=2
			60 1 released mpi site=401 op=MPI_Recv from=50 bytes=5`,
		want: `
			program 0:0 exec 0/0 mpi 35/3 out 10 in 5 calls 2 1 0
			MPI@400 0:0 exec 25/2 mpi 25/2 out 10 in 0 calls 2 0 0 each 2-8 of 2
			MPI@401 0:0 exec 10/1 mpi 10/1 out 0 in 5 calls 0 1 0 each 5-5 of 1`},
	{name: "threads that never see OpenMP",
		events: `
			20 2 released mpi site=400 op=MPI_Send from=10 bytes=8
			20 3 released mpi site=400 op=MPI_Send from=15 bytes=8
			40 2 released mpi site=400 op=MPI_Send from=30 bytes=8`,
		want: `
			program 1:0 exec 0/0 mpi 20/2 out 16 in 0 calls 2 0 0
			program 2:0 exec 0/0 mpi 5/1 out 8 in 0 calls 1 0 0
			MPI@400 1:0 exec 20/2 mpi 20/2 out 16 in 0 calls 2 0 0 each 8-8 of 2
			MPI@400 2:0 exec 5/1 mpi 5/1 out 8 in 0 calls 1 0 0 each 8-8 of 1`},
	{name: "a worker whose team is read later",
		events: `
			20 2 begin parallel key=7 num=1
			40 2 released mpi site=400 op=MPI_Recv from=30 bytes=8
			100 2 end parallel
			5 1 fork parallel fn=300 key=7 size=2 site=90
			10 1 begin parallel
			60 1 end parallel
			110 1 join parallel`,
		want: `
			program 0:1 exec 0/0 mpi 10/1 out 0 in 8 calls 0 1 0
			PARALLEL@300 0:1 exec 105/1 mpi 10/1 out 0 in 8 calls 0 1 0
			PARALLEL@300/MPI@400 0:1 exec 10/1 mpi 10/1 out 0 in 8 calls 0 1 0 each 8-8 of 1`},
	{name: "persistent operations move data when they are started",
		events: `
			20 1 released mpi site=400 op=MPI_Send_init from=10 bytes=8
			30 1 released mpi site=401 op=MPI_Send_init from=30 bytes=8 started
			31 1 released mpi site=401 op=MPI_Start from=30
			40 1 released mpi site=401 op=MPI_Send_init from=40 bytes=8 started
			43 1 released mpi site=401 op=MPI_Start from=40`,
		want: `
			program 0:0 exec 0/0 mpi 14/3 out 16 in 0 calls 2 0 0
			MPI@400 0:0 exec 10/1 mpi 10/1 out 0 in 0 calls 0 0 0
			MPI@401 0:0 exec 4/2 mpi 4/2 out 16 in 0 calls 2 0 0 each 8-8 of 2`,
		notes: []string{calls.NoteStarted}},
	{name: "under way at the end, and of unknown volume",
		events: `
			20 1 released mpi site=400 op=MPI_Send from=10 unknown
			50 1 enter mpi site=401 op=MPI_Recv from=30 bytes=5`,
		want: `
			program 0:0 exec 0/0 mpi 30/2 out 0 in 5 calls 1 1 0 unknown 1
			MPI@400 0:0 exec 10/1 mpi 10/1 out 0 in 0 calls 1 0 0 unknown 1
			MPI@401 0:0 exec 20/1 mpi 20/1 out 0 in 5 calls 0 1 0 each 5-5 of 1`,
		notes: []string{calls.NoteCutOff}, partial: 1},
	{name: "attached to a program without OpenMP",
		existing: []int{1, 2, 3},
		events: `
			20 2 released mpi site=400 op=MPI_Send from=10 bytes=8
			30 1 released mpi site=400 op=MPI_Send from=20 bytes=8`,
		want: `
			program 0:0 exec 0/0 mpi 10/1 out 8 in 0 calls 1 0 0
			program 1:0 exec 0/0 mpi 10/1 out 8 in 0 calls 1 0 0
			MPI@400 0:0 exec 10/1 mpi 10/1 out 8 in 0 calls 1 0 0 each 8-8 of 1
			MPI@400 1:0 exec 10/1 mpi 10/1 out 8 in 0 calls 1 0 0 each 8-8 of 1`},
	{name: "attached outside any region, as a fork shows",
		existing: []int{1, 2},
		events: `
			20 1 released mpi site=400 op=MPI_Send from=10 bytes=8
			25 2 released mpi site=400 op=MPI_Send from=10 bytes=8
			30 1 fork parallel fn=300 key=7 size=1 site=90
			31 1 begin parallel
			40 1 released mpi site=401 op=MPI_Recv from=32 bytes=5
			50 1 end parallel
			60 1 join parallel
			70 1 released mpi site=400 op=MPI_Send from=65 bytes=8`,
		want: `
			program 0:0 exec 0/0 mpi 23/3 out 16 in 5 calls 2 1 0
			program 1:0 exec 0/0 mpi 15/1 out 8 in 0 calls 1 0 0
			PARALLEL@300 0:0 exec 30/1 mpi 8/1 out 0 in 5 calls 0 1 0
			PARALLEL@300/MPI@401 0:0 exec 8/1 mpi 8/1 out 0 in 5 calls 0 1 0 each 5-5 of 1
			MPI@400 0:0 exec 15/2 mpi 15/2 out 16 in 0 calls 2 0 0 each 8-8 of 2
			MPI@400 1:0 exec 15/1 mpi 15/1 out 8 in 0 calls 1 0 0 each 8-8 of 1`,
		notes: []string{stack.NoteWhere}},
	{name: "attached inside a region",
		existing: []int{1, 2},
		events: `
			20 1 released mpi site=400 op=MPI_Send from=10 bytes=8
			20 2 released mpi site=400 op=MPI_Send from=10 bytes=8
			25 2 enter critical site=410 free noret
			26 2 release critical free noret
			30 1 end parallel
			30 2 end parallel
			40 1 join parallel
			50 1 released mpi site=400 op=MPI_Send from=45 bytes=8`,
		want: `
			program 0:-1 exec 0/0 mpi 10/1 out 8 in 0 calls 1 0 0
			program 0:0 exec 0/0 mpi 15/2 out 16 in 0 calls 2 0 0
			UNDER WAY@0 0:-1 exec 30/1 mpi 10/1 out 8 in 0 calls 1 0 0
			UNDER WAY@0 0:0 exec 30/1 mpi 10/1 out 8 in 0 calls 1 0 0
			UNDER WAY@0/MPI@400 0:-1 exec 10/1 mpi 10/1 out 8 in 0 calls 1 0 0 each 8-8 of 1
			UNDER WAY@0/MPI@400 0:0 exec 10/1 mpi 10/1 out 8 in 0 calls 1 0 0 each 8-8 of 1
			MPI@400 0:0 exec 5/1 mpi 5/1 out 8 in 0 calls 1 0 0 each 8-8 of 1`,
		partial: 1},
	{name: "a task that calls while another waits is none of that one's",
		events: `
			0 1 fork parallel fn=300 key=7 size=1 site=90
			0 1 begin parallel
			5 1 enter task fn=321 key=70
			6 1 released task
			10 1 wait barrier site=450
			12 1 begin taskexec key=70
			20 1 enter task fn=330 key=71
			21 1 released task
			25 1 wait taskwait site=460
			27 1 begin taskexec key=71
			40 1 released mpi site=400 op=MPI_Send from=30 bytes=8
			50 1 end taskexec key=71
			60 1 waited taskwait
			65 1 released mpi site=401 op=MPI_Send from=62 bytes=1
			70 1 end taskexec key=70
			80 1 waited barrier
			90 1 end parallel
			95 1 join parallel`,
		want: `
			program 0:0 exec 0/0 mpi 13/2 out 9 in 0 calls 2 0 0
			PARALLEL@300 0:0 exec 95/1 mpi 13/2 out 9 in 0 calls 2 0 0
			PARALLEL@300/TASK@321/TASKEXEC@321 0:0 exec 35/1 mpi 3/1 out 1 in 0 calls 1 0 0
			PARALLEL@300/TASK@321/TASKEXEC@321/TASK@330/TASKEXEC@330 0:0 exec 23/1 mpi 10/1 out 8 in 0 calls 1 0 0
			PARALLEL@300/TASK@321/TASKEXEC@321/TASK@330/TASKEXEC@330/MPI@400 0:0 exec 10/1 mpi 10/1 out 8 in 0 calls 1 0 0 each 8-8 of 1
			PARALLEL@300/TASK@321/TASKEXEC@321/MPI@401 0:0 exec 3/1 mpi 3/1 out 1 in 0 calls 1 0 0 each 1-1 of 1
			PARALLEL@300/BARRIER@450 0:0 exec 70/1 mpi 13/2 out 9 in 0 calls 2 0 0`},
	{name: "a task that is not measured calls from a barrier",
		events: `
			0 1 fork parallel fn=300 key=7 size=2 site=90
			0 1 begin parallel
			0 2 begin parallel key=7 num=1
			10 2 wait barrier site=450
			30 2 released mpi site=400 op=MPI_Send from=20 bytes=8
			40 2 waited barrier
			50 2 end parallel
			70 2 released mpi site=400 op=MPI_Send from=60 bytes=8
			90 1 end parallel
			95 1 join parallel
			99 2 released mpi site=400 op=MPI_Send from=97 bytes=8`,
		want: `
			program 0:1 exec 0/0 mpi 22/3 out 24 in 0 calls 3 0 0
			PARALLEL@300 0:1 exec 95/1 mpi 20/2 out 16 in 0 calls 2 0 0 wait 10
			PARALLEL@300/BARRIER@450 0:1 exec 30/1 mpi 10/1 out 8 in 0 calls 1 0 0 wait 10
			PARALLEL@300/BARRIER@450/MPI@400 0:1 exec 10/1 mpi 10/1 out 8 in 0 calls 1 0 0 each 8-8 of 1
			PARALLEL@300/MPI@400 0:1 exec 10/1 mpi 10/1 out 8 in 0 calls 1 0 0 each 8-8 of 1
			MPI@400 0:1 exec 2/1 mpi 2/1 out 8 in 0 calls 1 0 0 each 8-8 of 1`},
	{name: "a call during which measurement was off",
		events: `
			10 1 off user-region
			50 1 on user-region
			60 2 released mpi site=400 op=MPI_Recv from=5 bytes=8`,
		want: `
			program 1:0 exec 0/0 mpi 10/1 out 0 in 8 calls 0 1 0
			MPI@400 1:0 exec 10/1 mpi 10/1 out 0 in 8 calls 0 1 0 each 8-8 of 1`},
}

func TestMPI(t *testing.T) {
	for _, tc := range mpiCases {
		t.Run(tc.name, func(t *testing.T) {
			e := New(1, mpiFiles{})
			if len(tc.existing) > 0 {
				e.Existing(tc.existing, 0)
			}
			events := parse(t, tc.events)
			for i := range events {
				e.Feed(&events[i])
			}
			p := e.Finish(100)
			if d := cmp.Diff(lines(tc.want), mpiTable(p)); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
			var notes []string
			for _, r := range p.Regions {
				if r.Construct == event.MPI {
					notes = append(notes, r.Notes...)
				}
			}
			if d := cmp.Diff(tc.notes, notes); d != "" {
				t.Errorf("notes: -want +got\n%s", d)
			}
			if p.Meta.Partial != tc.partial {
				t.Errorf("partial %d, want %d", p.Meta.Partial, tc.partial)
			}
			var b bytes.Buffer
			if err := profile.Encode(&b, p); err != nil {
				t.Fatal(err)
			}
			if back, err := profile.Decode(&b); err != nil || cmp.Diff(p, back) != "" {
				t.Errorf("recorded and read: %v %s", err, cmp.Diff(p, back))
			}
		})
	}
}

// The time in which the process was stopped is not its call's, nor is what lay
// outside of the call.
func TestStopsAreNotMPI(t *testing.T) {
	init, _ := mpi.ParseOp("MPI_Init")
	s := &stream.Stream{PID: 1, End: 100, Stops: []Stop{{From: 5, To: 12}, {From: 20, To: 25}, {From: 48, To: 60}},
		Events: []event.Event{
			{Time: 50, TID: 1, Construct: event.MPI, Edge: event.Released, Site: 400, MPI: &event.MPICall{Op: init, Start: 10}},
			{Time: 80, TID: 1, Construct: event.MPI, Edge: event.Released, Site: 401, MPI: &event.MPICall{Op: init, Start: 70}}}}
	var got []int64
	for _, n := range Replay(s).Nodes[1:] {
		got = append(got, n.Stats[0].Exec.T)
	}
	if d := cmp.Diff([]int64{40 - 2 - 5 - 2, 10}, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// A program that starts threads without end does not have a seat for each; no
// call is missing.
func TestManyCallersShareARow(t *testing.T) {
	barrier, _ := mpi.ParseOp("MPI_Barrier")
	const threads = 3000
	e := New(1, mpiFiles{})
	for i := range uint64(threads) {
		for n := range uint64(2) {
			at := (2*i + n + 1) * 1e7
			e.Feed(&event.Event{Time: at, TID: uint32(2 + i), Construct: event.MPI, Edge: event.Released, Site: 400,
				MPI: &event.MPICall{Op: barrier, Start: at - 10}})
			e.Advance(at)
		}
	}
	if len(e.in.threads.byID) > threads/2 {
		t.Errorf("%d threads are remembered", len(e.in.threads.byID))
	}
	p := e.Finish(1e12)
	var all uint64
	for _, s := range p.Nodes[0].Stats {
		all += s.MPI.Calls
	}
	if len(p.Threads) != calls.ManyCallers+1 || all != 2*threads {
		t.Errorf("%d rows, %d calls", len(p.Threads), all)
	}
	want := []string{"More than 128 threads that start no teams called MPI: all but the first of them share one row of the tables, 129:0."}
	if d := cmp.Diff(want, p.Warnings); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// Feed keeps nothing of the caller's event: a parked thread's calls stay what
// they were.
func TestParkedCallsAreTheEngines(t *testing.T) {
	i := slices.IndexFunc(mpiCases, func(c mpiCase) bool { return strings.HasPrefix(c.name, "a worker") })
	e := New(1, mpiFiles{})
	var ev event.Event
	var call event.MPICall
	for _, next := range parse(t, mpiCases[i].events) {
		ev = next
		if ev.MPI != nil {
			call = *next.MPI
			ev.MPI = &call
		}
		e.Feed(&ev)
		call = event.MPICall{}
	}
	if d := cmp.Diff(lines(mpiCases[i].want), mpiTable(e.Finish(100))); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// Calls of one operation on one line are one region; of several, several.
func TestCallsOnOneLineAreOne(t *testing.T) {
	send, _ := mpi.ParseOp("MPI_Send")
	recv, _ := mpi.ParseOp("MPI_Recv")
	s := &stream.Stream{PID: 1, End: 100}
	for i, op := range []mpi.Op{send, send, recv} {
		site := uint64(400 + i)
		s.Events = append(s.Events, event.Event{Time: site, TID: 1, Construct: event.MPI, Edge: event.Released, Site: site,
			MPI: &event.MPICall{Op: op, Start: site}})
		s.Places = append(s.Places, stream.Placed{Key: Key{RuntimeConstruct: RuntimeConstruct{Construct: event.MPI}, Fn: 9999, Site: site},
			Region: profile.Region{Construct: event.MPI, Name: op.String(), Location: profile.Location{File: "x.c", Begin: 5}}})
	}
	p := Replay(s)
	var got []string
	for _, r := range p.Regions {
		got = append(got, fmt.Sprintf("%s %s:%d", r.Name, r.Location.File, r.Location.Begin))
	}
	if d := cmp.Diff([]string{"MPI_Recv x.c:5", "MPI_Send x.c:5"}, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}
