package properties

import (
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/severity"
)

// Where a loop leaves threads without work, it is said when no schedule helps.
func TestStarvingLoops(t *testing.T) {
	for _, few := range []bool{false, true} {
		p := barriers(2, 20)
		p.Regions[0].Construct = event.ParallelLoop
		for i := range p.Nodes[1].Stats {
			p.Nodes[1].Stats[i].Body.T = 50e9
		}
		if few {
			p.Nodes[1].Stats[1].Body.T = 1e6
		}
		text := strings.Join(strings.Fields(write(t, "text", severity.Of(p, severity.Options{}), options(false))), " ")
		if strings.Contains(text, "no schedule helps: collapse") != few || strings.Contains(text, "use schedule(dynamic)") == few || strings.Contains(text, "doubt ") {
			t.Errorf("few %t:\n%s", few, text)
		}
	}
}

// Where threads wait for threads that began late, no other schedule is advised.
func TestLateThreads(t *testing.T) {
	for _, c := range []struct {
		construct event.Construct
		late      bool
		usual     string
	}{{event.ParallelLoop, false, "use schedule(dynamic)"}, {event.ParallelLoop, true, "use schedule(dynamic)"},
		{event.Parallel, false, "Balance the region's work"}, {event.Parallel, true, "Balance the region's work"}} {
		p := barriers(2, 20)
		p.Regions[0].Construct = c.construct
		first, second := &p.Nodes[1].Stats[0], &p.Nodes[1].Stats[1]
		first.Exec.T, second.Exec.T = 40e9, 40e9
		first.Body.T, second.Body.T = 20e9, 40e9
		if c.late {
			second.Enter.T, second.Body.T = 20e9, 20e9
		}
		text := strings.Join(strings.Fields(write(t, "text", severity.Of(p, severity.Options{}), options(false))), " ")
		if strings.Contains(text, "wait least began last") != c.late || strings.Contains(text, "Dividing the work otherwise does not help") != c.late ||
			strings.Contains(text, c.usual) == c.late {
			t.Errorf("%v, late %t:\n%s", c.construct, c.late, text)
		}
	}
}

// A place where threads begin late has its own advice, also below another place of the property.
func TestLateBelowUneven(t *testing.T) {
	p := barriers(2, 25, 20)
	p.Nodes[1].Stats[0].Body.T = 1e9
	first, second := &p.Nodes[2].Stats[0], &p.Nodes[2].Stats[1]
	first.Exec.T, second.Exec.T, second.Enter.T, first.Body.T = 40e9, 40e9, 20e9, 20e9
	text := strings.Join(strings.Fields(write(t, "text", severity.Of(p, severity.Options{}), options(false))), " ")
	for _, want := range []string{"had the most work: the others", "least began last", "Balance the region's work", "Dividing the work otherwise"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q:\n%s", want, text)
		}
	}
}

// Where threads wait for threads that had no core, or that came late to a loop, the text says so
// and advises no other schedule. JSON has the reason.
func TestReasonsOfWaits(t *testing.T) {
	for _, c := range []struct {
		construct   event.Construct
		away, delay int64
		want, json  string
	}{
		{event.Loop, 0, 20e9, "use schedule(dynamic) or guided", ""},
		{event.Loop, 15e9, 20e9, "had no core for most of that time: see WaitForCore. helps Dividing the work otherwise does not mend this", "no_core"},
		{event.Barrier, 15e9, 20e9, "give each thread a core", "no_core"},
		{event.Barrier, 5e9, 20e9, "Balance the work before the barrier, or", ""},
		{event.Loop, 0, 5e9, "came last to the construct, and the others wait for them: see what these threads did before it. helps Balance the work before the construct", "late_to_construct"},
	} {
		p := barriers(2, 20)
		p.Regions = append(p.Regions, p.Regions[0])
		p.Regions[1].Construct = c.construct
		in := p.Nodes[1]
		in.Parent, in.Region = 1, 1
		p.Nodes = append(p.Nodes, in)
		around := profile.Sum{T: 20e9, C: 1}
		p.Nodes[1].Stats = []profile.ThreadStats{{Thread: 0, Exec: around, Body: around, Child: 20e9}, {Thread: 1, Exec: around, Body: around, Child: 20e9}}
		if c.construct == event.Barrier {
			p.Nodes[1].Stats[1].Waits = in.Stats[1].Waits
			for i := range in.Stats {
				in.Stats[i].Barrier, in.Stats[i].Body = profile.Sum{}, profile.Sum{}
			}
			in.Stats[1].Waits, in.Stats[1].Exec.T = nil, 0
			p.Nodes[1].Stats[1].Waits.NoCore = c.away
		} else {
			in.Stats[1].Waits.NoCore, in.Stats[1].Waits.Delay = c.away, c.delay
		}
		if c.construct == event.Loop {
			in.Stats[0].Body.T = 20e9
		}
		cube := severity.Of(p, severity.Options{})
		text := strings.Join(strings.Fields(write(t, "text", cube, options(false))), " ")
		if !strings.Contains(text, c.want) || c.json != "" && (strings.Contains(text, "or guided") || strings.Contains(text, "or remove it")) {
			t.Errorf("%v, %d without a core, delay %d: no %q in\n%s", c.construct, c.away, c.delay, c.want, text)
		}
		if files := write(t, "json", cube, options(false)); strings.Contains(files, `"uneven": "`) != (c.json != "") || !strings.Contains(files, c.json) {
			t.Errorf("%v, %d without a core, delay %d: no %q in\n%s", c.construct, c.away, c.delay, c.json, files)
		}
	}
}

// A process or a job that has more threads than cores is named for the lack of cores.
func TestCrowdsAdvice(t *testing.T) {
	for cpus, want := range map[profile.CPUs]string{"0": "helps The process itself has more threads than cores: 2 threads on 1 core. Start fewer threads (OMP_NUM_THREADS)",
		"0-1": "helps Start no more threads than there are cores for them"} {
		p := barriers(2, 40)
		p.Meta.CPUs = cpus
		away := &profile.Cost{Exec: 30e9, Body: 30e9}
		p.Nodes[1].Stats[1].NoCore = away
		p.Nodes[0].Stats = []profile.ThreadStats{{Thread: 1, NoCore: away}}
		cube := severity.Of(p, severity.Options{})
		text := strings.Join(strings.Fields(write(t, "text", cube, options(false))), " ")
		if !strings.Contains(text, want) {
			t.Errorf("on %s: no %q in\n%s", cpus, want, text)
		}
		s := severity.NewSum(1000)
		s.Add(cube, []int{0})
		s.Add(cube, []int{0})
		text = strings.Join(strings.Fields(write(t, "text", s.Finish(cube.Regions, []int{0}), options(false))), " ")
		if want := "2 ranks with 4 threads on " + map[profile.CPUs]string{"0": "1 core", "0-1": "2 cores"}[cpus]; !strings.Contains(text, want) {
			t.Errorf("a job on %s: no %q in\n%s", cpus, want, text)
		}
	}
}
