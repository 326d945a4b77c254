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

// A job's reports show times without the probes' time and say so. With --raw they show times as
// measured.
func TestCostsInReports(t *testing.T) {
	unknown := reporttest.Costly()
	unknown.Meta.Overhead = &profile.Overhead{Failed: "It is not known what the probes cost: no memory."}
	for i := range unknown.Nodes {
		unknown.Nodes[i].Stats[0].Cost = nil
	}
	hidden := reporttest.Costly() // of more processor time than the thread had
	hidden.Meta.UserTime, hidden.Meta.Overhead.Probes[0].Hits = 10e9, 6e6
	lowered := reporttest.Costly() // by the processor time
	lowered.Meta.Overhead.AtMost = 0.5
	raw := report.Options{Raw: true}
	for _, tc := range []struct {
		name  string
		write func(io.Writer, *job.Job, report.Options) error
		p     *profile.Profile
		o     report.Options
		want  []string
	}{
		{"text", WriteText, reporttest.Costly(), report.Options{}, []string{"Probe Cost      : 3.0", "30.0% of thread time as measured", "Times           : derived: "}},
		{"text, where probes took most", WriteText, hidden, report.Options{}, []string{"Times           : derived, and not to be relied on"}},
		{"text, lowered", WriteText, lowered, report.Options{}, []string{"Probe Cost      : ~1.5", "bounded by the processor time of 1 rank\n"}},
		{"json, lowered", WriteJSON, lowered, report.Options{}, []string{`"probe_ns": 1500000000`, `"probe_lowered": true`}},
		{"text raw", WriteText, reporttest.Costly(), raw, []string{"Times           : as measured, with"}},
		{"json", WriteJSON, reporttest.Costly(), report.Options{}, []string{`"probe_ns": 3000000000`, `"adjusted": true`, `"wall_ns": 7000000000`}},
		{"json raw", WriteJSON, reporttest.Costly(), raw, []string{`"adjusted": false`, `"wall_ns": 10000000000`}},
		{"json, not known", WriteJSON, unknown, report.Options{}, []string{`"probe_ns": null`}},
		{"csv", writeRanksCSV, reporttest.Costly(), report.Options{}, []string{",probe_ns,adjusted,no_core_ns,no_core_overhead_ns,mpi_start_end_ns\r\n", ",3000000000,true,0,0,0\r\n"}},
		{"csv, not known", writeRanksCSV, unknown, report.Options{}, []string{",,false,0,0,0\r\n"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			open := func() (io.ReadCloser, error) {
				var b bytes.Buffer
				err := profile.Encode(&b, tc.p)
				return io.NopCloser(&b), err
			}
			j, err := job.Read([]job.Source{{Name: job.FileName(0, 0), Open: open}}, job.Options{Raw: tc.o.Raw})
			if err != nil {
				t.Fatal(err)
			}
			got := string(jobBytes(t, j, tc.write, tc.o))
			for _, w := range tc.want {
				if !strings.Contains(got, w) {
					t.Errorf("it does not say %q:\n%s", w, got)
				}
			}
		})
	}
}
