package jobs

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"

	"ompp-attach/job"
	"ompp-attach/mpi"
	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/report/reporttest"
)

func jobBytes(t *testing.T, j *job.Job, write func(io.Writer, *job.Job, report.Options) error, o report.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, j, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A job of seven ranks, three of them with imbalance, and one with a torn file.
func TestJobGolden(t *testing.T) {
	ranks := reporttest.Figure9Job(t, 0, 200, 0, 100, 150, 0, 50)
	ranks[5].Meta.Ended = "torn"
	j := reporttest.ReadJob(t, ranks)
	reporttest.Golden(t, "job-figure9.golden", jobBytes(t, j, WriteText, report.Options{}))
	reporttest.Golden(t, "job-figure9.ranks.csv.golden", jobBytes(t, j, writeRanksCSV, report.Options{}))
	reporttest.Golden(t, "job-figure9.calls.csv.golden", jobBytes(t, j, writeCallsCSV, report.Options{Volumes: mpi.Naive}))

	text := string(jobBytes(t, j, WriteText, report.Options{}))
	for _, want := range []string{
		"Ranks           : 6 of 7; not read: rank 5\n",
		"MPI and imbalance trade places: ranks with more imbalance are shorter in MPI (correlation -1.00)",
		"* Rank 5 could not be read: the recorded profile is truncated: its gzip data ends early.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.TrimRight(line, " ") != line || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("trailing blanks or other than ASCII: %q", line)
		}
	}
}

// Each line of a table is as wide as the table's head.
func TestJobColumns(t *testing.T) {
	ranks := reporttest.Figure9Job(t, 0, 200, 100)
	for r, p := range ranks {
		p.Meta.Duration = 1e18 + int64(r)
		for i := range p.Nodes {
			for k := range p.Nodes[i].Stats {
				p.Nodes[i].Stats[k].Exec.T += 1e17 * int64(r+1)
			}
		}
	}
	text := string(jobBytes(t, reporttest.ReadJob(t, ranks), WriteText, report.Options{}))
	width, tables := 0, 0
	for _, line := range strings.Split(text, "\n") {
		switch {
		case strings.Contains(line, "  rank") || strings.HasPrefix(line, "rank  ") || strings.HasPrefix(line, "region  "):
			width = len(line)
			tables++
		case line == "" || strings.HasPrefix(line, "R0000") && !strings.Contains(line, "  "):
			width = 0
		case width > 0 && len(line) != width:
			t.Errorf("a line of %d under a head of %d:\n%s", len(line), width, line)
		}
	}
	if tables < 5 {
		t.Errorf("found %d tables in\n%s", tables, text)
	}
}

// The report of a job does not grow with the number of ranks.
func TestLargeJob(t *testing.T) {
	imbal := make([]uint64, 300)
	for r := range imbal {
		imbal[r] = uint64(r)
	}
	text := string(jobBytes(t, reporttest.ReadJob(t, reporttest.Figure9Job(t, imbal...)), WriteText, report.Options{}))
	if n := strings.Count(text, "\n"); n > 200 {
		t.Errorf("%d lines for 300 ranks", n)
	}
	for _, want := range []string{" (least)", " (50%)", "(greatest)"} {
		if !strings.Contains(text, want) {
			t.Errorf("no line %q", want)
		}
	}
}

// CSV and JSON hold the job's figures, and agree.
func TestJobTables(t *testing.T) {
	j := reporttest.ReadJob(t, reporttest.Figure9Job(t, 0, 200, 0, 100))
	table := func(b []byte) [][]string {
		if !bytes.HasSuffix(b, []byte("\r\n")) {
			t.Error("lines do not end as RFC 4180 has it")
		}
		rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll() // fails if rows differ in length
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	regions := table(jobBytes(t, j, writeRegionsCSV, report.Options{}))
	var doc struct {
		Ranks []struct {
			Wall int64 `json:"wall_ns"`
			MPI  int64 `json:"mpi_ns"`
		} `json:"ranks"`
		Regions []struct {
			Figures map[string]struct {
				Sum    json.Number `json:"sum"`
				Max    int64       `json:"max"`
				StdDev float64     `json:"stddev"`
			} `json:"figures"`
		} `json:"regions"`
	}
	if err := json.Unmarshal(jobBytes(t, j, WriteJSON, report.Options{}), &doc); err != nil {
		t.Fatal(err)
	}
	lines := 1
	for _, r := range doc.Regions { // figures that are 0 on all ranks are in neither format
		lines += len(r.Figures)
	}
	if len(doc.Regions) != len(j.Regions) || len(regions) != lines {
		t.Fatalf("%d regions in JSON, %d lines in CSV, want %d, %d regions", len(doc.Regions), len(regions), lines, len(j.Regions))
	}
	column := func(name string) int { return slices.Index(regions[0], name) }
	for _, row := range regions[1:] {
		i, _ := strconv.Atoi(row[column("region")])
		f := doc.Regions[i-1].Figures[row[column("figure")]] // 0 where it is left out
		dev, _ := strconv.ParseFloat(row[column("stddev")], 64)
		if sum := row[column("sum")]; sum != f.Sum.String() && sum != "0" || row[column("max")] != strconv.FormatInt(f.Max, 10) || dev != f.StdDev {
			t.Errorf("%q in CSV, %+v in JSON", row, f)
		}
	}
	ranks := table(jobBytes(t, j, writeRanksCSV, report.Options{}))
	for r, row := range ranks[1:] {
		if row[slices.Index(ranks[0], "mpi_ns")] != strconv.FormatInt(doc.Ranks[r].MPI, 10) || doc.Ranks[r].MPI == 0 {
			t.Errorf("rank %d: %q in CSV, %+v in JSON", r, row, doc.Ranks[r])
		}
	}
}

// The ends of calls that were derived are summed over the ranks, in the text and for each in JSON.
func TestDerivedEndsOfAllRanks(t *testing.T) {
	for _, tt := range []struct {
		ranks []profile.Edges
		want  string // of the text; empty: no such line
	}{
		{[]profile.Edges{{All: 10}, {All: 7}}, ""},
		{[]profile.Edges{{All: 10, Derived: 3}, {}, {All: 7, Derived: 7}}, "Ends Derived    : 10 of 17: "},
	} {
		ranks := reporttest.Figure9Job(t, make([]uint64, len(tt.ranks))...)
		for i, e := range tt.ranks {
			ranks[i].Meta.Edges = e
		}
		j := reporttest.ReadJob(t, ranks)
		text := string(jobBytes(t, j, WriteText, report.Options{}))
		if tt.want == "" && strings.Contains(text, "Ends Derived") || !strings.Contains(text, tt.want) {
			t.Errorf("no %q in\n%s", tt.want, text)
		}
		var doc struct {
			Ranks []struct {
				Edges profile.Edges `json:"edges"`
			} `json:"ranks"`
		}
		if err := json.Unmarshal(jobBytes(t, j, WriteJSON, report.Options{}), &doc); err != nil {
			t.Fatal(err)
		}
		for i, r := range doc.Ranks {
			if r.Edges != tt.ranks[i] {
				t.Errorf("rank %d: %+v, want %+v", i, r.Edges, tt.ranks[i])
			}
		}
	}
}

// The pprof profile of a job is the sum of the ranks' profiles.
func TestJobPprof(t *testing.T) {
	ranks := reporttest.Figure9Job(t, 0, 200, 0, 100)
	j := reporttest.ReadJob(t, ranks)
	whole, err := pprof.ParseData(jobBytes(t, j, WritePprof, report.Options{Volumes: mpi.Naive}))
	if err != nil {
		t.Fatal(err)
	}
	if err := whole.CheckValid(); err != nil {
		t.Fatal(err)
	}
	type at struct {
		stack, rank string
		value       int
	}
	sums := func(p *pprof.Profile, rank string, into map[at]int64) {
		for _, s := range p.Sample {
			stack := ""
			for _, l := range s.Location {
				stack += l.Line[0].Function.Name + ";"
			}
			if l := s.Label["rank"]; l != nil {
				rank = l[0]
			}
			for i, v := range s.Value {
				if v != 0 {
					into[at{stack, rank, i}] += v
				}
			}
		}
	}
	got, want := map[at]int64{}, map[at]int64{}
	sums(whole, "", got)
	for r, p := range ranks {
		var b bytes.Buffer
		if err := report.WritePprof(&b, p, report.Options{Volumes: mpi.Naive}); err != nil {
			t.Fatal(err)
		}
		own, err := pprof.Parse(&b)
		if err != nil {
			t.Fatal(err)
		}
		sums(own, strconv.Itoa(r), want)
	}
	if !reflect.DeepEqual(got, want) || len(got) == 0 {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if host := whole.Sample[len(whole.Sample)-1].Label["host"]; !slices.Equal(host, []string{"node1"}) {
		t.Errorf("host %q", host)
	}
}

// docs/job.md names every field of the JSON, every figure and every column.
func TestJobDocumented(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "job.md"))
	if err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range sources {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`json:"([a-z_]+)`).FindAllSubmatch(source, -1) {
			names = append(names, string(m[1]))
		}
	}
	for f := range job.NumFigures {
		names = append(names, f.String())
	}
	j := reporttest.ReadJob(t, reporttest.Figure9Job(t, 0, 200))
	for _, write := range []func(io.Writer, *job.Job, report.Options) error{writeRanksCSV, writeRegionsCSV, writeCallsCSV} {
		head, _, _ := bytes.Cut(jobBytes(t, j, write, report.Options{}), []byte("\r\n"))
		names = append(names, strings.Split(string(head), ",")...)
	}
	if len(names) < 100 {
		t.Fatalf("found %d names; has the source's form changed?", len(names))
	}
	for _, n := range names {
		if !bytes.Contains(doc, []byte("`"+n+"`")) {
			t.Errorf("docs/job.md does not mention `%s`", n)
		}
	}
}
