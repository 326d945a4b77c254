package properties

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/severity"
)

func seconds(ns int64) string { return fmt.Sprintf("%.2f", float64(ns)/1e9) }

func options(all bool) Options {
	return Options{All: all, Seconds: seconds, Clean: func(s string) string { return s }}
}

// write writes a run in a format.
func write(t *testing.T, format string, c *severity.Cube, o Options) string {
	t.Helper()
	f, ok := Named(format)
	if !ok {
		t.Fatalf("no format %s", format)
	}
	var out bytes.Buffer
	if err := f.Write(&out, c, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// barriers is a run of 100 s with threads. It has a parallel region with a barrier for each of the
// given waits: thread 0 waits so many seconds there for thread 1.
func barriers(threads int, waits ...int64) *profile.Profile {
	p := &profile.Profile{Version: profile.SchemaVersion, Meta: profile.Meta{Life: profile.Life{Duration: 100e9}, Target: profile.Target{Program: "waiting"}}, Nodes: []profile.Node{{Parent: -1, Region: -1}}}
	for i := range threads {
		p.Threads = append(p.Threads, profile.Thread{Num: i})
	}
	for i, wait := range waits {
		place := profile.Location{File: "a.c", Begin: 10 * (i + 1), End: 10*(i+1) + 5}
		p.Regions = append(p.Regions, profile.Region{Construct: event.Parallel, Location: place})
		all := profile.Sum{T: wait * 1e9, C: 1}
		waiting := profile.ThreadStats{Thread: 0, Exec: all, Barrier: all, Waits: &profile.Waits{Wait: all}}
		late := profile.ThreadStats{Thread: 1, Exec: all, Body: all,
			Waits: &profile.Waits{Wait: profile.Sum{C: 1}, Last: all, Late: all, Delay: all.T}}
		p.Nodes = append(p.Nodes, profile.Node{Parent: 0, Region: i, Stats: []profile.ThreadStats{waiting, late}})
	}
	return p
}

// busy adds a region in which threads work for the rest of the run, so that none is idle.
func busy(p *profile.Profile) *profile.Profile {
	left := profile.Sum{T: p.Meta.Duration, C: 1}
	for _, n := range p.Nodes[1:] {
		left.T -= n.Stats[0].Exec.T
	}
	n := profile.Node{Parent: 0, Region: len(p.Regions)}
	p.Regions = append(p.Regions, profile.Region{Construct: event.Parallel, Location: profile.Location{File: "busy.c", Begin: 1}})
	for i := range p.Threads {
		n.Stats = append(n.Stats, profile.ThreadStats{Thread: i, Exec: left, Body: left})
	}
	p.Nodes = append(p.Nodes, n)
	return p
}

// beginsMPI adds seconds of thread 0 in MPI_Init.
func beginsMPI(p *profile.Profile, seconds int64) *profile.Profile {
	all, calls := profile.Sum{T: seconds * 1e9, C: 1}, &profile.MPIStats{T: seconds * 1e9, Calls: 1}
	p.Nodes[0].Stats = append(p.Nodes[0].Stats, profile.ThreadStats{MPI: calls})
	p.Nodes = append(p.Nodes, profile.Node{Parent: 0, Region: len(p.Regions), Stats: []profile.ThreadStats{{Exec: all, Body: all, MPI: calls}}})
	p.Regions = append(p.Regions, profile.Region{Construct: event.MPI, Name: "MPI_Init"})
	return p
}

// forks adds a region that takes two threads so many seconds to start.
func forks(p *profile.Profile, starts ...int64) *profile.Profile {
	for _, start := range starts {
		p.Regions = append(p.Regions, profile.Region{Construct: event.Parallel, Location: profile.Location{File: "f.c", Begin: len(p.Regions) + 1}})
		s := profile.Sum{T: start * 1e9, C: 1}
		n := profile.Node{Parent: 0, Region: len(p.Regions) - 1}
		for i := range 2 {
			n.Stats = append(n.Stats, profile.ThreadStats{Thread: i, Exec: s, Enter: s, Body: profile.Sum{C: 1}, Barrier: profile.Sum{C: 1}})
		}
		p.Nodes = append(p.Nodes, n)
	}
	return p
}

// The first sentences name the property that costs most in all, not the worst finding.
func TestWorst(t *testing.T) {
	estimated := barriers(2, 10)
	estimated.Nodes[1].Stats[0].Estimate = &profile.Estimate{}
	for name, test := range map[string]struct {
		profile *profile.Profile
		own     []severity.Condition
		want    []string // parts of the paragraph, in this order
		not     string
	}{
		"a place": {profile: barriers(2, 40), want: []string{
			"ImbalanceInParallelRegion costs most: 40.00 of 200.00 sec (20.0 %), at a.c (10-15) PARALLEL. Threads wait at the end of parallel regions.",
			"There it is due to thread 1, for which others waited 40.00 sec (it came last once).", "What helps: Balance the region's work",
			"Mending this everywhere saves at most 20.00 of the run's 100.00 sec."}},
		"several places": {profile: forks(barriers(2, 8, 9, 7), 10), want: []string{
			"ImbalanceInParallelRegion costs most: 24.00 of 200.00 sec (12.0 %), at 3 places, 9.00 sec of it at a.c (20-25) PARALLEL.",
			"for which others waited 9.00 sec", "saves at most 12.00 of"}},
		"without causes": {profile: forks(barriers(2), 10), want: []string{"Team start costs most: 20.00 of 200.00 sec (10.0 %), at f.c (1) PARALLEL.",
			"What helps: Make parallel regions longer", "saves at most 10.00 of the run's 100.00 sec."}, not: "due to"},
		"the user's own": {profile: barriers(2, 30), own: []severity.Condition{{Name: "Mine", Text: "1 > 0",
			Holds: func(*profile.Profile, *profile.ThreadStats) bool { return true }}},
			want: []string{"ImbalanceInParallelRegion costs most: 30.00 of"}, not: "Mine costs most"},
		"estimated":  {profile: estimated, want: []string{"costs most: ~10.00 of 200.00 sec"}},
		"a plural":   {profile: beginsMPI(barriers(4), 40), want: []string{"Idle threads at start and end of MPI cost most: 120.00 of 400.00 sec"}},
		"no finding": {profile: barriers(2), want: []string{"No property below costs a thousandth of the time."}},
	} {
		text := write(t, "text", severity.Of(busy(test.profile), severity.Options{Conditions: test.own}), options(false))
		first, _, _ := strings.Cut(text, "\n\n")
		first = strings.Join(strings.Fields(first), " ")
		rest := first
		for _, want := range test.want {
			_, after, ok := strings.Cut(rest, want)
			if !ok {
				t.Errorf("%s: %q lacks, or has not in order: %q", name, first, want)
			}
			rest = after
		}
		if test.not != "" && strings.Contains(first, test.not) {
			t.Errorf("%s: %q has %q", name, first, test.not)
		}
	}
}

var (
	detail = regexp.MustCompile(`(?m)^~?([\d.]+) sec  [\d.]+ %  (\S.*)$`)
	brief1 = regexp.MustCompile(`^~?([\d.]+) sec +[\d.]+ %  (\S.*?)  +(\S.*?)(?:, on (\d+) call paths)?$`)
	more   = regexp.MustCompile(`(?m)^\.\.\. and (\d+) more, ([\d.]+) sec together`)
)

// The text is short, and nothing is left out silently: what is shown in detail, in a line, and
// counted adds up to all findings.
func TestShort(t *testing.T) {
	var waits []int64
	for i := range int64(60) {
		waits = append(waits, 60-i)
	}
	for name, p := range map[string]*profile.Profile{
		"one":    barriers(2, 5),
		"two":    barriers(2, 5, 6),
		"few":    forks(barriers(2, 5, 6, 7), 3, 2, 1),
		"many":   forks(barriers(2, waits...), waits...),
		"little": barriers(2, 50, 0, 1),
	} {
		c := severity.Of(p, severity.Options{})
		found := c.Findings()
		all := int64(0)
		for i := range found {
			all += found[i].Time
		}
		for _, everything := range []bool{false, true} {
			text := write(t, "text", c, options(everything))
			_, list, _ := strings.Cut(text, "What costs time, worst first:\n")
			list, _, _ = strings.Cut(list, "\nDelays:")
			details, further, _ := strings.Cut(list, "Further findings, in short:\n")
			n, sum := 0, 0.0
			per := map[string]int{}
			add := func(times string) {
				v, err := strconv.ParseFloat(times, 64)
				if err != nil {
					t.Fatal(err)
				}
				sum += v
			}
			for _, m := range detail.FindAllStringSubmatch(details, -1) {
				n++
				per[m[2]]++
				add(m[1])
			}
			for property, times := range per {
				if !everything && times > perProperty {
					t.Errorf("%s: %s is told %d times in detail", name, property, times)
				}
			}
			if !everything && n > inDetail || everything && n != len(found) {
				t.Errorf("%s, all %v: %d of %d findings in detail", name, everything, n, len(found))
			}
			lines := 0
			for _, line := range strings.Split(further, "\n") {
				if m := brief1.FindStringSubmatch(line); m != nil {
					lines++
					paths, _ := strconv.Atoi(m[4])
					n += max(1, paths)
					add(m[1])
				}
			}
			if lines > inBrief {
				t.Errorf("%s: %d findings in short", name, lines)
			}
			if m := more.FindStringSubmatch(list); m != nil {
				left, _ := strconv.Atoi(m[1])
				n += left
				add(m[2])
			}
			if d := sum - float64(all)/1e9; n != len(found) || d > .3 || d < -.3 {
				t.Errorf("%s, all %v: %d findings of %.2f sec, want %d of %.2f:\n%s", name, everything, n, sum, len(found), float64(all)/1e9, text)
			}
		}
	}
}

// Who is named as the cause: the threads for which others waited longest, or all if they are alike.
func TestDueTo(t *testing.T) {
	for name, test := range map[string]struct {
		caused []int64 // by thread
		want   string
	}{
		"one":          {[]int64{0, 9}, "thread 1, for which others waited 9.00 sec (it came last once)"},
		"two alike":    {[]int64{8, 9}, "thread 1, for which others waited 9.00 sec (it came last once); thread 0, for which others waited 8.00 sec (it came last once)"},
		"one is small": {[]int64{1, 40}, "thread 1, for which others waited 40.00 sec (it came last once); and 1 more"},
		"all alike":    {[]int64{8, 9, 7}, "3 threads alike: others waited 7.00 to 9.00 sec for each"},
		"many": {[]int64{8, 9, 7, 6, 2}, "thread 1, for which others waited 9.00 sec (it came last once); thread 0, for which others waited 8.00 sec (it came last once); " +
			"thread 2, for which others waited 7.00 sec (it came last once); and 2 more"},
	} {
		p := barriers(len(test.caused), 50)
		n := &p.Nodes[1]
		n.Stats = nil
		for i, caused := range test.caused {
			x := &profile.Waits{Wait: profile.Sum{T: 50e9, C: 1}}
			if caused > 0 {
				x.Last = profile.Sum{T: caused * 1e9, C: 1}
			}
			all := profile.Sum{T: 50e9, C: 1}
			n.Stats = append(n.Stats, profile.ThreadStats{Thread: i, Exec: all, Barrier: all, Waits: x})
		}
		c := severity.Of(p, severity.Options{})
		found := c.Findings()
		tx := &text{Options: options(false), c: c}
		if got := tx.dueTo(&found[0]); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Waits shrink by the time without a core, and what they are due to does not. The text says that,
// also where completing the barrier takes longer than that time.
func TestDueToWithoutCore(t *testing.T) {
	const note = "(in a part of these waits, the waiting threads had no core)"
	for name, test := range map[string]struct {
		noCore int64
		done   int64
		want   bool
	}{
		"all had a core":  {0, 0, false},
		"next to nothing": {1, 0, false},
		"a part":          {20, 0, true},
		"long completion": {20, 40, true},
		"only completion": {0, 40, false},
		"the whole wait":  {50, 0, true},
	} {
		p := barriers(3, 50)
		n := &p.Nodes[1]
		all := profile.Sum{T: (50 + test.done) * 1e9, C: 1}
		for i := range n.Stats {
			n.Stats[i].Exec, n.Stats[i].Barrier, n.Stats[i].Body = all, all, profile.Sum{}
			n.Stats[i].Waits.Done = profile.Sum{T: test.done * 1e9, C: 1}
		}
		if test.noCore > 0 {
			n.Stats[0].NoCore = &profile.Cost{Exec: test.noCore * 1e9, Barrier: test.noCore * 1e9}
		}
		c := severity.Of(p, severity.Options{})
		found := c.Findings()
		i := slices.IndexFunc(found, func(f severity.Finding) bool { return c.Properties[f.Property].Gain == severity.Balance })
		if i < 0 {
			t.Fatalf("%s: no finding of a barrier: %+v", name, found)
		}
		tx := &text{Options: options(false), c: c}
		if got := tx.dueTo(&found[i]); strings.Contains(got, note) != test.want {
			t.Errorf("%s: %q, want the note: %v", name, got, test.want)
		}
	}
}

// A lock's line names holders, says of how many executions none is known, and where waiting threads
// had no core.
func TestDueToHolders(t *testing.T) {
	known := &profile.Waits{Contended: profile.Sum{T: 30e9, C: 3}, Handed: 10e9}
	part := &profile.Waits{Contended: profile.Sum{T: 30e9, C: 3}, NoHolder: profile.Sum{T: 10e9, C: 12}}
	none := &profile.Waits{NoHolder: profile.Sum{T: 40e9, C: 12}}
	held := "thread 1, which held it while others waited 30.00 sec"
	for name, test := range map[string]struct {
		waits  *profile.Waits
		held   int64
		noCore int64
		want   string
	}{
		"known":          {known, 30e9, 0, held},
		"a part":         {part, 30e9, 0, held + "; of 12 executions of it the holder is not known"},
		"none":           {none, 0, 0, "of 12 executions of it the holder is not known"},
		"without a core": {known, 30e9, 20e9, held + " (in a part of these waits, the waiting threads had no core)"},
		"nearly":         {known, 30e9, 1e9, held},
		"old record":     {nil, 0, 0, ""},
	} {
		p := busy(barriers(2, 50))
		all := profile.Sum{T: 40e9, C: 20}
		stats := []profile.ThreadStats{{Thread: 0, Exec: all, Enter: all, Waits: test.waits}}
		if test.noCore > 0 {
			stats[0].NoCore = &profile.Cost{Exec: test.noCore, Enter: test.noCore}
		}
		if test.held > 0 {
			stats = append(stats, profile.ThreadStats{Thread: 1, Waits: &profile.Waits{Held: profile.Sum{T: test.held, C: 3}}})
		}
		p.Regions = append(p.Regions, profile.Region{Construct: event.Lock, Location: profile.Location{File: "l.c", Begin: 7}})
		p.Nodes[1].Stats[0].Child = all.T
		p.Nodes = append(p.Nodes, profile.Node{Parent: 1, Region: len(p.Regions) - 1, Stats: stats})
		c := severity.Of(p, severity.Options{})
		found := c.Findings()
		i := slices.IndexFunc(found, func(f severity.Finding) bool { return c.Properties[f.Property].ID == "omp_lock" })
		if i < 0 {
			t.Fatalf("%s: no finding of a lock: %+v", name, found)
		}
		tx := &text{Options: options(false), c: c}
		if got := tx.dueTo(&found[i]); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Late tasks name the thread and the construct that created them.
func TestLateTasks(t *testing.T) {
	p := barriers(2, 50)
	p.Nodes[1].Stats[0].Waits.NoTask = profile.Sum{T: 30e9, C: 3}
	p.Regions = append(p.Regions, profile.Region{Construct: event.Task, Location: profile.Location{File: "t.c", Begin: 7}})
	p.Nodes = append(p.Nodes, profile.Node{Parent: 1, Region: 1, Stats: []profile.ThreadStats{
		{Thread: 1, Waits: &profile.Waits{LateTask: profile.Sum{T: 30e9, C: 3}}}}})
	text := strings.Join(strings.Fields(write(t, "text", severity.Of(p, severity.Options{}), options(false))), " ")
	for _, want := range []string{"30.00 sec 15.0 % Waits for tasks that come late where a.c (10-15) PARALLEL",
		"due to tasks that thread 1 created at t.c (7) TASK, for which others waited 30.00 sec", "Create tasks earlier"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// The row of threads that were not told apart is no thread more.
func TestRowOfUnknownThreads(t *testing.T) {
	p := busy(barriers(2, 40))
	p.Threads = append(p.Threads, profile.Thread{Num: profile.UnknownNum})
	text := write(t, "text", severity.Of(p, severity.Options{}), options(false))
	if !strings.Contains(text, " sec of 2 threads. Shares") || !strings.Contains(text, "of 2 threads; most: thread 0") {
		t.Errorf("not 2 threads:\n%s", text)
	}
	p.Nodes[1].Stats = append(p.Nodes[1].Stats, profile.ThreadStats{Thread: 2, Exec: profile.Sum{T: 5e9, C: 1}, Barrier: profile.Sum{T: 5e9, C: 1}})
	text = write(t, "text", severity.Of(p, severity.Options{}), options(false))
	if !strings.Contains(text, "1 of 2 threads, and row ?; most: thread 0") {
		t.Errorf("not 1 of 2 threads and that row:\n%s", text)
	}
}

// Files have every value, whatever text leaves out.
func TestFilesHaveAll(t *testing.T) {
	c := severity.Of(forks(barriers(3, 30, 20, 10, 9, 8), 3, 2), severity.Options{})
	lines, err := csv.NewReader(strings.NewReader(write(t, "csv", c, options(false)))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != len(c.Values)+1 {
		t.Errorf("%d lines for %d values", len(lines), len(c.Values))
	}
	for i, v := range c.Values {
		if got := lines[i+1]; got[0] != c.Properties[v.Property].ID || got[16] != fmt.Sprint(v.V) || got[15] != ThreadText(c, v.Thread) {
			t.Errorf("line %d is %q, the value %+v", i+2, got, v)
		}
	}
	var f file
	if err := json.Unmarshal([]byte(write(t, "json", c, options(false))), &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Values) != len(c.Values) || len(f.Findings) != len(c.Findings()) || len(f.Properties) != len(c.Properties) {
		t.Errorf("%d values, %d findings, %d properties", len(f.Values), len(f.Findings), len(f.Properties))
	}
}

// Paths of the same end are named by it, long ones by both ends.
func TestPaths(t *testing.T) {
	c := &severity.Cube{Paths: []severity.Path{{Parent: -1, Region: -1}}}
	for i := range 6 {
		c.Regions = append(c.Regions, profile.Region{Construct: event.Parallel, Location: profile.Location{File: "a.c", Begin: i + 1}})
		c.Paths = append(c.Paths, severity.Path{Parent: i, Region: i})
	}
	for path, want := range map[int][3]string{
		0: {Outside, "", Outside},
		2: {"a.c (1) PARALLEL > a.c (2) PARALLEL", "R00001/R00002", "a.c (2) PARALLEL"},
		6: {"a.c (1) PARALLEL > ... > a.c (5) PARALLEL > a.c (6) PARALLEL", "R00001/R00002/R00003/R00004/R00005/R00006", "a.c (6) PARALLEL"},
	} {
		if got := [3]string{PathText(c, path), pathNumbers(c, path), lastText(c, path)}; got != want {
			t.Errorf("path %d: %q, want %q", path, got, want)
		}
	}
}

func TestUncapitalized(t *testing.T) {
	for name, want := range map[string]string{"Late sender completion": "late sender completion", "N x N completion": "N x N completion",
		"MPI barrier": "MPI barrier", "Completion of MPI_Init": "completion of MPI_Init", "WaitForCore": "WaitForCore", "": ""} {
		if got := uncapitalized(name); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}

// On a busy machine all regions lack cores: that is one finding, which names the places.
func TestCoreless(t *testing.T) {
	p := barriers(2, 5, 6, 7, 8, 9)
	for i := 1; i < len(p.Nodes); i++ {
		for j := range p.Nodes[i].Stats {
			p.Nodes[i].Stats[j].NoCore = &profile.Cost{Exec: int64(i) * 1e8, Body: int64(i) * 1e8}
		}
	}
	c := severity.Of(p, severity.Options{})
	for _, all := range []bool{false, true} {
		text := strings.Join(strings.Fields(write(t, "text", c, options(all))), " ")
		_, text, _ = strings.Cut(text, "What costs time, worst first:")
		want, places := 1, "where 5 places: 1.00 sec at a.c"
		if all {
			want = 5
		}
		if got := strings.Count(text, "% WaitForCore "); got != want || strings.Contains(text, places) == all || strings.Contains(text, "; 2 more who") == all {
			t.Errorf("all %t, %d times:\n%s", all, got, text)
		}
	}
}

// TestFindingsEnd: the sum of places without a core is told in detail, however late in the list.
// The findings behind that sum are told in short.
func TestFindingsEnd(t *testing.T) {
	c := severity.Of(barriers(2, 5), severity.Options{})
	var list []severity.Entry
	for i := range inDetail + 6 {
		f := severity.Finding{Property: i, Time: c.ThreadTime / int64(20+i), Threads: []severity.ThreadTime{{}}}
		list = append(list, severity.Entry{Finding: f})
	}
	list[inDetail].Places = []severity.Finding{{Time: 2}, {Time: 1}}
	var out strings.Builder
	x := text{bufio.NewWriter(&out), options(false), c}
	x.findings(list)
	if err := x.Flush(); err != nil {
		t.Fatal(err)
	}
	details, _, _ := strings.Cut(out.String(), "Further findings, in short:\n")
	if n := len(detail.FindAllString(details, -1)); n != inDetail+1 {
		t.Errorf("%d findings in detail, want %d:\n%s", n, inDetail+1, out.String())
	}
}
