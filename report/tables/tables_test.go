package tables

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

const s = 1_000_000_000 // ns

// twoThreads is 10 s of two threads. In a region of 6 s, thread 1 works 4 s and waits 2 s. In the
// region are two criticals: one of 1 s on each thread, and one of 2 ms on thread 0.
func twoThreads() *profile.Profile {
	span := func(t int64) profile.Sum { return profile.Sum{T: t, C: 3} }
	loc := func(line int) profile.Location {
		return profile.Location{File: "main.c", Begin: line, End: line + 1, Function: "f"}
	}
	critical := func(thread int, t int64) profile.ThreadStats {
		return profile.ThreadStats{Thread: thread, Exec: span(t), Body: span(t)}
	}
	return &profile.Profile{Version: profile.SchemaVersion, Meta: profile.Meta{Target: profile.Target{Program: "two"}, Life: profile.Life{Duration: 10 * s}},
		Threads: []profile.Thread{{Num: 0}, {Num: 1}},
		Regions: []profile.Region{{Construct: event.Parallel, Location: loc(10)}, {Construct: event.Critical, Location: loc(20)}, {Construct: event.Critical, Location: loc(30)}},
		Nodes: []profile.Node{{Parent: -1, Region: -1},
			{Parent: 0, Region: 0, Stats: []profile.ThreadStats{
				{Thread: 0, Exec: span(6 * s), Body: span(6 * s), Barrier: span(0), Child: s + s/500},
				{Thread: 1, Exec: span(6 * s), Body: span(4 * s), Barrier: span(2 * s), Child: s}}},
			{Parent: 1, Region: 1, Stats: []profile.ThreadStats{critical(0, s), critical(1, s)}},
			{Parent: 1, Region: 2, Stats: []profile.ThreadStats{critical(0, s/500)}}}}
}

func plain(p *profile.Profile) Options {
	mark := func(text string, e *profile.Estimate) string {
		if e != nil {
			return "~" + text
		}
		return text
	}
	return Options{Seconds: func(ns int64) string { return strconv.FormatFloat(float64(ns)/s, 'f', 3, 64) },
		Region:    func(r *profile.Region) string { return fmt.Sprintf("%s:%d", r.Location.File, r.Location.Begin) },
		Construct: event.Construct.String, Thread: func(t profile.Thread) string { return strconv.Itoa(t.Num) },
		Clean: func(s string) string { return s }, Mark: mark, MarkOwn: mark}
}

// written returns a table's rows as CSV has them, and finds the same in JSON.
func written(t *testing.T, p *profile.Profile, by string) []map[string]string {
	t.Helper()
	way, ok := Named(by)
	if !ok {
		t.Fatalf("no table by %s", by)
	}
	var asCSV, asJSON bytes.Buffer
	for format, w := range map[string]*bytes.Buffer{"csv": &asCSV, "json": &asJSON} {
		if err := Write(w, p, way, format, plain(p)); err != nil {
			t.Fatal(err)
		}
	}
	rows := read(t, &asCSV)
	var table struct {
		By         string
		ThreadTime int64 `json:"thread_time_ns"`
		Rows       []map[string]any
	}
	in := json.NewDecoder(&asJSON)
	in.UseNumber()
	if err := in.Decode(&table); err != nil {
		t.Fatal(err)
	}
	if table.By != by || table.ThreadTime != analysis.ThreadTime(p) || len(table.Rows) != len(rows) {
		t.Fatalf("JSON has %d rows by %s of %d ns, CSV %d", len(table.Rows), table.By, table.ThreadTime, len(rows))
	}
	for i, r := range rows {
		for name, cell := range r {
			v, there := table.Rows[i][name]
			got := fmt.Sprint(v)
			if there {
				if a, err := strconv.ParseFloat(got, 64); err == nil {
					if b, err := strconv.ParseFloat(cell, 64); err == nil && a == b {
						continue
					}
				}
			}
			if there && got != cell || !there && cell != "" {
				t.Errorf("by %s, row %d: %s is %q in CSV, %v in JSON", by, i, name, cell, v)
			}
		}
	}
	return rows
}

func read(t *testing.T, b *bytes.Buffer) (rows []map[string]string) {
	t.Helper()
	lines, err := csv.NewReader(b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range lines[1:] {
		r := map[string]string{}
		for i, name := range lines[0] {
			r[name] = cells[i]
		}
		rows = append(rows, r)
	}
	return rows
}

func number(t *testing.T, cell string) int64 {
	t.Helper()
	if cell == "" {
		return 0
	}
	n, err := strconv.ParseInt(cell, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Tables by region, construct and path divide the time of all threads: no ns is missing, or there
// twice. The longest time comes first.
func TestTimesAddUp(t *testing.T) {
	for _, by := range []string{"region", "construct", "path"} {
		p := twoThreads()
		var sum int64
		last := int64(20 * s)
		for _, r := range written(t, p, by) {
			own := number(t, r["exclusive_ns"])
			if own > last {
				t.Errorf("by %s: %d ns come after %d", by, own, last)
			}
			sum, last = sum+own, own
		}
		if sum != 2*10*s {
			t.Errorf("by %s: the rows add up to %d ns of %d", by, sum, 2*10*s)
		}
	}
}

// Each row's figures are those that the profile was made with.
func TestRows(t *testing.T) {
	for _, tc := range []struct {
		by   string
		is   func(map[string]string) bool
		want map[string]int64
	}{
		{"region", func(r map[string]string) bool { return r["begin_line"] == "10" },
			map[string]int64{"exclusive_ns": 10*s - s/500, "inclusive_ns": 12 * s, "imbal_ns": 2 * s, "overhead_ns": 2 * s, "executions": 6}},
		{"region", func(r map[string]string) bool { return r["begin_line"] == "20" }, map[string]int64{"exclusive_ns": 2 * s, "inclusive_ns": 2 * s, "executions": 6}},
		{"path", func(r map[string]string) bool { return r["path"] == "R00001/R00003" }, map[string]int64{"exclusive_ns": s / 500, "inclusive_ns": s / 500, "executions": 3}},
		{"construct", func(r map[string]string) bool { return r["construct"] == "CRITICAL" && r["thread"] == "0" }, map[string]int64{"exclusive_ns": s + s/500, "executions": 6}},
		{"thread", func(r map[string]string) bool { return r["thread"] == "1" }, map[string]int64{"time_ns": 10 * s, "work_ns": 4 * s, "imbal_ns": 2 * s, "idle_ns": 4 * s}},
		{"thread", func(r map[string]string) bool { return r["thread"] == "0" }, map[string]int64{"time_ns": 10 * s, "work_ns": 6 * s, "outside_ns": 4 * s, "idle_ns": 0}},
	} {
		found := 0
		for _, r := range written(t, twoThreads(), tc.by) {
			if !tc.is(r) {
				continue
			}
			found++
			for name, want := range tc.want {
				if got := number(t, r[name]); got != want {
					t.Errorf("by %s: %s is %d, want %d (%v)", tc.by, name, got, want, r)
				}
			}
		}
		if found != 1 {
			t.Errorf("by %s: %d rows for %v", tc.by, found, tc.want)
		}
	}
}

// The cells hold each time once: exclusive times, outside and idle add up to that of all threads.
func TestCells(t *testing.T) {
	p := twoThreads()
	var b bytes.Buffer
	if err := WriteCells(&b, p, mpi.Naive, plain(p)); err != nil {
		t.Fatal(err)
	}
	var sum int64
	var paths []string
	for _, r := range read(t, &b) {
		paths = append(paths, r["path"]+" "+r["thread"])
		if r["path"] != "" {
			sum += number(t, r["exclusive_ns"])
		}
		sum += number(t, r["outside_ns"]) + number(t, r["idle_ns"])
	}
	if want := []string{" 0", " 1", "R00001 0", "R00001 1", "R00001/R00002 0", "R00001/R00002 1", "R00001/R00003 0"}; fmt.Sprint(paths) != fmt.Sprint(want) {
		t.Errorf("cells %q, want %q", paths, want)
	}
	if sum != 2*10*s {
		t.Errorf("the cells add up to %d ns of %d", sum, 2*10*s)
	}
}

// Text leaves out what is little, or comes after the wanted rows, and says how much that is. It
// marks estimates.
func TestText(t *testing.T) {
	region, _ := Named("region")
	for _, tc := range []struct {
		name  string
		set   func(*Options)
		lines int // with the head
		rest  string
	}{
		{"little is left out", func(*Options) {}, 6, "... and 1 more, 0.002 sec together"},
		{"all", func(o *Options) { o.All = true }, 6, ""},
		{"two rows", func(o *Options) { o.Rows = 2 }, 4, "... and 3 more, 6.002 sec together"},
	} {
		p := twoThreads()
		p.Nodes[2].Stats[0].Estimate = &profile.Estimate{Exec: profile.Sum{T: 1, C: 1}}
		o := plain(p)
		tc.set(&o)
		lines := Text(p, region, o)
		text := strings.Join(lines, "\n")
		last := lines[len(lines)-1]
		if len(lines) != tc.lines || (tc.rest != "") != strings.HasPrefix(last, "...") || tc.rest != "" && last != tc.rest {
			t.Errorf("%s: %d lines\n%s", tc.name, len(lines), text)
		}
		if o.Rows == 0 && !strings.Contains(text, "~2.000") || strings.Contains(text, "~9.998") {
			t.Errorf("%s: estimates are not marked, or measured figures are\n%s", tc.name, text)
		}
	}
}

func TestNamed(t *testing.T) {
	for _, name := range Names() {
		if w, ok := Named(name); !ok || w.Name != name {
			t.Errorf("%s: %+v, %t", name, w, ok)
		}
	}
	if _, ok := Named("colour"); ok {
		t.Error("there is a table by colour")
	}
}
