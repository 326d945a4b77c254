package report

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ompp-attach/analysis"
	"ompp-attach/attribution"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
	"ompp-attach/report/stacks"
)

// tape is a recorded run written by hand, times in milliseconds.
type tape struct {
	t *testing.T
	s attribution.Stream
}

const ms = 1_000_000

func (r *tape) at(ms64 uint64, tid uint32, c event.Construct, e event.Edge, more event.Event) {
	more.Time, more.PID, more.TID, more.Construct, more.Edge, more.Runtime = ms64*ms, 1, tid, c, e, event.Gomp
	r.s.Events = append(r.s.Events, more)
}

func (r *tape) call(from, to uint64, tid uint32, op string, site uint64, a mpi.Args) {
	o, ok := mpi.ParseOp(op)
	if !ok {
		r.t.Fatalf("no operation %s", op)
	}
	r.at(to, tid, event.MPI, event.Released, event.Event{Site: site, MPI: &event.MPICall{Op: o, Start: from * ms, Args: a}})
}

// place is the place of a construct or of an operation's call.
func (r *tape) place(k attribution.Key, name string, begin, end int) {
	if k.Construct == event.MPI {
		op, _ := mpi.ParseOp(name)
		k.Fn = uint64(op)
	} else {
		k.Runtime = event.Gomp
	}
	r.s.Places = append(r.s.Places, attribution.Placed{Key: k, Region: profile.Region{Construct: k.Construct, Name: name,
		Location: profile.Location{File: "/src/main.c", Begin: begin, End: end, Function: "main"}}})
}

// profile returns the tape's profile after it was recorded and read.
func (r *tape) profile(end uint64, rank, size int) *profile.Profile {
	r.t.Helper()
	var buf bytes.Buffer
	if err := attribution.EncodeStream(&buf, &r.s); err != nil {
		r.t.Fatal(err)
	}
	s, err := attribution.DecodeStream(&buf)
	if err != nil {
		r.t.Fatal(err)
	}
	s.End = end * ms
	p := s.Replay()
	p.Meta = profile.Meta{Program: "hybrid", PID: 1, Host: "node1", Kernel: "6.18.0", Arch: "x86_64", Tool: "test",
		Start: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Duration: int64(end * ms), Ended: "exit status 0", Hits: p.Meta.Hits,
		MPI: &profile.MPIJob{Library: "Open MPI 4.1.4", Rank: rank, Size: size, Level: "MPI_THREAD_MULTIPLE"}}
	return p
}

func (r *tape) region(begins, joins uint64, threads uint32, work func(tid uint32)) {
	const team = 7
	r.at(begins, 1, event.Parallel, event.Fork, event.Event{Fn: 300, Key: team, Size: int32(threads), Site: 90})
	for tid := uint32(1); tid <= threads; tid++ {
		r.at(begins, tid, event.Parallel, event.Begin, event.Event{Key: team, Num: int32(tid - 1)})
		work(tid)
	}
	r.at(joins, 1, event.Parallel, event.Join, event.Event{})
}

// figure6 is the paper's Fig. 6: ten executions of a region of four threads. Each thread sends
// 1 MiB in a critical section.
func figure6(t *testing.T) *profile.Profile {
	r := &tape{t: t, s: attribution.Stream{PID: 1}}
	r.place(attribution.Key{Kind: attribution.Kind{Construct: event.Parallel}, Fn: 300}, "", 50, 60)
	r.place(attribution.Key{Kind: attribution.Kind{Construct: event.Critical}, Site: 400}, "", 53, 58)
	r.place(attribution.Key{Kind: attribution.Kind{Construct: event.MPI}, Site: 500}, "MPI_Send", 55, 0)
	for i := range uint64(10) {
		from := 50 * i
		r.region(from, from+42, 4, func(tid uint32) {
			mine := from + 10*uint64(tid-1)
			r.at(from, tid, event.Critical, event.Enter, event.Event{Site: 400})
			r.at(mine, tid, event.Critical, event.Acquired, event.Event{})
			r.call(mine+1, mine+9, tid, "MPI_Send", 500, mpi.Args{Send: 1 << 20, Size: 2, Rank: 1})
			r.at(mine+10, tid, event.Critical, event.Release, event.Event{})
			r.at(mine+10, tid, event.Critical, event.Released, event.Event{})
			r.at(from+41, tid, event.Parallel, event.End, event.Event{})
		})
	}
	return r.profile(500, 1, 2)
}

func TestFigure6(t *testing.T) {
	text := ompText(t, figure6(t))
	golden(t, "mpi-figure6.ompp.golden", []byte(text))
	const row = " 10485760          0         10          0\n"
	want := "R00002 main.c (53-58) (unnamed) CRITICAL\n" +
		" TID      execT      execC      bodyT     enterT      exitT       mpiT        inV       outV      recvC      sendC      collC\n" +
		"   0       0.10         10       0.10       0.00       0.00       0.08          0  " + row +
		"   1       0.20         10       0.10       0.10       0.00       0.08          0  " + row +
		"   2       0.30         10       0.10       0.20       0.00       0.08          0  " + row +
		"   3       0.40         10       0.10       0.30       0.00       0.08          0  " + row +
		" SUM       1.00         40       0.40       0.60       0.00       0.32          0   41943040          0         40          0\n"
	for _, want := range []string{want,
		"MPI my rank     : 1\nMPI num procs   : 2\nMPI hostname    : node1\nMPI time        : 0.320000\n" +
			"MPI bytes in    : 0\nMPI bytes out   : 41943040\nMPI recv calls  : 0\nMPI send calls  : 40\nMPI collectives : 0\n",
		"MPI: 1 call site:\n * R00003 main.c (55) (MPI_Send)\n",
		" SUM       0.32         40   41943040    1048576    1048576    1048576\n",
		"   +    Mgmt (%)   +     MPI (%)\nR00001     1.68",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("not in the report:\n%s", want)
		}
	}
}

// figure9 is a process of the paper's Fig. 9. Its threads have unequal shares of a loop. Then the
// primary thread calls MPI_Alltoall, which lasts until the last process has come. With imbal, the
// loop's slowest thread works for longer.
func figure9(t *testing.T, rank int, imbal uint64) *profile.Profile {
	r := &tape{t: t, s: attribution.Stream{PID: 1}}
	r.place(attribution.Key{Kind: attribution.Kind{Construct: event.Parallel}, Fn: 300}, "", 10, 30)
	r.place(attribution.Key{Kind: attribution.Kind{Construct: event.Loop}, Site: 400}, "", 12, 20)
	r.place(attribution.Key{Kind: attribution.Kind{Construct: event.Master}, Site: 410}, "", 21, 25)
	r.place(attribution.Key{Kind: attribution.Kind{Construct: event.MPI}, Site: 500}, "MPI_Alltoall", 23, 0)
	r.place(attribution.Key{Kind: attribution.Kind{Construct: event.Barrier}, Site: 420}, "", 26, 26)
	const work, slowest = 100, 400
	last := work + imbal
	r.region(0, slowest+12, 2, func(tid uint32) {
		done := uint64(work)
		if tid == 2 {
			done = last
		}
		r.at(0, tid, event.Loop, event.Open, event.Event{Site: 400})
		r.at(done, tid, event.Loop, event.Wait, event.Event{})
		r.at(last, tid, event.Loop, event.Waited, event.Event{})
		if tid == 1 {
			r.at(last, 1, event.Master, event.Enter, event.Event{Site: 410, Flags: event.FreeAtOnce | event.NoReturn})
			r.call(last, slowest+10, 1, "MPI_Alltoall", 500, mpi.Args{Send: 1000, Recv: 1000, Size: 4, Rank: int32(rank)})
			r.at(slowest+10, 1, event.Master, event.Release, event.Event{Flags: event.FreeAtOnce | event.NoReturn})
		}
		r.at(slowest+11, tid, event.Parallel, event.End, event.Event{})
	})
	return r.profile(slowest+12, rank, 4)
}

// The processes have about the same overhead, some of them as imbalance, the others as MPI.
func TestFigure9(t *testing.T) {
	balanced, imbalanced := figure9(t, 0, 0), figure9(t, 1, 300)
	golden(t, "mpi-figure9-rank0.ompp.golden", []byte(ompText(t, balanced)))
	golden(t, "mpi-figure9-rank1.ompp.golden", []byte(ompText(t, imbalanced)))
	a, b := analysis.Overheads(balanced)[0].Classes, analysis.Overheads(imbalanced)[0].Classes
	if want := (analysis.Classes{MPI: 310 * ms, Mgmt: 2 * ms}); a != want {
		t.Errorf("balanced: %+v, want %+v", a, want)
	}
	if want := (analysis.Classes{Imbal: 300 * ms, MPI: 10 * ms, Mgmt: 2 * ms}); b != want {
		t.Errorf("imbalanced: %+v, want %+v", b, want)
	}
	if a.Sum() != b.Sum() {
		t.Errorf("sums %d and %d, want them equal", a.Sum(), b.Sum())
	}
}

func written(t *testing.T, name string, p *profile.Profile, o Options) string {
	t.Helper()
	f, _ := FormatNamed(name)
	var buf bytes.Buffer
	if err := f.Write(&buf, p, o); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func TestVolumesByEitherAccounting(t *testing.T) {
	r := &tape{t: t, s: attribution.Stream{PID: 1}}
	r.place(attribution.Key{Kind: attribution.Kind{Construct: event.MPI}, Site: 500}, "MPI_Bcast", 5, 0)
	r.call(1, 2, 1, "MPI_Bcast", 500, mpi.Args{Send: 100, Recv: 100, Size: 4})
	p := r.profile(10, 0, 4)
	for by, want := range map[mpi.Accounting]string{mpi.Minimal: "MPI bytes out   : 100\n", mpi.Naive: "MPI bytes out   : 300\n"} {
		if text := written(t, "ompp", p, Options{Volumes: by}); !strings.Contains(text, want) || !strings.Contains(text, "MPI accounting  : "+by.String()+"\n") {
			t.Errorf("%s: no %q in\n%s", by, want, text)
		}
	}
}

// An unknown volume is not shown as 0.
func TestUnknownVolumes(t *testing.T) {
	r := &tape{t: t, s: attribution.Stream{PID: 1}}
	for site, op := range map[uint64]string{500: "MPI_Send", 501: "MPI_Recv", 502: "MPI_Barrier"} {
		r.place(attribution.Key{Kind: attribution.Kind{Construct: event.MPI}, Site: site}, op, int(site), 0)
	}
	r.call(1, 2, 1, "MPI_Send", 500, mpi.Args{Send: 100})
	r.call(3, 4, 1, "MPI_Send", 500, mpi.Args{Flags: mpi.UnknownVolume})
	r.call(5, 6, 1, "MPI_Recv", 501, mpi.Args{Flags: mpi.UnknownVolume})
	r.call(7, 8, 1, "MPI_Barrier", 502, mpi.Args{Flags: mpi.UnknownVolume})
	p := r.profile(10, 0, 4)
	p.Meta.MPI.Volumes = "The library's handles are not understood."
	text := written(t, "ompp", p, Options{Decimals: 2})
	for _, want := range []string{"MPI bytes in    : -\n", "MPI bytes out   : 100+\n",
		" SUM       0.00          2       100+        100        100        100\n",
		" SUM       0.00          1          -          -          -          -\n",
		"(MPI_Barrier) MPI\n TID      execT      execC\n",
		"The volumes of 2 MPI calls are not known. The library's handles are not understood. Figures with a + are without them, - stands where none is known.\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// A profile in which no volume is known has no values of bytes for pprof.
func TestPprofWithoutVolumes(t *testing.T) {
	for flags, want := range map[mpi.ArgFlag]int{0: 9, mpi.UnknownVolume: 7} {
		r := &tape{t: t, s: attribution.Stream{PID: 1}}
		r.call(1, 2, 1, "MPI_Send", 500, mpi.Args{Send: 100, Flags: flags})
		pp := parsed(t, r.profile(10, 0, 4))
		told := strings.Contains(strings.Join(pp.Comments, "\n"), "The volumes of 1 MPI call are not known.")
		if len(pp.SampleType) != want || told != (flags != 0) {
			t.Errorf("flags %d: %d sample types, told %t: %v", flags, len(pp.SampleType), told, pp.Comments)
		}
	}
}

// Columns of wide figures stay aligned, and MPI-IO has columns of its own.
func TestWideVolumes(t *testing.T) {
	r := &tape{t: t, s: attribution.Stream{PID: 1}}
	r.region(0, 9, 1, func(uint32) {
		r.call(1, 2, 1, "MPI_Send", 500, mpi.Args{Send: 123456789012345})
		r.call(2, 3, 1, "MPI_File_write", 501, mpi.Args{Send: 7})
		r.at(8, 1, event.Parallel, event.End, event.Event{})
	})
	p := r.profile(10, 0, 1)
	text := written(t, "ompp", p, Options{Decimals: 2, All: true})
	want := "" +
		" TID      execT      execC      bodyT   exitBarT   startupT   shutdwnT      taskT       mpiT        inV            outV      recvC      sendC      collC      readV     writeV\n" +
		"   0       0.01          1       0.01       0.00       0.00       0.00       0.00       0.00          0 123456789012345          0          1          0          0          7\n"
	if !strings.Contains(text, want) {
		t.Errorf("not in the report:\n%s\n%s", want, text)
	}
	// Otherwise tables fit a terminal, and a program without tasks has no column on them.
	text = written(t, "ompp", p, Options{Decimals: 2})
	want = "" +
		" TID      execT      execC      bodyT   exitBarT   startupT   shutdwnT       mpiT        inV\n" +
		"   0       0.01          1       0.01       0.00       0.00       0.00       0.00          0\n" +
		" SUM       0.01          1       0.01       0.00       0.00       0.00       0.00          0\n" +
		" TID            outV      recvC      sendC      collC      readV     writeV\n" +
		"   0 123456789012345          0          1          0          0          7\n"
	if !strings.Contains(text, want) {
		t.Errorf("not in the report:\n%s\n%s", want, text)
	}
}

// callWithoutFigures is an edited record: it has the region of an MPI call, but no figures of MPI.
const callWithoutFigures = `{"version":1,"threads":[{"num":0}],"regions":[{"construct":"MPI","name":"MPI_Send"},{"construct":"PARALLEL"}],
	"nodes":[{"parent":-1,"region":-1},{"parent":0,"region":1,"stats":[{"thread":0,"exec":{"t":9000000,"c":1},"mpi":{"t":4000000,"calls":1}}]},
		{"parent":1,"region":0,"stats":[{"thread":0,"exec":{"t":5000000,"c":2}}]}]}`

// The region of a call without figures of MPI is shown with its times, and without volumes.
func TestCallWithoutFigures(t *testing.T) {
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	if _, err := zw.Write([]byte(callWithoutFigures)); err != nil {
		t.Fatal(err)
	}
	zw.Close()
	p, err := profile.Decode(&buf)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Formats {
		if written(t, f.Name, p, Options{}) == "" {
			t.Errorf("%s is empty", f.Name)
		}
	}
	text := written(t, "ompp", p, Options{})
	for _, want := range []string{
		" TID      execT      execC\n   0       0.01          2\n SUM       0.01          2\n",
		"R00001  MPI_Send (unknown place)     2     0.01    0.00    0.00    2500.0                   \n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("not in the report:\n%s\nbut:\n%s", want, text)
		}
	}
	renderJob(t, []byte(callWithoutFigures))
}

// The summary has a line on MPI, and fifteen lines at most.
func TestMPISummary(t *testing.T) {
	p := figure6(t)
	p.Warnings = []string{"One.", "Two."}
	p.Meta.LostHits, p.Meta.HasTasks = 3, true
	p.Meta.Runtimes = []profile.Runtime{{Missing: []string{"one"}}}
	var buf bytes.Buffer
	if err := Summary(&buf, p, []string{"a", "b", "c", "d"}, Options{Decimals: 2}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"management 2.0% + MPI 16.0%\n",
		"MPI                 rank 1 of 2, 0.32 thread-sec (16.0%) in 40 calls: 40 sends, 0 receives, 0 collectives\n"} {
		if !strings.Contains(buf.String(), want) {
			t.Errorf("no %q in\n%s", want, &buf)
		}
	}
	if n := strings.Count(buf.String(), "\n"); n > 15 {
		t.Errorf("%d lines:\n%s", n, &buf)
	}
}

// No rank is made up for a process whose rank is not known.
func TestUnknownRank(t *testing.T) {
	r := &tape{t: t, s: attribution.Stream{PID: 1}}
	r.call(1, 2, 1, "MPI_Barrier", 500, mpi.Args{})
	p := r.profile(10, 0, 0)
	p.Meta.MPI = nil
	if text := written(t, "ompp", p, Options{}); !strings.Contains(text, "MPI my rank     : unknown\nMPI num procs   : unknown\n") {
		t.Errorf("%s", text)
	}
	if pp := parsed(t, p); len(pp.Sample[0].Label["rank"]) > 0 {
		t.Errorf("labels %v", pp.Sample[0].Label)
	}
}

// --classic removes the regions of MPI calls, but no figures. The classes and the columns of the
// other regions stay, and the calls' time becomes their callers' own.
func TestClassic(t *testing.T) {
	p := figure6(t)
	before := written(t, "ompp", p, asOmpp)
	text := written(t, "ompp", p, Options{Classic: true, All: true, Sort: BySource, Decimals: 2})
	golden(t, "mpi-figure6-classic.ompp.golden", []byte(text))
	if strings.Contains(text, "MPI_Send") {
		t.Error("the call's region is there")
	}
	table := before[strings.Index(before, "Overheads wrt. each"):strings.Index(before, "----     ompP Performance")]
	if !strings.Contains(text, table) {
		t.Errorf("the overheads differ; want\n%s", table)
	}
	if written(t, "ompp", p, asOmpp) != before {
		t.Error("the profile has changed")
	}
	for _, classic := range []bool{false, true} {
		pp := buildPprof(Options{Classic: classic}.view(p), Options{Classic: classic})
		var sum [3]int64
		for _, s := range pp.Sample {
			for i := range sum {
				sum[i] += s.Value[len(stacks.SampleTypes)+i]
			}
		}
		if want := [3]int64{320 * ms, 0, 40 << 20}; sum != want {
			t.Errorf("classic %t: pprof's mpi_time, bytes_in and bytes_out are %d, want %d", classic, sum, want)
		}
	}
}

// go tool pprof shows the call sites by the bytes sent there.
func TestPprofShowsCallSites(t *testing.T) {
	name := filepath.Join(t.TempDir(), "profile.pb.gz")
	if err := os.WriteFile(name, []byte(written(t, "pprof", figure6(t), Options{})), 0o644); err != nil {
		t.Fatal(err)
	}
	for index, want := range map[string]string{"bytes_out": "40MB   100%   100%       40MB   100%  main::MPI_Send 55", "mpi_time": "320ms   100%   100%      320ms   100%  main::MPI_Send 55"} {
		out, err := exec.Command("go", "tool", "pprof", "-top", "-sample_index="+index, name).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if !strings.Contains(string(out), want) {
			t.Errorf("%s: no %q in\n%s", index, want, out)
		}
	}
	out, err := exec.Command("go", "tool", "pprof", "-tags", "-sample_index=bytes_out", name).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "host: Total 40MB") || !strings.Contains(string(out), "rank: Total 40MB") {
		t.Errorf("%v\n%s", err, out)
	}
}
