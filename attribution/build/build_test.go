package build

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ompp-attach/attribution/place"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// sites are a program's files: an address is at line address/10 of main.c. Two addresses are at one
// place if the tens agree.
type sites struct{ place.Resolver }

func (sites) Seen(place.Key) {}

func (sites) Region(k place.Key) profile.Region {
	file := "main.c"
	if k.Site >= 10_000 {
		file = "a.c"
	}
	return profile.Region{Construct: k.Construct, Location: profile.Location{File: file, Begin: int(k.Site / 10), End: int(k.Site / 10)}}
}

func (sites) Around(uint64) (r profile.Region, ok bool) { return r, false }

func (sites) Code(addr uint64) []profile.Frame {
	return []profile.Frame{{Function: fmt.Sprintf("f%d", addr/100), Line: int(addr / 10)}}
}

func at(c event.Construct, site uint64) place.Key {
	return place.Key{RuntimeConstruct: place.RuntimeConstruct{Construct: c, Runtime: event.Gomp}, Site: site}
}

// spent gives a seat an execution of so many ns at a node.
func spent(n *tree.Node, seat int, ns int64) {
	s := n.Stat(seat)
	s.Exec.T, s.Exec.C = s.Exec.T+ns, s.Exec.C+1
	s.Body.T, s.Body.C = s.Body.T+ns, s.Body.C+1
}

// described lists a profile's nodes: depth, construct, place,
// and the time and count of each thread.
func described(p *profile.Profile) (lines []string) {
	for i := 1; i < len(p.Nodes); i++ {
		n, depth := &p.Nodes[i], 0
		for up := n.Parent; up > 0; up = p.Nodes[up].Parent {
			depth++
		}
		r := &p.Regions[n.Region]
		line := fmt.Sprintf("%s%s %s:%d", strings.Repeat(" ", depth), r.Construct, r.Location.File, r.Location.Begin)
		for _, s := range n.Stats {
			th := p.Threads[s.Thread]
			line += fmt.Sprintf(" %d.%d:%d/%d", th.Root, th.Num, s.Exec.T, s.Exec.C)
		}
		lines = append(lines, line)
	}
	return lines
}

// Addresses that are one place are one region. Nodes that are one place on one path are one node,
// with the sums of their figures and of what is below. Regions are in the order of files and lines,
// threads in that of their numbers, and a thread without figures is not there.
func TestAssemble(t *testing.T) {
	tr := tree.New(sites{})
	first, second := tr.Child(tr.Root, at(event.Parallel, 501)), tr.Child(tr.Root, at(event.Parallel, 502))
	other := tr.Child(tr.Root, at(event.Parallel, 10_500))
	spent(first, 2, 10)
	spent(second, 2, 5)
	spent(second, 0, 7)
	spent(other, 0, 1)
	for i, n := range []*tree.Node{first, second} {
		spent(tr.Child(n, at(event.Critical, 301)), 2, int64(1+i))
	}
	barrier := tr.Child(second, at(event.Barrier, 401))
	spent(barrier, 0, 3)
	tr.Child(first, at(event.Single, 601)) // nothing was seen of it
	p := Assemble(&Input{Tree: tr, Pid: 1, Threads: []profile.Thread{{Root: 0, Num: 1, TIDs: []int{9, 8}}, {Root: 0, Num: 2}, {Root: 0, Num: 0}},
		Losses: map[tree.Seat]uint64{{Node: second, Seat: 2}: 4, {Node: barrier, Seat: 0}: 3, {Node: barrier, Seat: 2}: 2}})
	want := []string{
		"PARALLEL main.c:50 0.0:15/2 0.1:7/1", " CRITICAL main.c:30 0.0:3/2", " BARRIER main.c:40 0.1:3/1",
		"PARALLEL a.c:1050 0.1:1/1",
	}
	if got := described(p); !slices.Equal(got, want) {
		t.Errorf("nodes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var order []string
	for _, r := range p.Regions {
		order = append(order, fmt.Sprintf("%s:%d lost %d", r.Location.File, r.Location.Begin, r.Lossy))
	}
	if want := []string{"a.c:1050 lost 0", "main.c:30 lost 0", "main.c:40 lost 5", "main.c:50 lost 4"}; !slices.Equal(order, want) {
		t.Errorf("regions %q, want %q", order, want)
	}
	if len(p.Threads) != 2 || p.Threads[0].Num != 0 || p.Threads[1].Num != 1 || !slices.Equal(p.Threads[1].TIDs, []int{8, 9}) {
		t.Errorf("threads %+v", p.Threads)
	}
	if want := []profile.Loss{{Region: 2, Thread: 0, Events: 2}, {Region: 2, Thread: 1, Events: 3}, {Region: 3, Thread: 0, Events: 4}}; !slices.Equal(p.Lost, want) {
		t.Errorf("losses %+v, want %+v", p.Lost, want)
	}
}

// A process in which nothing was seen has its first thread.
func TestAssembleNothing(t *testing.T) {
	p := Assemble(&Input{Tree: tree.New(sites{}), Pid: 42})
	if len(p.Threads) != 1 || !slices.Equal(p.Threads[0].TIDs, []int{42}) || len(p.Nodes) != 1 || p.Nodes[0].Parent != -1 || len(p.Regions) != 0 {
		t.Errorf("%+v", p)
	}
}

// Notes and flags of all nodes that become one region are the region's.
func TestNotes(t *testing.T) {
	for _, tc := range []struct {
		flags [2]tree.Flags
		want  []string
	}{
		{[2]tree.Flags{0, 0}, []string{"a", "b"}},
		{[2]tree.Flags{tree.Unobserved, 0}, []string{"a", "b", NoteUnobserved}},
		{[2]tree.Flags{tree.Unobserved, tree.AtLeast}, []string{"a", "b", NoteAtLeast}},
		{[2]tree.Flags{tree.Inline, tree.Inline}, []string{"a", "b"}},
	} {
		tr := tree.New(sites{})
		for i, site := range []uint64{501, 502} {
			n := tr.Child(tr.Root, at(event.Critical, site))
			spent(n, 0, 1)
			n.Flags = tc.flags[i]
			n.Note([]string{"b", "a"}[i])
			n.Note("b")
		}
		p := Assemble(&Input{Tree: tr, Threads: make([]profile.Thread, 1)})
		slices.Sort(tc.want)
		if len(p.Regions) != 1 || !slices.Equal(p.Regions[0].Notes, tc.want) {
			t.Errorf("flags %v: %+v, want notes %q", tc.flags, p.Regions, tc.want)
		}
	}
}

// GCC's parallel region with one loop in which all threads took part, and no barrier, is the
// directive that the source says. Otherwise the two stay two.
func TestCombine(t *testing.T) {
	for _, tc := range []struct {
		name    string
		source  event.Construct // what the source says of the region
		barrier uint64          // of the loop
		loops   int64           // executions of the loop on thread 1; the region has one
		want    []string
	}{
		{"parallel for", event.ParallelLoop, 0, 1, []string{"PARALLEL LOOP main.c:50 0.0:10/1 0.1:10/1", " CRITICAL main.c:55 0.0:1/1"}},
		{"with a barrier", event.ParallelLoop, 1, 1, []string{"PARALLEL LOOP main.c:50 0.0:10/1 0.1:10/1", " LOOP main.c:51 0.0:8/1 0.1:8/1", "  CRITICAL main.c:55 0.0:1/1"}},
		{"not on all threads", event.ParallelLoop, 0, 2, []string{"PARALLEL LOOP main.c:50 0.0:10/1 0.1:10/1", " LOOP main.c:51 0.0:8/1 0.1:16/2", "  CRITICAL main.c:55 0.0:1/1"}},
		{"two directives", event.Parallel, 0, 1, []string{"PARALLEL main.c:50 0.0:10/1 0.1:10/1", " LOOP main.c:51 0.0:8/1 0.1:8/1", "  CRITICAL main.c:55 0.0:1/1"}},
	} {
		tr := tree.New(refining{as: tc.source})
		region := tr.Child(tr.Root, at(event.Parallel, 500))
		loop := tr.Child(region, at(event.Loop, 510))
		for seat := range 2 {
			spent(region, seat, 10)
			region.Stat(seat).Child = 8
			spent(loop, seat, 8)
			loop.Stat(seat).Barrier.C = tc.barrier
		}
		for range tc.loops - 1 {
			spent(loop, 1, 8)
		}
		spent(tr.Child(loop, at(event.Critical, 550)), 0, 1)
		p := Assemble(&Input{Tree: tr, Threads: []profile.Thread{{Num: 0}, {Num: 1}}})
		if got := described(p); !slices.Equal(got, tc.want) {
			t.Errorf("%s: nodes\n%s\nwant\n%s", tc.name, strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
		}
		combined := len(tc.want) == 2
		if told := slices.ContainsFunc(p.Regions, func(r profile.Region) bool { return slices.Contains(r.Notes, NoteSplit) }); told != combined {
			t.Errorf("%s: says that it was split: %t", tc.name, told)
		}
		if s := p.Nodes[1].Stats[1]; combined && s.Child != 0 {
			t.Errorf("%s: %d ns of the region are others', which the loop was", tc.name, s.Child)
		}
	}
}

// refining finds another construct in the source than the runtime's call says.
type refining struct {
	sites
	as event.Construct
}

func (r refining) Region(k place.Key) profile.Region {
	out := r.sites.Region(k)
	if k.Construct == event.Parallel {
		out.Construct = r.as
	}
	return out
}

// Samples of one line are one; of a return address the call's line counts. A worker outside of
// regions is idle.
func TestSamples(t *testing.T) {
	stack := func(addrs ...uint64) (s string) {
		for _, a := range addrs {
			s += string(binary.LittleEndian.AppendUint64(nil, a))
		}
		return s
	}
	tr := tree.New(sites{})
	n := tr.Child(tr.Root, at(event.Parallel, 500))
	for i, s := range []int32{0, 1, 2} {
		n.Samples.Add(tree.SampleID{Seat: 1, Phase: profile.PhaseBody, Stack: s}, tree.SampleSum{Count: uint64(1 + i), Weight: uint64(10 + i)})
	}
	tr.Root.Samples.Add(tree.SampleID{Seat: 0, Stack: 3}, tree.SampleSum{Count: 1, Weight: 1})
	tr.Root.Samples.Add(tree.SampleID{Seat: 1, Stack: 3}, tree.SampleSum{Count: 1, Weight: 1})
	p := Assemble(&Input{Tree: tr, Threads: []profile.Thread{{Num: 0}, {Num: 1}},
		Stacks:       []string{stack(511, 900), stack(519, 899), stack(511, 910), stack(700)},
		SeatOfSample: func(id tree.SampleID) int { return id.Seat }})
	var got []string
	for _, s := range p.Samples {
		line := fmt.Sprintf("node %d thread %d %q %d/%d", s.Node, s.Thread, s.Phase, s.Count, s.Weight)
		for _, f := range s.Stack {
			line += fmt.Sprintf(" line %d", p.Frames[f].Line)
		}
		got = append(got, line)
	}
	want := []string{
		`node 0 thread 0 "" 1/1 line 70`, fmt.Sprintf("node 0 thread 1 %q 1/1 line 70", profile.PhaseIdle),
		fmt.Sprintf("node 1 thread 1 %q 3/21 line 51 line 89", profile.PhaseBody), fmt.Sprintf("node 1 thread 1 %q 3/12 line 51 line 90", profile.PhaseBody),
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("samples\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Up to FewBrief initial threads of a brief life keep rows of their own; more share one, with the
// sums of their figures. One that lived long stays by itself.
func TestBriefThreads(t *testing.T) {
	for _, brief := range []int{FewBrief, FewBrief + 1} {
		tr := tree.New(sites{})
		n := tr.Child(tr.Root, at(event.Parallel, 500))
		threads := []profile.Thread{{Root: 0, Num: 0, Lived: 1000}, {Root: 1, Num: 0, Lived: 900}}
		spent(n, 0, 100)
		spent(n, 1, 200)
		for i := range brief {
			threads = append(threads, profile.Thread{Root: 2 + i, Num: 0, Lived: 50}, profile.Thread{Root: 2 + i, Num: 1})
			spent(n, len(threads)-2, 3)
			spent(n, len(threads)-1, 2)
		}
		p := Assemble(&Input{Tree: tr, Threads: threads, Measured: 1000, Losses: map[tree.Seat]uint64{{Node: n, Seat: len(threads) - 1}: 7}})
		if brief == FewBrief {
			if len(p.Threads) != len(threads) || len(p.Warnings) != 0 {
				t.Errorf("%d brief threads: %d rows, warnings %q", brief, len(p.Threads), p.Warnings)
			}
			continue
		}
		want := []string{fmt.Sprintf("PARALLEL main.c:50 0.0:100/1 1.0:200/1 2.0:%d/%d 2.1:%d/%d", 3*brief, brief, 2*brief, brief)}
		if got := described(p); !slices.Equal(got, want) {
			t.Errorf("nodes %q, want %q", got, want)
		}
		if len(p.Lost) != 1 || p.Lost[0].Thread != 3 || len(p.Warnings) != 1 || !strings.HasPrefix(p.Warnings[0], fmt.Sprint(brief)+" initial threads") {
			t.Errorf("losses %+v, warnings %q", p.Lost, p.Warnings)
		}
	}
}
