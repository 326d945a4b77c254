package reporttest

import (
	"math"
	"time"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// Builder makes profiles with figures that agree with each other. Exec is the sum of its parts, and
// a node's Child is the time of the nodes inside.
type Builder struct{ P *profile.Profile }

// Row is one thread's times at a node, in seconds.
type Row struct {
	Thread                             int
	Enter, Body, Barrier, Exit, manage float64
	C, bodyC                           uint64
}

// NS returns seconds in nanoseconds.
func NS(seconds float64) int64 { return int64(math.Round(seconds * 1e9)) }

// NewBuilder returns a builder of a run that took so many seconds. It has the program only.
func NewBuilder(name string, seconds float64) *Builder {
	return &Builder{&profile.Profile{
		Version: profile.SchemaVersion,
		Meta: profile.Meta{Target: profile.Target{Program: name, Path: "/opt/bin/" + name, PID: 4711},
			Machine:  profile.Machine{Host: "node1", Kernel: "6.1.0-18-amd64", Arch: "x86_64"},
			Writer:   profile.Writer{Tool: "0.1.0", Built: "2024-05-01"},
			Life:     profile.Life{Start: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC), Duration: NS(seconds), UserTime: NS(30.25), SysTime: NS(0.5), Ended: "exit 0"},
			Trust:    profile.Trust{Hits: 123456},
			Runtimes: []profile.Runtime{{Name: "libgomp", Path: "/usr/lib/libgomp.so.1", Version: "12.2", Probes: 50}}},
		Nodes: []profile.Node{{Parent: -1, Region: -1}},
	}}
}

// Team adds the threads of an initial thread.
func (b *Builder) Team(root, size int) {
	for i := range size {
		b.P.Threads = append(b.P.Threads, profile.Thread{Root: root, Num: i, TIDs: []int{100*root + i}})
	}
}

// Region adds a region, and returns its index.
func (b *Builder) Region(c event.Construct, l profile.Location) int {
	b.P.Regions = append(b.P.Regions, profile.Region{Construct: c, Location: l})
	return len(b.P.Regions) - 1
}

// Node adds a node. Each entry of from is a thread of the parent, and the seconds that it spent in
// the node. nil stands for the thread and the time of each row. That is right for all constructs
// that start no team.
func (b *Builder) Node(parent, region int, from map[int]float64, rows ...Row) int {
	n := profile.Node{Parent: parent, Region: region}
	for _, r := range rows {
		s := profile.ThreadStats{Thread: r.Thread, Enter: profile.Sum{T: NS(r.Enter), C: r.C},
			Body: profile.Sum{T: NS(r.Body), C: r.bodyC}, Exit: profile.Sum{T: NS(r.Exit), C: r.C},
			Barrier: profile.Sum{T: NS(r.Barrier), C: r.C}}
		if r.bodyC == 0 && r.Body > 0 {
			s.Body.C = r.C
		}
		s.Exec = profile.Sum{T: s.Enter.T + s.Body.T + s.Barrier.T + s.Exit.T + NS(r.manage), C: r.C}
		n.Stats = append(n.Stats, s)
		if from == nil {
			b.child(parent, r.Thread, s.Exec.T)
		}
	}
	for thread, t := range from {
		b.child(parent, thread, NS(t))
	}
	b.P.Nodes = append(b.P.Nodes, n)
	return len(b.P.Nodes) - 1
}

func (b *Builder) child(parent, thread int, t int64) {
	for i := range b.P.Nodes[parent].Stats {
		if s := &b.P.Nodes[parent].Stats[i]; s.Thread == thread {
			s.Child += t
		}
	}
}

// Lines returns lines of the program's source as a place.
func Lines(begin, end int) profile.Location {
	return profile.Location{File: "/src/app/main.c", Begin: begin, End: end, Function: "main", Object: "/opt/bin/mixed", Offset: 0x1139}
}
