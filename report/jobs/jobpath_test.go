package jobs

import (
	"strings"
	"testing"

	"ompp-attach/job"
	"ompp-attach/mpi"
	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/report/reporttest"
	"ompp-attach/severity"
)

const pathTitle = "---- What decides when the job ends? "

func pathOf(t *testing.T, ranks []*profile.Profile, o job.Options) string {
	t.Helper()
	j, err := job.Read(reporttest.Sources(t, ranks), o)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(jobBytes(t, j, WriteText, report.Options{})), pathTitle)
	for range 2 { // the rest of the title's line, and the rule
		_, text, _ = strings.Cut(text, "\n")
	}
	text, _, _ = strings.Cut(text, "\n-----")
	return text
}

// TestPathInText: the text of a job has the critical path over its ranks. From the barrier on, at
// 400 ms, rank 1 is 12 ms in it, and 188 ms before its send, for which rank 0 waits. Then rank 0
// receives for 50 ms.
func TestPathInText(t *testing.T) {
	const want = `The critical path over the ranks: only less time there makes the job shorter. It takes 0.2500 sec,
from the first MPI call on it to the end of the last, as measured.

* 0.1880 sec (75.2%) between R00001 a.c (3) (MPI_Barrier) MPI and R00004 a.c (6) (MPI_Send) MPI, the
latter in R00002 a.c (4-9) (exchange) USER REGION: all of it at rank 1; perfect balance here saves
at most 0.0060 sec.
* 0.0500 sec (20.0%) in R00003 a.c (5) (MPI_Recv) MPI, called in R00002 a.c (4-9) (exchange) USER
REGION: all of it at rank 0; balance here saves next to nothing.
* 0.0120 sec (4.8%) in R00001 a.c (3) (MPI_Barrier) MPI: all of it at rank 1; perfect balance here
saves at most 0.0110 sec.

(report --properties tells of all places, and who waits for whom.)
`
	for _, o := range []job.Options{{Path: true}, {Severity: &severity.Options{}}} {
		if got := pathOf(t, reporttest.Waiting(1), o); got != want {
			t.Errorf("%+v: got\n%s", o, got)
		}
	}
	if got := pathOf(t, reporttest.Waiting(1), job.Options{}); got != "" {
		t.Errorf("nobody asked for it: %s", got)
	}
	if got := pathOf(t, reporttest.Figure9Job(t, 0, 200, 100), job.Options{Path: true}); got != "" {
		t.Errorf("recorded without --waits: %s", got)
	}
	if got := pathOf(t, reporttest.Waiting(mpi.AnySource), job.Options{Path: true}); !strings.Contains(got, "is not known: it cannot be told for whom a rank waited") {
		t.Errorf("rank 0 may have received from anybody: %s", got)
	}
	alone := reporttest.Waiting(1)[1:]
	alone[0].Meta.MPI.Rank, alone[0].Meta.MPI.Size = 0, 1
	if got := pathOf(t, alone, job.Options{Path: true}); got != "" {
		t.Errorf("there is one rank: %s", got)
	}
	part := &job.PathPart{Time: 5, MostT: 5, Saves: 7, Last: -1, Around: -1}
	if got := (&jobText{j: reporttest.ReadJob(t, reporttest.Waiting(1))}).onPath(&job.CriticalPath{Length: 20, Unknown: 15}, part); !strings.Contains(got, "if the part of the path that is not known is here, too") {
		t.Errorf("balance saves more than is known to be here: %s", got)
	}
	cut := reporttest.Waiting(1)
	cut[1].Calls.Until = 1e12
	if got := pathOf(t, cut, job.Options{Path: true}); !strings.Contains(got, "is not known: MPI calls are missing, or") {
		t.Errorf("the log of rank 1 ends early: %s", got)
	}
	started := reporttest.Waiting(1)
	started[1].Calls.Sites[1].Node = 0 // the profile has no such place
	got := pathOf(t, started, job.Options{Path: true})
	for _, line := range []string{"* 0.0500 sec (20.0%) in R00003", "* 0.0120 sec (4.8%) in R00001", "* 0.1880 sec (75.2%) at calls whose place is not recorded"} {
		if !strings.Contains(got, line) || strings.Count(got, "* ") != 3 {
			t.Errorf("%q is not told: %s", line, got)
		}
	}
	attached := reporttest.Waiting(1)
	attached[1].Meta.Attached = true
	if got := pathOf(t, attached, job.Options{Path: true}); !strings.Contains(strings.Join(strings.Fields(got), " "), "is not known: no two calls are known at which all ranks met after they were attached to.") {
		t.Errorf("rank 1 was attached to: %s", got)
	}
	if got := pathOf(t, reporttest.Waiting(1)[:1], job.Options{Path: true}); !strings.Contains(got, "that needs all MPI calls of all ranks") {
		t.Errorf("rank 1 is missing: %s", got)
	}
}

// TestPlaceOnPath: the text says between which calls the path was, and in which region, as far as
// that is true of all of the time.
func TestPlaceOnPath(t *testing.T) {
	j := reporttest.ReadJob(t, reporttest.Waiting(1))
	const barrier, exchange, send = 0, 1, 3
	for _, c := range []struct {
		part job.PathPart
		want string
	}{
		{job.PathPart{In: true, Last: -1, Around: -1}, "in B"},
		{job.PathPart{In: true, Last: -1, Around: exchange}, "in B, called in X"},
		{job.PathPart{Last: -1, Around: -1}, "before B"},
		{job.PathPart{Last: -1, Around: exchange}, "before B, called in X"},
		{job.PathPart{Last: send, LastT: 9, Around: -1}, "between S and B"},
		{job.PathPart{Last: send, LastT: 9, Around: exchange}, "between S and B, the latter in X"},
		{job.PathPart{Last: send, LastT: 9, Around: exchange, Same: true}, "between S and B, both in X"},
		{job.PathPart{Last: barrier, LastT: 9, Around: exchange, Same: true}, "between calls of B, both in X"},
		{job.PathPart{Last: send, LastT: 5, Around: exchange, Same: true}, "before B, mostly after S, the former in X"},
		{job.PathPart{Last: barrier, LastT: 5, Around: exchange}, "before B, mostly since its call before, called in X"},
		{job.PathPart{Last: send, LastT: 4, Around: -1}, "before B"},
	} {
		c.part.Region, c.part.Time = barrier, 9
		text := &jobText{j: j}
		got := text.placeOnPath(&c.part)
		for short, region := range map[string]int{"B": barrier, "X": exchange, "S": send} {
			got = strings.ReplaceAll(got, text.jobRegion(region), short)
		}
		if got != c.want {
			t.Errorf("%+v: got %q, want %q", c.part, got, c.want)
		}
	}
}
