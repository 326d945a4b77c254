package report

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"

	"ompp-attach/analysis"
	"ompp-attach/profile"
	"ompp-attach/report/reporttest"
	"ompp-attach/report/stacks"
)

// parsed writes p in pprof's format and reads it back.
func parsed(t *testing.T, p *profile.Profile) *pprof.Profile {
	t.Helper()
	var buf bytes.Buffer
	if err := WritePprof(&buf, p, Options{}); err != nil {
		t.Fatal(err)
	}
	pp, err := pprof.Parse(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if err := pp.CheckValid(); err != nil {
		t.Fatal(err)
	}
	return pp
}

// flatAndCum sums a value of pp over the functions, as pprof -top does.
func flatAndCum(pp *pprof.Profile, value int) (flat, cum map[string]int64, total int64) {
	flat, cum = map[string]int64{}, map[string]int64{}
	for _, s := range pp.Sample {
		v := s.Value[value]
		total += v
		flat[s.Location[0].Line[0].Function.Name] += v
		seen := map[string]bool{}
		for _, l := range s.Location {
			if name := l.Line[0].Function.Name; !seen[name] {
				seen[name] = true
				cum[name] += v
			}
		}
	}
	return flat, cum, total
}

func TestPprofTimes(t *testing.T) {
	flat, cum, total := flatAndCum(parsed(t, reporttest.MixedProfile()), 0)
	for name, want := range map[string][2]float64{
		// serial time: 10 - 8 of the first initial thread, 10 - 5.5 of the other
		"mixed": {6.5, 50.3},
		// execT 32, less children: LOOP 12, CRITICALs 1.44 and .24, SECTIONS
		// 2.04, SINGLE 1.2, BARRIER .4, MASTER .2, inner .8; inclusive adds
		// the .8 of the inner teams' workers
		"main::PARALLEL 20-60":         {13.68, 32.8},
		"main::LOOP 24-30":             {10.8, 12},
		"main::ORDERED 27-28":          {1.2, 1.2},
		"main::CRITICAL 33-36":         {1.74, 1.74},
		"main::CRITICAL queue 38-~41":  {.14, .24},
		"libsolve::LOCK ~solve 0x1a2b": {.1, .1},
		"main::SECTIONS 43-48":         {2.04, 2.04},
		"main::SINGLE 50-52":           {1.2, 1.2},
		"main::BARRIER 54":             {.4, .4},
		"main::MASTER 56":              {.2, .2},
		"inner::PARALLEL 10-18":        {1.3, 1.6},
		"worker::PARALLEL LOOP 5-9":    {10, 10},
		"UNDER WAY (unknown place)":    {1, 1},
	} {
		if flat[name] != reporttest.NS(want[0]) || cum[name] != reporttest.NS(want[1]) {
			t.Errorf("%s: flat %d, cumulated %d; want %d, %d", name, flat[name], cum[name], reporttest.NS(want[0]), reporttest.NS(want[1]))
		}
	}
	if len(cum) != 14 {
		t.Errorf("%d functions, want 13 regions and the program", len(cum))
	}
	if total != reporttest.NS(50.3) { // 2 initial threads for 10 s, workers 24 + .8 + 5 + .5
		t.Errorf("total %d, want %d", total, reporttest.NS(50.3))
	}
}

// TestPprofAgreesWithOmpp checks the documented rules by the figures in the text report.
func TestPprofAgreesWithOmpp(t *testing.T) {
	for _, p := range []*profile.Profile{reporttest.PlainProfile(), reporttest.MixedProfile()} {
		pp := parsed(t, p)
		flat, cum, total := flatAndCum(pp, 0)
		_, _, executions := flatAndCum(pp, 1)
		inner := workersBelow(p)
		var workers int64
		var count uint64
		blocks := analysis.NodeBlocks(p)
		exclusive := map[string]int64{}
		for i := 1; i < len(p.Nodes); i++ {
			r := &p.Regions[p.Nodes[i].Region]
			exclusive[stacks.FrameName(r)] += blocks[i].Sum.Exec.T - blocks[i].Sum.Child
			count += blocks[i].Sum.Exec.C
			for _, s := range p.Nodes[i].Stats {
				if r.Construct.IsParallel() && p.Threads[s.Thread].Num > 0 {
					workers += s.Exec.T
				}
			}
		}
		for r, b := range analysis.Flat(p) {
			name := stacks.FrameName(&p.Regions[r])
			if want := b.Sum.Exec.T + inner[r]; cum[name] != want {
				t.Errorf("%s: cumulated %d, want execT + inner workers %d", name, cum[name], want)
			}
			if flat[name] != exclusive[name] {
				t.Errorf("%s: flat %d, want exclusive %d", name, flat[name], exclusive[name])
			}
		}
		if want := p.Meta.Duration*int64(analysis.Roots(p)) + workers; total != want {
			t.Errorf("total %d, want duration x initial threads + workers %d", total, want)
		}
		if uint64(executions) != count {
			t.Errorf("%d executions, want %d", executions, count)
		}
		all := analysis.Outside(p)
		for _, o := range analysis.Overheads(p) {
			all.Add(o.Classes)
		}
		for i, want := range []int64{all.Synch, all.Imbal, all.Limpar, all.Mgmt} {
			if _, _, got := flatAndCum(pp, 2+i); got != want {
				t.Errorf("%s: total %d, want %d", pp.SampleType[2+i].Type, got, want)
			}
		}
	}
}

// workersBelow returns, for each region, the sum of execT of the workers in teams that were started
// inside the region.
func workersBelow(p *profile.Profile) map[int]int64 {
	out := map[int]int64{}
	for i := 1; i < len(p.Nodes); i++ {
		if !p.Regions[p.Nodes[i].Region].Construct.IsParallel() {
			continue
		}
		for _, s := range p.Nodes[i].Stats {
			if p.Threads[s.Thread].Num == 0 {
				continue
			}
			for a := p.Nodes[i].Parent; a > 0; a = p.Nodes[a].Parent {
				out[p.Nodes[a].Region] += s.Exec.T
			}
		}
	}
	return out
}

func TestPprofMetadata(t *testing.T) {
	p := reporttest.MixedProfile()
	pp := parsed(t, p)
	if pp.DefaultSampleType != "time" || pp.DurationNanos != p.Meta.Duration || pp.TimeNanos != p.Meta.Start.UnixNano() {
		t.Errorf("default type %q, duration %d, time %d", pp.DefaultSampleType, pp.DurationNanos, pp.TimeNanos)
	}
	for _, want := range []string{"ompp-attach 0.1.0", "lost events 24", "(thread 2: 15)", "omp_test_lock"} {
		if !strings.Contains(strings.Join(pp.Comments, "\n"), want) {
			t.Errorf("comments lack %q: %q", want, pp.Comments)
		}
	}
	f := pp.Function[1]
	if f.SystemName != "R00001 in main" || f.Filename != "/src/app/main.c" || f.StartLine != 20 {
		t.Errorf("function of R00001: %+v", f)
	}
	s := pp.Sample[len(pp.Sample)-1]
	for key, want := range map[string]string{"thread": "1:1", "construct": "UNDER WAY", "process": "4711"} {
		if got := s.Label[key]; len(got) != 1 || got[0] != want {
			t.Errorf("label %s: %q, want %q", key, got, want)
		}
	}
}

// TestPprofTool reads the profile with pprof itself.
func TestPprofTool(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("go tool pprof: no go command")
	}
	path := filepath.Join(t.TempDir(), "profile.pb.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := WritePprof(f, reporttest.MixedProfile(), Options{}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	// One session for all: starting pprof is the slow part.
	cmd := exec.Command(goTool, "tool", "pprof", path)
	cmd.Stdin = strings.NewReader("top\npeek LOCK\ntraces\ntags\nsample_index=sync\ntop\nexit\n")
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "GOCACHE="+goEnv(t, goTool, "GOCACHE"), "GOMODCACHE="+goEnv(t, goTool, "GOMODCACHE"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("pprof: %v\n%s", err, out)
	}
	for _, want := range []string{
		`(?m)^Type: time\n`,
		`of 50\.30?s total`,
		`13\.68s +27\.20% .* 32\.80s +65\.21%  main::PARALLEL 20-60\n`,
		// -peek: the lock below the critical section that takes it
		`main::CRITICAL queue 38-~41\n *0\.10s .* \| +libsolve::LOCK ~solve 0x1a2b`,
		`main::ORDERED 27-28\n +main::LOOP 24-30\n +main::PARALLEL 20-60\n +mixed\n`,
		`(?m)thread: .*(\n.*)*1:1`,
		`1100ms .* main::CRITICAL 33-36`, // the time of waiting
	} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("pprof's output does not match %s:\n%s", want, out)
		}
	}
}

func goEnv(t *testing.T, goTool, name string) string {
	t.Helper()
	out, err := exec.Command(goTool, "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
