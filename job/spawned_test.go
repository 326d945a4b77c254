package job

import (
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// The job's notes say whether processes that ranks started were measured.
func TestSpawned(t *testing.T) {
	rank := func(job, call string) func() *profile.Profile {
		return func() *profile.Profile {
			p := waiting(0, [2]uint64{10, 20}, [2]uint64{30, 40})
			p.Meta.MPI.Job = job
			p.Regions[0] = profile.Region{Construct: event.MPI, Name: call, Location: profile.Location{File: "/src/a.c", Begin: 7}}
			return p
		}
	}
	const spawn = "Ranks started other processes by MPI_Comm_spawn at a.c (7). These "
	for what, c := range map[string]struct {
		ranks []func() *profile.Profile
		want  string
	}{
		"not measured": {[]func() *profile.Profile{rank("1", "MPI_Comm_spawn")}, spawn + "were not measured: "},
		"measured":     {[]func() *profile.Profile{rank("1", "MPI_Comm_spawn"), rank("2", "MPI_Comm_spawn")}, spawn + "are a job of their own, which was measured, too: "},
		"none":         {[]func() *profile.Profile{rank("1", "MPI_Barrier")}, ""},
	} {
		var profiles []*profile.Profile
		for _, make := range c.ranks {
			profiles = append(profiles, make())
		}
		sources := sourcesOf(t, profiles...)
		for i := range sources {
			sources[i].Name, sources[i].Rank, sources[i].Copy = FileName(0, i), 0, i
		}
		j, err := Read(sources, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(j.Troubles(), " "); (c.want == "") == strings.Contains(got, "started other") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// The ranks of a job that ranks have started are left out, also those whose numbers the first job
// does not have.
func TestSpawnedLeftOut(t *testing.T) {
	var sources []Source
	for _, f := range []struct {
		job        string
		size, copy int
	}{{"1", 1, 0}, {"2", 3, 2}} {
		for r := range f.size {
			p := waiting(0, [2]uint64{10, 20}, [2]uint64{30, 40})
			p.Meta.MPI.Job, p.Meta.MPI.Rank, p.Meta.MPI.Size = f.job, r, f.size
			s := sourcesOf(t, p)[0]
			s.Name, s.Rank, s.Copy = FileName(r, f.copy), r, f.copy
			sources = append(sources, s)
		}
	}
	j, err := Read(sources, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const told = "another job, too, which are left out: profile.rank0-2.json.gz, profile.rank1-2.json.gz"
	if got := strings.Join(j.Troubles(), " "); len(j.Ranks) != 1 || !strings.Contains(got, told) {
		t.Errorf("%d ranks: %s", len(j.Ranks), got)
	}
}
