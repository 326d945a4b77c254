package results

import (
	"strings"
	"testing"
	"time"

	"ompp-attach/collect"
	"ompp-attach/collect/launch"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// The profile of a rank says that processes which the rank has started were not measured, unless
// the tool has started the launcher.
func TestSpawnedNotMeasured(t *testing.T) {
	for name, c := range map[string]struct {
		rank     *launch.Rank
		attached bool
		call     string
		told     int
	}{
		"a tool of each rank":      {&launch.Rank{Job: "a"}, false, "MPI_Comm_spawn", 1},
		"attached to":              {nil, true, "MPI_Comm_spawn_multiple", 1},
		"the launcher was run":     {nil, false, "MPI_Comm_spawn", 0},
		"nothing was started":      {&launch.Rank{Job: "a"}, false, "MPI_Barrier", 0},
		"a connection is no start": {nil, true, "MPI_Comm_connect", 0},
	} {
		p := rankProfile("a", 0, 1)
		p.Meta.Attached = c.attached
		p.Regions = []profile.Region{{Construct: event.MPI, Name: c.call}}
		p.Nodes = []profile.Node{{Parent: -1, Region: -1}, {Parent: 0, Region: 0}}
		o := &Directory{Dir: t.TempDir(), rank: c.rank, ours: true}
		snapshot := *p
		snapshot.Meta.SnapshotAt = time.Unix(1, 0)
		shots := &collect.Result{Profiles: []*profile.Profile{&snapshot}}
		if err := o.WriteSnapshots(shots); err != nil {
			t.Fatal(err)
		}
		if err := o.Write(&collect.Result{First: p, Profiles: []*profile.Profile{p}}, &Wanted{Quiet: true}); err != nil {
			t.Fatal(err)
		}
		for _, p := range []*profile.Profile{&snapshot, p} {
			if got := strings.Count(strings.Join(p.Warnings, " "), "were not measured"); got != c.told {
				t.Errorf("%s: told %d times, want %d", name, got, c.told)
			}
		}
	}
}
