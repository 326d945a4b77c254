package report

import (
	"bytes"
	"strings"
	"testing"

	"ompp-attach/report/reporttest"
)

// The start and the end of MPI are shown apart from communication wherever time in MPI is shown;
// ompP's totals include them.
func TestStartEndStandsApart(t *testing.T) {
	p := reporttest.Launched(t, 1, 300)
	var console bytes.Buffer
	if err := Summary(&console, p, nil, Options{Decimals: 2}); err != nil {
		t.Fatal(err)
	}
	text := written(t, "ompp", p, Options{Decimals: 2})
	for _, c := range []struct{ name, text, want string }{
		{"report", text, "MPI time        : 0.360000\n"},
		{"report", text, "MPI time split  : 0.020000 communication, 0.340000 start and end (MPI_Init, MPI_Finalize)\n"},
		{"report", text, "MPI: of all time in MPI, but in its start and end.\n"},
		{"console", console.String(), "0 collectives; 0.02 communication, 0.34 start and end (MPI_Init, MPI_Finalize)\n"},
	} {
		if !strings.Contains(c.text, c.want) {
			t.Errorf("%s: no %q in\n%s", c.name, c.want, c.text)
		}
	}
}
