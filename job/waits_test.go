package job

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/mpi/calllog"
	"ompp-attach/mpi/match"
	"ompp-attach/profile"
	"ompp-attach/severity"
)

// waiting returns the profile of one of two ranks, which call MPI_Barrier and then exchange a
// message.
func waiting(rank int, barrier, message [2]uint64) *profile.Profile {
	barrierOp, _ := mpi.ParseOp("MPI_Barrier")
	op, peer := "MPI_Recv", int32(1)
	if rank == 1 {
		op, peer = "MPI_Send", 0
	}
	messageOp, _ := mpi.ParseOp(op)
	r := calllog.NewRecorder()
	r.Add(1, calllog.Site{Node: 1}, &match.Call{Op: barrierOp, Start: barrier[0], End: barrier[1]})
	r.Add(1, calllog.Site{Node: 2}, &match.Call{Op: messageOp, Start: message[0], End: message[1], To: peer, From: peer, Sends: rank == 1, Receives: rank == 0})
	stats := func(from, to uint64) []profile.ThreadStats {
		t := int64(to - from)
		return []profile.ThreadStats{{Exec: profile.Sum{T: t, C: 1}, Body: profile.Sum{T: t, C: 1}, MPI: &profile.MPIStats{T: t, Calls: 1}}}
	}
	return &profile.Profile{Version: profile.SchemaVersion, Meta: profile.Meta{Target: profile.Target{Program: "p", PID: 10 + rank},
		Machine: profile.Machine{Host: "h"}, Life: profile.Life{Duration: 1000},
		MPI: &profile.MPIJob{Rank: rank, Size: 2, Library: "MPI"}},
		Threads: []profile.Thread{{}},
		Regions: []profile.Region{{Construct: event.MPI, Name: "MPI_Barrier", Location: profile.Location{File: "a.c", Begin: 3, End: 3}},
			{Construct: event.MPI, Name: op, Location: profile.Location{File: "a.c", Begin: 5 + rank, End: 5 + rank}}},
		Nodes: []profile.Node{{Parent: -1, Region: -1, Stats: []profile.ThreadStats{{MPI: &profile.MPIStats{T: 500, Calls: 2}}}},
			{Region: 0, Stats: stats(barrier[0], barrier[1])}, {Region: 1, Stats: stats(message[0], message[1])}},
		Calls: &r.Log}
}

func sourcesOf(t *testing.T, profiles ...*profile.Profile) (out []Source) {
	for i, p := range profiles {
		var b bytes.Buffer
		if err := profile.Encode(&b, p); err != nil {
			t.Fatal(err)
		}
		out = append(out, Source{Name: FileName(i, 0), Rank: i, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }})
	}
	return out
}

// TestWaitsBetweenRanks: a wait stands in the tree of properties at the call that waited. It names
// the late rank and that rank's call.
func TestWaitsBetweenRanks(t *testing.T) {
	ps := []*profile.Profile{waiting(0, [2]uint64{100, 410}, [2]uint64{500, 650}), waiting(1, [2]uint64{400, 412}, [2]uint64{600, 640})}
	j, err := Read(sourcesOf(t, ps...), Options{Severity: &severity.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	c := j.Severity
	for id, want := range map[string]int64{
		// The sum includes 10 at each rank for which nobody waited.
		"mpi_barrier.wait": 300, "mpi_barrier.completion": 2, "mpi_barrier": 322,
		"mpi_point_to_point.late_sender": 100, "mpi_point_to_point.late_sender_completion": 10, "mpi_point_to_point": 190,
		severity.LateRank: 400, severity.RankWaits: 2,
	} {
		if got := c.Total(id); got != want {
			t.Errorf("%s: %d, not %d", id, got, want)
		}
	}
	place := func(path int) string { return c.Regions[c.Paths[path].Region].Name }
	for _, b := range c.Blames {
		if at := place(b.Path) + "<" + place(b.DuePath); b.Rank != 1 || at != "MPI_Barrier<MPI_Barrier" && at != "MPI_Recv<MPI_Send" {
			t.Errorf("%+v: %s", b, at)
		}
		if b.DueThread < 0 || c.Processes[c.Threads[b.DueThread].Process].Rank != b.Rank {
			t.Errorf("%+v: the thread is none of that rank", b)
		}
	}
	if len(c.Blames) != 2 || len(c.Blamed(c.Property("mpi_barrier.wait"), 1)) != 1 {
		t.Errorf("%+v", c.Blames)
	}
	if want := "Of 1 message received, 1 was matched between ranks."; len(c.Notes) != 4 || c.Notes[0] != want || !strings.HasPrefix(c.Notes[3], "The causes of 0.000000 of 0.000000 sec of waits between ranks are not known") {
		t.Errorf("%q", c.Notes)
	}
	if j, err := Read(sourcesOf(t, ps...), Options{}); err != nil || j.Waits != nil {
		t.Errorf("calls were matched though nobody asked: %v", err)
	}
}

// TestDueTimesWithoutCore: a wait is reduced by the time without a core. The time that is due to
// the late rank is reduced in the same way.
func TestDueTimesWithoutCore(t *testing.T) {
	ps := []*profile.Profile{waiting(0, [2]uint64{100, 410}, [2]uint64{500, 650}), waiting(1, [2]uint64{400, 412}, [2]uint64{600, 640})}
	for i := range ps[0].Nodes {
		s := &ps[0].Nodes[i].Stats[0]
		if r := ps[0].Nodes[i].Region; r >= 0 && ps[0].Regions[r].Name == "MPI_Barrier" {
			s.NoCore, s.MPI.NoCore = &profile.Cost{Exec: s.Exec.T / 2}, s.Exec.T/2
		}
	}
	j, err := Read(sourcesOf(t, ps...), Options{Severity: &severity.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	c := j.Severity
	var due int64
	for _, b := range c.Blamed(c.Property("mpi_barrier.wait"), 1) {
		due += b.Time
	}
	if wait := c.Total("mpi_barrier.wait"); wait >= 300 || wait < 100 || due != wait {
		t.Errorf("%d, and %d due to a rank", wait, due)
	}
}

// TestJobPath: the critical path over the ranks stands in the tree of properties, at the ranks and
// calls that it leads through. It needs the calls of all ranks.
func TestJobPath(t *testing.T) {
	ps := []*profile.Profile{waiting(0, [2]uint64{100, 410}, [2]uint64{500, 650}), waiting(1, [2]uint64{400, 412}, [2]uint64{600, 640})}
	j, err := Read(sourcesOf(t, ps...), Options{Severity: &severity.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	c, got := j.Severity, map[string][3]int64{}
	for _, x := range c.JobPathParts() {
		for _, r := range x.Ranks {
			got[fmt.Sprintf("%d %s %v", c.Processes[r.Thread].Rank, c.Regions[c.Paths[x.Path].Region].Name, x.In)] = [3]int64{r.Time, x.Imbalance, x.Saves}
		}
	}
	// Between the barrier and the end, 250 ns, rank 0 has 150 of its own, and rank 1 has 240.
	want := map[string][3]int64{"1 MPI_Send false": {188, 94, 6}, "1 MPI_Barrier true": {12, 1, 11}, "0 MPI_Recv true": {50, 25, 0}}
	if p := c.JobPath; !maps.Equal(got, want) || p == nil || p.Length != 250 || p.Unknown != 0 || p.Turns != 1 {
		t.Errorf("%v, %+v", got, c.JobPath)
	}
	// Rank 1 did 188 before its send, and 12 in the barrier, where rank 0 did 10.
	// Rank 0 waited for 100.
	delays := map[string]int64{}
	for _, x := range c.RankDelays(false) {
		delays[fmt.Sprintf("%d %s %v", c.Processes[c.Threads[x.Thread].Process].Rank, c.Regions[c.Paths[x.Path].Region].Name, x.In)] = x.Time
	}
	if !maps.Equal(delays, map[string]int64{"1 MPI_Send false": 98, "1 MPI_Barrier true": 1}) || len(c.RankDelays(true)) != 0 {
		t.Errorf("%v, %v", delays, c.RankDelays(true))
	}
	for _, name := range []string{"attached", "missing"} {
		if ps[1].Meta.Attached {
			ps = ps[:1]
		} else {
			ps[1].Meta.Attached = true
		}
		j, err := Read(sourcesOf(t, ps...), Options{Severity: &severity.Options{}})
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(j.Severity.Notes, " ")
		if c := j.Severity; c.JobPath != nil || c.Total(severity.JobCritical) != 0 || !strings.Contains(notes, "The critical path over the ranks is not known") {
			t.Errorf("%s: %+v, %s", name, c.JobPath, notes)
		}
	}
}

// TestWaitsLeftOut: a rank takes no part if some of its calls are not known. The reader is told.
func TestWaitsLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*profile.Profile)
		note  string
	}{
		"attached":   {func(p *profile.Profile) { p.Meta.Attached = true }, "the communicator was made before all of its ranks were attached to"},
		"off":        {func(p *profile.Profile) { p.Meta.Off.C = 1 }, "measuring was off"},
		"unobserved": {func(p *profile.Profile) { p.Meta.Observations = []profile.Observation{{}} }, "not observed"},
		"full":       {func(p *profile.Profile) { p.Calls.Until, p.Calls.Left = 1, 7 }, "7 calls are not in the log"},
		"no calls":   {func(p *profile.Profile) { p.Calls = nil }, "was not recorded"},
		"elsewhere":  {func(p *profile.Profile) { p.Meta.Host = "other" }, "4 more calls may have waited, or not"},
	} {
		ps := []*profile.Profile{waiting(0, [2]uint64{100, 410}, [2]uint64{500, 650}), waiting(1, [2]uint64{400, 412}, [2]uint64{600, 640})}
		c.spoil(ps[1])
		j, err := Read(sourcesOf(t, ps...), Options{Severity: &severity.Options{}})
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(j.Severity.Notes, " "); len(j.Waits.Result.Waits) != 0 || !strings.Contains(notes, c.note) || j.Severity.Total("mpi_barrier") != 322 {
			t.Errorf("%s: %+v, %s", name, j.Waits.Result.Waits, notes)
		}
	}
}

// TestWaitSentences: the sentences count with the right words. They say what would help if threads
// mixed messages.
func TestWaitSentences(t *testing.T) {
	count := func(calls, matched, threads uint64) (c match.Count) {
		c.Calls, c.Matched = calls, matched
		c.Left[match.Threads] = threads
		return c
	}
	m := &Matching{Left: 1, Cut: []int{0}}
	m.Receives, m.Collectives, m.Requests = count(1, 1, 0), count(3, 1, 2), count(2, 1, 1)
	const why = "threads of a rank sent or received at the same time."
	want := []string{
		"Of 1 message received, 1 was matched between ranks.",
		"Of 3 calls of collective operations, 1 was matched between ranks. 2 were not: " + why +
			" If each thread used a communicator of its own, these could be matched.",
		"Of 2 waits for requests, 1 was matched between ranks. 1 was not: " + why,
	}
	got := m.Sentences()
	if len(got) < len(want) || !slices.Equal(got[:len(want)], want) || !strings.HasSuffix(got[len(got)-1], " 1 call is not in the log.") {
		t.Errorf("%q", got)
	}
	m.Receives = count(5, 2, 3)
	if got := m.Sentences()[0]; !strings.HasSuffix(got, "3 were not: "+why+" If each thread used a tag or communicator of its own, these could be matched.") {
		t.Error(got)
	}
}
