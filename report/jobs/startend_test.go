package jobs

import (
	"strings"
	"testing"

	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/report/reporttest"
)

// The start and the end of MPI are shown apart from communication wherever time in MPI is shown.
func TestStartEndStandsApart(t *testing.T) {
	all := reporttest.ReadJob(t, []*profile.Profile{reporttest.Launched(t, 0, 300), reporttest.Launched(t, 1, 300), reporttest.Launched(t, 2, 700), reporttest.Launched(t, 3, 100)})
	of := func(write string) string {
		switch write {
		case "ranks":
			return string(jobBytes(t, all, writeRanksCSV, report.Options{}))
		case "calls":
			return string(jobBytes(t, all, writeCallsCSV, report.Options{}))
		case "json":
			return string(jobBytes(t, all, WriteJSON, report.Options{}))
		}
		return string(jobBytes(t, all, WriteText, report.Options{}))
	}
	for _, c := range []struct{ name, text, want string }{
		{"job", of("text"), "MPI Time        : 1.6400 sec, 41.0% of thread time: 0.0800 communication, 1.5600 start and end (MPI_Init, MPI_Finalize)\n"},
		{"job", of("text"), "Unequal in MPI  : no rank waits for another in an MPI call\n"},
		{"job", of("text"), "communication             0.0200     0  0.0200  0.0200     0  0.0000         0.0%      0.0%      alike\n"},
		{"job", of("text"), "R00003 MPI_Send main.c (501)      8      4      0.0800  100.0%"},
		{"ranks", of("ranks"), ",mpi_start_end_ns\r\n"},
		{"ranks", of("ranks"), ",740000000\r\n"},
		{"calls", of("calls"), ",false\r\n"},
		{"calls", of("calls"), ",true\r\n"},
		{"json", of("json"), `"mpi_start_end_ns": 740000000,`},
		{"json", of("json"), `"start_end": true`},
	} {
		if !strings.Contains(c.text, c.want) {
			t.Errorf("%s: no %q in\n%s", c.name, c.want, c.text)
		}
	}
}
