package jobs

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/report/reporttest"
	"ompp-attach/report/tables"
)

// sums returns the sums of a table's columns of times and counts, and the number of its rows.
func sums(t *testing.T, write func(io.Writer) error) (map[string]int64, int) {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for _, cells := range lines[1:] {
		for i, name := range lines[0] {
			if v, err := strconv.ParseInt(cells[i], 10, 64); err == nil && (strings.HasSuffix(name, "_ns") || name == "executions") && !strings.Contains(name, "_per_") {
				out[name] += v
			}
		}
	}
	return out, len(lines) - 1
}

func together(t *testing.T, ranks []*profile.Profile, o report.Options) *job.All {
	t.Helper()
	all, err := job.Together(reporttest.Sources(t, ranks), job.Options{Raw: o.Raw, Classic: o.Classic})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The tables of a job add up to those of its ranks. Ranks that execute different regions, and that
// have different threads, are told apart.
func TestByAddsUp(t *testing.T) {
	ranks := reporttest.Figure9Job(t, 0, 200, 0, 100)
	other := reporttest.MixedProfile() // two initial threads, nested teams, other regions
	other.Meta.MPI = &profile.MPIJob{Rank: 4, Size: 5}
	other.Lost, other.Regions[2].Lossy = nil, 0
	ranks = append(ranks, other)
	all := together(t, ranks, report.Options{})
	if err := profile.Validate(all.Profile); err != nil {
		t.Fatal(err)
	}
	j := reporttest.ReadJob(t, ranks)
	for i, g := range j.Regions {
		if r := &all.Regions[i]; len(all.Regions) != len(j.Regions) || r.Construct != g.Construct || r.Location != g.Location {
			t.Errorf("region %d is %v, the report has %v", i+1, r, &g.Region)
		}
	}
	for _, o := range []report.Options{{}, {Classic: true}} {
		all := together(t, ranks, o)
		for _, by := range tables.Ways {
			got, rows := sums(t, func(w io.Writer) error { return WriteBy(w, all, by, "csv", o) })
			want := map[string]int64{}
			for _, p := range ranks {
				one, _ := sums(t, func(w io.Writer) error { return report.WriteBy(w, p, by, "csv", o) })
				for name, v := range one {
					want[name] += v
				}
			}
			for name, v := range want {
				// Which property holds for the job depends on all ranks.
				if got[name] != v && by.Name != "property" {
					t.Errorf("by %s, %s: %d, the ranks have %d", by.Name, name, got[name], v)
				}
			}
			if by.Name == "path" && rows > len(all.Regions)+8 {
				t.Errorf("%d rows by path", rows)
			}
		}
	}
	var b bytes.Buffer
	thread, _ := tables.Named("thread")
	if err := WriteBy(&b, all, thread, "csv", report.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n0:0,", "\n3:1,", "\n4:0,", "\n4:1:1,"} {
		if !strings.Contains(strings.ReplaceAll(b.String(), "\r", ""), want) {
			t.Errorf("no row %q in\n%s", want, b.String())
		}
	}
}

// If the times of one rank cannot be told, those of the table cannot.
func TestByHidden(t *testing.T) {
	hidden, other := reporttest.Costly(), reporttest.Costly()
	hidden.Meta.UserTime, other.Meta.UserTime, other.Meta.MPI = 2.5e9, 1e12, &profile.MPIJob{Rank: 1, Size: 2}
	way, _ := tables.Named("region")
	for want, o := range map[string]report.Options{"probes": {}, "": {Raw: true}} {
		var b bytes.Buffer
		if err := WriteBy(&b, together(t, []*profile.Profile{hidden, other}, o), way, "csv", o); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(b.String()), "\r\n")
		for i, line := range lines[1:] {
			if !strings.HasSuffix(line, ","+want) {
				t.Errorf("raw %t, line %d: %s", o.Raw, i+2, line)
			}
		}
	}
}

// Two ranks are in the same sections: of one there are fewer than threads, of the other there are
// enough. Without calls of MPI, too, the time in which they wait is of different classes.
func TestByScarceSections(t *testing.T) {
	var ranks []*profile.Profile
	for rank, each := range []uint64{1, 2} {
		b := reporttest.NewBuilder("sections", 10)
		b.P.Meta.MPI = &profile.MPIJob{Rank: rank, Size: 2}
		b.Team(0, 2)
		par := b.Region(event.Parallel, reporttest.Lines(10, 30))
		sections := b.Region(event.Sections, reporttest.Lines(12, 20))
		call := b.Region(event.MPI, reporttest.Lines(25, 25))
		b.P.Regions[call].Name = "MPI_Barrier"
		top := b.Node(0, par, map[int]float64{0: 4}, reporttest.Row{Thread: 0, Body: 4, C: 1}, reporttest.Row{Thread: 1, Body: 4, C: 1})
		at := b.Node(top, sections, nil, reporttest.Row{Thread: 0, Body: 3, C: 1}, reporttest.Row{Thread: 1, Barrier: 3, C: 1})
		b.Node(top, call, nil, reporttest.Row{Thread: 0, Body: .5, C: 1})
		if each > 1 { // of four sections, each thread has executed two
			b.P.Nodes[at].Stats[0].Body.C, b.P.Nodes[at].Stats[1].Body.C = each, each
		}
		ranks = append(ranks, b.P)
	}
	region, _ := tables.Named("region")
	for _, o := range []report.Options{{}, {Classic: true}} {
		got, _ := sums(t, func(w io.Writer) error { return WriteBy(w, together(t, ranks, o), region, "csv", o) })
		if limpar, imbal := got["limpar_ns"], got["imbal_ns"]; limpar != 3e9 || imbal != 3e9 {
			t.Errorf("classic %t: %d ns limited parallelism, %d ns imbalance, want 3 s of each", o.Classic, limpar, imbal)
		}
	}
}

// A rank that cannot be read is left out. A job without any is an error.
func TestTogetherTorn(t *testing.T) {
	ranks := reporttest.Figure9Job(t, 0, 200)
	ranks[0].Meta.Ended = "torn"
	all, err := job.Together(reporttest.Sources(t, ranks), job.Options{})
	if err != nil || len(all.Threads) != 2 || all.Rank(all.Threads[0]) != 1 {
		t.Errorf("%v, %+v", err, all)
	}
	if _, err := job.Together(reporttest.Sources(t, ranks[:1]), job.Options{}); err == nil || errors.Is(err, job.ErrTooLarge) || !strings.Contains(err.Error(), "truncated") {
		t.Errorf("error %v", err)
	}
}
