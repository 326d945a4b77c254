package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/model"
	"ompp-attach/mpi"
	"ompp-attach/profile"
	"ompp-attach/signature"
	"ompp-attach/system"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s: %.9g, want %.9g +- %g", what, got, want, tolerance)
	}
}

// made returns a run with these times.
func made(p model.Measured) Run {
	return Run{fmt.Sprintf("%dx%d", p.Ranks, p.Threads), &signature.Signature{Program: "made", Hosts: []string{"node1"}, UsesMPI: true, Ranks: p.Ranks,
		Accounting: mpi.Minimal.String(), Times: &p}}
}

func forecast(t *testing.T, o Options, runs ...Run) *Forecast {
	t.Helper()
	f, err := New(runs, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestPaper: the advice for the paper's case. Its loop of 0.288 s gains nothing by more threads,
// because overheads are 0.013 and 0.144 s (Table 3). Communication is small.
func TestPaper(t *testing.T) {
	const loop, mpi = .288120796, .001
	run := func(n int, overhead float64) Run {
		return made(model.Measured{Ranks: 1, Threads: n, Time: loop/float64(n) + overhead + mpi, Work: loop, Overhead: overhead, MPI: mpi})
	}
	f := forecast(t, Options{Cores: 4}, run(1, .013), run(2, .144))
	cells := f.Cells()
	advice := strings.Join(f.Advice(cells), "\n")
	for _, want := range []string{
		"With 1 rank, threads beyond 1 do not pay: twice as many gain ~4.3%. Then overhead and waiting for threads take ~0.144 sec of ~0.289 sec.",
		"communication is ~",
	} {
		if !strings.Contains(advice, want) {
			t.Errorf("the advice lacks %q:\n%s", want, advice)
		}
	}
	for _, x := range f.Multithreading() {
		want := (loop + .013) / (2 * (loop/2 + .144))
		near(t, "e_mt", x.Real, want, 1e-9)
		near(t, "estimated e_mt", x.Estimated, want, 1e-6)
		near(t, "O", x.Overhead, .144, 1e-9)
	}
	if n := len(f.Multithreading()); n != 1 {
		t.Errorf("%d rows of e_mt", n)
	}
}

// TestMessagePassing: e_mp compares a hybrid run with a run of one thread per rank on as many
// cores.
func TestMessagePassing(t *testing.T) {
	run := func(p, n int, mpi, callers float64) Run {
		sum := mpi * float64(p) * callers
		return made(model.Measured{Ranks: p, Threads: n, Time: 8/float64(p*n) + mpi, Work: 8 / float64(p), MPI: mpi, Communication: &sum})
	}
	f := forecast(t, Options{}, run(1, 1, 0, 1), run(2, 1, 1, 1), run(4, 1, 3, 1), run(2, 2, 1, 1))
	rows := f.MessagePassing()
	if len(rows) != 1 || rows[0].Ranks != 2 || rows[0].Threads != 2 {
		t.Fatalf("%+v", rows)
	}
	near(t, "e_mp", rows[0].Real, 2*1./(4*3), 1e-9)
	near(t, "estimated e_mp", rows[0].Estimated, 2*1./(4*3), 1e-6)
	// Eq. 1 adds up the times of all threads: here two threads call MPI at once.
	hybrid := run(2, 2, 1, 2)
	rows = forecast(t, Options{}, run(1, 1, 0, 1), run(2, 1, 1, 1), run(4, 1, 1, 1), hybrid).MessagePassing()
	if len(rows) != 1 {
		t.Fatalf("%+v", rows)
	}
	near(t, "e_mp of two callers", rows[0].Real, 1, 1e-9)
	near(t, "estimated e_mp of two callers", rows[0].Estimated, 1, 1e-6)
	hybrid.Times.Communication = nil
	if rows := forecast(t, Options{}, run(4, 1, 1, 1), hybrid).MessagePassing(); len(rows) > 0 {
		t.Errorf("a signature of an older version: %+v", rows)
	}
}

// TestOversubscribed: cells with more threads than CPUs are marked, and are not the best.
func TestOversubscribed(t *testing.T) {
	run := func(p int) Run {
		return made(model.Measured{Ranks: p, Threads: 1, Time: 8 / float64(p), Work: 8 / float64(p)})
	}
	f := forecast(t, Options{Cores: 8, CPUs: 2}, run(1), run(2), run(4))
	for _, c := range f.Cells() {
		if c.Oversubscribed != (c.Ranks*c.Threads > 2) || c.Best && c.Oversubscribed {
			t.Errorf("%+v", c)
		}
	}
	if best, ok := Best(f.Cells()); !ok || best.Ranks*best.Threads != 2 {
		t.Errorf("%+v", best)
	}
}

// TestCrowded: threads that share CPUs take longer, in runs that are learnt from and in foretold
// ones.
func TestCrowded(t *testing.T) {
	run := func(p, n int) Run {
		w := 16 / float64(p)
		return made(model.Measured{Ranks: p, Threads: n, Time: w/float64(n)*max(1, float64(p*n)/2) + max(1, float64(p)/2) + .5, Work: w, Serial: 1, MPI: .5})
	}
	f := forecast(t, Options{Cores: 16, CPUs: 2}, run(1, 1), run(2, 1), run(4, 1), run(1, 2))
	for _, c := range f.Cells() {
		near(t, fmt.Sprintf("%d x %d", c.Ranks, c.Threads), c.Time, run(c.Ranks, c.Threads).Times.Time, 1e-3)
	}
}

// TestSendrecv: the paper's advice for programs whose ranks send as many messages as they receive.
func TestSendrecv(t *testing.T) {
	r := cannon(4, 1)
	r.Calls[0].Location.Function = "rotate"
	receive := r.Calls[0]
	receive.Operation, receive.Sends, receive.Receives = "MPI_Recv", signature.Spread{}, r.Calls[0].Sends
	if at := forecast(t, Options{}, r).sendThenReceive(); at != "" {
		t.Errorf("without receives: %s", at)
	}
	r.Calls = append(r.Calls, receive)
	f := forecast(t, Options{}, r)
	if advice := strings.Join(f.Advice(f.Cells()), "\n"); !strings.Contains(advice, "In rotate (cannon.c:9)") {
		t.Errorf("%s", advice)
	}
}

// TestWithoutMPI: a program without MPI is foretold on other numbers of threads only.
func TestWithoutMPI(t *testing.T) {
	r := made(model.Measured{Ranks: 1, Threads: 2, Time: 4, Work: 8})
	r.UsesMPI = false
	cells := forecast(t, Options{}, r).Cells()
	for _, c := range cells {
		if c.Ranks != 1 {
			t.Errorf("%+v", c)
		}
	}
	if len(cells) != 4 { // 1, 2, 4, 8
		t.Errorf("%+v", cells)
	}
}

// TestCompare: runs that are left out, and runs that were never learnt from.
func TestCompare(t *testing.T) {
	run := func(p, n int) Run {
		w := 16 / float64(p)
		return made(model.Measured{Ranks: p, Threads: n, Time: w / float64(n), Work: w})
	}
	f, err := New([]Run{run(1, 1), run(2, 1), run(4, 1), run(1, 2)}, []Run{run(4, 2), run(4, 2)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := f.Compare()
	if len(rows) != 5 || rows[0].Against || !rows[4].Against {
		t.Fatalf("%+v", rows)
	}
	// Without 1 x 1 and 1 x 2, nothing tells of one rank or two threads.
	for _, c := range rows[1:] {
		near(t, fmt.Sprintf("%d x %d", c.Ranks, c.Threads), c.Predicted, 16/float64(c.Ranks*c.Threads), 1e-3)
		near(t, "error", c.Error, 0, 1e-3)
	}
	if f := forecast(t, Options{}, run(1, 1), run(2, 1)); f.Compare() != nil {
		t.Error("two cells foretell each other")
	}
}

func TestRefused(t *testing.T) {
	old := made(model.Measured{Ranks: 1, Threads: 1, Time: 1})
	old.Times = nil
	differ := made(model.Measured{Ranks: 2, Time: 1})
	none, empty := made(model.Measured{Ranks: 1, Threads: 1}), made(model.Measured{Ranks: 1, Threads: 1, Time: 1})
	impossible := made(model.Measured{Ranks: 1, Threads: 1, Time: 1, Serial: -1})
	for want, runs := range map[string][]Run{"older version": {old}, "different numbers of threads": {differ}, "at least one run": nil,
		"1x1 took no time": {none}, "give longer runs": {empty}, "times that no run has": {impossible}} {
		if _, err := New(runs, nil, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	naive := made(model.Measured{Ranks: 1, Threads: 1, Time: 1})
	naive.Accounting = mpi.Naive.String()
	if _, err := New([]Run{naive}, nil, Options{System: &system.Profile{}}); err == nil || !strings.Contains(err.Error(), "--volumes") {
		t.Errorf("%v", err)
	}
}

func TestTroubles(t *testing.T) {
	a, b := made(model.Measured{Ranks: 1, Threads: 1, Time: 1, Work: 1}), made(model.Measured{Ranks: 2, Threads: 1, Time: 1, Work: 1})
	b.Program, b.Hosts, b.Missing, b.NoCore, b.Arguments = "other", []string{"node2"}, 1, .2, "9"
	text := strings.Join(forecast(t, Options{}, a, b).Assumptions(), "\n")
	for _, want := range []string{"differ in the program (1x1: made; 2x1: other)", "differ in the arguments", "differ in the machine", "2x1 lacks 1 of its ranks",
		"Threads lacked cores in 2x1 (20% of its threads' time)", "The number of CPUs is not known"} {
		if !strings.Contains(text, want) {
			t.Errorf("the assumptions lack %q:\n%s", want, text)
		}
	}
}

// In the case below, the costs of the machine and of the program are known exactly.

func op(name string) mpi.Op {
	o, _ := mpi.ParseOp(name)
	return o
}

// barrier and latency are the machine's costs of a barrier of n threads, and of a message.
func barrier(n int) float64         { return 2e-6 * float64(n) }
func message(bytes float64) float64 { return 1e-6 + 1e-9*bytes }

func machine() *system.Profile {
	p := &system.Profile{Machine: system.Machine{Host: "node1", Model: "made", CPUs: 16, Affinity: 16}}
	figure := func(ns float64) system.Figure {
		return system.Figure{N: 10, Median: ns, Error: ns / 50, Stopped: system.Precise}
	}
	for _, n := range []int{1, 2, 4, 8, 16} {
		p.OpenMP = append(p.OpenMP, system.OpenMP{Construct: event.Barrier, Threads: n, Cost: figure(barrier(n) * 1e9)})
	}
	for _, b := range []uint64{1, 1000, 1000000, 100000000} {
		p.MPI = append(p.MPI, system.MPI{Operation: op("MPI_Send"), Bytes: b, Processes: 2, Where: system.Socket, Cost: figure(message(float64(b)) * 1e9)})
	}
	return p
}

// cannon is a run on that machine, with work of 40 s over all ranks and 10000 barriers per rank. As
// in Cannon's algorithm, each of 10 steps has 2 sqrt(p) messages of 1e8/p bytes each. Ranks wait
// for each other for a fifth of a second.
func cannon(p, n int) Run {
	const barriers, steps = 10000, 10
	ranks := float64(p)
	messages, bytes := steps*2*math.Sqrt(ranks), 1e8/ranks
	x := model.Measured{Ranks: p, Threads: n, Work: 40 / ranks, Uneven: barriers * barrier(n) * float64(n), Serial: .5}
	r := made(x)
	r.Regions = []signature.Region{{Construct: event.Barrier, Executions: signature.Spread{Mean: barriers * float64(n)}}}
	if p > 1 {
		r.Times.MPI = messages*message(bytes) + .2
		r.Calls = []signature.Call{{Operation: "MPI_Send", Communicates: true, Location: profile.Location{File: "cannon.c", Begin: 9},
			Calls: signature.Spread{Mean: messages}, Sends: signature.Spread{Mean: messages}, Sent: signature.Spread{Mean: messages * bytes}}}
	}
	r.Times.Time = x.Serial + (x.Work+x.Uneven)/float64(n) + r.Times.MPI
	return r
}

// TestSystem: few runs do not show how barriers grow with the threads, and messages with the ranks.
// With the machine's own costs, the forecast knows both.
func TestSystem(t *testing.T) {
	f := forecast(t, Options{System: machine(), Cores: 64}, cannon(1, 1), cannon(4, 1), cannon(9, 1))
	for _, x := range [][2]int{{4, 1}, {1, 8}, {16, 1}, {16, 4}, {4, 16}} {
		want := cannon(x[0], x[1]).Times.Time
		near(t, fmt.Sprintf("%d x %d", x[0], x[1]), f.Time(x[0], x[1]), want, .01*want)
	}
	// The runs alone do not show this growth.
	own := forecast(t, Options{Cores: 64}, cannon(1, 1), cannon(4, 1), cannon(9, 1))
	if want := cannon(4, 16).Times.Time; math.Abs(own.Time(4, 16)-want) < .05*want {
		t.Error("the case shows nothing: without the profile it comes out as well")
	}
	text := strings.Join(f.Assumptions(), "\n")
	for _, want := range []string{"executions of BARRIER", "calls and bytes of MPI_Send", "MPI's waits", "beyond the transfer: 0.2"} {
		if !strings.Contains(text, want) {
			t.Errorf("the assumptions lack %q:\n%s", want, text)
		}
	}
}

// TestSharing: executions that follow each other cost their full wall time. Tasks are shared out
// among the threads. Of other constructs, each thread has its own executions.
func TestSharing(t *testing.T) {
	for _, c := range []struct {
		construct event.Construct
		contended bool
		times     func(n float64) float64
		want      float64 // s, with 4 threads
	}{
		{event.Critical, true, func(float64) float64 { return 1e6 }, .2},
		{event.TaskLoop, false, func(float64) float64 { return 1e6 }, .2},
		{event.Task, false, func(float64) float64 { return 1e6 }, .05},
		{event.Flush, false, func(n float64) float64 { return 1e6 * n }, .2},
	} {
		p := machine()
		for _, n := range []int{1, 2, 4} {
			p.OpenMP = append(p.OpenMP, system.OpenMP{Construct: c.construct, Shared: c.contended, Threads: n, Cost: system.Figure{Median: 50 * float64(n)}})
		}
		run := func(n int) Run {
			r := made(model.Measured{Ranks: 1, Threads: n, Time: 8 / float64(n), Work: 8})
			r.Regions = []signature.Region{{Construct: c.construct, Executions: signature.Spread{Mean: c.times(float64(n))}}}
			return r
		}
		f := forecast(t, Options{System: p}, run(1), run(4))
		near(t, c.construct.String()+" with 1 thread", f.At(1, 1).Overhead, .05, 1e-9)
		near(t, c.construct.String()+" with 4 threads", f.At(1, 4).Overhead, c.want, 1e-9)
	}
}

// TestCollective: the text says that collective operations are supposed to be of all ranks. An int
// is shorter than all messages of the profile, and costs as much as these.
func TestCollective(t *testing.T) {
	p := machine()
	for _, n := range []int{2, 4, 8, 16} {
		for _, b := range []uint64{8, 16} {
			p.MPI = append(p.MPI, system.MPI{Operation: op("MPI_Allreduce"), Bytes: b, Processes: n, Where: system.Socket, Cost: system.Figure{Median: 1000}})
		}
	}
	run := func(ranks int) Run {
		r := cannon(ranks, 1)
		one := signature.Spread{Mean: 1}
		r.Calls = []signature.Call{{Operation: "MPI_Allreduce", Communicates: true, Calls: one, Collectives: one, Sent: signature.Spread{Mean: 4 * float64(ranks-1)}}}
		return r
	}
	f := forecast(t, Options{System: p, Cores: 16}, run(2), run(4))
	if text := strings.Join(f.Assumptions(), "\n"); !strings.Contains(text, "Each call of MPI_Allreduce is taken for one of all ranks") {
		t.Error(text)
	}
	for _, c := range f.Cells() {
		if c.CostsBeyond {
			t.Errorf("%d x %d is marked", c.Ranks, c.Threads)
		}
	}
}

// TestBandwidth: memory bandwidth limits work that moves data. Work in caches is not limited.
func TestBandwidth(t *testing.T) {
	p := machine()
	add := func(kernel string, threads int, rate float64, oversubscribed bool) {
		p.Compute = append(p.Compute, system.Rate{Kernel: kernel, Unit: "byte/s", Threads: threads, Rate: system.Figure{Median: rate}, Oversubscribed: oversubscribed})
	}
	add("triad-cache", 1, 8, false)
	add("triad-cache", 4, 32, false)
	add("triad-memory", 1, 8, false)
	add("triad-memory", 4, 16, false)
	add("triad-memory", 32, 1, true)
	text := strings.Join(forecast(t, Options{System: p}, cannon(4, 1)).Assumptions(), "\n")
	if want := "as the profile's kernel triad-memory, the work would grow x2.00 from 1 thread to 4."; !strings.Contains(text, want) {
		t.Errorf("the assumptions lack %q:\n%s", want, text)
	}
}

// TestAnotherMachine: the notes tell the reader if costs are from another machine, or are not
// known.
func TestAnotherMachine(t *testing.T) {
	p := machine()
	p.Machine.Host, p.Software.MPILibrary = "node9", &system.Library{Name: "MPICH", Version: "4.0"}
	r := cannon(4, 2)
	r.Library = "Open MPI 4.1.4"
	r.Regions = append(r.Regions, signature.Region{Construct: event.Critical, Executions: signature.Spread{Mean: 5}})
	text := strings.Join(forecast(t, Options{System: p}, r).Assumptions(), "\n")
	for _, want := range []string{"of another machine, node9 (made), than the runs (node1)", "of another MPI library, MPICH 4.0, than 4x2 (Open MPI 4.1.4)", "no cost of CRITICAL"} {
		if !strings.Contains(text, want) {
			t.Errorf("the assumptions lack %q:\n%s", want, text)
		}
	}
}

// TestSystemCoverage: the interval holds the stated share of runs, also if costs come from a
// profile. The profile's figures are wrong by their standard errors here.
func TestSystemCoverage(t *testing.T) {
	const cases = 300
	r := rand.New(rand.NewPCG(5, 6))
	noisy := func(x Run) Run {
		p := *x.Times
		w, m := p.Work, p.MPI
		p.Work *= 1 + .02*r.NormFloat64()
		p.MPI *= 1 + .05*r.NormFloat64()
		p.Time += (p.Work-w)/float64(p.Threads) + p.MPI - m
		s := *x.Signature
		s.Times = &p
		return Run{x.Label, &s}
	}
	cells := [][2]int{{1, 1}, {4, 1}, {9, 1}, {16, 1}, {1, 2}, {4, 2}}
	at := [][2]int{{4, 1}, {9, 2}, {25, 1}}
	inside := make([]int, len(at))
	for range cases {
		p := machine()
		barriers, messages := 1+.02*r.NormFloat64(), 1+.02*r.NormFloat64()
		for i := range p.OpenMP {
			p.OpenMP[i].Cost.Median *= barriers
		}
		for i := range p.MPI {
			p.MPI[i].Cost.Median *= messages
		}
		var runs []Run
		for _, c := range cells {
			runs = append(runs, noisy(cannon(c[0], c[1])), noisy(cannon(c[0], c[1])))
		}
		f := forecast(t, Options{System: p}, runs...)
		for i, c := range at {
			x := f.Interval(c[0], c[1])
			if x.Why != "" {
				t.Fatal(x.Why)
			}
			if run := noisy(cannon(c[0], c[1])).Times.Time; x.Low <= run && run <= x.High {
				inside[i]++
			}
		}
	}
	for i, c := range at {
		t.Logf("%v: %.1f%%", c, 100*float64(inside[i])/cases)
		if in := float64(inside[i]) / cases; in < .85 || in > .95 {
			t.Errorf("%v: the interval has %.1f%% of the runs", c, 100*in)
		}
	}
}

// TestSystemErrors: standard errors of the profile widen the interval. This holds for costs of
// OpenMP and of MPI.
func TestSystemErrors(t *testing.T) {
	runs := []Run{cannon(1, 1), cannon(1, 1), cannon(4, 1), cannon(4, 1), cannon(9, 1), cannon(9, 2)}
	width := func(openmp, mpi float64) float64 {
		p := machine()
		for i := range p.OpenMP {
			p.OpenMP[i].Cost.Error *= openmp
		}
		for i := range p.MPI {
			p.MPI[i].Cost.Error *= mpi
		}
		x := forecast(t, Options{System: p}, runs...).Interval(9, 2)
		if x.Why != "" {
			t.Fatal(x.Why)
		}
		return x.High - x.Low
	}
	if base := width(1, 1); width(10, 1) <= base || width(1, 10) <= base {
		t.Errorf("%g, with larger errors of OpenMP %g, of MPI %g", base, width(10, 1), width(1, 10))
	}
}

// Nothing is learnt from a run in which probes took most of the time.
func TestHidden(t *testing.T) {
	r := made(model.Measured{Ranks: 1, Threads: 2, Time: 2, Work: 3})
	r.CannotTell = "cannot be told: why"
	if _, err := New([]Run{r}, nil, Options{}); err == nil || err.Error() != "the times of 1x2 cannot be told: why" {
		t.Error(err)
	}
}
