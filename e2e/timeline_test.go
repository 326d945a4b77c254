package e2e

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ompp-attach/attribution"
	"ompp-attach/attribution/stream"
	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/page"
	"ompp-attach/results"
	"ompp-attach/timeline"
	"ompp-attach/timeline/timelinetest"
)

// The spans of a timeline add up to the profile, exactly. This is tested of a program with every
// construct, and of one with tasks, kept in memory and written meanwhile.
func TestTimeline(t *testing.T) {
	atOnce(t)
	for _, tc := range []struct{ name, compiler, source, plan, counters string }{
		{"all constructs", "gcc", "matrix.c", "last:1h", "task-clock,page-faults"},
		{"all constructs, clang", "clang-19", "matrix.c", "first:1h,1G", "none"},
		{"tasks, into a file", "gcc", "tasks.c", "all,1G", "none"},
		{"tasks, clang", "clang-19", "tasks.c", "all", "page-faults,task-clock"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bin := testbin.Build(t, tc.source, testbin.Options{Compiler: tc.compiler})
			s := clean(t, options{flags: []string{"--timeline", tc.plan, "--counters", tc.counters, "--format", "json"}}, bin)
			f := timelineIn(t, s.dir)
			drawnAll(t, s.dir, f)
			wrong, figures := timelinetest.Differences(s.main, f)
			for _, w := range wrong {
				t.Error(w)
			}
			if (f.Counting != nil) != (tc.counters != "none") {
				t.Errorf("the counters are %+v", f.Counting)
			}
			if figures < 5 || len(f.Gaps) > 0 || f.Torn {
				t.Errorf("%d figures compared, gaps %+v, torn %v", figures, f.Gaps, f.Torn)
			}
			out, err := toolOutput(t, "report", "--format", "perfetto", s.dir)
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if out, err := toolOutput(t, "report", "--format", "json", s.dir); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			drawnAll(t, s.dir, f)
			markedAll(t, s.dir, f)
			if st, err := os.Stat(filepath.Join(s.dir, "timeline.pftrace")); err != nil || st.Size() < 1000 {
				t.Errorf("no trace was written: %v", err)
			}
		})
	}
}

// The longest executions of each region are those of a timeline of all that the same events make.
func TestTimelineLongest(t *testing.T) {
	atOnce(t)
	const most = 2
	bin := testbin.Build(t, "matrix.c", testbin.Options{Compiler: "gcc"})
	events := filepath.Join(t.TempDir(), "events")
	s := clean(t, options{flags: []string{"--timeline", fmt.Sprintf("worst:%d", most), "--record-events", events}}, bin)
	f := timelineIn(t, s.dir)
	data, err := os.Open(events)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	recorded, err := stream.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := timeline.NewRecorder(timeline.Options{Plan: timeline.Plan{Cap: 1 << 30}, Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	attribution.ReplayTo(recorded, rec)
	name := filepath.Join(t.TempDir(), "all.timeline")
	if err := results.Stream(name, rec.Save); err != nil {
		t.Fatal(err)
	}
	whole, done, err := results.OpenTimeline(name)
	if err != nil {
		t.Fatal(err)
	}
	defer done.Close()
	all, kept := lengthsByConstruct(t, whole), lengthsByConstruct(t, f)
	if len(all) < 10 {
		t.Errorf("only %d constructs", len(all))
	}
	for c, list := range all {
		n := min(len(list), most)
		if got := kept[c]; len(got) < n || !slices.Equal(got[:n], list[:n]) {
			t.Errorf("%s: the longest executions took %v, kept are %v", c, list[:n], got)
		}
	}
	k := f.Dictionary.Kept
	if n, _ := whole.Spans(); k == nil || k.Spans != n || k.Longest != most || k.Whole != 0 {
		t.Errorf("of %d spans, the file says %+v", n, k)
	}
	out, err := toolOutput(t, "report", "--format", "perfetto", s.dir)
	if err != nil || !strings.Contains(out, "the 2 longest executions of each region") {
		t.Errorf("%v: %s", err, out)
	}
}

// lengthsByConstruct returns the lengths of the executions of each construct, longest first. The
// threads' parts in a team are one execution.
func lengthsByConstruct(t *testing.T, f *timeline.File) map[event.Construct][]uint64 {
	t.Helper()
	out, teams := map[event.Construct][]uint64{}, map[uint64]uint64{}
	of := map[uint64]event.Construct{}
	for _, tid := range f.TIDs() {
		for s, err := range f.Thread(tid) {
			if err != nil {
				t.Fatal(err)
			}
			c := f.Dictionary.Regions[f.Dictionary.Nodes[s.Node].Region].Construct
			switch {
			case s.Kind != timeline.Execution && s.Kind != timeline.Call || s.From == s.To:
			case s.Team != 0:
				teams[s.Team], of[s.Team] = max(teams[s.Team], s.To-s.From), c
			default:
				out[c] = append(out[c], s.To-s.From)
			}
		}
	}
	for team, n := range teams {
		out[of[team]] = append(out[of[team]], n)
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b uint64) int { return cmp.Compare(b, a) })
	}
	return out
}

// markedAll fails the test if the profile for Firefox's profiler has not one marker for each span.
func markedAll(t *testing.T, dir string, f *timeline.File) {
	t.Helper()
	if out, err := toolOutput(t, "report", "--format", "firefox", dir); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "timeline.firefox.json"))
	var x struct {
		Threads []struct {
			TID     uint32
			Markers struct{ Data []any }
		}
	}
	if err := errors.Join(err, json.Unmarshal(text, &x)); err != nil {
		t.Fatal(err)
	}
	markers := map[uint32]int{}
	for _, th := range x.Threads {
		markers[th.TID] += len(th.Markers.Data)
	}
	for _, tid := range f.TIDs() {
		spans := 0
		for range f.Thread(tid) {
			spans++
		}
		if markers[tid] != spans || spans == 0 {
			t.Errorf("thread %d has %d markers for %d executions", tid, markers[tid], spans)
		}
	}
}

// A measurement that nothing falls into has nothing to show, and top writes timelines, too.
func TestTimelineOfTop(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "tasks.c", testbin.Options{Compiler: "gcc"})
	for _, tc := range []struct {
		plan string
		some bool
	}{{"all", true}, {"last:1h", true}, {"from:1h", false}} {
		dir := filepath.Join(t.TempDir(), "out")
		if out, err := toolOutput(t, "top", "--format", "line", "--timeline", tc.plan, "-o", dir, "--", bin); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		f := timelineIn(t, dir)
		if n, _ := f.Spans(); n > 0 != tc.some || f.Torn {
			t.Errorf("%s: %d spans, torn %v", tc.plan, n, f.Torn)
		}
		out, err := toolOutput(t, "report", "--format", "perfetto", dir)
		if (err == nil) != tc.some || strings.Contains(out, "open it at") != tc.some {
			t.Errorf("%s: %v, %s", tc.plan, err, out)
		}
	}
}

// drawnAll fails the test if the page's figures do not hold all executions of a timeline.
func drawnAll(t *testing.T, dir string, f *timeline.File) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "profile.report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var x page.Process
	if err := json.Unmarshal(text, &x); err != nil || x.When == nil {
		t.Fatalf("no figures of what happened when: %v", err)
	}
	var want, got uint64
	for _, tid := range f.TIDs() {
		for s, err := range f.Thread(tid) {
			if err != nil {
				t.Fatal(err)
			}
			if s.Kind != timeline.Created {
				want += s.Exec.C
			}
		}
	}
	for _, r := range x.When.Rows {
		got += r.Executions
	}
	if got != want || want == 0 {
		t.Errorf("the page has %d executions, the timeline %d", got, want)
	}
}

// dump writes the ring's content beside the snapshot: its spans add up to the snapshot's profile.
func TestTimelineDump(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "phases.c", gentle)
	dir := filepath.Join(t.TempDir(), "out")
	c := exec.Command(tool, slices.Concat([]string{"run", "--timeline", "last:1h", "-o", dir, "--", bin}, gently)...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Signal(syscall.SIGINT); _ = c.Wait() }()
	compared, last := 0, "no process to ask"
	for began := time.Now(); compared == 0 && time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		for _, pid := range childrenOf(c.Process.Pid) {
			name, said, err := askDump(pid)
			if last = said; err == nil {
				compared += compareDump(t, name)
			}
		}
	}
	if compared == 0 {
		t.Errorf("no dump has a figure to compare; the last one said %q", last)
	}
}

// An execution that fulfils a condition has a snapshot written, with its timeline. How many did is
// what the program counts.
func TestTimelineWhen(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "phases.c", gentle)
	const all, none = "critical: EXECT >= 0", "barrier: EXECT > 1000s"
	s := clean(t, options{flags: []string{"--trace", "--timeline", "last:1h", "--when", all, "--when", none}}, bin, "critical", "1000", "1", "0", "0")
	executions := 0
	for _, w := range strings.Fields(s.stdout) {
		if n, err := strconv.Atoi(w); err == nil {
			executions += n
		}
	}
	said := strings.Join(s.main.Warnings, "\n")
	for _, want := range []string{fmt.Sprintf("--when '%s' was fulfilled by %d executions", all, executions), fmt.Sprintf("--when '%s' was not fulfilled", none), "snapshot.1.json.gz"} {
		if executions == 0 || !strings.Contains(said, want) {
			t.Errorf("%d executions; there is no %q in %s", executions, want, said)
		}
	}
	if n := compareDump(t, filepath.Join(s.dir, "snapshot.1.json.gz")); n == 0 {
		t.Error("the snapshot has no figure to compare")
	}
}

// A gentle program loses no event on a loaded machine: a critical every 10 ms, for ten minutes.
var (
	gentle = testbin.Options{Compiler: "gcc"}
	gently = []string{"critical", "1000", "600", "0", "0"}
)

// askDump has a process's timeline written. It returns the record's file, and the tool's words.
func askDump(pid int) (name, said string, err error) {
	var out, words strings.Builder
	c := exec.Command(tool, "dump", "--pid", strconv.Itoa(pid))
	c.Stdout, c.Stderr = &out, &words
	err = c.Run()
	return strings.TrimSpace(out.String()), words.String(), err
}

// SIGUSR1 makes attach write the ring's content, and measurement goes on.
func TestTimelineSignal(t *testing.T) {
	atOnce(t)
	needTool(t)
	target := exec.Command(testbin.Build(t, "phases.c", gentle), gently...)
	if err := target.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = target.Process.Kill(); _ = target.Wait() }()
	dir := filepath.Join(t.TempDir(), "out")
	c := exec.Command(tool, "attach", "--timeline", "last:1h", "-o", dir, "--pid", strconv.Itoa(target.Process.Pid))
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	asked := false
	for n := 1; n <= 2; n++ { // the second one shows that measurement went on
		found := ""
		for began := time.Now(); found == "" && time.Since(began) < time.Minute; time.Sleep(50 * time.Millisecond) {
			// Before attach listens the signal would end the tool: dump tells when it does.
			if !asked {
				asked = exec.Command(tool, "dump", "--pid", strconv.Itoa(target.Process.Pid)).Run() == nil
				continue
			}
			if err := c.Process.Signal(syscall.SIGUSR1); err != nil {
				t.Fatal(err)
			}
			time.Sleep(200 * time.Millisecond)
			name := filepath.Join(dir, results.KeptName(results.RecordStem, n+1))
			if _, err := os.Stat(strings.TrimSuffix(name, results.RecordSuffix) + results.TimelineSuffix); err == nil {
				found = name
			}
		}
		if found == "" {
			t.Fatalf("signal %d: no snapshot with a timeline in %s", n, dir)
		}
		compareDump(t, found)
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// compareDump compares the timeline of a snapshot with the snapshot's profile. It returns how many
// figures were compared.
func compareDump(t *testing.T, name string) int {
	t.Helper()
	p, err := results.ReadProfile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, closer, err := results.OpenTimeline(strings.TrimSuffix(name, results.RecordSuffix) + results.TimelineSuffix)
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	if f.Torn {
		t.Errorf("the timeline of %s is torn", name)
	}
	if len(f.Gaps) > 0 { // the machine was too busy to record all
		return 0
	}
	wrong, n := timelinetest.Differences(p, f)
	for _, w := range wrong {
		t.Error(w)
	}
	return n
}

// A ring stays below its cap, and says what it has not kept.
func TestTimelineCap(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "storm.c", testbin.Options{Compiler: "gcc"})
	s := clean(t, options{flags: []string{"--timeline", "last:20ms,4M"}}, bin)
	f := timelineIn(t, s.dir)
	if st, err := os.Stat(filepath.Join(s.dir, "profile.timeline")); err != nil || st.Size() > 4<<20 {
		t.Errorf("the timeline is larger than its cap: %v, %v", st, err)
	}
	if len(f.Gaps) == 0 {
		t.Error("no gap tells that older spans are missing")
	}
}

func TestTimelineBadInput(t *testing.T) {
	atOnce(t)
	needTool(t)
	empty := t.TempDir()
	torn := filepath.Join(empty, "torn")
	if err := os.Mkdir(torn, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(torn, "profile.timeline"), []byte("no timeline at all"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		argv []string
		want string
	}{
		{[]string{"run", "--timeline", "last", "--", "true"}, "give a time above 0"},
		{[]string{"run", "--when", "barrier: EXECT > 1", "--", "true"}, "--when needs a timeline"},
		{[]string{"run", "--timeline", "all", "--when", "barrier: EXECT > 1", "--", "true"}, "--when is of no use"},
		{[]string{"run", "--timeline", "last:1s", "--when", "lock: EXECT > 1", "--", "true"}, "give --trace as well"},
		{[]string{"run", "--timeline", "last:1s", "--when", "barrier > 1", "--", "true"}, "write 'CONSTRUCT: FORMULA > LIMIT'"},
		{[]string{"run", "--timeline", "worst:0", "--", "true"}, "give a number from 1 to 1000"},
		{[]string{"run", "--timeline", "all,1K", "--", "true"}, "the cap is too low"},
		{[]string{"report", "--format", "perfetto", empty}, "measure with --timeline"},
		{[]string{"report", "--format", "perfetto", torn}, "profile.timeline"},
		{[]string{"report", "--format", "perfetto,ompp", torn}, "give it by itself"},
		{[]string{"run", "-o", torn, "--", "true"}, "already holds timelines"},
		{[]string{"top", "--timeline", "all", "--", "true"}, "give a directory with -o"},
	} {
		out, err := toolOutput(t, tc.argv...)
		if err == nil || !strings.Contains(out, tc.want) || strings.Count(out, "\n") != 1 {
			t.Errorf("%v: %v, %q; want a sentence with %q", tc.argv, err, out, tc.want)
		}
	}
}

// timelineIn opens the timeline of a directory's only process.
func timelineIn(t *testing.T, dir string) *timeline.File {
	t.Helper()
	f, c, err := results.OpenTimeline(filepath.Join(dir, "profile.timeline"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return f
}

// toolOutput runs the tool, and returns what it wrote to both of its streams.
func toolOutput(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := exec.Command(tool, args...).CombinedOutput()
	return string(out), err
}
