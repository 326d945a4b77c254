package e2e

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// countedRun is a line that measures counted.c with counters, under a name, and prints the profile.
func countedRun(name, counters string, n int) string {
	return fmt.Sprintf("echo RUN %[1]s; ompp-attach run -q --sample off --counters %[2]s -o /tmp/%[1]s -- counted %[3]d\n", name, counters, n) +
		fromGuest("/tmp/"+name+"/profile.json.gz") + "grep OMPP_ /tmp/" + name + "/profile.ompp.txt\n"
}

// countedFiles are what countedRun needs.
func countedFiles(t *testing.T, exe string) []string {
	bin := cross(t, beside(exe, "counted"), "-O1", "-g", "-fopenmp", filepath.Join(testbin.Repo(t), "testdata", "programs", "counted.c"))
	return []string{exe, bin}
}

// guestCounters: hardware counters: what each thread executed in each region is known.
func guestCounters(t *testing.T, exe, kernel string) guestPart {
	const n, long = 5_000_000, 20_000_000
	// QEMU's unit counts what all cores execute. So there is one core: another one would add what
	// the tool executes there.
	const oneCore, allCores = "echo 0 >/sys/devices/system/cpu/cpu1/online\n", "echo 1 >/sys/devices/system/cpu/cpu1/online\n"
	const list = "instructions:u,cycles:u,page-faults,cache-misses"
	const passive = "export OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=0\n" // waiting executes nothing
	shared := "counted 0 300 &\n" + countedRun("shared", list, n) + "kill %1\n"
	first, runs := countedRun("turns", "instructions:u,instructions:k,cycles:u,cycles:k,instructions,cycles,r8,r11", long), []string{"shared"}
	if kernel == "6.1" {
		first, runs = countedRun("alone", list, n), []string{"alone", "shared"}
	}
	return guestPart{"counters", oneCore + passive + first + shared + allCores, countedFiles(t, exe), func(t *testing.T, out string) {
		for _, name := range runs {
			g := guestProfile(t, out, name)
			g.instructions(n, 0.01)
			g.total(0.01)
			if c := g.p.Meta.Counters[3]; c.Failed == "" {
				t.Errorf("%s: %s was counted, and this machine cannot", name, c.Name)
			}
			if !strings.Contains(g.out, "cache-misses, not counted: ") {
				t.Errorf("%s: the report does not say why there are no cache-misses", name)
			}
		}
		if kernel == "6.1" {
			return
		}
		g := guestProfile(t, out, "turns")
		// Estimates: the turns and the threads take the same core by the same tick.
		g.instructions(long, 0.25)
		if !slices.ContainsFunc(g.p.Meta.Counters, func(c profile.Counter) bool { return c.Running > 0.5 && c.Running < 0.99 }) {
			t.Errorf("eight counters on hardware for seven did not take turns: %+v", g.p.Meta.Counters)
		}
	}}
}

// withoutUnit measures counted.c with counters on a machine without a hardware unit.
func withoutUnit() string { return countedRun("none", "instructions,task-clock", 5_000_000) }

// checkWithoutUnit checks what such a machine counts, and says.
func checkWithoutUnit(t *testing.T, out string) {
	t.Helper()
	g := guestProfile(t, out, "none")
	if c := g.p.Meta.Counters; c[0].Failed == "" || c[1].Failed != "" {
		t.Errorf("counters on a machine without any: %+v", c)
	}
	if !strings.Contains(g.out, "ompp-attach: instructions: ") {
		t.Errorf("nothing says why there are no instructions:\n%s", g.out)
	}
}

type guestRun struct {
	t    *testing.T
	name string
	out  string
	p    *profile.Profile
}

func guestProfile(t *testing.T, out, name string) *guestRun {
	t.Helper()
	p, err := profile.Decode(bytes.NewReader(guestFile(t, out, "/tmp/"+name+"/profile.json.gz")))
	if err != nil {
		t.Fatal(err)
	}
	_, own, _ := strings.Cut(out, "RUN "+name+"\n")
	return &guestRun{t, name, own, p}
}

// instructions checks the first counter of each region and thread.
func (g *guestRun) instructions(n int64, tolerance float64) {
	g.t.Helper()
	seen := 0
	for _, b := range analysis.Flat(g.p) {
		r := &g.p.Regions[b.Region]
		for i := range b.Rows {
			s, thread := &b.Rows[i].ThreadStats, g.p.Threads[b.Rows[i].Thread].Num
			want := 2 * n * 2 // in the second region, the critical and as much again
			switch {
			case r.Construct == event.Critical:
				want = 2 * n
			case len(b.Rows) == 2:
				want = 2 * n * int64(thread+1)
			}
			seen++
			if s.Uncounted > 0 || len(s.Counters) == 0 || math.Abs(float64(s.Counters[0])/float64(want)-1) > tolerance {
				g.t.Errorf("%s: %s %s, thread %d: %v (%d not counted), want %d instructions", g.name, r.Construct, r.Location.File, thread, s.Counters, s.Uncounted, want)
			}
		}
	}
	if want := 2 + 3 + 3; seen != want {
		g.t.Errorf("%s: figures of %d threads in regions, want %d", g.name, seen, want)
	}
}

var totalLine = regexp.MustCompile(`(?m)^total (\d+)$`)

// total compares the outermost regions' sum with what the process counted of
// itself, which does nearly nothing outside of them.
func (g *guestRun) total(tolerance float64) {
	g.t.Helper()
	m := totalLine.FindStringSubmatch(g.out)
	if m == nil {
		g.t.Fatalf("%s: the program printed no total:\n%s", g.name, g.out)
	}
	want, _ := strconv.ParseFloat(m[1], 64)
	var sum int64
	for i := range g.p.Nodes {
		if g.p.Nodes[i].Parent == 0 {
			sum += analysis.Sum(&g.p.Nodes[i]).Counters[0]
		}
	}
	if math.Abs(float64(sum)/want-1) > tolerance {
		g.t.Errorf("%s: %d instructions in all regions, the process counted %.0f", g.name, sum, want)
	}
}
