package analysis

import (
	"math/rand/v2"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// Time without a core is in class NoCore and in no other class.
func TestTimeWithoutCoreIsAClassOfItsOwn(t *testing.T) {
	noCore := &profile.Cost{Exec: 60, Enter: 5, Body: 20, Barrier: 30, Exit: 5, Child: 8, Task: 10}
	s := stats{Exec: span(1000, 1), Enter: span(100, 1), Body: span(500, 1), Barrier: span(300, 1), Exit: span(100, 1),
		Child: 200, Task: 50, NoCore: noCore}
	for construct, want := range map[event.Construct]Classes{
		event.Parallel: {Imbal: (300 - 30) - (50 - 10), Mgmt: 200 - 10, NoCore: 52},
		event.Loop:     {Imbal: (300 - 30) - (50 - 10), NoCore: 52},
		event.Critical: {Synch: 95, Mgmt: 95, NoCore: 52},
		event.Barrier:  {Synch: (1000 - 60) - (50 - 10), NoCore: 52},
		event.Master:   {NoCore: 52},
		event.TaskExec: {NoCore: 52},
		event.Task:     {Mgmt: (1000 - 60) - (200 - 8), NoCore: 52},
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

// No time is in two classes, and no time is negative, for any recorded figures.
func TestClassesStayWithinTheTime(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	n := func(most int64) int64 { return r.Int64N(most + 1) }
	for range 20000 {
		s := stats{Enter: span(n(100), 1), Body: span(n(100), 1), Barrier: span(n(100), 1), Exit: span(n(100), 1)}
		s.Exec = span(s.Enter.T+s.Body.T+s.Barrier.T+s.Exit.T, 1)
		s.Task = n(s.Barrier.T)
		s.Child = s.Task + n(s.Body.T)
		s.NoCore = &profile.Cost{Exec: n(500), Enter: n(200), Body: n(200), Barrier: n(200), Exit: n(200), Child: n(400), Task: n(200)}
		for c := event.Parallel; c <= event.Unknown; c++ {
			if c == event.MPI || c == event.Sections || c == event.Barrier || c == event.Atomic || c == event.Flush || c == event.Cancel ||
				c == event.CancellationPoint || c == event.Task || c == event.UntiedTask || c == event.TaskLoop {
				continue // classified as a whole, which these parts do not make up
			}
			p := profileOf(t, 5000, two, []event.Construct{c}, []profile.Node{{Parent: 0, Region: 0, Stats: []stats{s, {Thread: 1}}}})
			got := Classify(p, 1)[0]
			if min(got.Synch, got.Imbal, got.Limpar, got.Mgmt, got.MPI, got.NoCore) < 0 {
				t.Fatalf("%s: %+v of %+v, %+v", c, got, s, s.NoCore)
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
