package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/report/jobs"
	"ompp-attach/severity"
)

func pageOf(t testing.TB, p *profile.Profile) string {
	t.Helper()
	if err := profile.Validate(p); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteProcess(&b, p, report.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var embedded = regexp.MustCompile(`(?s)<script id="figures" type="application/json"( data-packed="gzip")?>(.*?)</script>`)

// figuresIn returns the JSON that a page holds.
func figuresIn(t testing.TB, page string) []byte {
	t.Helper()
	all := embedded.FindAllStringSubmatch(page, -1)
	if len(all) != 1 {
		t.Fatalf("%d embedded figures", len(all))
	}
	data := []byte(all[0][2])
	if all[0][1] == "" {
		return data
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	if data, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return data
}

func compact(t testing.TB, data []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSelfContained: a page has no link that a browser would load, and holds the figures that the
// format json writes.
func TestSelfContained(t *testing.T) {
	p := solver()
	page := pageOf(t, p)
	var own bytes.Buffer
	if err := WriteProcessJSON(&own, p, report.Options{}); err != nil {
		t.Fatal(err)
	}
	if compact(t, figuresIn(t, page)) != compact(t, own.Bytes()) {
		t.Error("the page's figures are not those of the format json")
	}
	var job bytes.Buffer
	j := figure9Job(t)
	if err := WriteJob(&job, j, report.Options{}); err != nil {
		t.Fatal(err)
	}
	own.Reset()
	if err := jobs.WriteJSON(&own, j, report.Options{}); err != nil {
		t.Fatal(err)
	}
	var figures struct{ Figures json.RawMessage }
	if err := json.Unmarshal(figuresIn(t, job.String()), &figures); err != nil {
		t.Fatal(err)
	}
	if compact(t, figures.Figures) != compact(t, own.Bytes()) {
		t.Error("the figures of a job's page are not job.json")
	}
	loads := regexp.MustCompile(`(?i)<(link|img|iframe|script|object|embed)[^>]*(src|href)=["']?(?:[^"'>]*:)?//|@import|url\([^#]`)
	for _, text := range []string{page, job.String()} {
		if at := loads.FindString(text); at != "" {
			t.Errorf("the page loads %q", at)
		}
		if len(text) > 1<<20 {
			t.Errorf("the page has %d bytes", len(text))
		}
	}
}

// TestNoPartBelowZero: no part of the time is negative if the nested teams of a row together take
// more time than the row's thread.
func TestNoPartBelowZero(t *testing.T) {
	m := newMaker("nested", 1000*ms, 2)
	m.p.Meta.MPI = &profile.MPIJob{Rank: 0, Size: 1}
	outer, inner := m.region(event.Parallel, 10, 30), m.region(event.Parallel, 12, 20)
	top := m.node(0, outer, row(0, 900, 0, 0, 1), row(0, 900, 0, 0, 1))
	m.node(top, inner, row(0, 100, 1500, 0, 2), row(0, 100, 1500, 0, 2)) // two teams
	m.p.Nodes[top].Stats[0].Child, m.p.Nodes[top].Stats[1].Child = 800*ms, 800*ms
	j := jobOf(t, []*profile.Profile{m.p})
	x, err := ofJob(j, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := Parts{Work: 400 * ms, Serial: 100 * ms, Imbal: 3000 * ms}
	own := process(m.p, report.Options{}).Whole
	for what, got := range map[string]Parts{"job": x.Whole, "rank": partsOfRank(&j.Ranks[0]), "process": own} {
		if got.Idle = 0; got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
}

// TestDocumented: docs/page.md names every field of the figures.
func TestDocumented(t *testing.T) {
	doc, err := os.ReadFile("../docs/page.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[reflect.Type]bool{}
	var check func(x reflect.Type)
	check = func(x reflect.Type) {
		for x.Kind() == reflect.Pointer || x.Kind() == reflect.Slice || x.Kind() == reflect.Map {
			x = x.Elem()
		}
		if x.Kind() != reflect.Struct || known[x] || x == reflect.TypeFor[time.Time]() {
			return
		}
		known[x] = true
		for i := range x.NumField() {
			name, _, _ := strings.Cut(x.Field(i).Tag.Get("json"), ",")
			if !strings.Contains(string(doc), "`"+name+"`") {
				t.Errorf("docs/page.md does not name `%s` of %s", name, x)
			}
			check(x.Field(i).Type)
		}
	}
	check(reflect.TypeFor[Process]())
	check(reflect.TypeFor[Job]())
}

// TestParts: the parts of each whole add up to the whole: all threads' time, each region's
// exclusive time, and the call paths.
func TestParts(t *testing.T) {
	for _, p := range []*profile.Profile{solver(), figure9(1, 7, 200), smg(3)} {
		x := process(p, report.Options{Raw: true})
		if whole := x.Whole.Sum(); whole != x.Head.ThreadTime {
			t.Errorf("%s: parts of the whole %d, thread time %d", p.Meta.Program, whole, x.Head.ThreadTime)
		}
		var threads, regions int64
		for i := range x.Threads {
			if sum := x.Threads[i].Whole.Sum(); sum != x.Head.Wall {
				t.Errorf("%s: thread %s has %d of %d", p.Meta.Program, x.Threads[i].Label, sum, x.Head.Wall)
			}
			threads += x.Threads[i].Whole.Sum()
		}
		costs := map[int]analysis.Cost{}
		for _, c := range analysis.Costs(p) {
			costs[c.Region] = c
		}
		for i := range x.Regions {
			r := &x.Regions[i]
			regions += r.Exclusive
			c := costs[i]
			if r.Exclusive != c.Exclusive || r.Inclusive != c.Inclusive || r.Own.Sum()-r.Own.Work != c.Overhead.Sum() {
				t.Errorf("%s: R%d %+v, want %+v", p.Meta.Program, i+1, r, c)
			}
			var rows int64
			for k := range r.Rows {
				rows += r.Rows[k].Own.Sum()
			}
			if rows != r.Exclusive {
				t.Errorf("%s: rows of R%d %d, want %d", p.Meta.Program, i+1, rows, r.Exclusive)
			}
		}
		if n := x.Nodes[0].Width; n != regions+x.Whole.Serial || threads != x.Head.ThreadTime {
			t.Errorf("%s: call paths %d, regions and serial code %d; threads %d of %d", p.Meta.Program, n, regions+x.Whole.Serial, threads, x.Head.ThreadTime)
		}
	}
}

// TestFindings: the page has the list of findings that report --properties has, with the same times
// and savings, idle threads among them.
func TestFindings(t *testing.T) {
	p := solver()
	x, c := process(p, report.Options{Raw: true}), severity.Of(p, severity.Options{})
	var want []severity.Entry
	for _, e := range c.List(c.Findings(), false) {
		if analysis.Ratio(e.Time, c.ThreadTime) >= severity.Little {
			want = append(want, e)
		}
	}
	if len(want) != len(x.Findings) || len(want) < 5 {
		t.Fatalf("%d findings, want %d", len(x.Findings), len(want))
	}
	seen := map[string]bool{}
	for i, f := range x.Findings {
		e := &want[i]
		if f.Says == "" || strings.Contains(f.Says, "%") || f.Helps == "" || f.Name != c.Properties[e.Property].Title() || f.Time != e.Time ||
			(f.Saves != nil) != e.Saving.Known || f.Saves != nil && *f.Saves != e.Saving.Time || className(f.Class) == f.Class {
			t.Errorf("finding %+v, want %+v", f, e)
		}
		seen[f.Class] = true
		if f.Name == analysis.ImbalanceInParallelLoop && f.Region == 2 {
			if f.Time != 1200*ms || *f.Saves != 300*ms || *f.Most != (Extreme{"thread 3", 500 * ms}) || *f.Least != (Extreme{"thread 0", 0}) {
				t.Errorf("finding %+v, most %+v, least %+v", f, *f.Most, *f.Least)
			}
		}
	}
	if !seen["idle"] {
		t.Errorf("no idle threads: %+v", x.Findings)
	}
}

// Each sentence names one place, and belongs to a property that can be a finding.
func TestSentences(t *testing.T) {
	c := severity.Of(solver(), severity.Options{})
	for id, text := range says {
		if i := c.Property(id); i < 0 || !c.Properties[i].Reported || strings.Count(text, "%s") != 1 {
			t.Errorf("%s: %q", id, text)
		}
	}
}

// The page does not say that work is uneven where threads wait for another reason, nor does it
// advise another schedule then. Where places differ, their advice is told apart.
func TestReasonsOfWaits(t *testing.T) {
	c := severity.Of(solver(), severity.Options{})
	loop := slices.IndexFunc(c.Regions, func(r profile.Region) bool { return r.Construct == event.ParallelLoop || r.Construct == event.Loop })
	says := func() (says, helps, tree string) {
		found, _ := findingsOf(c)
		for _, f := range found {
			if f.Name == analysis.ImbalanceInParallelLoop && f.Region == loop+1 {
				says, helps = f.Says, f.Helps
			}
		}
		for _, p := range treesOf(c).Properties {
			if p.OmpP == analysis.ImbalanceInParallelLoop {
				tree = p.Helps
			}
		}
		return says, helps, tree
	}
	for why, want := range map[analysis.Uneven][2]string{0: {": iterations are divided unevenly", "use schedule(dynamic)"}, analysis.Coreless: {": those that they wait for have no core", "give each thread a core"},
		analysis.Late: {": some begin late", "Dividing the work otherwise"}, analysis.Starved: {": some have next to nothing to do", "no schedule helps"},
		analysis.Behind: {": some come late to it", "Balance the work before"}} {
		var waits analysis.UnevenWaits
		waits[why] = 1
		c.Uneven[loop] = waits
		text, helps, tree := says()
		if !strings.HasPrefix(text, "Threads wait at the end of ") || !strings.HasSuffix(text, want[0]) || !strings.Contains(helps, want[1]) || !strings.Contains(tree, want[1]) {
			t.Errorf("reason %d: %q, %q, in the trees %q", why, text, helps, tree)
		}
	}
	for region := range c.Regions {
		c.Ends[region] = analysis.UnevenWaits{analysis.Coreless: 1}
	}
	found, _ := findingsOf(c)
	ends := 0
	for _, f := range found {
		if !strings.HasPrefix(f.Says, "Ending the team") {
			continue
		}
		ends++
		if !strings.HasSuffix(f.Says, ": the thread that ends the team has no core") || !strings.HasPrefix(f.Helps, "Longer regions do not mend this") {
			t.Errorf("the end of a team: %q, %q", f.Says, f.Helps)
		}
	}
	if ends == 0 {
		t.Error("no finding is about the end of a team")
	}
	l := severity.Loss{Findings: []severity.Finding{{Property: c.Property("omp_barrier_loop"), Path: 0}, {Property: c.Property("omp_critical")}, {Property: c.Property("omp_critical")}}}
	c.Paths[0].Region, c.Uneven = 0, nil
	if got := helpsOf(c, &l); strings.Count(got, " At other places: ") != 1 || !strings.HasPrefix(got, "If each thread has many iterations") {
		t.Errorf("advice of several places: %q", got)
	}
}

// hostile is a text that would break out of most contexts of HTML, if nothing escaped it.
const hostile = "</script><script>alert(1)</script><!--\"'`\\\x00\xff\u2028<img src=x onerror=alert(1)>"

func hostileProfile() *profile.Profile {
	p := solver()
	m := &p.Meta
	m.Program, m.Path, m.Args, m.Host, m.Ended = hostile, "/opt/"+hostile, []string{hostile}, hostile, hostile
	m.Runtimes[0].Version = hostile
	for i := range p.Regions {
		r := &p.Regions[i]
		r.Name, r.Location.File, r.Location.Function, r.Location.Object = hostile, "/src/"+hostile+".c", hostile, "/lib/"+hostile
		r.Notes = []string{hostile}
	}
	for i := range p.Frames {
		p.Frames[i].Function, p.Frames[i].File = hostile, "/src/"+hostile+".c"
	}
	p.Warnings, p.Unseen[0].Reason = []string{hostile}, hostile
	return p
}

// TestHostileNames: names cannot end the element or attribute that holds them. In the browser,
// TestHostileNamesInBrowser sees that they do nothing.
func TestHostileNames(t *testing.T) {
	text := pageOf(t, hostileProfile())
	for _, bad := range []string{"<script>alert", "<img src=x", "<!--\"", "\x00", "\xff"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if n := strings.Count(text, "</script>"); n != 2 {
		t.Errorf("%d scripts end", n)
	}
}

// TestStatic: without scripts, tables and a picture remain.
func TestStatic(t *testing.T) {
	page := pageOf(t, solver())
	for _, want := range []string{`<svg class="bar"`, "LOOP", "main.c (24-30)", "Threads wait at the end of LOOP main.c (24-30)", "The executable is stripped", "Imbalance"} {
		if !strings.Contains(embedded.ReplaceAllString(page, ""), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	parts := Parts{Work: 300, Imbal: 100}
	if got := string(barSVG(parts, 800)); !strings.Contains(got, `class="c-work" x="0.000" y="0" width="375.000"`) || !strings.Contains(got, `class="c-imbal" x="375.000" y="0" width="125.000"`) {
		t.Errorf("bar %s", got)
	}
}

// TestManyRows: a machine with many threads does not make the page too large.
func TestManyRows(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a large page")
	}
	m := newMaker("wide", 1000*ms, 2000)
	rows := make([]profile.ThreadStats, 2000)
	for i := range rows {
		rows[i] = row(0, 2, 1, 0, 5)
	}
	const regions = 60 // with 2000 rows each: more than mostRows
	for n := range regions {
		m.node(0, m.region(event.ParallelLoop, 10*n+1, 10*n+5), rows...)
	}
	began := time.Now()
	page := pageOf(t, m.p)
	t.Logf("%d bytes in %s", len(page), time.Since(began))
	if len(page) > 4<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
	var x Process
	if err := json.Unmarshal(figuresIn(t, page), &x); err != nil {
		t.Fatal(err)
	}
	rowsLeft := 0
	for i := range x.Regions {
		rowsLeft += len(x.Regions[i].Rows)
	}
	if rowsLeft == 0 || rowsLeft > mostRows {
		t.Errorf("%d rows by thread", rowsLeft)
	}
}

func BenchmarkPage(b *testing.B) {
	p := solver()
	for b.Loop() {
		if err := WriteProcess(io.Discard, p, report.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestNoOpenMP: the page tells no parallel coverage of a program in which no OpenMP was seen.
func TestNoOpenMP(t *testing.T) {
	p := solver()
	if x := process(p, report.Options{}); x.Head.Coverage == nil || *x.Head.Coverage <= 0 {
		t.Errorf("with OpenMP: %v", x.Head.Coverage)
	}
	p.Nodes, p.Regions, p.Samples, p.Frames = p.Nodes[:1], nil, nil, nil
	if x := process(p, report.Options{}); x.Head.Coverage != nil {
		t.Errorf("without OpenMP: %v", *x.Head.Coverage)
	}
}

// TestStaticFindings: without scripts, a finding says that its time is estimated, or why the
// finding is in doubt. Other findings say neither.
func TestStaticFindings(t *testing.T) {
	for _, c := range []struct {
		finding Finding
		want    string
	}{
		{Finding{Time: 5 * ms, Says: "Threads wait", Helps: "Wait less."}, "(5 ms) Threads wait. Wait less."},
		{Finding{Time: 5 * ms, Says: "Threads wait", Helps: "Wait less.", Estimated: true, Doubt: "Probes took half."},
			"(~5 ms) Threads wait. In doubt: Probes took half. Wait less."},
	} {
		var out strings.Builder
		if err := pageTemplate.ExecuteTemplate(&out, "findings", []Finding{c.finding}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("%s, want %q", out.String(), c.want)
		}
	}
}
