package page

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/job"
	"ompp-attach/mpi"
	"ompp-attach/mpi/calllog"
	"ompp-attach/mpi/match"
	"ompp-attach/profile"
	"ompp-attach/report"
)

// latecomer is a process in which the first thread comes last to a barrier, from a loop.
func latecomer() *profile.Profile {
	p := solver()
	const loop, barrier = 2, 5
	span := func(t int64) profile.Sum { return profile.Sum{T: t * ms, C: 10} }
	p.Nodes[loop].Stats[0].Waits = &profile.Waits{Late: span(55)}
	for i, wait := range []int64{0, 18, 9, 28} {
		p.Nodes[barrier].Stats[i].Waits = &profile.Waits{Wait: span(wait)}
	}
	p.Nodes[barrier].Stats[0].Waits.Last = span(55)
	return p
}

// latecomers are the ranks of the paper's toy job, with their calls one by one. The second one
// comes last to the alltoall.
func latecomers(t testing.TB) *job.Job {
	alltoall, _ := mpi.ParseOp("MPI_Alltoall")
	var ranks []*profile.Profile
	for rank, imbal := range []float64{0, 200, 0, 100, 150, 50} {
		p := figure9(rank, 6, imbal)
		p.Meta.Host = "node1"
		const site = 4
		r := calllog.NewRecorder()
		r.Add(100, calllog.Site{Node: site}, &match.Call{Op: alltoall, Start: uint64(101*ms) + uint64(imbal*float64(ms)), End: uint64(411 * ms), Sends: true, Receives: true})
		p.Calls = &r.Log
		ranks = append(ranks, p)
	}
	return jobOf(t, ranks)
}

// TestDue: the page says for which thread or rank others waited, where this was meanwhile, and how
// long they waited.
func TestDue(t *testing.T) {
	x := process(latecomer(), report.Options{}).Trees
	at := func(c event.Construct) int {
		for i, p := range x.Paths {
			if p.Region > 0 && solver().Regions[p.Region-1].Construct == c {
				return i
			}
		}
		return -1
	}
	found := 0
	for _, f := range x.Findings {
		if f.Path != at(event.Barrier) {
			continue
		}
		found++
		want := []TreeDue{{Who: "thread 0", Did: "came last", At: f.Path, From: at(event.Loop), Time: 55 * ms, Times: 10}}
		if !reflect.DeepEqual(f.Due, want) || f.Saves == nil || f.Of != "the 4.00 s of the run" {
			t.Errorf("due %+v, saves %v of %s", f.Due, f.Saves, f.Of)
		}
	}
	if found != 1 {
		t.Errorf("%d findings at the barrier", found)
	}
	j, err := ofJob(latecomers(t), report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found = 0
	for _, f := range j.Trees.Findings {
		if j.Trees.Properties[f.Property].Name != "Wait at N x N" {
			continue
		}
		found++
		want := []TreeDue{{Who: "rank 1", Did: "was late", At: f.Path, Time: (200 + 200 + 100 + 50 + 150) * ms, Times: 5}}
		if !reflect.DeepEqual(f.Due, want) || f.Time != want[0].Time {
			t.Errorf("due %+v of %d ns", f.Due, f.Time)
		}
	}
	if want := "Of 6 calls of collective operations, 6 were matched between ranks."; found != 1 || len(j.Trees.Notes) != 2 || j.Trees.Notes[0] != want {
		t.Errorf("%d findings, notes %q", found, j.Trees.Notes)
	}
}

// TestDueInBrowser: the text below the trees says for whom others waited in the selected findings.
func TestDueInBrowser(t *testing.T) {
	b := openBrowser(t)
	file := map[string]string{
		"latecomer":  save(t, "profile.html", func(w io.Writer) error { return WriteProcess(w, latecomer(), report.Options{}) }),
		"latecomers": saveJob(t, latecomers(t)),
	}
	choose := func(tree int, name string) {
		t.Helper()
		for range 30 { // rows open one after the other, until there is such a row
			if ask[bool](t, b, fmt.Sprintf(`(() => { const rows = [...document.querySelectorAll("#trees .column")[%d].querySelectorAll("[role=treeitem]")];
				const e = rows.find((e) => e.querySelector(".tname").textContent.includes(%q)), shut = rows.map((e) => e.querySelector(".twist.shut")).find((e) => e);
				(e ?? shut)?.click(); return !!e; })()`, tree, name)) {
				return
			}
		}
		t.Fatalf("tree %d has no %s", tree, name)
	}
	rows := func() string {
		return ask[string](t, b, `[...document.querySelectorAll("#trees table.due tbody tr")].map((r) => [...r.cells].map((c) => c.textContent).join(" | ")).join("\n")`)
	}
	text := func() string { return ask[string](t, b, `document.querySelector("#trees figure").textContent`) }
	for name, f := range file {
		looks(func(width int64, scheme string) {
			b.show(t, f, width, scheme)
			if name == "latecomer" {
				choose(0, "Explicit barrier")
				choose(1, "main.c (54)")
				want := "thread 0 came last | BARRIER main.c (54), from LOOP main.c (24-30) | " + seconds(55*ms) + " | 10"
				if got := rows(); got != want {
					t.Errorf("%d wide: due to %q, want %q", width, got, want)
				}
				if got := text(); !strings.Contains(got, "of the 4.00 s of the run") {
					t.Errorf("what mending saves is not told: %q", got)
				}
			} else {
				choose(0, "Wait at N x N")
				if got := rows(); !strings.HasPrefix(got, "rank 1 was late | ") || !strings.HasSuffix(got, " | "+seconds(700*ms)+" | 5") {
					t.Errorf("%d wide: due to %q", width, got)
				}
				if got := text(); !strings.Contains(got, "6 were matched between ranks") {
					t.Errorf("the notes are not shown: %q", got)
				}
			}
			b.photograph(t, fmt.Sprintf("%s-due-%d-%s", name, width, scheme))
			if over := ask[int](t, b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
				t.Errorf("%s is %d pixels wider than the window of %d", name, over, width)
			}
		})
	}
}
