package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
)

// buildLevelStorm builds levelstorm.c and its two libraries, and returns the program and the cheap
// library.
func buildLevelStorm(t *testing.T) (bin, cheap string) {
	t.Helper()
	dir, src := t.TempDir(), filepath.Join(testbin.Repo(t), "testdata/programs/levelstorm.c")
	bin, cheap = filepath.Join(dir, "levelstorm"), filepath.Join(dir, "libcheap.so")
	for _, line := range [][]string{
		{"-DCHEAP", "-shared", "-fPIC", "-o", cheap, src},
		{"-DDEAR", "-shared", "-fPIC", "-o", filepath.Join(dir, "libdear.so"), src, "-L" + dir, "-lcheap", "-Wl,-rpath," + dir},
		{"-o", bin, src, "-L" + dir, "-ldear", "-lcheap", "-Wl,-rpath," + dir},
	} {
		if out, err := exec.Command("gcc", append([]string{"-O1", "-g", "-fno-optimize-sibling-calls"}, line...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", line, err, out)
		}
	}
	return bin, cheap
}

// letGo is a case of TestBudgetLetsGoOneLevel.
type letGo struct {
	name   string
	levels []string
	gone   []string // levels
	storm  string   // the function that is called in a storm
}

// wrong measures the program. It returns what a tool may do that gets no processor for a good part
// of a second: it loses hits, or lets go late.
func (c *letGo) wrong(t *testing.T, bin string, calls, rare uint64) (wrong []string) {
	t.Helper()
	opt := options{flags: []string{"--max-overhead", "5%", "--sample", "off", "--level", "cheap=libcheap", "--function", "now_and_then"}}
	for _, l := range c.levels {
		opt.flags = append(opt.flags, "--level", l)
	}
	s := clean(t, opt, bin, fmt.Sprint(calls))
	if n := len(s.main.Meta.Observations); n != 1 || s.main.Meta.LostHits != 0 {
		return []string{fmt.Sprintf("%d kinds were let go, %d hits lost: %+v", n, s.main.Meta.LostHits, s.main.Meta.Observations)}
	}
	o := s.main.Meta.Observations[0]
	got := map[string]uint64{}
	levelCounts(s.main, got)
	for name, n := range map[string]uint64{"cheap/cheap_step": rare, "cheap/cheap_other": rare, "/now_and_then": rare} {
		if got[name] != n {
			t.Errorf("%s: %d calls, want %d", name, got[name], n)
		}
	}
	observed, open := uint64(0), false
	for _, n := range s.main.Nodes[1:] {
		r := &s.main.Regions[n.Region]
		for _, st := range n.Stats {
			e := st.Estimate
			if !slices.Contains(c.gone, r.Level) {
				if e != nil && (e.AtLeast || e.Exec.C > 0) {
					t.Errorf("%s/%s was kept, and its figures are estimates: %+v", r.Level, r.Name, e)
				}
				continue
			}
			observed += st.Exec.C
			if e != nil {
				observed -= e.Exec.C
				open = open || e.AtLeast
			}
		}
	}
	if !slices.Equal(o.Levels, c.gone) || o.Counted != observed || o.Before == 0 || o.Before > o.Counted || o.First <= 0 || o.Counted >= calls+rare {
		t.Errorf("%+v; %d calls of %v were observed", o, observed, c.gone)
	}
	if said := got[c.storm]; open && said > calls {
		t.Errorf("%d calls in the storm, at least; want %d", said, calls)
	} else if !open && (said < calls/2 || said > 2*calls) {
		wrong = append(wrong, fmt.Sprintf("%d calls in the storm; want %d", said, calls))
	}
	name := "level " + strings.Join(c.gone, ", ")
	if len(c.gone) > 1 {
		name = "levels " + strings.Join(c.gone, ", ") + " together"
	}
	text, err := exec.Command(tool, "report", "--format", "ompp", "-o", "-", s.dir).Output()
	line := strings.Join(strings.Fields(string(text)), " ")
	if err != nil || !strings.Contains(line, "Not Observed : "+name+": ") || !strings.Contains(line, fmt.Sprintf("counted: all %d calls of the first", o.Before)) {
		t.Errorf("%v: the report does not say that %s went", err, name)
	}
	return wrong
}

// If a budget is given and one level is called in a storm, the probes of that level go, and no
// others. The counts of the other level, and of a function of the user's, are those of a library
// between them. This also holds for calls that the storming level makes. Levels of one library go
// together. The report says which levels went, and how many of their calls were counted.
func TestBudgetLetsGoOneLevel(t *testing.T) {
	needTool(t)
	bin, cheap := buildLevelStorm(t)
	const calls, rare = 900_000_000, 15
	shim, dir := levelShim(t, cheap, "libcheap", [][2]string{{"cheap", "^cheap_"}}), t.TempDir()
	cmd := exec.Command(bin, fmt.Sprint(calls))
	cmd.Env = append(os.Environ(), "SHIM_OUT="+dir, "LD_PRELOAD="+shim)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("under the shim: %v\n%s", err, out)
	}
	want := shimCounts(t, dir)
	if want["cheap/cheap_step"] != rare || want["cheap/cheap_other"] != rare {
		t.Fatalf("the shim has counted %v", want)
	}
	for _, c := range []letGo{
		{"a level", []string{"dear=libdear"}, []string{"dear"}, "dear/dear_tick"},
		{"two levels of a library", []string{"tick=libdear:^dear_tick$", "rare=libdear:^dear_rare$"}, []string{"rare", "tick"}, "tick/dear_tick"},
	} {
		t.Run(c.name, func(t *testing.T) {
			severalTries(t, func() []string { return c.wrong(t, bin, calls, rare) })
		})
	}
}
