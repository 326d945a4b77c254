package e2e

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/probes"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/probes/openmp"
	"ompp-attach/symbols"
)

var (
	updateProbes   = flag.Bool("update-probes", false, "rewrite docs/probes.md")
	otherLibraries = flag.String("libraries", "", "with -update-probes: folder of further runtimes, which are only read")
)

const (
	probesByHand = "<!-- What follows is written by go test ./e2e -run TestProbeTable -update-probes. -->\n"
	otherBuilds  = "## Other builds, by disassembly\n"
)

// probedRuntimes are the runtimes whose hits are counted.
var probedRuntimes = []struct {
	title   string
	build   build
	library string
}{
	{"libgomp", build{"gcc", "-O1 -g"}, "libgomp.so"},
	{"libomp", build{"clang-19", "-O1 -g"}, "libomp"},
}

// TestProbeTable counts the hits of every probe that an execution of each
// construct makes, and compares with docs/probes.md.
func TestProbeTable(t *testing.T) {
	needTool(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("hits are counted on x86-64")
	}
	name := filepath.Join(testbin.Repo(t), "docs", "probes.md")
	have, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	intro, _, ok := bytes.Cut(have, []byte(probesByHand))
	if !ok {
		t.Fatalf("%s lacks the line %q", name, probesByHand)
	}
	var counted []*hitCounted
	head := "\n"
	for _, r := range probedRuntimes {
		g := startProbed(t, r.build, r.library)
		id := g.plan.Object.BuildID()
		if !*updateProbes && !bytes.Contains(have, []byte(id)) {
			t.Skipf("docs/probes.md is about another build of %s than the installed one", r.title)
		}
		head += fmt.Sprintf("%s: %s; build id %s.\n", r.title, g.plan.Version(), id)
		counted = append(counted, g)
	}
	var w bytes.Buffer
	w.Write(intro)
	w.WriteString(probesByHand + head)
	writeProbes(&w, counted)
	w.WriteString("\n" + otherBuilds + "\n" + otherHead)
	w.WriteString(otherRows(t, string(have)))
	if *updateProbes {
		if err := os.WriteFile(name, w.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	a, b := strings.Split(string(have), "\n"), strings.Split(w.String(), "\n")
	for i := range max(len(a), len(b)) {
		if lineOf(a, i) != lineOf(b, i) {
			t.Errorf("docs/probes.md, line %d, says\n%s\nbut it is\n%s\n(go test ./e2e -run TestProbeTable -update-probes rewrites it)", i+1, lineOf(a, i), lineOf(b, i))
		}
	}
}

// writeProbes writes what each construct costs, and which probes that is.
func writeProbes(w *bytes.Buffer, counted []*hitCounted) {
	w.WriteString("\n## Hits per execution\n\n| construct |")
	for _, r := range probedRuntimes {
		fmt.Fprintf(w, " %s |", r.title)
	}
	w.WriteString("\n|" + strings.Repeat(" --- |", len(counted)+1) + "\n")
	all := make([][]map[hit]float64, len(counted))
	for _, c := range probedCases {
		fmt.Fprintf(w, "| %s |", c.title)
		for n, g := range counted {
			hits := g.of(c)
			all[n] = append(all[n], hits)
			fmt.Fprintf(w, " %s |", sumText(g.sums(hits)))
		}
		w.WriteString("\n")
	}
	for n, g := range counted {
		fmt.Fprintf(w, "\n## Probes of %s\n\n| construct | probe | at | cost | return | reads | hits |\n|%s\n", probedRuntimes[n].title, strings.Repeat(" --- |", 7))
		for k, c := range probedCases {
			g.writeCase(w, c.title, all[n][k])
		}
	}
}

// writeCase writes a line for each probe that a construct hits.
func (g *hitCounted) writeCase(w *bytes.Buffer, title string, hits map[hit]float64) {
	sums, ignored := map[int]float64{}, map[int]float64{}
	for h, v := range hits {
		if g.plan.Placements[h.placement].At(h.Situation).Reported {
			sums[h.placement] += v
		} else {
			ignored[h.placement] += v
		}
		sums[h.placement] += 0
	}
	for _, n := range slices.Sorted(maps.Keys(sums)) {
		pl := &g.plan.Placements[n]
		text := number(sums[n])
		if ignored[n] > 1e-6 {
			text += ", " + number(ignored[n]) + " ignored"
		}
		if text == "0" {
			continue
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s |\n", title, strings.Trim(pl.Symbol, "[]"), place(g.object(n), pl),
			pl.Cost, pl.ReturnRule(), strings.Join(pl.Reads(), ", "), text)
		title = ""
	}
}

// place is a probed instruction and how far it is from its function's start.
func place(o *symbols.Object, pl *probes.Placement) string {
	i, err := disasm.Decode(o, pl.VAddr)
	if err != nil {
		return err.Error()
	}
	text := i.Text()
	if i.Transfers() && i.Control != disasm.Ret {
		text, _, _ = strings.Cut(text, " ")
	}
	off := ""
	if lo, _, ok := o.FuncRange(pl.VAddr); ok {
		off = fmt.Sprintf(" +%#x", pl.VAddr-lo)
	}
	out := "`" + text + "`" + off
	if c := pl.Condition(); c != "" {
		out += ", " + c
	}
	return out
}

const otherHead = "| runtime | architecture | build id | probes | nop5 | emulated | call | single-stepped | which these are |\n" +
	"| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |\n"

// otherRows are lines of runtimes that are only read: those that are found here
// anew, the others as they are in the document.
func otherRows(t *testing.T, have string) string {
	rows := map[string]string{} // by build id
	_, old, _ := strings.Cut(have, otherBuilds)
	for line := range strings.Lines(old) {
		if f := strings.Split(line, "|"); len(f) == 11 && len(strings.TrimSpace(f[3])) == 40 {
			rows[strings.TrimSpace(f[3])] = line
		}
	}
	found, _ := filepath.Glob("/usr/*-linux-gnu/lib/libgomp.so.1")
	if *otherLibraries != "" {
		for _, sub := range []string{"usr/lib/*/libgomp.so.1", "usr/lib/llvm-*/lib/libomp.so.5"} {
			more, _ := filepath.Glob(filepath.Join(*otherLibraries, "*", sub))
			found = append(found, more...)
		}
	}
	for _, path := range found {
		o, err := symbols.OpenObject(path)
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		if _, known := rows[o.BuildID()]; !known && !*updateProbes {
			continue
		}
		rows[o.BuildID()] = otherRow(o)
	}
	return strings.Join(slices.Sorted(maps.Values(rows)), "")
}

func otherRow(o *symbols.Object) string {
	plan, err := openmp.NewPlan(o, func(string) bool { return false })
	if err != nil {
		return fmt.Sprintf("| %s | %s | %s | | | | | | not measured: %v |\n", openmp.Identify(o), o.Arch(), o.BuildID(), err)
	}
	var classes [points.SingleStep + 1]int
	var dear []string
	for i := range plan.Placements {
		pl := &plan.Placements[i]
		classes[pl.Cost]++
		if pl.Cost == points.SingleStep {
			dear = append(dear, strings.Trim(pl.Symbol, "[]"))
		}
	}
	if plan.NoTasks != nil {
		dear = append(dear, "(tasks are not measured)")
	}
	const few = 24
	if len(dear) > few {
		dear = append(dear[:3], "and many more")
	}
	// Lines of builds that are not here cannot tell jumps from other emulated instructions.
	classes[points.Emulated] += classes[points.JumpCost]
	row := fmt.Sprintf("| %s, %s | %s | %s | %d |", plan.Runtime, plan.Version(), o.Arch(), o.BuildID(), len(plan.Placements))
	for _, c := range []points.Cost{points.Nop5, points.Emulated, points.CallCost, points.SingleStep} {
		row += fmt.Sprintf(" %d |", classes[c])
	}
	return row + " " + strings.Join(slices.Compact(dear), ", ") + " |\n"
}
