package report

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	pprof "github.com/google/pprof/profile"

	"ompp-attach/internal/hostile"
	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/report/tables"
)

// FuzzRender renders each profile that profile.Decode accepts in every format. The input is the
// profile's JSON, because a fuzzer does not find sound gzip data.
func FuzzRender(f *testing.F) {
	for _, p := range []*profile.Profile{plainProfile(), mixedProfile()} {
		var buf bytes.Buffer
		if err := profile.Encode(&buf, p); err != nil {
			f.Fatal(err)
		}
		zr, err := gzip.NewReader(&buf)
		if err != nil {
			f.Fatal(err)
		}
		text, err := io.ReadAll(zr)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"version":1,"nodes":[{"parent":-1,"region":-1}]}`))
	f.Add([]byte(`{"version":1,"threads":[{"num":3}],"regions":[{"construct":"TASKEXEC"},{"construct":"SINGLE"}],
		"nodes":[{"parent":-1,"region":-1,"stats":[{"thread":0}]},{"parent":0,"region":1},{"parent":1,"region":0,"stats":[{"thread":0,"exec":{"t":-5}},{"thread":0}]}]}`))
	f.Add([]byte(callWithoutFigures))
	f.Fuzz(func(t *testing.T, text []byte) { hostile.Within(func() { renderAll(t, text) }) })
}

// renderAll decodes a profile and writes it in every format.
func renderAll(t *testing.T, text []byte) {
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	zw.Write(text)
	zw.Close()
	p, err := profile.Decode(&buf)
	if err != nil {
		return
	}
	for _, format := range Formats {
		var out bytes.Buffer
		if err := format.Write(&out, p, Options{}); err != nil {
			t.Fatalf("%s: %v", format.Name, err)
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
	if err := Summary(io.Discard, p, []string{"a"}, Options{}); err != nil {
		t.Fatal(err)
	}
	renderJob(t, text)
}

// renderJob renders a job of two ranks that have this profile.
func renderJob(t *testing.T, text []byte) {
	open := func() (io.ReadCloser, error) {
		var buf bytes.Buffer
		zw := gzip.NewWriter(&buf)
		zw.Write(text)
		return io.NopCloser(&buf), zw.Close()
	}
	j, err := job.Read([]job.Source{{Rank: 0, Open: open}, {Rank: 1, Open: open}}, job.Options{Paths: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range JobFormats {
		for _, file := range format.Files {
			var out bytes.Buffer
			if err := file.Write(&out, j, Options{}); err != nil {
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
