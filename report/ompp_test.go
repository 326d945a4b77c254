package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report/reporttest"
	"ompp-attach/report/words"
)

// asOmpp is the text report in ompP's form: all rows, in the order of the source, times with two
// decimals.
var asOmpp = Options{All: true, Sort: BySource, Decimals: 2}

func ompText(t testing.TB, p *profile.Profile) string {
	t.Helper()
	return ompTextBy(t, p, asOmpp)
}

func ompTextBy(t testing.TB, p *profile.Profile, o Options) string {
	t.Helper()
	if err := profile.Validate(p); err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if err := WriteOmpp(&buf, p, o); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func TestOmppGolden(t *testing.T) {
	reporttest.Golden(t, "plain.ompp.golden", []byte(ompText(t, reporttest.PlainProfile())))
	reporttest.Golden(t, "mixed.ompp.golden", []byte(ompText(t, reporttest.MixedProfile())))
}

// TestOmppLines compares the report with lines that were written by hand from ompP's layout. Golden
// files alone do not do, because they can be rewritten.
func TestOmppLines(t *testing.T) {
	plain, mixed := ompText(t, reporttest.PlainProfile()), ompText(t, reporttest.MixedProfile())
	const rule = "----------------------------------------------------------------------\n"
	for _, want := range []string{
		rule + "----     ompP General Information     --------------------------------\n" + rule +
			"Start Date      : Mon May 06 07:08:09 2024\n" +
			"End Date        : Mon May 06 07:08:13 2024\n" +
			"Duration        : 4.00 sec\n" +
			"Application Name: plain\n" +
			"Type of Report  : final\n" +
			"User Time       : 30.25 sec\n" +
			"System Time     : 0.50 sec\n" +
			"Max Threads     : 2\n" +
			"ompP Version    : 0.1.0 (ompp-attach)\n" +
			"ompP Build Date : 2024-05-01\n" +
			"PAPI Support    : not available\n",
		rule + "----     ompP Region Overview     ------------------------------------\n" + rule +
			"PARALLEL: 1 region:\n * R00001 main.c (10-20)\n\n" +
			"CRITICAL: 1 region:\n * R00002 main.c (13-15) (unnamed)\n\n",
		rule + "----     ompP Callgraph     ------------------------------------------\n" + rule + "\n" +
			"  Inclusive  (%)   Exclusive  (%)\n" +
			"   4.00 (100.0%)    1.00 (25.00%)           [plain: 2 threads]\n" +
			// 3 + 3 over 2 threads; children take (.4 + .8)/2 of it
			"   3.00 (75.00%)    2.40 (60.00%) PARALLEL  +-R00001 main.c (10-20)\n" +
			"   0.60 (15.00%)    0.60 (15.00%) CRITICAL     +-R00002 main.c (13-15) (unnamed)\n",
		rule + "----     ompP Flat Region Profile (inclusive data)     ---------------\n" + rule +
			"R00001 main.c (10-20) PARALLEL\n" +
			" TID      execT      execC      bodyT   exitBarT   startupT   shutdwnT      taskT\n" +
			"   0       3.00          1       2.80       0.00       0.10       0.10       0.00\n" +
			"   1       3.00          1       2.30       0.50       0.10       0.10       0.00\n" +
			" SUM       6.00          2       5.10       0.50       0.20       0.20       0.00\n\n" +
			"R00002 main.c (13-15) (unnamed) CRITICAL\n" +
			" TID      execT      execC      bodyT     enterT      exitT\n" +
			"   0       0.40          4       0.40       0.00       0.00\n" +
			"   1       0.80          4       0.40       0.40       0.00\n" +
			" SUM       1.20          8       0.80       0.40       0.00\n\n",
		rule + "----     ompP Callgraph Region Profiles (incl./excl. data)     -------\n" + rule + "\n" +
			"[*00] plain\n" +
			"[+01] R00001 main.c (10-20) PARALLEL\n" +
			" TID      execT      execC    bodyT/I    bodyT/E   exitBarT   startupT   shutdwnT      taskT\n" +
			"   0       3.00          1       2.80       2.40       0.00       0.10       0.10       0.00\n" +
			"   1       3.00          1       2.30       1.50       0.50       0.10       0.10       0.00\n" +
			" SUM       6.00          2       5.10       3.90       0.50       0.20       0.20       0.00\n\n" +
			"[*00] plain\n" +
			"[+01] R00001 main.c (10-20) PARALLEL\n" +
			"[=02] R00002 main.c (13-15) (unnamed) CRITICAL\n" +
			" TID      execT      execC    bodyT/I    bodyT/E     enterT      exitT\n",
		rule + "----     ompP Overhead Analysis Report     ---------------------------\n" + rule +
			"Total runtime (wallclock)   : 4.00 sec [2 threads]\n" +
			"Number of parallel regions  : 1\n" +
			"Parallel coverage           : 3.00 sec (75.00%)\n\n" +
			"Parallel regions sorted by wallclock time:\n" +
			"            Type                            Location      Wallclock (%)\n" +
			"R00001  PARALLEL                      main.c (10-20)       3.00 (75.00)\n" +
			"                                                 SUM       3.00 (75.00)\n\n" +
			"Overheads wrt. each individual parallel region:\n" +
			"          Total        Ovhds (%)  =   Synch  (%)  +  Imbal   (%)  +   Limpar (%)   +    Mgmt (%)\n" +
			"R00001     6.00     1.30 (21.67)    0.40 ( 6.67)    0.50 ( 8.33)    0.00 ( 0.00)    0.40 ( 6.67)\n\n" +
			"Overheads wrt. whole program:\n" +
			"          Total        Ovhds (%)  =   Synch  (%)  +  Imbal   (%)  +   Limpar (%)   +    Mgmt (%)\n" +
			"R00001     6.00     1.30 (16.25)    0.40 ( 5.00)    0.50 ( 6.25)    0.00 ( 0.00)    0.40 ( 5.00)\n" +
			"   SUM     6.00     1.30 (16.25)    0.40 ( 5.00)    0.50 ( 6.25)    0.00 ( 0.00)    0.40 ( 5.00)\n",
		rule + "----     ompP Performance Properties Report     ----------------------\n" + rule + "\n" +
			"Property P00001 'ImbalanceInParallelRegion' holds for\n" +
			"     'PARALLEL main.c (10-20)', with a severity (in percent) of 6.250000\n\n" +
			"Property P00002 'CriticalSectionContention' holds for\n" +
			"     'CRITICAL main.c (13-15) (unnamed)', with a severity (in percent) of 5.000000\n",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("not in the report:\n%s", want)
		}
	}
	if strings.Contains(plain, "Measurement Notes") {
		t.Error("a section of notes though there is nothing to say")
	}
	for _, want := range []string{
		" * R00004 main.c (38-~41) (queue)\n",
		" 1:1       5.00         50       3.70       1.00       0.20       0.10       0.00\n",
		// SECTIONS: sectT sectC exitBarT mgmtT taskT
		"   0       0.51         10       0.50         10       0.00       0.01       0.00\n",
		" SUM       2.04         40       1.00         20       1.00       0.04       0.00\n",
		// R1: 1.84 + 3.6 + 1.9 + .94 of 32 thread seconds
		"R00001    32.00     8.28 (25.87)    1.84 ( 5.75)    3.60 (11.25)    1.90 ( 5.94)    0.94 ( 2.94)\n",
		"Parallel coverage           : 13.50 sec (67.50%)\n",
		" * outside any region: 2 (thread 1:0: 2)\n",
		" * R00003 main.c (33-36) (unnamed) CRITICAL: 15 (thread 2: 15)\n",
		"    LOCK  |  |  +-R00008 ~solve (libsolve.so+0x1a2b)\n",
	} {
		if !strings.Contains(mixed, want) {
			t.Errorf("not in the report:\n%s", want)
		}
	}
}

// TestOmppColumns checks that every row of a table has as many fields as the table's header, and
// ends in the same column.
func TestOmppColumns(t *testing.T) {
	p := reporttest.MixedProfile()
	p.Threads[5].Num = 1234 // needs a wider TID column
	tables, header := 0, ""
	for line := range strings.Lines(ompText(t, p)) {
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "R") || strings.HasPrefix(line, "[") || len(fields) == 0:
			header = ""
		case fields[0] == "TID":
			header = line
			tables++
		case header != "" && (len(line) != len(header) || len(fields) != len(strings.Fields(header))):
			t.Errorf("row does not fit its header:\n%s%s", header, line)
		}
	}
	if want := len(p.Regions) + len(p.Nodes) - 1; tables != want {
		t.Errorf("%d tables, want one per region and path: %d", tables, want)
	}
}

func TestColumnsFollowOmpp(t *testing.T) {
	for _, tt := range []struct{ construct, flat, split string }{
		{"MASTER", "execT execC", "execT/I execT/E execC"},
		{"MASKED", "execT execC", "execT/I execT/E execC"},
		{"USER REGION", "execT execC", "execT/I execT/E execC"},
		{"TASK", "execT execC", "execT/I execT/E execC"},
		{"TASKEXEC", "execT execC queueT", "execT/I execT/E execC queueT"},
		{"UTASKEXEC", "execT execC queueT partC", "execT/I execT/E execC queueT partC"},
		{"TASKWAIT", "execT execC taskT", "execT/I execT/E execC taskT"},
		{"TASKGROUP", "execT execC waitT taskT", "execT/I execT/E execC waitT taskT"},
		{"ATOMIC", "execT execC", "execT execC"},
		{"FLUSH", "execT execC", "execT execC"},
		{"BARRIER", "execT execC taskT", "execT execC taskT"},
		{"CRITICAL", "execT execC bodyT enterT exitT", "execT execC bodyT/I bodyT/E enterT exitT"},
		{"ORDERED", "execT execC bodyT enterT exitT", "execT execC bodyT/I bodyT/E enterT exitT"},
		{"LOCK", "execT execC bodyT enterT exitT", "execT execC bodyT enterT exitT"},
		{"NEST LOCK", "execT execC bodyT enterT exitT", "execT execC bodyT enterT exitT"},
		{"LOOP", "execT execC bodyT exitBarT taskT", "execT execC bodyT/I bodyT/E exitBarT taskT"},
		{"WORKSHARE", "execT execC bodyT exitBarT taskT", "execT execC bodyT/I bodyT/E exitBarT taskT"},
		{"PARALLEL", "execT execC bodyT exitBarT startupT shutdwnT taskT", "execT execC bodyT/I bodyT/E exitBarT startupT shutdwnT taskT"},
		{"PARALLEL LOOP", "execT execC bodyT exitBarT startupT shutdwnT taskT", "execT execC bodyT/I bodyT/E exitBarT startupT shutdwnT taskT"},
		{"UNDER WAY", "execT execC bodyT exitBarT startupT shutdwnT taskT", "execT execC bodyT/I bodyT/E exitBarT startupT shutdwnT taskT"},
		{"SECTIONS", "execT execC sectT sectC exitBarT mgmtT taskT", "execT execC sectT/I sectT/E sectC exitBarT mgmtT taskT"},
		{"PARALLEL SECTIONS", "execT execC sectT sectC exitBarT startupT shutdwnT taskT", "execT execC sectT/I sectT/E sectC exitBarT startupT shutdwnT taskT"},
		{"TEAMS", "execT execC bodyT teamC exitBarT startupT shutdwnT taskT", "execT execC bodyT/I bodyT/E teamC exitBarT startupT shutdwnT taskT"},
		{"DISTRIBUTE", "execT execC", "execT/I execT/E execC"},
		{"SCOPE", "execT execC bodyT exitBarT taskT", "execT execC bodyT/I bodyT/E exitBarT taskT"},
		{"REDUCTION", "execT execC bodyT enterT exitT", "execT execC bodyT/I bodyT/E enterT exitT"},
		{"CANCEL", "execT execC cancelC", "execT execC cancelC"},
		{"CANCELLATION POINT", "execT execC cancelC", "execT execC cancelC"},
		{"TARGET", "execT execC", "execT/I execT/E execC"},
		{"TARGET DATA", "execT execC bodyT enterT exitT", "execT execC bodyT/I bodyT/E enterT exitT"},
		{"TARGET ENTER DATA", "execT execC", "execT execC"},
		{"TARGET UPDATE", "execT execC", "execT execC"},
		{"SINGLE", "execT execC singleT singleC exitBarT taskT", "execT execC singleT/I singleT/E singleC exitBarT taskT"},
	} {
		c, ok := event.ParseConstruct(tt.construct)
		if !ok {
			t.Fatalf("no construct %q", tt.construct)
		}
		var flat, split []string
		for _, col := range columnsOf(c) {
			flat = append(flat, col.title)
			if col.nested {
				split = append(split, col.title+"/I", col.title+"/E")
			} else {
				split = append(split, col.title)
			}
		}
		if got := strings.Join(flat, " "); got != tt.flat {
			t.Errorf("%s: flat columns %q, want %q", tt.construct, got, tt.flat)
		}
		if got := strings.Join(split, " "); got != tt.split {
			t.Errorf("%s: callgraph columns %q, want %q", tt.construct, got, tt.split)
		}
	}
}

// Each column that a construct has is one that reports know.
func TestFormsNameKnownColumns(t *testing.T) {
	for _, c := range event.AllConstructs() {
		for _, title := range c.Form().Columns {
			if _, ok := ownColumns[title]; !ok {
				t.Errorf("%s: no column is titled %q", c, title)
			}
		}
	}
}

func TestUnmeasuredTasksAreNoZero(t *testing.T) {
	p := reporttest.PlainProfile()
	p.Meta.HasTasks = true
	text := ompText(t, p)
	for _, want := range []string{
		" SUM       6.00          2       5.10       0.50       0.20       0.20          -\n",
		"The program may use tasks, and where this runtime executes them was not found",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("not in the report: %q", want)
		}
	}
}

func TestExitBarTIsLessTaskT(t *testing.T) {
	p := reporttest.PlainProfile()
	p.Nodes[1].Stats[1].Task = reporttest.NS(.2)
	want := "   1       3.00          1       2.30       0.30       0.10       0.10       0.20\n"
	if !strings.Contains(ompText(t, p), want) {
		t.Errorf("not in the report: %q", want)
	}
}

func TestLocationText(t *testing.T) {
	for _, tt := range []struct {
		l    profile.Location
		want string
	}{
		{profile.Location{File: "/a/main.c", Begin: 53, End: 58}, "main.c (53-58)"},
		{profile.Location{File: "main.c", Begin: 53, End: 53}, "main.c (53)"},
		{profile.Location{File: "main.c", Begin: 53}, "main.c (53)"},
		{profile.Location{File: "main.c", Begin: 53, End: 58, EndMark: profile.Approx}, "main.c (53-~58)"},
		{profile.Location{File: "main.c", Begin: 53, End: 58, Mark: profile.Approx}, "main.c (~53-58)"},
		{profile.Location{Function: "f", Object: "/lib/liba.so", Offset: 0x10}, "f (liba.so+0x10)"},
		{profile.Location{Function: "f", Object: "/lib/liba.so", Offset: 0x10, Mark: profile.Approx}, "~f (liba.so+0x10)"},
		{profile.Location{Object: "/lib/liba.so", Offset: 0x10}, "liba.so+0x10"},
		{profile.Location{Function: "f"}, "f"},
		{profile.Location{File: "main.c"}, "main.c"},
		{profile.Location{}, "(unknown place)"},
		{profile.Location{File: "a\n\x1b[1m.c", Begin: 1}, "$'a\\012\\033[1m.c' (1)"},
	} {
		if got := words.Location(&tt.l); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.l, got, tt.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{words.Clock(2).Seconds(-1, 10), "      0.00"}, // no -0.00
		{words.Clock(2).Seconds(-10_000_000, 0), "-0.01"},
		{words.Clock(2).Seconds(4_000_000, 0), "0.00"},
		{words.Clock(2).Seconds(5_000_001, 0), "0.01"},
		{percent(1), "100.0"},
		{percent(0.99996), "100.0"},
		{percent(0.5), "50.00"},
		{percent(0), " 0.00"},
		{callgraphPercent(0.0005), "0.050"},
		{callgraphPercent(0), " 0.00"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestWriteErrorsAreReturned(t *testing.T) {
	full := errors.New("no space left")
	for _, f := range Formats {
		for _, file := range f.Outputs(reporttest.MixedProfile(), Options{}) {
			if err := file.Write(failingWriter{full}); !errors.Is(err, full) {
				t.Errorf("%s: got %v, want %v", f.Name, err, full)
			}
		}
	}
	if err := Summary(failingWriter{full}, reporttest.MixedProfile(), nil, Options{}); !errors.Is(err, full) {
		t.Errorf("Summary: got %v, want %v", err, full)
	}
}
