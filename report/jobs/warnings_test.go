package jobs

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/report/reporttest"
)

// A job's report has the warnings of its ranks, each once. It says what to install for a program
// without debug information.
func TestWarningsOfRanks(t *testing.T) {
	var sources []job.Source
	for rank, warnings := range [][]string{{"One core."}, {"One core."}, {"A", "B", "C"}} {
		p := reporttest.Costly()
		p.Meta.MPI, p.Warnings = &profile.MPIJob{Rank: rank, Size: 3}, warnings
		p.Objects = append(p.Objects, profile.Object{Path: "/usr/lib/other.so"})
		if rank > 0 {
			p.Objects = append(p.Objects, profile.Object{Path: p.Meta.Path, Debug: "stencil-dbgsym"})
		}
		sources = append(sources, job.Source{Name: job.FileName(rank, 3), Open: func() (io.ReadCloser, error) {
			var b bytes.Buffer
			err := profile.Encode(&b, p)
			return io.NopCloser(&b), err
		}})
	}
	j, err := job.Read(sources, job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(jobBytes(t, j, WriteText, report.Options{}))), " ")
	for _, want := range []string{"* Of ranks 0-1 (2): One core. *", "* Of rank 2: A *", "* Of rank 2: B *", "* 1 further warning,",
		"* Of ranks 1-2 (2): ", " is without debug information. Install stencil-dbgsym ("} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%d times %q:\n%s", strings.Count(text, want), want, text)
		}
	}
}
