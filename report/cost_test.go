package report

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/job"
	"ompp-attach/profile"
)

// costly is a profile of one thread in one critical, with probes that took half of its time.
func costly() *profile.Profile {
	return &profile.Profile{
		Meta: profile.Meta{Program: "solver", Duration: 10e9, Ended: "exit status 0", MPI: &profile.MPIJob{Size: 1},
			Overhead: &profile.Overhead{Mode: "uprobe.session", Probes: []profile.ProbeHits{
				{Probe: "emulated", Hits: 1e6, Before: 600, After: 400}, {Probe: "emulated", Reads: 1, Hits: 1e6, Before: 600, After: 800},
				{Probe: "return", Hits: 1e6, Before: 300, After: 300}}}},
		Threads: []profile.Thread{{}},
		Regions: []profile.Region{{Construct: event.Critical, Location: profile.Location{File: "a.c", Begin: 3, End: 5}}},
		Nodes: []profile.Node{
			{Parent: -1, Region: -1, Stats: []profile.ThreadStats{{Cost: &profile.Cost{Exec: 3e9}}}},
			{Parent: 0, Region: 0, Stats: []profile.ThreadStats{{Exec: profile.Span{T: 4e9, C: 1e6}, Enter: profile.Span{T: 1e9, C: 1e6}, Body: profile.Span{T: 3e9, C: 1e6},
				Cost: &profile.Cost{Exec: 2e9, Enter: 5e8, Body: 15e8}}}},
		},
	}
}

// busy is costly, but of a process that had a core for half of the time.
func busy() *profile.Profile {
	p := costly()
	p.Meta.UserTime, p.Meta.SysTime = 1e9, 4e9
	return p
}

// sampled is costly, but samples say that probes took half as long again.
func sampled() *profile.Profile {
	p := costly()
	p.Meta.Sampling = &profile.Sampling{Event: "task-clock", Unit: "ns", Frequency: 199, Taken: 900}
	p.Samples = []profile.Sample{{Node: 1, Phase: profile.PhaseProbe, Kernel: true, Count: 900, Weight: 45e8}}
	return p
}

// quiet is a profile of a program in which probes took little time.
func quiet() *profile.Profile {
	p := costly()
	p.Meta.Overhead.Probes = []profile.ProbeHits{{Probe: "emulated", Hits: 1e5, Before: 500, After: 700}}
	for i := range p.Nodes {
		p.Nodes[i].Stats[0].Cost = &profile.Cost{Exec: 12e7}
	}
	return p
}

// All reports show times without the probes' time and say so. With --raw they show times as
// measured.
func TestCostsInReports(t *testing.T) {
	unknown := costly()
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
	inJob := func(write func(io.Writer, *job.Job, Options) error) func(*profile.Profile, Options) string {
		return func(p *profile.Profile, o Options) string {
			open := func() (io.ReadCloser, error) {
				var b bytes.Buffer
				err := profile.Encode(&b, p)
				return io.NopCloser(&b), err
			}
			j, err := job.Read([]job.Source{{Rank: 0, Name: job.FileName(0, 0), Open: open}}, job.Options{Raw: o.Raw})
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := write(&b, j, o); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
	}
	raw := Options{Raw: true}
	for _, tc := range []struct {
		name  string
		write func(*profile.Profile, Options) string
		p     *profile.Profile
		o     Options
		want  []string
	}{
		{"ompp", ompp, costly(), Options{Decimals: 2}, []string{
			"Probe Cost      : 3.00 thread-sec (30.0% of the threads' wall time): 2000000 emulated x 1.20 us, 1000000 return x 0.60 us\n",
			"Times           : derived: as measured, less what the probes took",
			"Duration        : 7.00 sec\n", "Measured        : 10.00 sec", "   0       2.00    1000000       1.50       0.50       0.00\n",
			"R00001 a.c (3-5) (unnamed) CRITICAL: 2.00 thread-sec, 50.0% of its own time as measured",
			"Probes took more than a tenth of the time of the program (30.0%), R00001 a.c (3-5) (unnamed) CRITICAL (50.0%): counts are exact, times and waits are rough.\n",
			"Left out, since probes may have made them: CriticalSectionContention of R00001 a.c (3-5) (unnamed) CRITICAL.\n"}},
		{"ompp, with processor time", ompp, busy(), Options{Decimals: 2}, []string{
			"Probe Cost      : 3.00 thread-sec (30.0% of the threads' wall time, 60.0% of 5.00 sec of processor time): ",
			"the time of the program (60.0%), R00001"}},
		{"ompp, with samples", ompp, sampled(), Options{Decimals: 2}, []string{
			"Probe Cost      : 4.50 thread-sec (45.0% of the threads' wall time): 2000000 emulated x 1.20 us, 1000000 return x 0.60 us; samples say that they took 1.50 times as long\n",
			"Duration        : 5.50 sec\n", "   0       1.00    1000000       0.75       0.25       0.00\n"}},
		{"ompp, quiet", ompp, quiet(), Options{}, []string{"Property P00001 'CriticalSectionContention' holds for\n"}},
		{"ompp raw", ompp, costly(), raw, []string{
			"(30.0% of the threads' wall time)", "Times           : as measured, with what the probes took\n", "Duration        : 10.00 sec\n",
			"   0       4.00    1000000       3.00       1.00       0.00\n", "50.0% of its own time as measured"}},
		{"ompp, not known", ompp, unknown, Options{}, []string{
			"Probe Cost      : It is not known what the probes cost: no memory\n", "Times           : as measured; what the probes took is not known\n"}},
		{"summary", summary, costly(), Options{Decimals: 2}, []string{"7.00 sec wall time (10.00 with the probes), ", "3.00 thread-sec (30.0%), taken out of all other times",
			"rough               Probes took more than a tenth of the time of the program (30.0%), R00001 a.c (3-5) (unnamed) CRITICAL (50.0%): counts are exact, times and waits are rough."}},
		{"summary raw", summary, costly(), raw, []string{"10.00 sec wall time, ", "3.00 thread-sec (30.0%)\n"}},
		{"pprof", pprof, costly(), Options{}, []string{"times derived", "probe cost 3.000 thread-sec", "Probes took more than a tenth of the time of the program"}},
		{"pprof raw", pprof, costly(), raw, []string{"times as measured, with"}},
		{"job text", inJob(WriteJobText), costly(), Options{}, []string{"Probe Cost      : 3.0", "30.0% of thread time as measured", "Times           : derived"}},
		{"job text raw", inJob(WriteJobText), costly(), raw, []string{"Times           : as measured, with"}},
		{"job json", inJob(WriteJobJSON), costly(), Options{}, []string{`"probe_ns": 3000000000`, `"adjusted": true`, `"wall_ns": 7000000000`}},
		{"job json raw", inJob(WriteJobJSON), costly(), raw, []string{`"adjusted": false`, `"wall_ns": 10000000000`}},
		{"job json, not known", inJob(WriteJobJSON), unknown, Options{}, []string{`"probe_ns": null`}},
		{"job csv", inJob(writeRanksCSV), costly(), Options{}, []string{",probe_ns,adjusted,no_core_ns,no_core_overhead_ns,mpi_start_end_ns\r\n", ",3000000000,true,0,0,0\r\n"}},
		{"job csv, not known", inJob(writeRanksCSV), unknown, Options{}, []string{",,false,0,0,0\r\n"}},
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
