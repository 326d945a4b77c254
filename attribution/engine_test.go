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
	"ompp-attach/mpi"
	"ompp-attach/profile"
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

// Apart: the loops at 210 to 219 have no barrier.
func (fakeFiles) Apart(f Following) bool { return f.Share/10 == 21 }

func (fakeFiles) SingleBarrier(site, _ uint64) BarrierKind {
	return map[uint64]BarrierKind{81: BarrierImplicit, 82: BarrierExplicit, 83: BarrierDropped, 84: BarrierNone}[site]
}

// LoopAfter: a loop follows the beginning of region 350, another one the barrier at 650.
func (fakeFiles) LoopAfter(addr uint64) InlineLoop {
	return map[uint64]InlineLoop{350: {Site: 550, End: event.EndBarrier}, 650: {Site: 560, End: event.EndRegion}}[addr]
}

func (fakeFiles) Seen(Key) {}

// Around: the code of two regions lies from 5000 and from 6000 on.
func (fakeFiles) Around(addr uint64) (profile.Region, bool) {
	line := int(addr / 1000 * 10)
	return profile.Region{Location: profile.Location{File: "x.c", Begin: line, End: line + 5}}, addr >= 5000 && addr < 7000
}

func (fakeFiles) Code(addr uint64) []profile.Frame {
	return []profile.Frame{{File: "x.c", Line: int(addr)}}
}

// Region places a construct at a line equal to its address, so that two sites
// can be one place (addresses a and a+1000).
func (fakeFiles) Region(k Key) profile.Region {
	line := k.Fn | k.Site
	if k.Runtime == event.Kmpc && k.Loc != 0 {
		line = k.Loc
	}
	if k.Fn == 320 { // the source says parallel for
		k.Construct = event.ParallelLoop
	}
	return profile.Region{Construct: k.Construct, Runtime: k.Runtime.String(), Location: profile.Location{File: "x.c", Begin: int(line % 1000)}}
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
			case "next":
				ev.Flags |= event.EndsNext
			case "inline":
				ev.Flags |= event.Inline
			case "atonce":
				ev.Flags |= event.AtOnce
			case "copy":
				ev.Flags |= event.CopyPrivate
			case "off", "woken", "rival", "had", "foreign", "moves", "missing":
				if ev.OffCore == nil {
					ev.OffCore = &event.OffCoreTime{Name: "rival"}
				}
				n := number(t, v)
				switch k {
				case "off":
					ev.OffCore.Off = n
				case "woken":
					ev.OffCore.Woken = n
				case "rival":
					ev.OffCore.Rival = uint32(n)
				case "had":
					ev.OffCore.Had = int64(n)
				case "foreign":
					ev.OffCore.Foreign = int64(n)
				case "moves":
					ev.OffCore.Moves = uint32(n)
				case "missing":
					ev.OffCore.Lost = uint32(n)
				}
			case "whole":
				ev.Flags |= event.Whole
			case "op":
				op, ok := mpi.ParseOp(v)
				if !ok {
					t.Fatalf("%q: no such operation", line)
				}
				ev.MPI = &event.MPICall{Op: op, Start: ev.Time}
			case "from":
				ev.MPI.Start = number(t, v)
			case "bytes":
				ev.MPI.Send, ev.MPI.Recv = number(t, v), number(t, v)
			case "started":
				ev.MPI.Flags |= mpi.Started
			case "unknown":
				ev.MPI.Flags |= mpi.UnknownVolume
			case "ifserial":
				ev.Flags |= event.AtOnce | event.IfSerial
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

func replay(events []event.Event, end uint64) *profile.Profile {
	e := New(1, fakeFiles{})
	for i := range events {
		e.Feed(&events[i])
	}
	return e.Finish(end)
}

// replayAsRead is replay of many events: at times the engine is told how far they are fed, as by a
// reader. Else it has all of them to put in order at the end.
func replayAsRead(events []event.Event, end uint64) *profile.Profile {
	earliest := make([]uint64, len(events)+1) // of the events from each on
	earliest[len(events)] = end
	for i := len(events) - 1; i >= 0; i-- {
		earliest[i] = min(earliest[i+1], events[i].Time)
	}
	e := New(1, fakeFiles{})
	for i := range events {
		if i%256 == 0 {
			e.Advance(earliest[i])
		}
		e.Feed(&events[i])
	}
	return e.Finish(end)
}

// table renders a profile's tree, one line per node and thread:
// path thread exec.T/C enter body.T/C barrier exit child.
func table(p *profile.Profile) []string {
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
			line := fmt.Sprintf("%s %d:%d exec %d/%d enter %d body %d/%d bar %d exit %d child %d",
				path[i][1:], th.Root, th.Num, s.Exec.T, s.Exec.C, s.Enter.T, s.Body.T, s.Body.C, s.Barrier.T, s.Exit.T, s.Child)
			if s.Tasks > 0 {
				line += fmt.Sprintf(" task %d/%d", s.Task, s.Tasks)
			}
			out = append(out, line)
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

// engineCase is a stream of events and the figures it must give.
type engineCase struct {
	name, events, want string
	end                uint64
	unmatched, partial uint64
}

func TestEngine(t *testing.T) {
	for _, tc := range slices.Concat(commonCases, gompCases, inlineCases, kmpcCases, taskCases, newerCases, userCases, pauseCases) {
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
			if err := profile.Validate(p); err != nil {
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
	inAnyOrder(t, parse(t, text.String()))
}

// inAnyOrder replays events with the threads' queues cut into batches and mixed.
func inAnyOrder(t *testing.T, events []event.Event) {
	t.Helper()
	want := table(replay(events, 30000))
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		mixed := mix(rnd, events)
		if d := cmp.Diff(want, table(replay(mixed, 30000))); d != "" {
			t.Fatalf("-in order +mixed\n%s", d)
		}
	}
}

// A lost event is located, and the execution that it was part of is counted without a time.
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

// A process that is attached to in the middle of a region. What is known of the instance under way
// is charged to a region of its own.
func TestAttachUnderWay(t *testing.T) {
	p := attached(t, []int{1, 2}, 3000, `
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

// A worker may execute a task in the final barrier of a region that was under way at attach. It is
// a worker still: no thread that starts teams of its own.
func TestAttachTaskInFinalBarrier(t *testing.T) {
	p := attached(t, []int{1, 2}, 3000, `
		1010 2 end parallel
		1011 1 enter task fn=321 site=400
		1012 1 result task key=9
		1013 1 released task
		1014 2 begin taskexec key=9
		1020 2 enter critical site=420 free noret
		1025 2 release critical free noret
		1030 2 end taskexec
		1040 1 end parallel
		1050 1 join parallel
		2000 1 fork parallel fn=300 key=7 size=2 site=90
		2001 1 begin parallel
		2002 2 begin parallel key=7 num=1
		2010 1 end parallel
		2010 2 end parallel
		2020 1 join parallel`)
	for _, th := range p.Threads {
		if th.Root != 0 {
			t.Errorf("thread %d:%d: there is no second initial thread", th.Root, th.Num)
		}
	}
	want := lines(`UNDER WAY@0 0:-1 exec 10/1 enter 0 body 10/0 bar 0 exit 0 child 0
	               UNDER WAY@0 0:0 exec 40/1 enter 0 body 40/0 bar 0 exit 0 child 2
	               UNDER WAY@0/TASK@321 0:0 exec 2/1 enter 0 body 2/1 bar 0 exit 0 child 0
	               UNDER WAY@0/TASK@321/TASKEXEC@321 0:-1 exec 16/1 enter 2 body 16/1 bar 0 exit 0 child 5
	               UNDER WAY@0/TASK@321/TASKEXEC@321/CRITICAL@420 0:-1 exec 5/1 enter 0 body 5/1 bar 0 exit 0 child 0
	               PARALLEL@300 0:0 exec 20/1 enter 1 body 9/1 bar 0 exit 10 child 0
	               PARALLEL@300 0:1 exec 20/1 enter 2 body 8/1 bar 0 exit 10 child 0`)
	if d := cmp.Diff(want, table(p)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// feedBytes turns bytes into a senseless but well-typed stream.
func feedBytes(b []byte) *profile.Profile { return feedBytesTo(b, func(*Engine, uint64) {}) }

// feedBytesTo is feedBytes that calls a function after each event.
func feedBytesTo(b []byte, after func(e *Engine, at uint64)) *profile.Profile {
	e := New(1, fakeFiles{})
	at := uint64(0)
	for len(b) >= 4 {
		at += uint64(b[3])
		ev := event.Event{Time: at, PID: 1, TID: uint32(b[0]%3) + 1, Edge: event.Edge(b[1] % (byte(event.Folded) + 1)), Construct: event.Construct(b[2] % (byte(event.Unknown) + 1)),
			Runtime: event.Runtime(b[3]%2) + 1, Key: uint64(b[3] % 2), Num: int32(b[3] % 3), Size: int32(b[2] % 4),
			Flags: event.Flag(b[3]), Fn: uint64(b[2] % 4), Site: uint64(b[3]), Value: int64(b[3] % 3), SP: uint64(b[0])}
		if ev.Construct == event.MPI {
			ev.MPI = &event.MPICall{Op: mpi.Op(b[3]), Start: at - uint64(b[0]), Args: mpi.Args{Send: uint64(b[1]), Recv: uint64(b[2]), Flags: mpi.ArgFlag(b[1])}}
		}
		if ev.Edge == event.Folded && b[0]%4 != 0 {
			n := uint64(b[2] % 3)
			ev.Fold = &event.Fold{Executions: n, Bodies: n * uint64(b[3]%2), Hits: 2 * n, Last: at + uint64(b[0]), Enter: n, Body: n * uint64(b[3]%2)}
		}
		if ev.Construct == event.NoConstruct {
			ev.Construct = event.ReductionBarrier
		}
		if ev.Construct == event.ReductionBarrier && ev.Edge != event.Wait && ev.Edge != event.Waited && ev.Edge != event.Result {
			ev.Construct = event.Critical // only critical sections have all edges
		}
		e.Feed(&ev)
		if b[0]%8 == 0 {
			e.Advance(at)
		}
		after(e, at)
		b = b[4:]
	}
	return e.Finish(at + 1)
}

// Whatever comes, the engine ends with a valid profile.
func TestSenselessStreams(t *testing.T) {
	for seed := range tries(uint64(5000)) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := make([]byte, 4*(1+r.IntN(60)))
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		if err := profile.Validate(feedBytes(b)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func FuzzEngine(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := profile.Validate(feedBytes(b)); err != nil {
			t.Error(err)
		}
	})
}
