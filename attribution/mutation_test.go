package attribution

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/attribution/build"
	"ompp-attach/attribution/stream"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// without returns a stream whose i-th event was lost: its thread's next one tells so.
func without(s *stream.Stream, i int) *stream.Stream {
	lossy := *s
	lossy.Events = append(append([]event.Event{}, s.Events[:i]...), s.Events[i+1:]...)
	for k := i; k < len(lossy.Events); k++ {
		if ev := &lossy.Events[k]; ev.TID == s.Events[i].TID && ev.Edge != event.Sampled && ev.Edge != event.NoCore {
			ev.Lost++
			break
		}
	}
	return &lossy
}

// forbidden lists, by construct, what cannot begin in it (OpenMP 5.2, 17.1): with no
// construct in between. A slash separates names, since those hold blanks.
var forbidden = func() map[string]string {
	const (
		shared = "LOOP/SECTIONS/SINGLE/WORKSHARE/SCOPE/BARRIER"
		others = "PARALLEL/PARALLEL LOOP/PARALLEL SECTIONS/TEAMS/CRITICAL/ORDERED/LOCK/NEST LOCK/ATOMIC/FLUSH/MASTER/MASKED/TASK/UTASK/TASKLOOP/TASKWAIT/TASKGROUP/TASKYIELD/DISTRIBUTE/REDUCTION/TARGET"
		any    = shared + "/" + others
	)
	return map[string]string{
		"BARRIER": any, "TASK": any, "UTASK": any, "TASKWAIT": any, "TASKYIELD": any, "ATOMIC": any, "FLUSH": any,
		"CANCEL": any, "CANCELLATION POINT": any, "TARGET UPDATE": any,
		"LOOP": shared, "SECTIONS": shared, "SINGLE": shared, "SCOPE": shared, "CRITICAL": shared, "MASTER": shared, "MASKED": shared,
		"ORDERED": shared + "/ORDERED", "TASKEXEC": shared, "UTASKEXEC": shared, "REDUCTION": shared, "TARGET": "TARGET/TARGET DATA",
	}
}()

func forbids(outer, inner string) bool {
	return strings.Contains("/"+forbidden[outer]+"/", "/"+inner+"/")
}

// countsOf are the executions of all regions.
func countsOf(p *profile.Profile) map[build.RegionID]int64 {
	by := map[build.RegionID]int64{}
	for _, n := range p.Nodes[1:] {
		for _, s := range n.Stats {
			by[build.Identify(&p.Regions[n.Region])] += int64(s.Exec.C)
		}
	}
	return by
}

// withoutSome returns a stream that lost n events of a thread from the i-th on.
func withoutSome(s *stream.Stream, i, n int) *stream.Stream {
	lossy, tid, gone := *s, s.Events[i].TID, uint32(0)
	lossy.Events = nil
	for k, ev := range s.Events {
		if ev.TID == tid && k >= i && ev.Edge != event.Sampled {
			if gone < uint32(n) {
				gone++
				continue
			}
			if gone == uint32(n) {
				ev.Lost, gone = gone, gone+1
			}
		}
		lossy.Events = append(lossy.Events, ev)
	}
	return &lossy
}

// Nor if many are.
func TestManyEventsMayBeLost(t *testing.T) {
	for _, s := range recordedStreams(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			usual := usualIn(Replay(s.Stream))
			for i := 0; i < len(s.Events); i += 1 + len(s.Events)/tries(150) {
				for n := 2; n < 100; n = 2*n + i%3 {
					p := Replay(withoutSome(s.Stream, i, n))
					for _, x := range p.Nodes[1:] {
						if at := nesting(p, &x); at != "" && !usual[at] {
							t.Errorf("without %d events from %d on: %s", n, i, at)
						}
					}
				}
			}
		})
	}
}

type namedStream struct {
	*stream.Stream
	name string
}

func recordedStreams(t *testing.T) (out []namedStream) {
	t.Helper()
	names, err := filepath.Glob("../testdata/streams/*.json.gz")
	if err != nil || len(names) == 0 {
		t.Fatalf("no recorded streams: %v", err)
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := stream.Decode(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, namedStream{s, filepath.Base(name)})
	}
	return out
}

// usualIn are the forbidden nestings that a program has of its own: programs, and their
// compilers, break the rules.
func usualIn(p *profile.Profile) map[string]bool {
	usual := map[string]bool{}
	for _, n := range p.Nodes[1:] {
		usual[nesting(p, &n)] = true
	}
	return usual
}

// Whatever single event is lost, nothing nests in what cannot hold it, and what is
// executed elsewhere is counted as ever.
func TestAnyEventMayBeLost(t *testing.T) {
	for _, s := range recordedStreams(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			whole := Replay(s.Stream)
			usual := usualIn(whole)
			want := countsOf(whole)
			for i := 0; i < len(s.Events); i += 5 / tries(5) {
				lost := &s.Events[i]
				p := Replay(without(s.Stream, i))
				for _, n := range p.Nodes[1:] {
					if at := nesting(p, &n); at != "" && !usual[at] {
						t.Errorf("without event %d, %s %s: %s", i, lost.Construct, lost.Edge, at)
					}
				}
				got := countsOf(p)
				for r, n := range want {
					off := got[r] - n
					if off < 0 {
						off = -off
					}
					if most := mostOff(lost, r.Construct); off > most {
						t.Errorf("without event %d, %s %s: %s %s:%d is executed %d times, want %d", i, lost.Construct, lost.Edge, r.Construct, r.File, r.Begin, got[r], n)
					}
				}
			}
		})
	}
}

// nesting names a construct in one that cannot hold it; empty of others.
func nesting(p *profile.Profile, n *profile.Node) string {
	up := p.Nodes[n.Parent].Region
	if up < 0 {
		return ""
	}
	outer, inner := p.Regions[up].Construct.String(), p.Regions[n.Region].Construct.String()
	if !forbids(outer, inner) {
		return ""
	}
	return inner + " in " + outer
}

// mostOff is how far a count may be off when an event is lost: what it belongs to, and what was
// under way around it. Of a team, it is what all of its threads do.
func mostOff(lost *event.Event, c event.Construct) int64 {
	if lost.Construct.IsParallel() && c.IsParallel() {
		return 5
	}
	return 2
}
