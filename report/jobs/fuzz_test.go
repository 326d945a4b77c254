package jobs

import (
	"bytes"
	"io"
	"testing"

	pprof "github.com/google/pprof/profile"

	"ompp-attach/internal/hostile"
	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/report/reporttest"
	"ompp-attach/severity"
)

// FuzzRender renders a job of two ranks with each profile that profile.Decode accepts, in every
// format. The input is the profile's JSON, because a fuzzer does not find sound gzip data.
func FuzzRender(f *testing.F) {
	for _, p := range []*profile.Profile{reporttest.PlainProfile(), reporttest.MixedProfile()} {
		f.Add(reporttest.RecordText(f, p))
	}
	f.Add([]byte(reporttest.CallWithoutFigures))
	f.Fuzz(func(t *testing.T, text []byte) { hostile.Within(func() { renderAll(t, text) }) })
}

// renderAll renders a job of two ranks that have this profile, if it is one.
func renderAll(t *testing.T, text []byte) {
	record := reporttest.Record(t, text)
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(record)), nil }
	if _, err := profile.Decode(bytes.NewReader(record)); err != nil {
		return
	}
	j, err := job.Read([]job.Source{{Rank: 0, Open: open}, {Rank: 1, Open: open}}, job.Options{Paths: true, Severity: &severity.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range Formats {
		for _, file := range format.Outputs(j, report.Options{}) {
			var out bytes.Buffer
			if err := file.Write(&out); err != nil {
				t.Fatalf("%s: %v", file.Name, err)
			}
			if format.Name == "pprof" {
				if _, err := pprof.Parse(&out); err != nil {
					t.Fatalf("pprof cannot read the job's: %v", err)
				}
			}
		}
	}
}
