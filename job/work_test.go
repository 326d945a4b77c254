package job

import (
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// Without the other parts, a region's time is work, also if its threads lacked a core for longer
// than the regions inside it could hold. If the regions inside take longer than the region itself,
// as they may where probes took most of them, no work is left. There is never less than none.
func TestWorkIsNotNegative(t *testing.T) {
	for _, c := range []struct {
		name               string
		exec, noCore       int64 // of the region
		inner, barrier     int64 // of the loop inside
		work, lack, waited int64 // a team's only thread waits for no other: that is management
	}{
		{"all is known", 1000, 300, 600, 500, 400, 300, 300},
		{"the loop could not hold its time without a core", 1000, 900, 600, 500, 200, 500, 300},
		{"the loop takes longer", 500, 0, 600, 600, 0, 200, 400},
	} {
		stats := profile.ThreadStats{Exec: profile.Sum{T: c.exec, C: 1}, Body: profile.Sum{T: c.exec, C: 1}, Child: min(c.inner, c.exec)}
		if c.noCore > 0 {
			stats.NoCore = &profile.Cost{Exec: c.noCore, Body: c.noCore, Child: max(200, c.noCore-300)}
		}
		loop := profile.ThreadStats{Exec: profile.Sum{T: c.inner, C: 1}, Body: profile.Sum{T: c.inner - c.barrier, C: 1}, Barrier: profile.Sum{T: c.barrier, C: 1},
			NoCore: &profile.Cost{Exec: 200, Barrier: 200}}
		p := &profile.Profile{Version: profile.SchemaVersion, Meta: profile.Meta{Life: profile.Life{Duration: 1000}}, Threads: []profile.Thread{{}},
			Regions: []profile.Region{{Construct: event.Parallel}, {Construct: event.Loop}},
			Nodes: []profile.Node{{Parent: -1, Region: -1}, {Parent: 0, Region: 0, Stats: []profile.ThreadStats{stats}},
				{Parent: 1, Region: 1, Stats: []profile.ThreadStats{loop}}}}
		j := read(t, []Source{source(0, 0, encoded(t, p))}, Options{Paths: true})
		for f, want := range map[Figure]int64{WorkT: c.work, NoCoreT: c.lack, NoCoreWallT: c.lack, MgmtT: c.waited} {
			if got := j.Regions[0].Stats(f).Min; got != want {
				t.Errorf("%s: %s %d, want %d", c.name, f, got, want)
			}
		}
	}
}
