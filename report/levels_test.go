package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// The text report has each level's exclusive time if libraries were measured, and only then.
func TestLevelsSection(t *testing.T) {
	p := &profile.Profile{Version: profile.SchemaVersion, Meta: profile.Meta{Target: profile.Target{Program: "solver"},
		Life: profile.Life{Duration: 2 * int64(time.Second)}}, Threads: []profile.Thread{{Num: 0}},
		Regions: []profile.Region{{Construct: event.UserRegion, Name: "pdgesv_", Level: "scalapack", Location: profile.Location{File: "a.c", Begin: 3}},
			{Construct: event.MPI, Name: "MPI_Send", Location: profile.Location{File: "a.c", Begin: 5}}},
		Nodes: []profile.Node{{Parent: -1, Region: -1}, {Parent: 0, Region: 0}, {Parent: 1, Region: 1}}}
	var outer, inner profile.ThreadStats
	outer.Exec, outer.Child = profile.Sum{T: 1_500_000_000, C: 2}, 500_000_000
	inner.Exec = profile.Sum{T: 500_000_000, C: 7}
	p.Nodes[1].Stats, p.Nodes[2].Stats = []profile.ThreadStats{outer}, []profile.ThreadStats{inner}
	section := func(p *profile.Profile, o Options) string {
		var b bytes.Buffer
		if err := WriteOmpp(&b, p, o); err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(b.String(), "ompP Levels")
		text, _, _ = strings.Cut(text, "SUM")
		return strings.Join(strings.Fields(text), " ")
	}
	got := section(p, Options{Raw: true, Decimals: 3})
	for _, want := range []string{"scalapack 2 1.000 50.0", "MPI 7 0.500 25.0"} {
		if !strings.Contains(got, want) {
			t.Errorf("the section lacks %q: %s", want, got)
		}
	}
	if section(p, Options{Raw: true, Classic: true}) != "" {
		t.Error("ompP's own report has levels")
	}
	p.Regions[0].Level = ""
	if section(p, Options{Raw: true}) != "" {
		t.Error("a section without levels")
	}
}
