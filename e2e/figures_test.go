package e2e

import (
	"fmt"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// perThread are counts by OpenMP thread number.
type perThread map[int]uint64

func (p perThread) total() (sum uint64) {
	for _, n := range p {
		sum += n
	}
	return sum
}

func (p perThread) equal(q perThread) bool {
	for k, n := range p {
		if q[k] != n {
			return false
		}
	}
	for k, n := range q {
		if p[k] != n {
			return false
		}
	}
	return true
}

// pick says which count of a thread at a node is meant.
type pick func(*profile.ThreadStats) uint64

func execC(s *profile.ThreadStats) uint64    { return s.Exec.C }
func bodyC(s *profile.ThreadStats) uint64    { return s.Body.C }
func enterC(s *profile.ThreadStats) uint64   { return s.Enter.C }
func barrierC(s *profile.ThreadStats) uint64 { return s.Barrier.C }

// count sums over all nodes of regions that match.
func count(p *profile.Profile, what pick, match func(*profile.Region) bool) perThread {
	sum := perThread{}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Region < 0 || !match(&p.Regions[n.Region]) {
			continue
		}
		for j := range n.Stats {
			if c := what(&n.Stats[j]); c > 0 {
				sum[p.Threads[n.Stats[j].Thread].Num] += c
			}
		}
	}
	return sum
}

// is matches regions of any of the constructs.
func is(cs ...event.Construct) func(*profile.Region) bool {
	return func(r *profile.Region) bool {
		for _, c := range cs {
			if r.Construct == c {
				return true
			}
		}
		return false
	}
}

func parallel(r *profile.Region) bool {
	return r.Construct.IsParallel() && r.Construct != event.Unknown && r.Construct != event.Teams
}

// complete fails the test unless everything was seen whole.
func complete(t testing.TB, p *profile.Profile) {
	t.Helper()
	if m := p.Meta; m.LostHits != 0 || m.Unmatched != 0 || m.Partial != 0 || len(p.Lost) != 0 {
		t.Errorf("lost %d, unmatched %d, partial %d, want none of each", m.LostHits, m.Unmatched, m.Partial)
	}
	if m := p.Meta; m.Hits == 0 {
		t.Error("no probe was hit")
	}
	for _, w := range p.Warnings {
		if !aboutCores(w) {
			t.Errorf("warning: %s", w)
		}
	}
	for _, rt := range p.Meta.Runtimes {
		for _, m := range rt.Missing {
			t.Errorf("%s: no probe for %s", rt.Name, m)
		}
	}
}

// aboutCores tells warnings about the machine from those about the measurement. The former depend
// on the machine and on how fast it starts threads. They are: more threads than cores, what samples
// cost and when they begin, and initial threads that lived briefly.
func aboutCores(warning string) bool {
	for _, begin := range []string{"A sample costs ", "Samples of this process begin "} {
		if strings.HasPrefix(warning, begin) {
			return true
		}
	}
	for _, part := range []string{"(its affinity mask)", "(its control group", " initial threads that lived briefly share row "} {
		if strings.Contains(warning, part) {
			return true
		}
	}
	return false
}

// balanced fails the test unless every thread's time in every region is the sum
// of its parts, no figure is negative.
func balanced(t testing.TB, p *profile.Profile) {
	t.Helper()
	const enough = 8
	wrong := 0
	errorf := func(format string, args ...any) {
		t.Helper()
		if wrong++; wrong <= enough {
			t.Errorf(format, args...)
		}
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		for j := range n.Stats {
			s := &n.Stats[j]
			for _, v := range []int64{s.Exec.T, s.Body.T, s.Barrier.T, s.Exit.T, s.Child} {
				// In nested teams, several threads bear one number. (Enter is a
				// part of Exec, but for tasks: many wait in a queue at once.)
				if v < 0 || v > p.Meta.Duration*int64(max(1, len(p.Threads[s.Thread].TIDs))) {
					errorf("%s thread %d: a time of %d ns in a run of %d ns", path(p, i), p.Threads[s.Thread].Num, v, p.Meta.Duration)
				}
			}
			if n.Region < 0 {
				continue
			}
			if c := p.Regions[n.Region].Construct; c == event.TaskExec || c == event.UntiedTaskExec {
				if s.Exec.T != s.Body.T {
					errorf("%s thread %d: execT %d, body %d", path(p, i), p.Threads[s.Thread].Num, s.Exec.T, s.Body.T)
				}
				continue // Enter is the queueing delay
			}
			parts := s.Enter.T + s.Body.T + s.Barrier.T + s.Exit.T
			switch c := p.Regions[n.Region].Construct; c {
			case event.Sections, event.Single, event.ParallelSections, event.Barrier, event.Unknown:
				if parts > s.Exec.T {
					errorf("%s thread %d: execT %d is less than its parts, %d", path(p, i), p.Threads[s.Thread].Num, s.Exec.T, parts)
				}
			default:
				// Every execution may leave a nanosecond between two phases.
				if d := s.Exec.T - parts; d < 0 || d > int64(s.Exec.C) {
					errorf("%s thread %d: execT %d, parts %d (enter %d, body %d, barrier %d, exit %d)", path(p, i),
						p.Threads[s.Thread].Num, s.Exec.T, parts, s.Enter.T, s.Body.T, s.Barrier.T, s.Exit.T)
				}
			}
		}
	}
}

// path spells the regions from the root to a node.
func path(p *profile.Profile, i int) string {
	const enough = 8
	var names []string
	for ; i > 0; i = p.Nodes[i].Parent {
		if len(names) == enough {
			names = append([]string{"..."}, names[len(names)-enough/2:]...)
		}
		r := p.Regions[p.Nodes[i].Region]
		names = append([]string{fmt.Sprintf("%s %s:%d", r.Construct, r.Location.Function, r.Location.Begin)}, names...)
	}
	return strings.Join(names, " > ")
}

// dump prints a profile's counts, for failures.
func dump(p *profile.Profile) string {
	var b strings.Builder
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Region < 0 {
			continue
		}
		fmt.Fprintf(&b, "%s:", path(p, i))
		for _, s := range n.Stats {
			th := p.Threads[s.Thread]
			fmt.Fprintf(&b, "  %d.%d exec %d body %d bar %d", th.Root, th.Num, s.Exec.C, s.Body.C, s.Barrier.C)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
