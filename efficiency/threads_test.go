package efficiency

import (
	"testing"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Programs with nested teams, with several initial threads, and with threads of which little is
// known.

// stat returns the figures of a thread in a region, in seconds.
func stat(thread int, body, barrier float64) profile.ThreadStats {
	return profile.ThreadStats{Thread: thread, Exec: span(body + barrier), Body: span(body), Barrier: span(barrier)}
}

// inside notes how long a thread was in inner regions of a region.
func inside(s profile.ThreadStats, seconds float64) profile.ThreadStats {
	s.Child = span(seconds).T
	return s
}

// tenSeconds returns a profile of 10 s. Nodes without a parent are the program's.
func tenSeconds(threads []profile.Thread, regions []event.Construct, nodes ...profile.Node) *profile.Profile {
	p := &profile.Profile{Version: profile.SchemaVersion, Meta: profile.Meta{Life: profile.Life{Duration: 10 * sec}}, Threads: threads,
		Nodes: append([]profile.Node{{Parent: -1, Region: -1}}, nodes...)}
	for _, c := range regions {
		p.Regions = append(p.Regions, profile.Region{Construct: c})
	}
	return p
}

func rows(n int) (threads []profile.Thread) {
	for i := range n {
		threads = append(threads, profile.Thread{Num: i})
	}
	return threads
}

// TestNested: the threads of inner teams count for the inner region only.
func TestNested(t *testing.T) {
	p := &profile.Profile{Version: profile.SchemaVersion, Meta: profile.Meta{Life: profile.Life{Duration: 10 * sec}},
		Threads: []profile.Thread{{Num: 0}, {Num: 1}},
		Regions: []profile.Region{{Construct: event.Parallel}, {Construct: event.Parallel}},
		Nodes: []profile.Node{{Parent: -1, Region: -1}, {Parent: 0, Region: 0, Stats: []profile.ThreadStats{stat(0, 8, 0), stat(1, 6, 2)}},
			{Parent: 1, Region: 1, Stats: []profile.ThreadStats{stat(0, 8, 0), stat(1, 4, 4)}}}}
	r := OfProfile(p)
	identities(t, r)
	whole := r.Whole()
	seconds(t, "the program", &whole, map[Part]float64{Work: 14, Imbal: 2, Serial: 2, SerialIdle: 2})
	near(t, "e_mt of the inner region", r.Regions[1].Team.Efficiency(), 12./16)
	if !r.Nested() {
		t.Error("not told to be nested")
	}
}

// TestUnequalNested: two threads start teams of four each. The rows 2 and 3 are in inner teams
// only. Each stands for two threads, and counts no longer than the outer region lasted.
func TestUnequalNested(t *testing.T) {
	p := tenSeconds(rows(4), []event.Construct{event.Parallel, event.ParallelLoop},
		profile.Node{Parent: 0, Region: 0, Stats: []profile.ThreadStats{inside(stat(0, 8, 0), 7.5), inside(stat(1, 8, 0), 7.5)}},
		profile.Node{Parent: 1, Region: 1, Stats: []profile.ThreadStats{stat(0, 14, 1), stat(1, 14, 1), stat(2, 12, 4), stat(3, 5, 2)}})
	r := OfProfile(p)
	identities(t, r)
	whole := r.Whole()
	// Row 2 stands for two threads with 16 s, of which half count: 6 s of work, 2 s of imbalance.
	// Row 3 was idle for one of 8 s.
	seconds(t, "the program", &whole, map[Part]float64{Work: 15 + 6 + 5, Imbal: 1 + 2 + 2, Serial: 2, SerialIdle: 6, TeamIdle: 1})
	if idle := analysis.Idle(p); idle != 7*sec {
		t.Errorf("idle: %d", idle)
	}
	if r.Regions[0].Threads != 2 || r.Regions[1].Threads != 4 {
		t.Errorf("largest teams: %d and %d", r.Regions[0].Threads, r.Regions[1].Threads)
	}
	most, ns := r.Most(TeamIdle)
	if most == nil || most.Number != 1 || ns != sec {
		t.Errorf("team idle: %+v", most)
	}
}

// TestNestedInOne: a team of one starts a team of three, whose losses are all of the program's.
func TestNestedInOne(t *testing.T) {
	r := OfProfile(tenSeconds(rows(3), []event.Construct{event.Parallel, event.Parallel},
		profile.Node{Parent: 0, Region: 0, Stats: []profile.ThreadStats{inside(stat(0, 8, 0), 8)}},
		profile.Node{Parent: 1, Region: 1, Stats: []profile.ThreadStats{stat(0, 6, 2), stat(1, 8, 0), stat(2, 1, 7)}}))
	identities(t, r)
	whole := r.Whole()
	seconds(t, "the program", &whole, map[Part]float64{Work: 15, Imbal: 9, Serial: 2, SerialIdle: 4})
}

// TestBriefThread: the time before and after the life of a thread is in no part. Ended is only for
// ranks that end before others.
func TestBriefThread(t *testing.T) {
	p := tenSeconds([]profile.Thread{{Num: 0}, {Root: 1, Num: 0, Lived: sec}}, []event.Construct{event.Parallel},
		profile.Node{Parent: 0, Region: 0, Stats: []profile.ThreadStats{stat(1, 0.5, 0)}})
	r := OfProfile(p)
	identitiesOver(t, r, 11*sec)
	whole := r.Whole()
	seconds(t, "the program", &whole, map[Part]float64{Work: 0.5, Serial: 10.5})
}

// TestJoinedThreads: twelve brief threads share a row, and their workers another. Each had one
// worker, and lived for a quarter of a second.
func TestJoinedThreads(t *testing.T) {
	p := tenSeconds([]profile.Thread{{Num: 0}, {Root: 1, Num: 0, Lived: 3 * sec, Joined: 12}, {Root: 1, Num: 1}}, []event.Construct{event.Parallel},
		profile.Node{Parent: 0, Region: 0, Stats: []profile.ThreadStats{stat(1, 2, 0), stat(2, 1.5, 0.5)}})
	r := OfProfile(p)
	identitiesOver(t, r, 16*sec)
	if all := analysis.ThreadTime(p); all != 16*sec {
		t.Errorf("all threads lived for %d", all)
	}
	whole := r.Whole()
	seconds(t, "the program", &whole, map[Part]float64{Work: 3.5, Imbal: 0.5, Serial: 11, SerialIdle: 1})
	if r.Regions[0].Threads != 2 {
		t.Errorf("largest team: %d", r.Regions[0].Threads)
	}
}

// TestSecondInitialThread: two initial threads have teams of two, and the second is in regions for
// longer than the first.
func TestSecondInitialThread(t *testing.T) {
	p := tenSeconds([]profile.Thread{{Num: 0}, {Num: 1}, {Root: 1, Num: 0}, {Root: 1, Num: 1}}, []event.Construct{event.Parallel},
		profile.Node{Parent: 0, Region: 0, Stats: []profile.ThreadStats{stat(0, 1, 0), stat(1, 1, 0), stat(2, 9, 0), stat(3, 8, 1)}})
	r := OfProfile(p)
	identities(t, r)
	whole := r.Whole()
	seconds(t, "the program", &whole, map[Part]float64{Work: 19, Imbal: 1, Serial: 10, SerialIdle: 10})
	same(t, values(r.Additive()), map[string]float64{"hybrid_parallel": 29. / 40, "thread": 29. / 40, "omp_parallel": 1 - 1./40,
		"omp_imbal": 1 - 1./40, "serial_region": 1 - 10./40})
	if r.Regions[0].Threads != 2 {
		t.Errorf("largest team: %d", r.Regions[0].Threads)
	}
}

// TestUnderWay: of a region that was under way when measurement began, only some threads have told
// something. If a thread has not told its number since, the thread's place is not known.
func TestUnderWay(t *testing.T) {
	threads := []profile.Thread{{Num: profile.UnknownNum, TIDs: []int{9}}, {Num: 0}, {Num: 1}, {Num: 2}}
	p := tenSeconds(threads, []event.Construct{event.Unknown, event.Parallel},
		profile.Node{Parent: 0, Region: 0, Stats: []profile.ThreadStats{stat(0, 1, 0), stat(1, 3, 0), stat(2, 2, 0)}},
		profile.Node{Parent: 0, Region: 1, Stats: []profile.ThreadStats{{Thread: 0}, stat(1, 4, 0), stat(2, 4, 0)}})
	r := OfProfile(p)
	identities(t, r)
	if n := r.Regions[1].Threads; n != 2 {
		t.Errorf("largest team: %d, with a row ? that executed nothing", n)
	}
	whole := r.Whole()
	// Thread 1 told something for 2 of its 3 s, thread 2 for none of them, and the fourth thread
	// for 1 of 10 s.
	seconds(t, "the program", &whole, map[Part]float64{Work: 14, Serial: 3, SerialIdle: 6, TeamIdle: 4, Unknown: 1 + 3 + 9})
	if most, _ := r.Most(Unknown); most != nil {
		t.Errorf("not known in %+v", most)
	}
	if idle := analysis.Idle(p); idle != 10*sec {
		t.Errorf("idle: %d", idle)
	}
}

// TestIdleNames: a region is named for idle threads, unless their initial thread was outside of all
// regions for longer.
func TestIdleNames(t *testing.T) {
	for critical, want := range map[float64]int{3: 0, 6: 1} {
		r := OfProfile(tenSeconds(rows(2), []event.Construct{event.Critical}, profile.Node{Parent: 0, Region: 0, Stats: []profile.ThreadStats{stat(0, critical, 0)}}))
		identities(t, r)
		number := 0
		if most, _ := r.Most(SerialIdle); most != nil {
			number = most.Number
		}
		if number != want {
			t.Errorf("%g of 10 s in a region: region %d, want %d", critical, number, want)
		}
	}
}

// TestCutOff: a pause cut a region off later for the worker than for the initial thread.
func TestCutOff(t *testing.T) {
	r := OfProfile(tenSeconds(rows(2), []event.Construct{event.Parallel},
		profile.Node{Parent: 0, Region: 0, Stats: []profile.ThreadStats{stat(0, 2, 0), stat(1, 2, 1)}}))
	identities(t, r)
	whole := r.Whole()
	seconds(t, "the program", &whole, map[Part]float64{Work: 4, Imbal: 1, Serial: 8, SerialIdle: 7})
}
