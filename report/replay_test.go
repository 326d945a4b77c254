package report

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"

	"ompp-attach/attribution/streamtest"
	"ompp-attach/profile"
	"ompp-attach/report/reporttest"
)

// Event streams of real programs were recorded. Replayed without privileges, they give the same
// reports as then.
func TestReplay(t *testing.T) {
	streams, err := filepath.Glob("../testdata/streams/*.json.gz")
	if err != nil || len(streams) == 0 {
		t.Fatalf("no recorded streams: %v", err)
	}
	for _, name := range streams {
		stem := strings.TrimSuffix(filepath.Base(name), ".json.gz")
		t.Run(stem, func(t *testing.T) {
			p := replayFile(t, name)
			if err := profile.Validate(p); err != nil {
				t.Fatal(err)
			}
			var text, pb bytes.Buffer
			if err := WriteOmpp(&text, p, Options{}); err != nil {
				t.Fatal(err)
			}
			reporttest.Golden(t, "replay-"+stem+".ompp.golden", text.Bytes())
			if err := WritePprof(&pb, p, Options{}); err != nil {
				t.Fatal(err)
			}
			prof, err := pprof.Parse(&pb)
			if err != nil {
				t.Fatal(err)
			}
			reporttest.Golden(t, "replay-"+stem+".pprof.golden", []byte(prof.String()))
			if p.Meta.Sampling == nil {
				return
			}
			pb.Reset()
			if err := WriteSamples(&pb, p, Options{}); err != nil {
				t.Fatal(err)
			}
			if prof, err = pprof.Parse(&pb); err != nil {
				t.Fatal(err)
			}
			reporttest.Golden(t, "replay-"+stem+".samples.golden", []byte(prof.String()))
		})
	}
}

// replayFile adds a description of the run to the replayed profile, because the stream holds the
// figures only.
func replayFile(t *testing.T, name string) *profile.Profile {
	t.Helper()
	p := streamtest.Replay(t, name)
	p.Meta.Program = "constructs"
	p.Meta.Start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	p.Meta.Kernel, p.Meta.Arch, p.Meta.Tool, p.Meta.Ended = "6.18.0", "x86_64", "test", "exit status 0"
	if len(p.Samples) > 0 {
		p.Meta.Runtimes = []profile.Runtime{{Name: "libgomp", Path: "/usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0"}}
		p.Meta.Sampling = &profile.Sampling{Event: "task-clock", Unit: "ns", Frequency: 499}
		for i := range p.Samples {
			p.Meta.Sampling.Taken += p.Samples[i].Count
		}
	}
	return p
}
