package report

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report/limits"
	"ompp-attach/report/reporttest"
	"ompp-attach/report/words"
)

// busy is costly, but of a process that had a core for half of the time.
func busy() *profile.Profile {
	p := reporttest.Costly()
	p.Meta.UserTime, p.Meta.SysTime = 1e9, 4e9
	return p
}

// overestimated is costly, but of a process that had less processor time than that.
func overestimated() *profile.Profile {
	p := reporttest.Costly()
	p.Meta.UserTime = 2.5e9
	return p
}

// sampled is costly, but samples say that probes took half as long again.
func sampled() *profile.Profile {
	p := reporttest.Costly()
	p.Meta.Sampling = &profile.Sampling{Event: "task-clock", Unit: "ns", Frequency: 199, Taken: 900}
	p.Samples = []profile.Sample{{Node: 1, Phase: profile.PhaseProbe, Kernel: true, Count: 900, Weight: 45e8}}
	return p
}

// bounded is costly, but the process had no processor time for more than half of that.
func bounded() *profile.Profile {
	p := reporttest.Costly()
	p.Meta.UserTime, p.Meta.SysTime, p.Meta.Overhead.AtMost = 1e9, 5e8, 0.5
	return p
}

// between is bounded, and of the time between two snapshots: it has the factor of the later one.
func between() *profile.Profile {
	p := bounded()
	p.Meta.UserTime, p.Meta.SysTime = 5e7, 5e7
	return p
}

// lossy is costly, and hits were lost.
func lossy() *profile.Profile {
	p := reporttest.Costly()
	p.Meta.LostHits = 7
	return p
}

// quiet is a profile of a program in which probes took little time.
func quiet() *profile.Profile {
	p := reporttest.Costly()
	p.Meta.Overhead.Probes = []profile.ProbeHits{{Probe: "emulated", Hits: 1e5, Before: 500, After: 700}}
	for i := range p.Nodes {
		p.Nodes[i].Stats[0].Cost = &profile.Cost{Exec: 12e7}
	}
	return p
}

// unhit is a profile of a program that came by no probe.
func unhit() *profile.Profile {
	p := &profile.Profile{Threads: []profile.Thread{{}}, Nodes: []profile.Node{{Parent: -1, Region: -1}}}
	p.Meta.Duration, p.Meta.Overhead = 1e9, &profile.Overhead{}
	p.Nodes[0].Stats = []profile.ThreadStats{{Exec: profile.Sum{T: 1e9, C: 1}}}
	return p
}

// The header says where threads at once pay more.
func TestCostOfManyThreads(t *testing.T) {
	p := quiet()
	const text = "by the cost of one thread's hits: a hit takes 9.5 times as long while 64 threads hit probes at once"
	for _, threads := range []int{0, 64} {
		p.Meta.Overhead.Threads, p.Meta.Overhead.Times = threads, 9.5
		if got := limits.CostText(p, words.ClockOf(p)); strings.Contains(got, text) != (threads > 0) {
			t.Errorf("%d threads: %s", threads, got)
		}
	}
}

// Between two snapshots, there may be no hits of a kind, or nothing was measured at all.
func TestHeaderOfAShortWindow(t *testing.T) {
	p := quiet()
	p.Meta.Overhead.Probes = append(p.Meta.Overhead.Probes, profile.ProbeHits{Probe: "jump", Before: 300, After: 100})
	p.Meta.Duration, p.Meta.Hits, p.Meta.Off.T = 0, 0, 8e6
	var b bytes.Buffer
	if err := WriteOmpp(&b, p, Options{}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"NaN": false, "jump": false, "Duration        : 0 sec: nothing was measured\n": true, "Switched Off    : 8 ms, not part": true} {
		if strings.Contains(b.String(), text) != want {
			t.Errorf("%q: %t in\n%s", text, !want, b.String())
		}
	}
}

// All reports show times without the probes' time and say so. With --raw they show times as
// measured.
func TestCostsInReports(t *testing.T) {
	unknown := reporttest.Costly()
	unknown.Meta.Overhead = &profile.Overhead{Failed: "It is not known what the probes cost: no memory."}
	for i := range unknown.Nodes {
		unknown.Nodes[i].Stats[0].Cost = nil
	}
	text := func(p *profile.Profile, o Options, write func(io.Writer, *profile.Profile, Options) error) string {
		var b bytes.Buffer
		if err := write(&b, p, o); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	ompp := func(p *profile.Profile, o Options) string { return text(p, o, WriteOmpp) }
	summary := func(p *profile.Profile, o Options) string {
		return text(p, o, func(w io.Writer, p *profile.Profile, o Options) error { return Summary(w, p, nil, o) })
	}
	pprof := func(p *profile.Profile, o Options) string {
		return buildPprof(o.view(p), o).String()
	}
	raw := Options{Raw: true}
	for _, tc := range []struct {
		name  string
		write func(*profile.Profile, Options) string
		p     *profile.Profile
		o     Options
		want  []string
	}{
		{"ompp", ompp, reporttest.Costly(), Options{Decimals: 2}, []string{
			"Probe Cost      : 3.00 thread-sec (30.0% of the threads' wall time): 2000000 emulated x 1.20 us, 1000000 return x 0.60 us\n",
			"Times           : derived: as measured, less what the probes took",
			"Duration        : 7.00 sec\n", "Measured        : 10.00 sec", "   0       2.00    1000000       1.50       0.50       0.00\n",
			"R00001 a.c (3-5) (unnamed) CRITICAL: 2.00 thread-sec, 50.0% of its own time as measured",
			"Probes took more than a tenth of the time of the program (30.0%), R00001 a.c (3-5) (unnamed) CRITICAL (50.0%): counts are exact, times and waits are rough.\n",
			"Left out, since probes may have made them: CriticalSectionContention of R00001 a.c (3-5) (unnamed) CRITICAL.\n"}},
		{"ompp, with processor time", ompp, busy(), Options{Decimals: 2}, []string{
			"Probe Cost      : 3.00 thread-sec (30.0% of the threads' wall time, 60.0% of 5.00 sec of processor time): ",
			"the time of the program (60.0%), R00001"}},
		{"ompp, more than the processor time", ompp, overestimated(), Options{Decimals: 2}, []string{
			"Probe Cost      : 3.00 thread-sec (30.0% of the threads' wall time, an overestimate: all took 2.50 sec of processor time): "}},
		{"ompp, with samples", ompp, sampled(), Options{Decimals: 2}, []string{
			"Probe Cost      : 4.50 thread-sec (45.0% of the threads' wall time): 2000000 emulated x 1.20 us, 1000000 return x 0.60 us; samples say that they took 1.50 times as long\n",
			"Duration        : 5.50 sec\n", "   0       1.00    1000000       0.75       0.25       0.00\n"}},
		{"ompp, with little processor time", ompp, bounded(), Options{Decimals: 2}, []string{
			"Probe Cost      : ~1.50 thread-sec (15.0% of the threads' wall time, 100.0% of 1.50 sec of processor time): 2000000 emulated x 1.20 us, 1000000 return x 0.60 us; " +
				"they took at most 0.50 times as long, by the process's processor time\n",
			"Duration        : 8.50 sec\n", "   0       3.00    1000000       2.25       0.75       0.00\n"}},
		{"ompp, with less processor time than the bound", ompp, between(), Options{Decimals: 2}, []string{
			"an overestimate: all took 0.10 sec of processor time"}},
		{"ompp, with lost hits", ompp, lossy(), Options{Decimals: 2}, []string{": counts are exact where no hits were lost, times and waits are rough.\n"}},
		{"ompp, quiet", ompp, quiet(), Options{}, []string{"Property P00001 'CriticalSectionContention' holds for\n"}},
		{"ompp raw", ompp, reporttest.Costly(), raw, []string{
			"(30.0% of the threads' wall time)", "Times           : as measured, with what the probes took\n", "Duration        : 10.00 sec\n",
			"   0       4.00    1000000       3.00       1.00       0.00\n", "50.0% of its own time as measured"}},
		{"ompp, not known", ompp, unknown, Options{}, []string{
			"Probe Cost      : It is not known what the probes cost: no memory\n", "Times           : as measured; what the probes took is not known\n"}},
		{"ompp, no hit", ompp, unhit(), Options{}, []string{"Times           : as measured: no probe was hit\n"}},
		{"summary", summary, reporttest.Costly(), Options{Decimals: 2}, []string{"7.00 sec wall time (10.00 with the probes), ", "3.00 thread-sec (30.0%), taken out of all other times",
			"rough               Probes took more than a tenth of the time of the program (30.0%), R00001 a.c (3-5) (unnamed) CRITICAL (50.0%): counts are exact, times and waits are rough."}},
		{"summary, with little processor time", summary, bounded(), Options{Decimals: 2}, []string{"~1.50 thread-sec (15.0%, 100.0% of 1.50 sec of processor time), taken out of all other times"}},
		{"summary raw", summary, reporttest.Costly(), raw, []string{"10.00 sec wall time, ", "3.00 thread-sec (30.0%)\n"}},
		{"pprof", pprof, reporttest.Costly(), Options{}, []string{"times derived", "probe cost 3.000 thread-sec", "Probes took more than a tenth of the time of the program"}},
		{"pprof raw", pprof, reporttest.Costly(), raw, []string{"times as measured, with"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := tc.write(tc.p, tc.o)
			for _, w := range tc.want {
				if !strings.Contains(got, w) {
					t.Errorf("it does not say %q:\n%s", w, got)
				}
			}
		})
	}
}

// Where MPI calls took most of the cost, the header and the summary say that --max-overhead does
// not bound it, if the budget was used.
func TestCostOfMPINotBounded(t *testing.T) {
	const says = "MPI calls took 75% of the probes' cost, which --max-overhead does not bound: --disable MPI_Test leaves out these calls"
	for _, c := range []struct {
		what  string
		calls int64 // what MPI calls cost of 1000 ns
		worst float64
		want  bool
	}{{"MPI calls", 750, .06, true}, {"MPI calls, within the budget", 750, .04, true}, {"MPI calls that cost little", 750, .02, false},
		{"few MPI calls", 400, .06, false}, {"no budget", 750, 0, false}} {
		exec := profile.Sum{T: 1e6, C: 10}
		p := &profile.Profile{Threads: []profile.Thread{{}}, Regions: []profile.Region{{Construct: event.MPI, Name: "MPI_Test"}, {Construct: event.Critical}},
			Nodes: []profile.Node{{Parent: -1, Region: -1, Stats: []profile.ThreadStats{{MPI: &profile.MPIStats{T: 1e6, Calls: 10}, Cost: &profile.Cost{Exec: 1000}}}},
				{Region: 0, Stats: []profile.ThreadStats{{Exec: exec, MPI: &profile.MPIStats{T: 1e6, Calls: 10}, Cost: &profile.Cost{Exec: c.calls}}}},
				{Region: 1, Stats: []profile.ThreadStats{{Exec: exec, Cost: &profile.Cost{Exec: 1000 - c.calls}}}}}}
		p.Meta.Duration, p.Meta.UserTime = 1e9, 1e9
		p.Meta.Overhead = &profile.Overhead{Probes: []profile.ProbeHits{{Hits: 10, Before: 100}}}
		if c.worst > 0 {
			p.Meta.Budget = &profile.Budget{Share: .05, Horizon: 10e9, Worst: c.worst}
		}
		summary, text := summaryOf(t, p), written(t, "ompp", p, Options{})
		if strings.Contains(summary, "not bounded         "+says+"\n") != c.want || strings.Contains(text, "Not Bounded     : "+says+"\n") != c.want ||
			(NotBounded(p, Options{}) == says) != c.want {
			t.Errorf("%s:\n%s\n%s", c.what, summary, text)
		}
	}
}
