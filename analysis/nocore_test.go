package analysis

import (
	"math/rand/v2"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// Time without a core is in class NoCore and in no other class.
func TestTimeWithoutCoreIsAClassOfItsOwn(t *testing.T) {
	noCore := &profile.Cost{Exec: 60, Enter: 5, Body: 20, Barrier: 30, Exit: 5, Child: 18, Task: 10}
	s := stats{Exec: span(1000, 1), Enter: span(100, 1), Body: span(500, 1), Barrier: span(300, 1), Exit: span(100, 1),
		Child: 200, Task: 50, NoCore: noCore}
	for construct, want := range map[event.Construct]Classes{
		event.Parallel: {Imbal: (300 - 30) - (50 - 10), Mgmt: 200 - 10, NoCore: 42},
		event.Loop:     {Imbal: (300 - 30) - (50 - 10), NoCore: 42},
		event.Critical: {Synch: 95, Mgmt: 95, NoCore: 42},
		event.Barrier:  {Synch: (1000 - 60) - (50 - 10), NoCore: 42},
		event.Master:   {NoCore: 42},
		event.TaskExec: {NoCore: 42},
		event.Task:     {Mgmt: (1000 - 60) - (200 - 18), NoCore: 42},
	} {
		p := profileOf(t, 5000, two, []event.Construct{construct}, []profile.Node{{Parent: 0, Region: 0, Stats: []stats{s, {Thread: 1}}}})
		if got := Classify(p, 1)[0]; got != want {
			t.Errorf("%s: %+v, want %+v", construct, got, want)
		}
		if got := Classic.Classify(p, 1)[0]; got.NoCore != 0 {
			t.Errorf("%s: ompP knows no such class: %+v", construct, got)
		}
	}
}

// An execution of random length in each part. useful is what lies in no class, by construction.
func randomExecution(n func(int64) int64, c event.Construct) (s stats, useful int64) {
	switch c.Form().Overhead {
	case event.WholeSynch:
		s.Exec = span(n(100), 1)
	case event.WaitSynch:
		s.Exec = span(n(100), 1)
		s.Task = n(s.Exec.T)
		s.Child = s.Task
	case event.CreationMgmt:
		s.Body = span(n(100), 1)
		s.Exec, s.Child = s.Body, n(s.Body.T)
	case event.TasksSynch: // the clock stands still while other tasks are executed
		s.Body, s.Barrier, s.Task = span(n(100), 1), span(n(100), 1), n(100)
		s.Exec, s.Child = span(s.Body.T+s.Barrier.T, 1), n(s.Body.T)
		useful = s.Body.T - s.Child
	case event.SectionsImbal:
		s.Body, s.Barrier = span(n(100), 1), span(n(100), 1)
		s.Exec = span(s.Body.T+s.Barrier.T+n(10), 1)
		s.Task = n(s.Barrier.T)
		s.Child = s.Task + n(s.Body.T)
		useful = s.Body.T - (s.Child - s.Task)
	case event.ShareImbal, event.ShareLimpar:
		s.Body, s.Barrier = span(n(100), 1), span(n(100), 1)
		s.Exec = span(s.Body.T+s.Barrier.T, 1)
		s.Task = n(s.Barrier.T)
		s.Child = s.Task + n(s.Body.T)
		useful = s.Body.T - (s.Child - s.Task)
	case event.GuardSynch, event.TransferMgmt:
		s.Enter, s.Body, s.Exit = span(n(100), 1), span(n(100), 1), span(n(100), 1)
		s.Exec, s.Child = span(s.Enter.T+s.Body.T+s.Exit.T, 1), n(s.Body.T)
		useful = s.Body.T - s.Child
	case event.NoOverhead:
		s.Body = span(n(100), 1)
		s.Exec, s.Child = s.Body, n(s.Body.T)
		useful = s.Body.T - s.Child
	default: // a team
		s.Enter, s.Body, s.Barrier, s.Exit = span(n(100), 1), span(n(100), 1), span(n(100), 1), span(n(100), 1)
		s.Exec = span(s.Enter.T+s.Body.T+s.Barrier.T+s.Exit.T, 1)
		s.Task = n(s.Barrier.T)
		s.Child = s.Task + n(s.Body.T)
		useful = s.Body.T - (s.Child - s.Task)
	}
	return s, useful
}

// The classes and the useful time add up to the thread's own time. No class is negative, whatever
// the scheduler tells of the time without a core: the class of that time grows at the others' cost.
func TestClassesAddUpToTheTime(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	n := func(most int64) int64 { return r.Int64N(most + 1) }
	classes := func(c event.Construct, s stats) Classes {
		p := profileOf(t, 5000, two, []event.Construct{c}, []profile.Node{{Parent: 0, Region: 0, Stats: []stats{s, {Thread: 1}}}})
		return Classify(p, 1)[0]
	}
	for range 5000 {
		for c := event.Parallel; c <= event.Unknown; c++ {
			if c == event.MPI { // its time is that of the calls
				continue
			}
			s, useful := randomExecution(n, c)
			own := s.Exec.T - s.Child
			full := classes(c, s)
			if full.Sum()+useful != own {
				t.Fatalf("%s: %+v and %d useful of %d: %+v", c, full, useful, own, s)
			}
			away := &profile.Cost{Exec: n(300), Enter: n(100), Body: n(100), Barrier: n(100), Exit: n(100), Child: n(200), Task: n(100)}
			if n(1) == 0 { // little: as where the two clocks differ
				away = &profile.Cost{Exec: n(20), Barrier: n(5), Body: n(5), Child: n(5)}
			}
			s.NoCore = away
			got := classes(c, s)
			left := own - got.Sum()
			if min(got.Synch, got.Imbal, got.Limpar, got.Mgmt, got.MPI, got.NoCore) < 0 || left < 0 {
				t.Fatalf("%s: %+v and %d useful of %d: %+v, without a core %+v", c, got, left, own, s, *away)
			}
			if want := within(away.Exec-away.Child, own); got.NoCore != want {
				t.Fatalf("%s: %d without a core, want %d: %+v, %+v", c, got.NoCore, want, s, *away)
			}
			rest := c.Form().Overhead == event.SectionsImbal // Mgmt is what lies in no part
			if got.Synch > full.Synch || got.Imbal > full.Imbal || got.Limpar > full.Limpar || got.Mgmt > full.Mgmt && !rest {
				t.Fatalf("%s: %+v, with all time %+v: %+v, without a core %+v", c, got, full, s, *away)
			}
		}
	}
}

// No class is negative where MPI is called in a wait, by tasks that are not measured.
func TestClassesWithCallsAreNotNegative(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	n := func(most int64) int64 { return r.Int64N(most + 1) }
	for range 2000 {
		for c := event.Parallel; c <= event.Unknown; c++ {
			s, _ := randomExecution(n, c)
			calls := profile.MPIStats{T: n(s.Exec.T - s.Child), NoCore: n(50)}
			calls.Wait, calls.WaitNoCore = n(calls.T), n(calls.NoCore)
			s.MPI = &calls
			if n(1) == 0 { // the calls' own regions have been taken out
				s.Calls = &calls
			} else {
				s.Child += calls.T
			}
			s.NoCore = &profile.Cost{Exec: n(200), Enter: n(50), Body: n(50), Barrier: n(50), Exit: n(50), Child: n(100), Task: n(50)}
			p := profileOf(t, 5000, two, []event.Construct{c}, []profile.Node{{Parent: 0, Region: 0, Stats: []stats{s, {Thread: 1}}}})
			if got := Classify(p, 1)[0]; min(got.Synch, got.Imbal, got.Limpar, got.Mgmt, got.MPI, got.NoCore) < 0 {
				t.Fatalf("%s: %+v of %+v, %+v, without a core %+v", c, got, s, calls, *s.NoCore)
			}
		}
	}
}

func TestCoreShare(t *testing.T) {
	p := profileOf(t, 1000, two, []event.Construct{event.Parallel}, []profile.Node{{Parent: 0, Region: 0, Stats: []stats{
		{Exec: span(1000, 1), Body: span(1000, 1), NoCore: &profile.Cost{Exec: 980, Body: 980}},
		{Thread: 1, Exec: span(1000, 1), Body: span(1000, 1), NoCore: &profile.Cost{Exec: 980, Body: 980}}}}})
	p.Nodes[0].Stats = []stats{{NoCore: &profile.Cost{Exec: 980}}, {Thread: 1, NoCore: &profile.Cost{Exec: 990}}}
	if got, want := NoCore(p), int64(1970); got != want {
		t.Errorf("without a core: %d, want %d", got, want)
	}
	props := Properties(p)
	if len(props) != 1 || props[0].Name != WaitForCore || props[0].Severity != 0.98 || props[0].Core < 0.0199 || props[0].Core > 0.0201 {
		t.Errorf("properties: %+v", props)
	}
}
