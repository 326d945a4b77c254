package attribution

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
)

// fakeFiles answers as a program's files would: addresses below 100 name
// libgomp's combined constructs and the shape of single's code.
type fakeFiles struct{}

func (fakeFiles) Team(site uint64) event.Construct {
	return map[uint64]event.Construct{91: event.ParallelLoop, 92: event.ParallelSections}[site]
}

func (fakeFiles) Workshare(loc uint64) event.Construct {
	if loc/100 == 4 {
		return event.Sections
	}
	return event.Loop
}

func (fakeFiles) Barrier(loc uint64) BarrierKind {
	if loc == 22 {
		return BarrierExplicit
	}
	return BarrierImplicit
}

func (fakeFiles) SingleBarrier(site, _ uint64) BarrierKind {
	return map[uint64]BarrierKind{81: BarrierImplicit, 82: BarrierExplicit, 83: BarrierDropped}[site]
}

func (fakeFiles) Seen(Key) {}

// Region places a construct at a line equal to its address, so that two sites
// can be one place (addresses a and a+1000).
func (fakeFiles) Region(k Key) Region {
	line := k.Fn | k.Site
	if k.Runtime == event.Kmpc && k.Loc != 0 {
		line = k.Loc
	}
	return Region{Construct: k.Construct, Runtime: k.Runtime.String(), Location: Location{File: "x.c", Begin: int(line % 1000)}}
}

// parse reads one event a line: time thread edge construct [field=value...];
// rt=k makes it libomp's.
func parse(t testing.TB, text string) []event.Event {
	t.Helper()
	var out []event.Event
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		ev := event.Event{PID: 1, Runtime: event.Gomp}
		ev.Time = number(t, f[0])
		ev.TID = uint32(number(t, f[1]))
		var ok bool
		if ev.Edge, ok = event.ParseEdge(f[2]); !ok {
			t.Fatalf("%q: no such edge", line)
		}
		c := strings.ToUpper(strings.ReplaceAll(f[3], "-", " "))
		if ev.Construct, ok = event.ParseConstruct(c); !ok {
			t.Fatalf("%q: no such construct", line)
		}
		for _, kv := range f[4:] {
			k, v, _ := strings.Cut(kv, "=")
			switch k {
			case "rt":
				ev.Runtime = event.Kmpc
			case "site":
				ev.Site = number(t, v)
			case "fn":
				ev.Fn = number(t, v)
			case "loc":
				ev.Loc = number(t, v)
			case "key":
				ev.Key = number(t, v)
			case "num":
				ev.Num = int32(number(t, v))
			case "size":
				ev.Size = int32(number(t, v))
			case "sp":
				ev.SP = number(t, v)
			case "lost":
				ev.Lost = uint32(number(t, v))
			case "v":
				ev.Value = int64(number(t, v))
			case "free":
				ev.Flags |= event.FreeAtOnce
			case "noret":
				ev.Flags |= event.NoReturn
			case "inside":
				ev.Flags |= event.Inside
			case "atonce":
				ev.Flags |= event.AtOnce
			default:
				t.Fatalf("%q: no such field %s", line, k)
			}
		}
		out = append(out, ev)
	}
	return out
}

func number(t testing.TB, s string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func replay(events []event.Event, end uint64) *Profile {
	e := New(1, fakeFiles{})
	for i := range events {
		e.Feed(&events[i])
	}
	return e.Finish(end)
}

// table renders a profile's tree, one line per node and thread:
// path thread exec.T/C enter body.T/C barrier exit child.
func table(p *Profile) []string {
	var out []string
	path := make([]string, len(p.Nodes))
	for i, n := range p.Nodes {
		if n.Parent < 0 {
			path[i] = ""
			continue
		}
		r := p.Regions[n.Region]
		path[i] = path[n.Parent] + "/" + fmt.Sprintf("%s@%d", r.Construct, r.Location.Begin)
		for _, s := range n.Stats {
			th := p.Threads[s.Thread]
			out = append(out, fmt.Sprintf("%s %d:%d exec %d/%d enter %d body %d/%d bar %d exit %d child %d",
				path[i][1:], th.Root, th.Num, s.Exec.T, s.Exec.C, s.Enter.T, s.Body.T, s.Body.C, s.Barrier.T, s.Exit.T, s.Child))
		}
	}
	return out
}

func lines(s string) []string {
	var out []string
	for _, l := range strings.Split(s, "\n") {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// Two threads; the primary works 10 to 60, the worker 20 to 100; the team's
// fork is at 5, its join at 110.
const twoThreads = `
	5 1 fork parallel fn=300 key=7 size=2 site=90
	10 1 begin parallel
	20 2 begin parallel key=7 num=1
	60 1 end parallel
	100 2 end parallel
	110 1 join parallel
`

func TestEngine(t *testing.T) {
	for _, tc := range []struct {
		name, events, want string
		end                uint64
		unmatched, partial uint64
	}{
		{name: "team settles: execT = startup + body + barrier + shutdown",
			events: twoThreads,
			want: `PARALLEL@300 0:0 exec 105/1 enter 5 body 50/1 bar 40 exit 10 child 0
			       PARALLEL@300 0:1 exec 105/1 enter 15 body 80/1 bar 0 exit 10 child 0`},
		{name: "team pointers are reused, size changes",
			events: twoThreads + `
			205 1 fork parallel fn=300 key=7 size=1 site=90
			210 1 begin parallel
			260 1 end parallel
			270 1 join parallel`,
			want: `PARALLEL@300 0:0 exec 170/2 enter 10 body 100/2 bar 40 exit 20 child 0
			       PARALLEL@300 0:1 exec 105/1 enter 15 body 80/1 bar 0 exit 10 child 0`},
		{name: "critical: free at once, contended, slow release; child time of the parent",
			events: `
			0 1 fork parallel fn=300 key=7 size=2 site=90
			0 1 begin parallel
			0 2 begin parallel key=7 num=1
			10 1 enter critical site=400 free noret
			15 2 enter critical site=400
			30 1 release critical
			32 2 acquired critical
			35 1 released critical
			40 2 release critical free noret
			50 1 end parallel
			50 2 end parallel
			50 1 join parallel`,
			want: `PARALLEL@300 0:0 exec 50/1 enter 0 body 50/1 bar 0 exit 0 child 25
			       PARALLEL@300 0:1 exec 50/1 enter 0 body 50/1 bar 0 exit 0 child 25
			       PARALLEL@300/CRITICAL@400 0:0 exec 25/1 enter 0 body 20/1 bar 0 exit 5 child 0
			       PARALLEL@300/CRITICAL@400 0:1 exec 25/1 enter 17 body 8/1 bar 0 exit 0 child 0`},
		{name: "two sites of one place are one region",
			events: `
			10 1 enter critical site=400 free noret
			20 1 release critical free noret
			30 1 enter critical site=1400 free noret
			45 1 release critical free noret`,
			want: `CRITICAL@400 0:0 exec 25/2 enter 0 body 25/2 bar 0 exit 0 child 0`},
		{name: "gomp: dynamic loop with its barrier, and nowait",
			events: `
			10 1 open loop site=500
			30 1 wait loop
			50 1 waited loop
			60 1 open loop site=510
			75 1 close loop`,
			want: `LOOP@500 0:0 exec 40/1 enter 0 body 20/1 bar 20 exit 0 child 0
			       LOOP@510 0:0 exec 15/1 enter 0 body 15/1 bar 0 exit 0 child 0`},
		{name: "gomp: a jump to another entry point reports one loop twice",
			events: `
			10 1 open loop site=500 sp=64
			11 1 open loop site=777 sp=64
			30 1 close loop`,
			want: `LOOP@500 0:0 exec 20/1 enter 0 body 20/1 bar 0 exit 0 child 0`},
		{name: "gomp: single, winner and loser, its barrier, then an explicit one",
			events: `
			10 1 open single site=81
			11 1 result single v=1
			30 1 wait barrier site=600
			40 1 waited barrier
			50 1 wait barrier site=610
			60 1 waited barrier
			110 1 open single site=81
			111 1 result single v=0
			115 1 wait barrier site=600
			140 1 waited barrier`,
			want: `SINGLE@81 0:0 exec 60/2 enter 0 body 20/1 bar 36 exit 0 child 0
			       BARRIER@610 0:0 exec 10/1 enter 0 body 0/0 bar 0 exit 0 child 0`},
		{name: "gomp: single nowait is counted and claims no barrier",
			events: `
			10 1 open single site=82
			11 1 result single v=1
			30 1 wait barrier site=600
			40 1 waited barrier`,
			want: `SINGLE@82 0:0 exec 1/1 enter 0 body 0/1 bar 0 exit 0 child 0
			       BARRIER@600 0:0 exec 10/1 enter 0 body 0/0 bar 0 exit 0 child 0`},
		{name: "gomp: single at a region's end, whose barrier GCC drops",
			events: `
			0 1 fork parallel fn=300 key=7 size=2 site=90
			0 1 begin parallel
			0 2 begin parallel key=7 num=1
			10 1 open single site=83
			11 1 result single v=1
			12 2 open single site=83
			13 2 result single v=0
			14 2 end parallel
			40 1 end parallel
			50 1 join parallel`,
			want: `PARALLEL@300 0:0 exec 50/1 enter 0 body 40/1 bar 0 exit 10 child 30
			       PARALLEL@300 0:1 exec 50/1 enter 0 body 14/1 bar 26 exit 10 child 1
			       PARALLEL@300/SINGLE@83 0:0 exec 30/1 enter 0 body 30/1 bar 0 exit 0 child 0
			       PARALLEL@300/SINGLE@83 0:1 exec 1/1 enter 0 body 0/0 bar 1 exit 0 child 0`},
		{name: "gomp: sections, two of them on this thread",
			events: `
			10 1 open sections site=500
			12 1 result sections v=1
			20 1 release sections
			21 1 result sections v=2
			30 1 release sections
			31 1 result sections
			32 1 wait sections
			40 1 waited sections`,
			want: `SECTIONS@500 0:0 exec 30/1 enter 0 body 17/2 bar 8 exit 0 child 0`},
		{name: "gomp: combined constructs come from the fork's call",
			events: `
			0 1 fork parallel fn=300 key=7 size=1 site=91
			1 1 begin parallel
			5 1 close loop
			9 1 end parallel
			10 1 join parallel
			20 1 fork parallel fn=310 key=7 size=1 site=92
			21 1 begin parallel
			22 1 release sections
			23 1 result sections v=1
			27 1 release sections
			28 1 result sections
			29 1 close sections
			29 1 end parallel
			30 1 join parallel`,
			want: `PARALLEL LOOP@300 0:0 exec 10/1 enter 1 body 8/1 bar 0 exit 1 child 0
			       PARALLEL SECTIONS@310 0:0 exec 10/1 enter 1 body 4/1 bar 0 exit 1 child 0`},
		{name: "nested team: a worker's inner region lies under its outer one",
			events: `
			0 1 fork parallel fn=300 key=7 size=2 site=90
			0 1 begin parallel
			0 2 begin parallel key=7 num=1
			10 2 fork parallel fn=310 key=8 size=2 site=90
			12 2 begin parallel
			14 3 begin parallel key=8 num=1
			30 2 end parallel
			40 3 end parallel
			44 2 join parallel
			50 1 end parallel
			60 2 end parallel
			60 1 join parallel`,
			want: `PARALLEL@300 0:0 exec 60/1 enter 0 body 50/1 bar 10 exit 0 child 0
			       PARALLEL@300 0:1 exec 60/1 enter 0 body 60/1 bar 0 exit 0 child 34
			       PARALLEL@300/PARALLEL@310 0:0 exec 34/1 enter 2 body 18/1 bar 10 exit 4 child 0
			       PARALLEL@300/PARALLEL@310 0:1 exec 34/1 enter 4 body 26/1 bar 0 exit 4 child 0`},
		{name: "locks may overlap: hand over hand",
			events: `
			0 1 enter lock site=400 fn=1 free noret
			10 1 enter lock site=410 fn=2 free noret
			20 1 release lock fn=1 free noret
			35 1 release lock fn=2 free noret`,
			want: `LOCK@400 0:0 exec 20/1 enter 0 body 20/1 bar 0 exit 0 child 10
			       LOCK@400/LOCK@410 0:0 exec 25/1 enter 0 body 25/1 bar 0 exit 0 child 0`},
		{name: "lock tests: a failure is no execution",
			events: `
			0 1 enter lock site=400 fn=1
			2 1 result lock v=0
			10 1 enter lock site=400 fn=1
			12 1 result lock v=1
			20 1 release lock fn=1 free noret`,
			want: `LOCK@400 0:0 exec 10/1 enter 2 body 8/1 bar 0 exit 0 child 0`},
		{name: "recursion: a critical under itself in another lock's name",
			events: `
			0 1 enter nest-lock site=400 fn=1
			1 1 acquired nest-lock
			2 1 enter nest-lock site=400 fn=1
			3 1 acquired nest-lock
			4 1 release nest-lock fn=1
			5 1 released nest-lock
			6 1 release nest-lock fn=1
			7 1 released nest-lock`,
			want: `NEST LOCK@400 0:0 exec 7/1 enter 1 body 5/1 bar 0 exit 1 child 3
			       NEST LOCK@400/NEST LOCK@400 0:0 exec 3/1 enter 1 body 1/1 bar 0 exit 1 child 0`},
		{name: "libomp: static loop with barrier, nowait loop, explicit barrier",
			events: `
			10 1 open loop rt=k site=500 loc=202 v=100
			30 1 close loop rt=k
			31 1 wait barrier rt=k site=501 loc=42
			40 1 waited barrier rt=k
			50 1 open loop rt=k site=510 loc=203
			60 1 close loop rt=k
			70 1 wait barrier rt=k site=511 loc=22
			80 1 waited barrier rt=k`,
			want: `LOOP@202 0:0 exec 30/1 enter 0 body 21/1 bar 9 exit 0 child 0
			       LOOP@203 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 0
			       BARRIER@22 0:0 exec 10/1 enter 0 body 0/0 bar 0 exit 0 child 0`},
		{name: "libomp: parallel, loop of one directive combined; a critical inside stays",
			events: `
			0 1 fork parallel rt=k fn=300 loc=202
			1 1 begin parallel rt=k key=7 num=0 size=1
			2 1 open loop rt=k site=500 loc=202
			3 1 enter critical rt=k site=510 loc=512
			4 1 acquired critical rt=k
			6 1 release critical rt=k
			7 1 released critical rt=k
			8 1 close loop rt=k
			9 1 end parallel rt=k
			10 1 join parallel rt=k`,
			want: `PARALLEL LOOP@202 0:0 exec 10/1 enter 1 body 8/1 bar 0 exit 1 child 4
			       PARALLEL LOOP@202/CRITICAL@512 0:0 exec 4/1 enter 1 body 2/1 bar 0 exit 1 child 0`},
		{name: "libomp: sections by the static schedule, three for two threads",
			events: `
			0 1 fork parallel rt=k fn=300 loc=30
			0 1 begin parallel rt=k key=7 num=0 size=2
			0 2 begin parallel rt=k key=7 num=1 size=2
			1 1 open loop rt=k site=500 loc=400 v=3
			1 2 open loop rt=k site=500 loc=400 v=3
			5 1 close loop rt=k
			4 2 close loop rt=k
			5 1 wait barrier rt=k loc=42
			4 2 wait barrier rt=k loc=42
			6 1 waited barrier rt=k
			6 2 waited barrier rt=k
			9 1 end parallel rt=k
			9 2 end parallel rt=k
			9 1 join parallel rt=k`,
			want: `PARALLEL@30 0:0 exec 9/1 enter 0 body 9/1 bar 0 exit 0 child 5
			       PARALLEL@30 0:1 exec 9/1 enter 0 body 9/1 bar 0 exit 0 child 5
			       PARALLEL@30/SECTIONS@400 0:0 exec 5/1 enter 0 body 4/2 bar 1 exit 0 child 0
			       PARALLEL@30/SECTIONS@400 0:1 exec 5/1 enter 0 body 3/1 bar 2 exit 0 child 0`},
		{name: "libomp: the loop's reduction is its barrier, for those that get 0 and the one that combines",
			events: `
			0 1 open loop rt=k site=500 loc=202
			5 1 close loop rt=k
			6 1 wait none rt=k loc=12
			9 1 result none rt=k v=1
			10 1 wait none rt=k loc=12
			12 1 waited none rt=k
			20 1 open loop rt=k site=500 loc=202
			25 1 close loop rt=k
			26 1 wait none rt=k loc=12
			30 1 result none rt=k v=0`,
			want: `LOOP@202 0:0 exec 22/2 enter 0 body 12/2 bar 10 exit 0 child 0`},
		{name: "libomp: if(0) starts its body at once; the library's own calls are told twice",
			events: `
			0 1 fork parallel rt=k loc=30 site=300 atonce noret
			5 1 end parallel rt=k inside
			6 1 join parallel rt=k inside
			10 1 fork parallel rt=k fn=310 loc=31
			11 1 begin parallel rt=k key=7 num=0 size=1
			15 1 end parallel rt=k
			16 1 end parallel rt=k inside
			17 1 join parallel rt=k inside
			18 1 join parallel rt=k`,
			want: `PARALLEL@30 0:0 exec 6/1 enter 0 body 5/1 bar 0 exit 1 child 0
			       PARALLEL@31 0:0 exec 8/1 enter 1 body 4/1 bar 0 exit 3 child 0`},
		{name: "libomp: beyond the kernel's return probes the library's own calls end the region",
			events: `
			10 1 fork parallel rt=k fn=310 loc=31 noret
			11 1 begin parallel rt=k key=7 num=0 size=1 noret
			16 1 end parallel rt=k inside
			17 1 join parallel rt=k inside`,
			want: `PARALLEL@31 0:0 exec 7/1 enter 1 body 5/1 bar 0 exit 1 child 0`},
		{name: "master: all ask, the primary thread does it; masked with a filter",
			events: `
			0 1 fork parallel rt=k fn=300 loc=30
			0 1 begin parallel rt=k key=7 num=0 size=2
			0 2 begin parallel rt=k key=7 num=1 size=2
			1 1 enter master rt=k site=500 noret
			1 2 enter master rt=k site=500 noret
			3 1 release master rt=k noret
			4 1 enter masked rt=k site=510 noret v=1
			4 2 enter masked rt=k site=510 noret v=1
			6 2 release masked rt=k noret
			9 1 end parallel rt=k
			9 2 end parallel rt=k
			9 1 join parallel rt=k`,
			want: `PARALLEL@30 0:0 exec 9/1 enter 0 body 9/1 bar 0 exit 0 child 2
			       PARALLEL@30 0:1 exec 9/1 enter 0 body 9/1 bar 0 exit 0 child 2
			       PARALLEL@30/MASTER@500 0:0 exec 2/1 enter 0 body 2/1 bar 0 exit 0 child 0
			       PARALLEL@30/MASKED@510 0:1 exec 2/1 enter 0 body 2/1 bar 0 exit 0 child 0`},
		{name: "threads that start teams of their own stay apart",
			events: `
			0 5 fork parallel fn=300 key=7 size=1 site=90
			1 5 begin parallel
			5 5 end parallel
			6 5 join parallel
			10 1 fork parallel fn=300 key=9 size=1 site=90
			11 1 begin parallel
			15 1 end parallel
			17 1 join parallel`,
			want: `PARALLEL@300 0:0 exec 7/1 enter 1 body 4/1 bar 0 exit 2 child 0
			       PARALLEL@300 1:0 exec 6/1 enter 1 body 4/1 bar 0 exit 1 child 0`},
		{name: "under way at the end: counted, with the time until then",
			end: 100,
			events: `
			10 1 fork parallel fn=300 key=7 size=1 site=90
			20 1 begin parallel
			40 1 enter critical site=400`,
			partial: 2,
			want: `PARALLEL@300 0:0 exec 90/1 enter 10 body 80/1 bar 0 exit 0 child 60
			       PARALLEL@300/CRITICAL@400 0:0 exec 60/1 enter 60 body 0/0 bar 0 exit 0 child 0`},
		{name: "ends without a beginning are dropped and counted",
			events: `
			5 1 release critical
			6 1 acquired lock
			7 1 waited barrier
			8 1 end parallel`,
			unmatched: 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.end == 0 {
				tc.end = 1000
			}
			p := replay(parse(t, tc.events), tc.end)
			if d := cmp.Diff(lines(tc.want), table(p)); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
			if p.Meta.Unmatched != tc.unmatched || p.Meta.Partial != tc.partial {
				t.Errorf("unmatched %d partial %d, want %d and %d", p.Meta.Unmatched, p.Meta.Partial, tc.unmatched, tc.partial)
			}
			if err := Validate(p); err != nil {
				t.Error(err)
			}
		})
	}
}

// The result must not depend on how the rings of different threads are read,
// only each thread's own order counts.
func TestInterleaving(t *testing.T) {
	var text strings.Builder
	for i := range 20 {
		base := i * 1000
		for _, l := range lines(`
			0 1 fork parallel fn=300 key=7 size=3 site=90
			10 1 begin parallel
			12 2 begin parallel key=7 num=1
			20 3 begin parallel key=7 num=2
			30 2 fork parallel fn=310 key=8 size=2 site=90
			31 2 begin parallel
			35 4 begin parallel key=8 num=1
			40 4 enter critical site=400 free noret
			50 4 release critical free noret
			60 2 end parallel
			70 4 end parallel
			80 2 join parallel
			90 3 end parallel
			91 1 end parallel
			95 2 end parallel
			99 1 join parallel`) {
			at, rest, _ := strings.Cut(l, " ")
			n, _ := strconv.Atoi(at)
			fmt.Fprintf(&text, "%d %s\n", n+base, rest)
		}
	}
	events := parse(t, text.String())
	want := table(replay(events, 30000))
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		queues := map[uint32][]event.Event{}
		for _, e := range events {
			queues[e.TID] = append(queues[e.TID], e)
		}
		var tids []uint32
		for tid := range queues {
			tids = append(tids, tid)
		}
		slices.Sort(tids)
		var mixed []event.Event
		for len(tids) > 0 {
			i := rnd.IntN(len(tids))
			n := 1 + rnd.IntN(len(queues[tids[i]])) // a batch of one ring
			q := queues[tids[i]]
			mixed = append(mixed, q[:n]...)
			if queues[tids[i]] = q[n:]; len(q) == n {
				tids = slices.Delete(tids, i, i+1)
			}
		}
		if d := cmp.Diff(want, table(replay(mixed, 30000))); d != "" {
			t.Fatalf("-in order +mixed\n%s", d)
		}
	}
}

// A lost event is located, and what it was part of is counted without a time.
func TestLoss(t *testing.T) {
	events := parse(t, `
		0 1 fork parallel fn=300 key=7 size=1 site=90
		1 1 begin parallel
		2 1 enter critical site=400 free noret
		9 1 end parallel lost=1
		10 1 join parallel`)
	p := replay(events, 100)
	if len(p.Lost) != 1 || p.Lost[0].Events != 1 || p.Regions[p.Lost[0].Region].Construct != event.Critical {
		t.Errorf("losses: %+v", p.Lost)
	}
	want := lines(`PARALLEL@300 0:0 exec 10/1 enter 1 body 8/1 bar 0 exit 1 child 0
	               PARALLEL@300/CRITICAL@400 0:0 exec 0/1 enter 0 body 0/0 bar 0 exit 0 child 0`)
	if d := cmp.Diff(want, table(p)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// A process that is attached to in the middle of a region: what is known of the
// instance under way is charged to a region of its own.
func TestAttachUnderWay(t *testing.T) {
	e := New(1, fakeFiles{})
	e.Existing([]int{1, 2}, 1000)
	events := parse(t, `
		1010 2 enter critical site=400 free noret
		1020 2 release critical free noret
		1030 2 end parallel
		1040 1 end parallel
		1050 1 join parallel
		2000 1 fork parallel fn=300 key=7 size=2 site=90
		2001 1 begin parallel
		2002 2 begin parallel key=7 num=1
		2010 1 end parallel
		2010 2 end parallel
		2020 1 join parallel`)
	for i := range events {
		e.Feed(&events[i])
	}
	p := e.Finish(3000)
	want := lines(`UNDER WAY@0 0:-1 exec 30/1 enter 0 body 30/0 bar 0 exit 0 child 10
	               UNDER WAY@0 0:0 exec 40/1 enter 0 body 40/0 bar 0 exit 0 child 0
	               UNDER WAY@0/CRITICAL@400 0:-1 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 0
	               PARALLEL@300 0:0 exec 20/1 enter 1 body 9/1 bar 0 exit 10 child 0
	               PARALLEL@300 0:1 exec 20/1 enter 2 body 8/1 bar 0 exit 10 child 0`)
	if d := cmp.Diff(want, table(p)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if p.Meta.Partial != 1 {
		t.Errorf("partial %d, want 1", p.Meta.Partial)
	}
}

// feedBytes turns bytes into a senseless but well-typed stream.
func feedBytes(b []byte) *Profile {
	e := New(1, fakeFiles{})
	at := uint64(0)
	for len(b) >= 4 {
		at += uint64(b[3])
		ev := event.Event{Time: at, PID: 1, TID: uint32(b[0]%3) + 1, Edge: event.Edge(b[1] % 16), Construct: event.Construct(b[2] % (byte(event.Unknown) + 1)),
			Runtime: event.Runtime(b[3]%2) + 1, Key: uint64(b[3] % 2), Num: int32(b[3] % 3), Size: int32(b[2] % 4),
			Flags: event.Flag(b[3]), Fn: uint64(b[2] % 4), Site: uint64(b[3]), Value: int64(b[3] % 3), SP: uint64(b[0])}
		if ev.Construct == event.NoConstruct && ev.Edge != event.Wait && ev.Edge != event.Waited && ev.Edge != event.Result {
			ev.Construct = event.Critical // only reductions come without a construct
		}
		e.Feed(&ev)
		if b[0]%8 == 0 {
			e.Advance(at)
		}
		b = b[4:]
	}
	return e.Finish(at + 1)
}

// Whatever comes, the engine ends with a valid profile.
func TestSenselessStreams(t *testing.T) {
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := make([]byte, 4*(1+r.IntN(60)))
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		if err := Validate(feedBytes(b)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func FuzzEngine(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := Validate(feedBytes(b)); err != nil {
			t.Error(err)
		}
	})
}
