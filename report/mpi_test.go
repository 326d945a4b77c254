package report

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/analysis"
	"ompp-attach/attribution"
	"ompp-attach/attribution/stream"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
	"ompp-attach/report/reporttest"
	"ompp-attach/report/stacks"
)

func TestFigure6(t *testing.T) {
	text := ompText(t, reporttest.Figure6(t))
	reporttest.Golden(t, "mpi-figure6.ompp.golden", []byte(text))
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

// The processes have about the same overhead, some of them as imbalance, the others as MPI.
func TestFigure9(t *testing.T) {
	balanced, imbalanced := reporttest.Figure9(t, 0, 0), reporttest.Figure9(t, 1, 300)
	reporttest.Golden(t, "mpi-figure9-rank0.ompp.golden", []byte(ompText(t, balanced)))
	reporttest.Golden(t, "mpi-figure9-rank1.ompp.golden", []byte(ompText(t, imbalanced)))
	a, b := analysis.Overheads(balanced)[0].Classes, analysis.Overheads(imbalanced)[0].Classes
	if want := (analysis.Classes{MPI: 310 * reporttest.MS, Mgmt: 2 * reporttest.MS}); a != want {
		t.Errorf("balanced: %+v, want %+v", a, want)
	}
	if want := (analysis.Classes{Imbal: 300 * reporttest.MS, MPI: 10 * reporttest.MS, Mgmt: 2 * reporttest.MS}); b != want {
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
	for _, file := range f.Outputs(p, o) {
		if err := file.Write(&buf); err != nil {
			t.Fatal(err)
		}
	}
	return buf.String()
}

func TestVolumesByEitherAccounting(t *testing.T) {
	r := &reporttest.Tape{T: t, S: stream.Stream{PID: 1}}
	r.Place(attribution.Key{RuntimeConstruct: attribution.RuntimeConstruct{Construct: event.MPI}, Site: 500}, "MPI_Bcast", 5, 0)
	r.Call(1, 2, 1, "MPI_Bcast", 500, mpi.Args{Send: 100, Recv: 100, Size: 4})
	p := r.Profile(10, 0, 4)
	for by, want := range map[mpi.Accounting]string{mpi.Minimal: "MPI bytes out   : 100\n", mpi.Naive: "MPI bytes out   : 300\n"} {
		if text := written(t, "ompp", p, Options{Volumes: by}); !strings.Contains(text, want) || !strings.Contains(text, "MPI accounting  : "+by.String()+"\n") {
			t.Errorf("%s: no %q in\n%s", by, want, text)
		}
	}
}

// An unknown volume is not shown as 0.
func TestUnknownVolumes(t *testing.T) {
	r := &reporttest.Tape{T: t, S: stream.Stream{PID: 1}}
	for site, op := range map[uint64]string{500: "MPI_Send", 501: "MPI_Recv", 502: "MPI_Barrier"} {
		r.Place(attribution.Key{RuntimeConstruct: attribution.RuntimeConstruct{Construct: event.MPI}, Site: site}, op, int(site), 0)
	}
	r.Call(1, 2, 1, "MPI_Send", 500, mpi.Args{Send: 100})
	r.Call(3, 4, 1, "MPI_Send", 500, mpi.Args{Flags: mpi.UnknownVolume})
	r.Call(5, 6, 1, "MPI_Recv", 501, mpi.Args{Flags: mpi.UnknownVolume})
	r.Call(7, 8, 1, "MPI_Barrier", 502, mpi.Args{Flags: mpi.UnknownVolume})
	p := r.Profile(10, 0, 4)
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
		r := &reporttest.Tape{T: t, S: stream.Stream{PID: 1}}
		r.Call(1, 2, 1, "MPI_Send", 500, mpi.Args{Send: 100, Flags: flags})
		pp := parsed(t, r.Profile(10, 0, 4))
		told := strings.Contains(strings.Join(pp.Comments, "\n"), "The volumes of 1 MPI call are not known.")
		if len(pp.SampleType) != want || told != (flags != 0) {
			t.Errorf("flags %d: %d sample types, told %t: %v", flags, len(pp.SampleType), told, pp.Comments)
		}
	}
}

// Columns of wide figures stay aligned, and MPI-IO has columns of its own.
func TestWideVolumes(t *testing.T) {
	r := &reporttest.Tape{T: t, S: stream.Stream{PID: 1}}
	r.Region(0, 9, 1, func(uint32) {
		r.Call(1, 2, 1, "MPI_Send", 500, mpi.Args{Send: 123456789012345})
		r.Call(2, 3, 1, "MPI_File_write", 501, mpi.Args{Send: 7})
		r.At(8, 1, event.Parallel, event.End, event.Event{})
	})
	p := r.Profile(10, 0, 1)
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

// The region of a call without figures of MPI is shown with its times, and without volumes.
func TestCallWithoutFigures(t *testing.T) {
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	if _, err := zw.Write([]byte(reporttest.CallWithoutFigures)); err != nil {
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
}

// The summary has a line on MPI, and fifteen lines at most.
func TestMPISummary(t *testing.T) {
	p := reporttest.Figure6(t)
	p.Warnings = []string{"One.", "Two."}
	p.Meta.LostHits, p.Meta.HasTasks = 3, true
	p.Meta.Runtimes = []profile.Runtime{{Missing: []string{"one"}}}
	var buf bytes.Buffer
	if err := Summary(&buf, p, []string{"a", "b", "c", "d"}, Options{Decimals: 2}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"management 2.0% + MPI 16.0%, in parallel regions\n",
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
	r := &reporttest.Tape{T: t, S: stream.Stream{PID: 1}}
	r.Call(1, 2, 1, "MPI_Barrier", 500, mpi.Args{})
	p := r.Profile(10, 0, 0)
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
	p := reporttest.Figure6(t)
	before := written(t, "ompp", p, asOmpp)
	text := written(t, "ompp", p, Options{Classic: true, All: true, Sort: BySource, Decimals: 2})
	reporttest.Golden(t, "mpi-figure6-classic.ompp.golden", []byte(text))
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
		if want := [3]int64{320 * reporttest.MS, 0, 40 << 20}; sum != want {
			t.Errorf("classic %t: pprof's mpi_time, bytes_in and bytes_out are %d, want %d", classic, sum, want)
		}
	}
}

// go tool pprof shows the call sites by the bytes sent there.
func TestPprofShowsCallSites(t *testing.T) {
	name := filepath.Join(t.TempDir(), "profile.pb.gz")
	if err := os.WriteFile(name, []byte(written(t, "pprof", reporttest.Figure6(t), Options{})), 0o644); err != nil {
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
