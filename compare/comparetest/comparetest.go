// Package comparetest makes up runs for the tests of comparisons.
package comparetest

import (
	"bytes"
	"cmp"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"ompp-attach/compare"
	"ompp-attach/event"
	"ompp-attach/job"
	"ompp-attach/profile"
)

// Loop is a parallel loop of a made-up program.
type Loop struct {
	Function   string
	Begin, End int   // lines
	Work       int64 // ns per thread
	Construct  event.Construct
	Count      uint64 // executions per thread; 0: 10
	In         int    // number of the loop, from 1, that this one lies in; it precedes this one
}

// Program is a made-up program, whose build id is its name and Build.
type Program struct {
	Name    string
	Build   string
	Threads int
	Loops   []Loop
	Counter bool  // it has a counter, of twice as many events as ns of work
	Serial  int64 // ns
}

// Heat is a program of seven loops, one of which takes hardly any time.
func Heat() Program {
	const ms = 1e6
	return Program{Name: "heat", Build: "1", Threads: 4, Serial: 30 * ms, Loops: []Loop{
		{"assemble", 10, 14, 200 * ms, event.ParallelLoop, 0, 0}, {"assemble", 20, 24, 90 * ms, event.ParallelLoop, 0, 0},
		{"solve", 40, 48, 400 * ms, event.ParallelLoop, 0, 0}, {"solve", 52, 60, 150 * ms, event.ParallelLoop, 0, 0},
		{"solve", 64, 66, 60 * ms, event.ParallelLoop, 0, 0}, {"norm", 80, 83, 70 * ms, event.ParallelLoop, 0, 0},
		{"output", 90, 92, ms / 10, event.ParallelLoop, 0, 0}}}
}

// Shift returns the program of another build, in which all lines from one on are so many lines
// lower.
func (p Program) Shift(from, by int) Program {
	loops := append([]Loop(nil), p.Loops...)
	for i := range loops {
		if loops[i].Begin >= from {
			loops[i].Begin, loops[i].End = loops[i].Begin+by, loops[i].End+by
		}
	}
	p.Loops, p.Build = loops, p.Build+"+"
	return p
}

// Slow returns the program of another build, in which one loop takes longer by a factor.
func (p Program) Slow(loop int, factor float64) Program {
	loops := append([]Loop(nil), p.Loops...)
	loops[loop].Work = int64(float64(loops[loop].Work) * factor)
	p.Loops, p.Build = loops, p.Build+"'"
	return p
}

// Profile returns the profile of a run in which each time is multiplied by what noise returns, and
// all threads wait for the slowest one.
func (p Program) Profile(noise func() float64) *profile.Profile {
	out := &profile.Profile{Version: profile.SchemaVersion,
		Meta: profile.Meta{Target: profile.Target{Program: p.Name, Path: "/opt/" + p.Name}, Machine: profile.Machine{Host: "node"},
			Writer: profile.Writer{Tool: "test"}, Life: profile.Life{Ended: "exit 0"}},
		Nodes:   []profile.Node{{Parent: -1, Region: -1}},
		Objects: []profile.Object{{Path: "/opt/" + p.Name, BuildID: p.Name + p.Build}}}
	if p.Counter {
		out.Meta.Counters = []profile.Counter{{Name: "instructions"}}
	}
	for i := range p.Threads {
		out.Threads = append(out.Threads, profile.Thread{Num: i})
	}
	wall := int64(float64(p.Serial) * noise())
	for i, l := range p.Loops {
		out.Regions = append(out.Regions, profile.Region{Construct: l.Construct, Location: profile.Location{File: "/src/heat.c", Begin: l.Begin, End: l.End,
			Function: l.Function, Object: "/opt/" + p.Name, Offset: uint64(0x1000 + 16*l.Begin)}})
		node := profile.Node{Parent: l.In, Region: i}
		work, most := make([]int64, p.Threads), int64(0)
		for t := range work {
			work[t] = int64(float64(l.Work) * noise())
			most = max(most, work[t])
		}
		count := cmp.Or(l.Count, 10)
		for t, w := range work {
			s := profile.ThreadStats{Thread: t, Exec: profile.Sum{T: most, C: count}, Body: profile.Sum{T: w, C: count}, Barrier: profile.Sum{T: most - w, C: count}}
			if p.Counter {
				s.Counters = []int64{2 * w}
			}
			node.Stats = append(node.Stats, s)
		}
		out.Nodes = append(out.Nodes, node)
		for at := l.In; at > 0; at = out.Nodes[at].Parent {
			for t := range out.Nodes[at].Stats {
				s := &out.Nodes[at].Stats[t]
				s.Exec.T, s.Body.T = s.Exec.T+most, s.Body.T+most
				if at == l.In {
					s.Child += most
				}
			}
		}
		wall += most
	}
	out.Meta.Duration = wall
	return out
}

// Noise returns the noise of one run. Each time varies by some percent, and all times of the run
// together by some more. Now and then a time is far greater.
func Noise(r *rand.Rand) func() float64 {
	run := math.Exp(0.01 * r.NormFloat64())
	return func() float64 {
		f := run * math.Exp(0.01*r.NormFloat64())
		if r.IntN(200) == 0 {
			f *= 1 + 0.2*r.ExpFloat64()
		}
		return f
	}
}

// Exactly is no noise.
func Exactly() float64 { return 1 }

// Job reads profiles as the ranks of a job.
func Job(t testing.TB, profiles ...*profile.Profile) *job.Job {
	t.Helper()
	var sources []job.Source
	for rank, p := range profiles {
		var b bytes.Buffer
		if err := profile.Encode(&b, p); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, job.Source{Name: "profile", Rank: rank, Open: func() (io.ReadCloser, error) { return io.NopCloser(&b), nil }})
	}
	j, err := job.Read(sources, job.Options{Paths: true})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// Runs makes n runs of a program.
func (p Program) Runs(t testing.TB, r *rand.Rand, n int) (runs []compare.Run) {
	t.Helper()
	for range n {
		noise := Exactly
		if r != nil {
			noise = Noise(r)
		}
		runs = append(runs, compare.Run{Name: p.Name, Job: Job(t, p.Profile(noise))})
	}
	return runs
}

// Hidden changes a profile: probes took so much of the time that times cannot be told.
func Hidden(p *profile.Profile) {
	p.Meta.UserTime = p.Meta.Duration
	p.Meta.Overhead = &profile.Overhead{Probes: []profile.ProbeHits{{Probe: "emulated", Hits: uint64(p.Meta.Duration), Before: 1}}}
	p.Nodes[0].Stats = []profile.ThreadStats{{Cost: &profile.Cost{Exec: p.Meta.Duration / 2}}}
}
