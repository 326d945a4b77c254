package job

import (
	"errors"
	"io"
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

// TestSpawnedLeftOut: ranks of a job that the job's ranks have started are left out. This holds
// also for rank numbers that the first job does not have. If one tool measures all ranks, it
// numbers the files of all of them. If each rank has a tool, the tool adds a number only where a
// name is taken.
func TestSpawnedLeftOut(t *testing.T) {
	for what, c := range map[string]struct {
		copies [3]int // of the ranks of the second job
		want   string
	}{
		"one tool":            {[3]int{2, 2, 2}, "profile.rank0-2.json.gz, profile.rank1-2.json.gz"},
		"a tool of each rank": {[3]int{2, 0, 0}, "profile.rank0-2.json.gz, profile.rank1.json.gz"},
	} {
		source := func(job string, size, rank, copy int) Source {
			p := waiting(0, [2]uint64{10, 20}, [2]uint64{30, 40})
			p.Meta.MPI.Job, p.Meta.MPI.Rank, p.Meta.MPI.Size = job, rank, size
			s := sourcesOf(t, p)[0]
			s.Name, s.Rank, s.Copy = FileName(rank, copy), rank, copy
			return s
		}
		sources := []Source{source("1", 1, 0, 0)}
		for rank, copy := range c.copies {
			sources = append(sources, source("2", len(c.copies), rank, copy))
		}
		j, err := Read(sources, Options{})
		if err != nil {
			t.Fatal(err)
		}
		told := "another job, too, which are left out: " + c.want
		const advice = "For a report of that job, copy its files into another directory."
		if got := strings.Join(j.Troubles(), " "); len(j.Ranks) != 1 || !strings.Contains(got, told) || !strings.Contains(got, advice) {
			t.Errorf("%s: %d ranks: %s", what, len(j.Ranks), got)
		}
		all, err := Together(sources, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all.Threads {
			if all.Rank(x) != 0 {
				t.Errorf("%s: a thread of rank %d is in the table of all ranks", what, all.Rank(x))
			}
		}
	}
}

// If the file of rank 0 cannot be read, rank 0 of a job that the ranks have started does not take
// its place.
func TestSpawnedWithoutRank0(t *testing.T) {
	source := func(job string, rank, copy int) Source {
		p := waiting(0, [2]uint64{10, 20}, [2]uint64{30, 40})
		p.Meta.MPI.Job, p.Meta.MPI.Rank, p.Meta.MPI.Size = job, rank, 2
		s := sourcesOf(t, p)[0]
		s.Name, s.Rank, s.Copy = FileName(rank, copy), rank, copy
		return s
	}
	torn := source("1", 0, 0)
	torn.Open = func() (io.ReadCloser, error) { return nil, errors.New("cut off") }
	sources := []Source{torn, source("2", 0, 2), source("1", 1, 0), source("2", 1, 2)}
	j, err := Read(sources, Options{})
	if err != nil {
		t.Fatal(err)
	}
	told := "Rank 0 could not be read: cut off. The directory has ranks of another job, too, which are left out: " +
		"profile.rank0-2.json.gz, profile.rank1-2.json.gz."
	if got := strings.Join(j.Troubles(), " "); len(j.Ranks) != 1 || j.Ranks[0].Rank != 1 || !strings.Contains(got, told) {
		t.Errorf("%d ranks, the first is %d: %s", len(j.Ranks), j.Ranks[0].Rank, got)
	}
	all, err := Together(sources, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all.Threads {
		if all.Rank(x) != 1 {
			t.Errorf("a thread of rank %d is in the table of all ranks", all.Rank(x))
		}
	}

	// Only files of the other job can be read.
	j, err = Read([]Source{torn, sources[1]}, Options{})
	if err != nil || len(j.Ranks) != 1 {
		t.Errorf("of a job without first files that can be read, %d ranks are shown (%v)", len(j.Ranks), err)
	}
}

// Several other jobs are not taken for one.
func TestSeveralSpawned(t *testing.T) {
	var sources []Source
	for copy, job := range []string{"1", "2", "3"} {
		p := waiting(0, [2]uint64{10, 20}, [2]uint64{30, 40})
		p.Meta.MPI.Job, p.Meta.MPI.Rank, p.Meta.MPI.Size = job, 0, 1
		s := sourcesOf(t, p)[0]
		if copy > 0 {
			copy++
		}
		s.Name, s.Rank, s.Copy = FileName(0, copy), 0, copy
		sources = append(sources, s)
	}
	j, err := Read(sources, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const want = "ranks of other jobs, too, which are left out: profile.rank0-2.json.gz, profile.rank0-3.json.gz. For a report of one of them"
	if got := strings.Join(j.Troubles(), " "); len(j.Ranks) != 1 || !strings.Contains(got, want) {
		t.Errorf("%d ranks: %s", len(j.Ranks), got)
	}
}
