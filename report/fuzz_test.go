package report

import (
	"bytes"
	"io"
	"testing"

	pprof "github.com/google/pprof/profile"

	"ompp-attach/internal/hostile"
	"ompp-attach/profile"
	"ompp-attach/report/properties"
	"ompp-attach/report/reporttest"
	"ompp-attach/report/tables"
)

// FuzzRender renders each profile that profile.Decode accepts in every format. The input is the
// profile's JSON, because a fuzzer does not find sound gzip data.
func FuzzRender(f *testing.F) {
	for _, p := range []*profile.Profile{reporttest.PlainProfile(), reporttest.MixedProfile()} {
		f.Add(reporttest.RecordText(f, p))
	}
	f.Add([]byte(`{"version":1,"nodes":[{"parent":-1,"region":-1}]}`))
	f.Add([]byte(`{"version":1,"threads":[{"num":3}],"regions":[{"construct":"TASKEXEC"},{"construct":"SINGLE"}],
		"nodes":[{"parent":-1,"region":-1,"stats":[{"thread":0}]},{"parent":0,"region":1},{"parent":1,"region":0,"stats":[{"thread":0,"exec":{"t":-5}},{"thread":0}]}]}`))
	f.Add([]byte(reporttest.CallWithoutFigures))
	f.Fuzz(func(t *testing.T, text []byte) { hostile.Within(func() { renderAll(t, text) }) })
}

// renderAll decodes a profile and writes it in every format.
func renderAll(t *testing.T, text []byte) {
	p, err := profile.Decode(bytes.NewReader(reporttest.Record(t, text)))
	if err != nil {
		return
	}
	for _, format := range Formats {
		var out bytes.Buffer
		for _, file := range format.Outputs(p, Options{}) {
			if err := file.Write(&out); err != nil {
				t.Fatalf("%s: %v", format.Name, err)
			}
		}
		if format.Name == "pprof" {
			if _, err := pprof.Parse(&out); err != nil {
				t.Fatalf("pprof cannot read it: %v", err)
			}
		}
	}
	for _, way := range tables.Ways {
		for _, format := range tables.Formats {
			if err := WriteBy(io.Discard, p, way, format, Options{}); err != nil {
				t.Fatalf("by %s, %s: %v", way.Name, format, err)
			}
		}
	}
	c := Options{}.Severity(p)
	for _, format := range properties.Formats {
		if err := format.Write(io.Discard, c, Options{}.Properties(c)); err != nil {
			t.Fatalf("properties, %s: %v", format.Name, err)
		}
	}
	if err := Summary(io.Discard, p, []string{"a"}, Options{}); err != nil {
		t.Fatal(err)
	}
}
