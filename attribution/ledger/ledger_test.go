package ledger

import (
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// open returns an account that is charged with a toll and counts of its own.
func open(t *testing.T, l *Ledger, at uint64, toll, counts int64) *Account {
	t.Helper()
	a := new(Account)
	a.Open(at)
	for k := range NumTolls {
		a.Pay(k, profile.Body, toll)
	}
	l.countersOf(a).all[0] += counts
	return a
}

// charged is what a region's figures say after the account is charged with the whole time.
type charged struct {
	exec, child        int64 // times, ns
	toll, tollOfChild  int64
	count, countsOfSub int64
}

func charge(l *Ledger, a *Account, end uint64) charged {
	var s profile.ThreadStats
	a.Pass(profile.Body, end)
	l.Charge(a, &s, int64(end-a.Start)-a.Suspended)
	c := charged{exec: s.Exec.T, child: s.Child, count: s.Counters[0], countsOfSub: s.ChildCounters[0]}
	for _, toll := range []*profile.Cost{s.Cost, s.NoCore} {
		if toll != nil {
			c.toll, c.tollOfChild = c.toll+toll.Exec, c.tollOfChild+toll.Child
		}
	}
	return c
}

// own is what belongs to a region and to no region entered from it.
func (c charged) own() [3]int64 {
	return [3]int64{c.exec - c.child, c.toll - c.tollOfChild, c.count - c.countsOfSub}
}

// TestConservation: whatever ends in which way, each nanosecond, toll and count is some region's
// own once, and the outermost region has the sum.
func TestConservation(t *testing.T) {
	const (
		toll1, toll2 = 7, 5
		counts1      = 1000
		counts2      = 300
	)
	for _, tc := range []struct {
		name string
		// end ends the inner region at 60, in the outer one of 100.
		end func(l *Ledger, in, up *Account)
		own [3]int64 // the inner region's
		sub [3]int64 // what the outer region has of regions entered from it
	}{
		{"handed up", func(l *Ledger, in, up *Account) { l.HandUp(in, up, profile.Body, 60) },
			[3]int64{40, 2 * toll2, counts2}, [3]int64{40, 2 * toll2, counts2}},
		{"disowned", func(l *Ledger, in, up *Account) { l.Disown(in, up, profile.Body) },
			[3]int64{}, [3]int64{}},
		{"taken out", func(l *Ledger, in, up *Account) { l.TakeOut(in, up, profile.Body) },
			[3]int64{}, [3]int64{}},
		{"paid while open, then handed up", func(l *Ledger, in, up *Account) {
			l.PayOpen(up, in, &Sum{}, 45)
			l.HandUp(in, up, profile.Body, 60)
		}, [3]int64{40, 2 * toll2, counts2}, [3]int64{40, 2 * toll2, counts2}},
		{"paid twice, then handed up", func(l *Ledger, in, up *Account) {
			l.PayOpen(up, in, &Sum{}, 30)
			l.PayOpen(up, in, &Sum{}, 45)
			l.HandUp(in, up, profile.Body, 60)
		}, [3]int64{40, 2 * toll2, counts2}, [3]int64{40, 2 * toll2, counts2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := &Ledger{width: 1}
			up, in := open(t, l, 0, toll1, counts1), open(t, l, 20, toll2, counts2)
			tc.end(l, in, up)
			outer := charge(l, up, 100)
			if want := [3]int64{100, 2 * (toll1 + toll2), counts1 + counts2}; [3]int64{outer.exec, outer.toll, outer.count} != want {
				t.Errorf("the outer region has %+v, want the sum %v", outer, want)
			}
			if got := [3]int64{outer.child, outer.tollOfChild, outer.countsOfSub}; got != tc.sub {
				t.Errorf("the outer region has %v of the regions entered from it, want %v", got, tc.sub)
			}
			if tc.own == ([3]int64{}) {
				return // no region of its own
			}
			if got := charge(l, in, 60).own(); got != tc.own {
				t.Errorf("the inner region has %v of its own, want %v", got, tc.own)
			}
		})
	}
}

// TestTakenOutKeepsChildren: an inner execution that is taken out keeps what regions entered from
// it have, so that own figures are the sum without them.
func TestTakenOutKeepsChildren(t *testing.T) {
	l := &Ledger{width: 1}
	outer, in, child := open(t, l, 0, 1, 10), open(t, l, 10, 2, 20), open(t, l, 20, 4, 40)
	l.HandUp(child, in, profile.Body, 50)
	l.TakeOut(in, outer, profile.Body)
	if in.tolls[ByProbes].own() != 0 || in.counters.all[0] != 0 {
		t.Errorf("the inner execution keeps %d ns of probes, %d counts", in.tolls[ByProbes].own(), in.counters.all[0])
	}
	if in.Child != 30 || in.tolls[ByProbes].child != 4 || in.counters.child[0] != 40 {
		t.Errorf("of regions entered from it: %d ns, %d ns of probes, %d counts; want 30, 4, 40", in.Child, in.tolls[ByProbes].child, in.counters.child[0])
	}
	if got := outer.tolls[ByProbes].own(); got != 1+2+4 {
		t.Errorf("the outer execution has %d ns of probes, want 7", got)
	}
	if got := outer.counters.all[0]; got != 10+20+40 {
		t.Errorf("the outer execution has %d counts, want 70", got)
	}
}

// TestDisownedKeepsChildren: the region around takes an account over as its own, but for what
// regions entered from it have. These are none of the own figures of the region around.
func TestDisownedKeepsChildren(t *testing.T) {
	l := &Ledger{width: 1}
	up, in, child := open(t, l, 0, 1, 10), open(t, l, 10, 2, 20), open(t, l, 20, 4, 40)
	l.HandUp(child, in, profile.Body, 50)
	l.Disown(in, up, profile.Body)
	outer := charge(l, up, 100)
	if want := (charged{exec: 100, child: 30, toll: 2 * (1 + 2 + 4), tollOfChild: 2 * 4, count: 70, countsOfSub: 40}); outer != want {
		t.Errorf("the region around has %+v, want %+v", outer, want)
	}
}

// TestStandStill: a task is executed while a region's clock stands still. The task's time, tolls
// and counts are none of the region's, but of the region around it. Resumed, the region goes on.
func TestStandStill(t *testing.T) {
	l := &Ledger{width: 1}
	around, waiting, task := open(t, l, 0, 1, 10), open(t, l, 10, 2, 20), open(t, l, 30, 4, 40)
	v := l.Executed(task, 25) // from 30 to 55
	l.StandStill(waiting, &v)
	waiting.Pay(ByProbes, profile.Body, 3) // after it was resumed
	l.HandUp(waiting, around, profile.Body, 70)
	got := charge(l, waiting, 70)
	if want := (charged{exec: 60 - 25, toll: 2 + 2 + 3, count: 20}); got != want {
		t.Errorf("the region that stood still has %+v, want %+v", got, want)
	}
	outer := charge(l, around, 100)
	if want := (charged{exec: 100, child: 60, toll: 2*(1+2+4) + 3, tollOfChild: 2*(2+4) + 3, count: 70, countsOfSub: 60}); outer != want {
		t.Errorf("the region around has %+v, want %+v", outer, want)
	}
}

// TestInterrupted: what interrupted a task is handed on once.
func TestInterrupted(t *testing.T) {
	l := &Ledger{width: 1}
	a, task := open(t, l, 0, 1, 10), open(t, l, 5, 4, 40)
	v := l.Executed(task, 20)
	l.StandStill(a, &v)
	a.Waited(&v, true)
	got := l.Interrupted(a)
	if got.Wall != 20 || got.TakenBy() != 4 || got.counters[0] != 40 || got.Tasks != 1 {
		t.Errorf("interrupted for %+v, want 20 ns, 4 ns of probes, 40 counts, one task", got)
	}
	if again := l.Interrupted(a); again.TakenBy() != 0 || again.counters[0] != 0 {
		t.Errorf("handed on twice: %+v", again)
	}
}

// TestLeaveOut: a time that is left out is no part of any account.
func TestLeaveOut(t *testing.T) {
	l := &Ledger{}
	var a, up Account
	a.Open(10)
	up.Open(0)
	a.LeaveOut(30)
	up.LeaveOut(30)
	a.Pass(profile.Body, 50)
	l.HandUp(&a, &up, profile.Body, 50)
	if a.Parts[profile.Body].T != 10 || up.Child != 10 {
		t.Errorf("body %d ns, handed up %d ns; want 10 of each", a.Parts[profile.Body].T, up.Child)
	}
}

// TestHits: a hit's time is before its time stamp, or due before the next one, and adds up.
func TestHits(t *testing.T) {
	var costs event.HitCosts
	const p = event.ProbeEmulated
	costs.Kinds[p].Before, costs.Kinds[p].After = 100, 30
	l := &Ledger{}
	l.SetCosts(costs)
	var due, before int64
	for range 3 {
		b, all := l.Hit(&event.Event{Probe: p}, &due)
		before += b
		if all != 130 {
			t.Errorf("a hit takes %d ns, want 130", all)
		}
	}
	if before+due != 3*130 {
		t.Errorf("three hits take %d ns and %d that are due, want 390", before, due)
	}
}

// TestRead: counts between two events belong to the innermost region, and a gap is told.
func TestRead(t *testing.T) {
	l := &Ledger{}
	var c Counters
	a := new(Account)
	read := func(n ...uint64) bool { return l.Read(&c, &event.Event{Counters: n}, a) }
	for _, step := range []struct {
		counters   []uint64
		incomplete bool
		count      int64
	}{{[]uint64{100}, false, 0}, {[]uint64{150}, false, 50}, {nil, true, 50}, {[]uint64{500}, true, 50}, {[]uint64{510}, false, 60}} {
		if got := read(step.counters...); got != step.incomplete {
			t.Errorf("after %v: incomplete %t", step.counters, got)
		}
		if got := l.countersOf(a).all[0]; got != step.count {
			t.Errorf("after %v: %d counts, want %d", step.counters, got, step.count)
		}
	}
}

// An event tells of hits without records: their cost lies before its time stamp.
func TestHitsWithoutRecord(t *testing.T) {
	var c event.HitCosts
	c.Kinds[event.ProbeJump] = event.HitCost{Before: 10, After: 20}
	c.Kinds[event.ProbeNop5.LeftOut()] = event.HitCost{Before: 100, After: 1}
	c.Kinds[event.ProbeJump.LeftOut()] = event.HitCost{Before: 1000}
	l := &Ledger{}
	l.SetCosts(c)
	due := int64(5)
	before, all := l.Hit(&event.Event{Construct: event.UserRegion, Edge: event.Release, Fn: event.LevelFn(1, 1), Probe: event.ProbeJump, LeftOut: 2 | 3<<12}, &due)
	if before != 5+10+2*101+3*1000 || all != 30+2*101+3*1000 || due != 20 {
		t.Errorf("%d ns before, %d in all, %d due", before, all, due)
	}
	hits := map[string]uint64{}
	for _, h := range l.Overhead().Probes {
		hits[h.Probe] += h.Hits
	}
	if hits["jump"] != 1 || hits["nop5, unrecorded"] != 2 || hits["jump, unrecorded"] != 3 || len(hits) != 3 {
		t.Errorf("%v", hits)
	}
}
