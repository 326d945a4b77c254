package jobs

import (
	"bytes"
	"testing"

	"ompp-attach/analysis"
	"ompp-attach/job"
	"ompp-attach/report"
	"ompp-attach/report/properties"
	"ompp-attach/report/reporttest"
	"ompp-attach/severity"
)

// TestSeverity: the properties of a job are its ranks' classes and idle threads in another order.
func TestSeverity(t *testing.T) {
	ranks := reporttest.Figure9Job(t, 0, 2, 0, 1)
	var o report.Options
	of := o.Severities()
	j, err := job.Read(reporttest.Sources(t, ranks), job.Options{Severity: &of})
	if err != nil {
		t.Fatal(err)
	}
	var classes analysis.Classes
	var all, idle int64
	for _, r := range j.Ranks {
		classes.Add(r.Overheads)
		all += r.ThreadTime
		idle += r.Idle
	}
	c := j.Severity
	for id, want := range map[string]int64{severity.Time: all, severity.IdleThreads: idle, "mpi": classes.MPI, "omp_management": classes.Mgmt,
		"omp_synchronisation": classes.Synch + classes.Imbal + classes.Limpar} {
		if got := c.Total(id); got != want || want == 0 && id != severity.IdleThreads && id != "omp_management" {
			t.Errorf("%s: %d, the ranks have %d", id, got, want)
		}
	}
	if len(c.Processes) != 4 || c.Processes[3].Rank != 3 || len(c.Regions) != len(j.Regions) {
		t.Errorf("%d processes, %d regions", len(c.Processes), len(c.Regions))
	}
	for _, p := range c.Paths[1:] {
		if c.Regions[p.Region].Location != j.Regions[p.Region].Location {
			t.Errorf("path of region %d is at %v", p.Region, c.Regions[p.Region].Location)
		}
	}
	var out bytes.Buffer
	if err := properties.Formats[0].Write(&out, c, o.Properties(c)); err != nil {
		t.Fatal(err)
	}
	reporttest.Golden(t, "job-figure9.properties.golden", out.Bytes())
}
