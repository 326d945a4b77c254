package efficiencies

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ompp-attach/efficiency"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// made returns a run of one region in which each rank has the given seconds of thread time, and
// that communicates outside of the region.
func made(ranks, threads int, work, mpi float64, args string) *efficiency.Run {
	region := efficiency.Region{Region: &profile.Region{Construct: event.ParallelLoop, Location: profile.Location{File: "/src/a.c", Begin: 7}}, Number: 1}
	call := efficiency.Region{Region: &profile.Region{Construct: event.MPI, Name: "MPI_Recv", Location: profile.Location{File: "/src/b.c", Begin: 9}}, Number: 2}
	var processes []efficiency.Process
	ns := func(seconds float64) int64 { return int64(seconds * 1e9) }
	for i := range ranks {
		p := efficiency.Process{Rank: i, Program: "made", Args: args, Host: "node1", Threads: threads, Callers: 1, Wall: ns(work/float64(threads) + mpi),
			UsesMPI: true, Parallel: ns(work / float64(threads)), Outside: ns(mpi), OutMPI: ns(work / float64(threads)),
			MaxUseful: ns(work / float64(threads)), Communication: ns(mpi),
			Counters: map[string]int64{"instructions": ns(work), "cycles": ns(work) / 2}}
		p.Parts[efficiency.Work], p.Parts[efficiency.SerialMPI], p.Parts[efficiency.MPIIdle] = ns(work), ns(mpi), ns(mpi)*int64(threads-1)
		if ranks == 4 {
			p.Parts[efficiency.NoCore], p.Parts[efficiency.Work] = ns(.5), ns(work-.5)
		}
		processes = append(processes, p)
		region.Team[efficiency.Work] += p.Parts[efficiency.Work]
		region.Starts += 10
		call.Own[efficiency.SerialMPI] += ns(mpi)
	}
	return efficiency.New("made", processes, []efficiency.Region{region, call})
}

func paperScaling() *efficiency.Scaling {
	return efficiency.Compare([]*efficiency.Run{made(1, 1, 16, 0, "100"), made(2, 1, 8, 1, "100"), made(2, 2, 10, 1, "100"), made(4, 1, 4, 2, "200")},
		[]string{"run-1x1", "run-2x1", "run-2x2", "run-4x1"}, false)
}

func TestScalingGolden(t *testing.T) {
	for _, f := range ScalingFormats {
		t.Run(f.Name, func(t *testing.T) {
			var b bytes.Buffer
			if err := f.Write(&b, paperScaling(), options); err != nil {
				t.Fatal(err)
			}
			golden(t, f.File, b.Bytes())
		})
	}
}

// TestExtraP: each line has the members that Extra-P wants, and of the parameters those that vary.
func TestExtraP(t *testing.T) {
	var b bytes.Buffer
	if err := WriteExtraP(&b, efficiency.Compare([]*efficiency.Run{made(1, 1, 8, 1, ""), made(2, 1, 4, 1, "")}, []string{"a", "b"}, false), options); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 2*6 {
		t.Fatalf("%d lines:\n%s", len(lines), b.String())
	}
	for _, l := range lines {
		var x struct {
			Params           map[string]int `json:"params"`
			Callpath, Metric string
			Value            *float64
		}
		if err := json.Unmarshal([]byte(l), &x); err != nil {
			t.Fatal(err)
		}
		if len(x.Params) != 1 || x.Params["ranks"] == 0 || x.Callpath == "" || x.Metric == "" || x.Value == nil {
			t.Errorf("%s", l)
		}
	}
}

// TestScalingTroubles: what the reader is told of runs that do not belong together.
func TestScalingTroubles(t *testing.T) {
	notes := strings.Join(paperScaling().Troubles(), "\n")
	for _, want := range []string{"differ in the arguments (run-1x1: \"100\"; run-4x1: \"200\")", "Threads lacked cores in run-4x1 (8% of its threads' time)"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q:\n%s", want, notes)
		}
	}
	other := made(1, 1, 8, 1, "")
	other.Program, other.Missing = "another", 1
	notes = strings.Join(efficiency.Compare([]*efficiency.Run{made(1, 2, 8, 1, ""), other}, []string{"a", "b"}, true).Troubles(), "\n")
	for _, want := range []string{"differ in the program (a: made; b: another)", "All runs have as many threads", "b lacks 1 of its ranks"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q:\n%s", want, notes)
		}
	}
}

// TestScalingCSVOfMissingRanks: who reads the lines only learns that others stand for ranks, too.
func TestScalingCSVOfMissingRanks(t *testing.T) {
	part := made(1, 1, 8, 1, "")
	part.Missing = 2
	var b bytes.Buffer
	if err := WriteScalingCSV(&b, efficiency.Compare([]*efficiency.Run{made(1, 1, 8, 1, ""), part}, []string{"whole", "part"}, true), Options{}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	at := slices.Index(rows[0], "missing_ranks")
	for _, row := range rows[1:] {
		got[row[0]] = row[at]
	}
	if got["whole"] != "0" || got["part"] != "2" {
		t.Errorf("missing ranks: %v", got)
	}
}
