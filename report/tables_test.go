package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report/reporttest"
	"ompp-attach/report/tables"
)

// tableRows returns the rows of a table, by the titles of its CSV.
func tableRows(t *testing.T, p *profile.Profile, by string) []map[string]string {
	t.Helper()
	way, ok := tables.Named(by)
	if !ok {
		t.Fatalf("no table by %s", by)
	}
	var text bytes.Buffer
	if err := WriteBy(&text, p, way, "csv", Options{}); err != nil {
		t.Fatal(err)
	}
	return csvRows(t, text.Bytes())
}

func csvRows(t *testing.T, data []byte) (out []map[string]string) {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll() // fails if lines differ in length
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = cells[i]
		}
		out = append(out, row)
	}
	return out
}

func sumOf(t *testing.T, rows []map[string]string, column string) (sum int64) {
	t.Helper()
	for _, r := range rows {
		if r[column] == "" {
			continue
		}
		v, err := strconv.ParseInt(r[column], 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", column, err)
		}
		sum += v
	}
	return sum
}

// The rows of each table add up to the time of all threads: nothing is left out, and nothing is
// there twice.
func TestTablesAddUp(t *testing.T) {
	for name, p := range map[string]*profile.Profile{"plain": reporttest.PlainProfile(), "partly idle": partlyIdle()} {
		all := analysis.ThreadTime(p)
		for _, by := range []string{"region", "construct", "path"} {
			if got := sumOf(t, tableRows(t, p, by), "exclusive_ns"); got != all {
				t.Errorf("%s: by %s: %d ns of %d", name, by, got, all)
			}
		}
		if got := sumOf(t, tableRows(t, p, "thread"), "time_ns"); got != all {
			t.Errorf("%s: by thread: %d ns of %d", name, got, all)
		}
		var cells bytes.Buffer
		if err := WriteCSV(&cells, p, Options{}); err != nil {
			t.Fatal(err)
		}
		rows := csvRows(t, cells.Bytes())
		if got := sumOf(t, rows, "exclusive_ns") + sumOf(t, rows, "outside_ns") + sumOf(t, rows, "idle_ns"); got != all {
			t.Errorf("%s: csv: %d ns of %d", name, got, all)
		}
	}
}

// partlyIdle is a program of three threads and 10 s. It has a team of three for 4 s, a team of two
// for 3 s, and a lock outside of regions for 1 s.
func partlyIdle() *profile.Profile {
	b := reporttest.NewBuilder("idle", 10)
	b.Team(0, 3)
	three := b.Region(event.Parallel, reporttest.Lines(10, 20))
	two := b.Region(event.Parallel, reporttest.Lines(30, 40))
	lock := b.Region(event.Lock, reporttest.Lines(50, 50))
	b.Node(0, three, map[int]float64{0: 4}, reporttest.Row{Thread: 0, Body: 4, C: 1}, reporttest.Row{Thread: 1, Body: 4, C: 1}, reporttest.Row{Thread: 2, Body: 4, C: 1})
	b.Node(0, two, map[int]float64{0: 3}, reporttest.Row{Thread: 0, Body: 3, C: 1}, reporttest.Row{Thread: 1, Body: 3, C: 1})
	b.Node(0, lock, nil, reporttest.Row{Thread: 0, Body: 1, C: 5})
	return b.P
}

// The parts of each thread's time add up to that time, and none is below 0. This also holds where
// MPI calls have no regions of their own.
func TestThreadPartsAddUp(t *testing.T) {
	for name, c := range map[string]struct {
		p *profile.Profile
		o Options
	}{"classic": {reporttest.Launched(t, 1, 700), Options{Classic: true}}, "calls": {reporttest.Figure9(t, 1, 100), Options{}}} {
		way, _ := tables.Named("thread")
		var text bytes.Buffer
		if err := WriteBy(&text, c.p, way, "csv", c.o); err != nil {
			t.Fatal(err)
		}
		rows := csvRows(t, text.Bytes())
		parts := int64(0)
		for column := range rows[0] {
			if column == "thread" || column == "time_ns" {
				continue
			}
			sum := sumOf(t, rows, column)
			parts += sum
			if sum < 0 || name == "classic" && column == "mpi_ns" && sum == 0 {
				t.Errorf("%s: %s is %d ns", name, column, sum)
			}
		}
		if whole := sumOf(t, rows, "time_ns"); parts != whole {
			t.Errorf("%s: parts of %d ns, of %d", name, parts, whole)
		}
	}
}

// Workers are idle while their primary thread is outside of regions, or in a smaller team. The idle
// time stands at the call path of the primary thread.
func TestIdleThreads(t *testing.T) {
	got := map[string]int64{}
	for _, r := range tableRows(t, partlyIdle(), "property") {
		if r["property"] == analysis.IdleThreadsProperty {
			v, _ := strconv.ParseInt(r["time_ns"], 10, 64)
			got[r["path"]+" "+r["thread"]] = v
		}
	}
	want := map[string]int64{" 1": reporttest.NS(2), " 2": reporttest.NS(2), "R00002 2": reporttest.NS(3), "R00003 1": reporttest.NS(1), "R00003 2": reporttest.NS(1)}
	if len(got) != len(want) {
		t.Errorf("idle threads: %v, want %v", got, want)
	}
	for at, v := range want {
		if got[at] != v {
			t.Errorf("%q: idle for %d ns, want %d", at, got[at], v)
		}
	}
}

// The times of a property over all call paths and threads are the severity of the region.
func TestSeveritiesAddUp(t *testing.T) {
	p := reporttest.MixedProfile()
	all := float64(analysis.ThreadTime(p))
	got := map[string]float64{}
	for _, r := range tableRows(t, p, "property") {
		v, _ := strconv.ParseFloat(r["time_ns"], 64)
		got[r["property"]+" "+r["region"]] += v / all
	}
	found := analysis.Properties(p)
	for _, x := range found {
		if at := x.Name + " " + strconv.Itoa(x.Region+1); math.Abs(got[at]-x.Severity) > 1e-9 {
			t.Errorf("%s: %v over its call paths, want %v", at, got[at], x.Severity)
		}
	}
	if len(found) < 8 {
		t.Errorf("only %d properties", len(found))
	}
}

// JSON and CSV have the same rows and figures.
func TestTablesAgree(t *testing.T) {
	p := reporttest.MixedProfile()
	for _, way := range tables.Ways {
		var text bytes.Buffer
		if err := WriteBy(&text, p, way, "json", Options{}); err != nil {
			t.Fatal(err)
		}
		var doc struct {
			By         string
			ThreadTime int64 `json:"thread_time_ns"`
			Rows       []map[string]any
		}
		d := json.NewDecoder(&text)
		d.UseNumber()
		if err := d.Decode(&doc); err != nil {
			t.Fatal(err)
		}
		rows := tableRows(t, p, way.Name)
		if len(rows) != len(doc.Rows) || doc.By != way.Name || doc.ThreadTime != analysis.ThreadTime(p) {
			t.Fatalf("by %s: %d rows, %d in JSON, %q, %d ns", way.Name, len(rows), len(doc.Rows), doc.By, doc.ThreadTime)
		}
		for i, r := range rows {
			for column, cell := range r {
				inJSON := ""
				switch v := doc.Rows[i][column].(type) {
				case string:
					inJSON = v
				case json.Number:
					inJSON = v.String()
				}
				a, errA := strconv.ParseFloat(cell, 64)
				b, errB := strconv.ParseFloat(inJSON, 64)
				if cell != inJSON && (errA != nil || errB != nil || a != b) {
					t.Errorf("by %s, row %d: %s is %q, in JSON %q", way.Name, i, column, cell, inJSON)
				}
			}
		}
	}
}

// The text of each table. It fits a terminal.
func TestTablesText(t *testing.T) {
	for _, way := range tables.Ways {
		var text bytes.Buffer
		if err := WriteBy(&text, reporttest.MixedProfile(), way, "text", Options{}); err != nil {
			t.Fatal(err)
		}
		reporttest.Golden(t, "mixed.by-"+way.Name+".golden", text.Bytes())
		// The last column has names, which may be long.
		for line := range strings.Lines(text.String()) {
			if begin := strings.LastIndex(line, "  "); begin > 80 {
				t.Errorf("by %s: the last column begins behind character %d: %s", way.Name, begin, line)
			}
		}
	}
}

// docs/tables.md names every column.
func TestTablesDocumented(t *testing.T) {
	doc, err := os.ReadFile("../docs/tables.md")
	if err != nil {
		t.Fatal(err)
	}
	var cells bytes.Buffer
	if err := WriteCSV(&cells, reporttest.MixedProfile(), Options{}); err != nil {
		t.Fatal(err)
	}
	all := csvRows(t, cells.Bytes())[:1]
	for _, way := range tables.Ways {
		all = append(all, tableRows(t, reporttest.MixedProfile(), way.Name)[0])
	}
	for _, r := range all {
		for name := range r {
			if part, ok := strings.CutSuffix(name, "_count"); ok {
				name = part + "_ns"
			}
			if !strings.Contains(string(doc), "`"+name+"`") {
				t.Errorf("column %q is not in docs/tables.md", name)
			}
		}
	}
}
