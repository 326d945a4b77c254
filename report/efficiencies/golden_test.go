package efficiencies

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ompp-attach/efficiency"
	"ompp-attach/event"
	"ompp-attach/profile"
)

var update = flag.Bool("update", false, "write the golden files anew")

// paperRun is the job of the tests of package efficiency, whose metrics were worked out by hand.
func paperRun() *efficiency.Run {
	const ms = 1e6
	place := func(c event.Construct, name string, line int) *profile.Region {
		return &profile.Region{Construct: c, Name: name, Location: profile.Location{File: "/src/main.c", Begin: line, Function: "main"}}
	}
	processes := []efficiency.Process{
		{Rank: 0, Host: "node1", PID: 100, Threads: 2, Callers: 1, Wall: 10000 * ms, StartEnd: 2000 * ms, Parallel: 6000 * ms, OutMPI: 8200 * ms,
			Outside: 1500 * ms, InTeams: 12000 * ms, InSerial: 5000 * ms, MaxUseful: 7600 * ms, Communication: 1800 * ms, Calls: 4, UsesMPI: true,
			Ended: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
			Parts: efficiency.Parts{efficiency.Work: 9200 * ms, efficiency.Synch: 600 * ms, efficiency.Imbal: 1500 * ms, efficiency.Mgmt: 400 * ms,
				efficiency.MPI: 300 * ms, efficiency.Serial: 2500 * ms, efficiency.SerialMPI: 1500 * ms, efficiency.SerialIdle: 2500 * ms,
				efficiency.MPIIdle: 1500 * ms},
			TALP: efficiency.TALP{Useful: 11700 * ms, MPI: 1800 * ms, LoadImbalance: 1500 * ms, Scheduling: 1000 * ms, Serialization: 4000 * ms,
				WorkerIdle: 1500 * ms, Parallels: 1}},
		{Rank: 1, Host: "node1", PID: 101, Threads: 2, Callers: 1, Wall: 9000 * ms, StartEnd: 2000 * ms, Parallel: 4000 * ms, OutMPI: 7000 * ms,
			Outside: 2000 * ms, InTeams: 8000 * ms, InSerial: 6000 * ms, MaxUseful: 6800 * ms, Communication: 2000 * ms, Calls: 3, UsesMPI: true,
			Parts: efficiency.Parts{efficiency.Work: 7600 * ms, efficiency.Mgmt: 400 * ms, efficiency.Serial: 3000 * ms,
				efficiency.SerialMPI: 2000 * ms, efficiency.SerialIdle: 3000 * ms, efficiency.MPIIdle: 2000 * ms},
			TALP: efficiency.TALP{Useful: 10600 * ms, MPI: 2000 * ms, Scheduling: 400 * ms, Serialization: 5000 * ms, WorkerIdle: 2000 * ms, Parallels: 1}},
	}
	regions := []efficiency.Region{
		{Region: place(event.Parallel, "", 10), Number: 1, Figures: efficiency.Figures{Wall: 10000 * ms, Threads: 2, Starts: 2,
			Own: efficiency.Parts{efficiency.Imbal: 1500 * ms, efficiency.Mgmt: 800 * ms},
			Team: efficiency.Parts{efficiency.Work: 16800 * ms, efficiency.Synch: 600 * ms, efficiency.Imbal: 1500 * ms, efficiency.Mgmt: 800 * ms,
				efficiency.MPI: 300 * ms}}},
		{Region: place(event.Critical, "", 13), Number: 2, Figures: efficiency.Figures{Own: efficiency.Parts{efficiency.Synch: 600 * ms}}},
		{Region: place(event.MPI, "MPI_Send", 15), Number: 3, Figures: efficiency.Figures{Own: efficiency.Parts{efficiency.MPI: 300 * ms}}},
		{Region: place(event.MPI, "MPI_Recv", 20), Number: 4, Figures: efficiency.Figures{Own: efficiency.Parts{efficiency.SerialMPI: 3500 * ms, efficiency.MPIIdle: 3500 * ms}}},
	}
	return efficiency.New("made-up", processes, regions)
}

var options = Options{Label: func(r *profile.Region) string { return filepath.Base(r.Location.File) }, Tool: "1.2.3"}

// golden compares an output with its file in testdata.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	name := filepath.Join("testdata", file+".golden")
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; got\n%s", name, got)
	}
}

func TestGolden(t *testing.T) {
	for _, format := range Formats {
		for _, f := range format.Files {
			t.Run(f.Suffix, func(t *testing.T) {
				var b bytes.Buffer
				if err := f.Write(&b, paperRun(), options); err != nil {
					t.Fatal(err)
				}
				golden(t, f.Suffix, b.Bytes())
			})
		}
	}
}

// TestJSONAddsUp: a reader of the JSON finds the same sums.
func TestJSONAddsUp(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, paperRun(), options); err != nil {
		t.Fatal(err)
	}
	var r struct {
		Runtime int64            `json:"runtime_ns"`
		Threads int64            `json:"threads"`
		EMT     float64          `json:"e_mt"`
		Parts   map[string]int64 `json:"parts_ns"`
		Tree    Metric           `json:"pop_multiplicative"`
	}
	if err := json.Unmarshal(b.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, ns := range r.Parts {
		sum += ns
	}
	if sum != r.Runtime*r.Threads || math.Abs(r.EMT-.5575) > 1e-9 || math.Abs(r.Tree.Value-r.EMT) > 1e-9 {
		t.Errorf("sum %d of %d, e_mt %g, tree %g", sum, r.Runtime*r.Threads, r.EMT, r.Tree.Value)
	}
}

// TestTALPFile: the members that readers of TALP's files use.
func TestTALPFile(t *testing.T) {
	var b bytes.Buffer
	if err := WriteTALP(&b, paperRun(), options); err != nil {
		t.Fatal(err)
	}
	var file struct {
		Application map[string]map[string]float64
		Process     map[string][]map[string]any
		Resources   map[string]int `json:"resources"`
		Timestamp   time.Time      `json:"timestamp"`
	}
	if err := json.Unmarshal(b.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	g := file.Application["Global"]
	if g["elapsedTime"] != 10e9 || g["usefulTime"] != 22.3e9 || math.Abs(g["parallelEfficiency"]-22.3/38) > 1e-9 {
		t.Errorf("%v", g)
	}
	if file.Resources["numCpus"] != 4 || len(file.Process["Global"]) != 2 || file.Timestamp.IsZero() {
		t.Errorf("%+v", file)
	}
}

func TestShort(t *testing.T) {
	useful, lost := Short(paperRun())
	if useful != "55.8% = parallel work 42.0% + serial work 13.8% (e_mt ~0.557)" {
		t.Errorf("%q", useful)
	}
	if want := "44.2% = idle in serial code 13.8% + MPI outside 8.8% (R00004) + idle while the primary thread is in MPI 8.8% (R00004) + " +
		"other ranks ran longer 5.0% + imbalance 3.8% (R00001) + management 2.0% (R00001) + synchronisation 1.5% (R00002) + MPI in regions 0.8% (R00003)"; lost != want {
		t.Errorf("%q", lost)
	}
	if want := "55.8% of the threads' time without the start and end of MPI was useful; most lost: idle in serial code 13.8%, MPI outside 8.8% (R00004), idle while the primary thread is in MPI 8.8% (R00004)"; Brief(paperRun()) != want {
		t.Errorf("%q", Brief(paperRun()))
	}
	// Shares say of which time they are, if the start and end of MPI are no part of it.
	none := paperRun()
	for i := range none.Processes {
		none.Processes[i].StartEnd = 0
	}
	if want := "55.8% of the threads' time was useful; most lost"; !strings.HasPrefix(Brief(none), want) {
		t.Errorf("%q", Brief(none))
	}
	for r, want := range map[*efficiency.Run]string{paperRun(): "\n(Shares of 40.000 thread-sec: without the start and end of MPI. report --efficiency has more.)\n", none: "\n(report --efficiency has more.)\n"} {
		var b strings.Builder
		WriteShort(func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }, r)
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
	if useful, lost := Short(efficiency.New("nothing", []efficiency.Process{{Threads: 1}}, nil)); useful+lost != "" {
		t.Errorf("%q, %q", useful, lost)
	}
}

// TestProbesAreNamed: a note says how much of the times the probes took, if they are still in them.
func TestProbesAreNamed(t *testing.T) {
	for took, want := range map[int64]string{0: "", 2e9: "Times are as measured: 5.0 % of the threads' time are what the probes took."} {
		r := paperRun()
		r.Processes[1].ProbeTime = took
		if notes := Notes(r); (want != "") != slices.Contains(notes, want) || want == "" && strings.Contains(strings.Join(notes, " "), "probes") {
			t.Errorf("%d ns: %q", took, notes)
		}
	}
}

// TestEstimatesAreMarked: text, CSV and JSON say of the same figures that they are estimates.
func TestEstimatesAreMarked(t *testing.T) {
	write := func(r *efficiency.Run, f func(io.Writer, *efficiency.Run, Options) error) string {
		var b bytes.Buffer
		if err := f(&b, r, options); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	figure := regexp.MustCompile(`[0-9]\.[0-9]{3}\b|[0-9]%`) // of text
	for _, budget := range []bool{false, true} {
		r := paperRun()
		r.Processes[1].Estimated = budget
		name := map[bool]string{false: "e_mt", true: "all"}[budget]
		var overview Overview
		if err := json.Unmarshal([]byte(write(r, WriteJSON)), &overview); err != nil || !slices.Equal(overview.Estimated, []string{name}) {
			t.Errorf("JSON: %q (%v), want %s", overview.Estimated, err, name)
		}
		for file, f := range map[string]func(io.Writer, *efficiency.Run, Options) error{"times": WriteTimesCSV, "metrics": WriteMetricsCSV} {
			lines, err := csv.NewReader(strings.NewReader(write(r, f))).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			want, at := name, slices.Index(lines[0], "estimated")
			if file == "metrics" && !budget { // no metric is e_mt
				want = ""
			}
			for _, line := range lines[1:] {
				if line[at] != want {
					t.Errorf("%s: estimated: %q, want %q: %q", file, line[at], want, line)
				}
			}
		}
		marks := 0
		text := write(r, WriteText)
		for _, line := range strings.Split(text, "\n") {
			if !strings.HasPrefix(strings.TrimSpace(line), "*") && figure.MatchString(line) {
				marks += strings.Count(line, "~")
			}
		}
		// e_mt of run, region, ranks
		if least := len(r.Regions) + 20; !budget && marks != 4 || budget && marks < least {
			t.Errorf("%s: %d marks in\n%s", name, marks, text)
		}
		useful, lost := Short(r)
		if strings.HasPrefix(useful, "~") != budget || strings.HasPrefix(lost, "~") != budget || !strings.Contains(useful, "e_mt ~") {
			t.Errorf("%s: %q, %q", name, useful, lost)
		}
	}
}
