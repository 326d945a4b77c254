package signature

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"ompp-attach/event"
	"ompp-attach/job"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// rank returns a rank that executes a parallel region with a critical section n times. It sends n
// messages of 8 and 16 bytes in turn outside of the region. All executions take a second.
func rank(number, n int) *profile.Profile {
	const sec = int64(1e9)
	span := func(n int) profile.Sum { return profile.Sum{T: int64(n) * sec, C: uint64(n)} }
	sent := &profile.MPIStats{T: int64(n) * sec, Calls: uint64(n), Sends: uint64(n), Out: [mpi.NumAccountings]uint64{uint64(12 * n), uint64(12 * n)}}
	leaf := *sent
	leaf.Sized, leaf.Min, leaf.Max = uint64(n), [mpi.NumAccountings]uint64{8, 8}, [mpi.NumAccountings]uint64{16, 16}
	both := func(s profile.ThreadStats) []profile.ThreadStats {
		second := s
		second.Thread = 1
		return []profile.ThreadStats{s, second}
	}
	return &profile.Profile{Version: profile.SchemaVersion,
		Meta: profile.Meta{Target: profile.Target{Program: "app", Args: []string{"./app", "100", "a b"}},
			Writer: profile.Writer{Tool: "test"}, Life: profile.Life{Duration: int64(3*n) * sec},
			MPI: &profile.MPIJob{Library: "Open MPI 4.1.4", Rank: number, Size: 2}},
		Threads: []profile.Thread{{Num: 0}, {Num: 1}},
		Regions: []profile.Region{{Construct: event.Parallel, Location: profile.Location{File: "a.c", Begin: 1, End: 9}},
			{Construct: event.Critical, Location: profile.Location{File: "a.c", Begin: 3, End: 5}},
			{Construct: event.MPI, Name: "MPI_Send", Location: profile.Location{File: "a.c", Begin: 12}}},
		Nodes: []profile.Node{{Parent: -1, Region: -1, Stats: []profile.ThreadStats{{MPI: sent}}},
			{Parent: 0, Region: 0, Stats: both(profile.ThreadStats{Exec: span(n), Body: span(n), Child: int64(n) * sec / 2})},
			{Parent: 1, Region: 1, Stats: both(profile.ThreadStats{Exec: profile.Sum{T: int64(n) * sec / 2, C: uint64(5 * n)},
				Enter: profile.Sum{T: int64(n) * sec / 4, C: uint64(5 * n)}, Body: profile.Sum{T: int64(n) * sec / 4, C: uint64(5 * n)}})},
			{Parent: 0, Region: 2, Stats: []profile.ThreadStats{{Exec: span(n), Body: span(n), MPI: &leaf}}}}}
}

// signatureOf returns what is written for a job of two ranks, of which these were read.
func signatureOf(t *testing.T, executions ...int) []byte {
	t.Helper()
	var sources []job.Source
	for number, n := range executions {
		var b bytes.Buffer
		if err := profile.Encode(&b, rank(number, n)); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, job.Source{Name: "x", Rank: number, Open: func() (io.ReadCloser, error) { return io.NopCloser(&b), nil }})
	}
	j, err := job.Read(sources, job.Options{Paths: true})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Of(j, mpi.Minimal).Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSignature(t *testing.T) {
	b := signatureOf(t, 2, 4)
	s, err := Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if s.Program != "app" || s.Arguments != "100 a b" || s.Ranks != 2 || s.Size != 2 || s.Threads.Sum != "4" || len(s.Regions) != 2 || len(s.Calls) != 1 {
		t.Fatalf("%s", b)
	}
	if len(s.Inside) != 2 || s.Inside[0] != (Inner{1, 12}) || s.Inside[1] != (Inner{3, 6}) {
		t.Errorf("in the program: %+v", s.Inside)
	}
	// Serial time is a third of each rank's.
	if s.Serial.Min != 2e9 || s.Serial.Max != 4e9 || s.Serial.Mean != 3e9 {
		t.Errorf("serial: %+v", s.Serial)
	}
	par, critical, call := s.Regions[0], s.Regions[1], s.Calls[0]
	if par.Construct != event.Parallel || par.Executions.Sum != "12" || par.Starts != 6 || par.Team != 2 || par.Work.Sum != "9000000000" {
		t.Errorf("%+v", par)
	}
	if len(par.Inside) != 1 || par.Inside[0] != (Inner{2, 60}) {
		t.Errorf("in the region: %+v", par.Inside)
	}
	if critical.Executions.Min != 20 || critical.Executions.Max != 40 || critical.Work.Sum != "3000000000" {
		t.Errorf("%+v", critical)
	}
	if call.Operation != "MPI_Send" || !call.Communicates || call.Calls.Sum != "6" || call.Sends.Mean != 3 || call.Sent.Sum != "72" ||
		call.Bytes == nil || *call.Bytes != (CallBytes{8, 12, 16}) {
		t.Errorf("%+v, %+v", call, call.Bytes)
	}
	if c := s.Times.Communication; c == nil || *c != 6 {
		t.Errorf("communication of all threads: %v", c)
	}
}

// TestMissingRank: the times of a run are those of all its ranks, though one could not be read.
// Older versions counted the others only.
func TestMissingRank(t *testing.T) {
	b := signatureOf(t, 2)
	var old map[string]any
	if err := json.Unmarshal(b, &old); err != nil {
		t.Fatal(err)
	}
	times := old["times"].(map[string]any)
	times["ranks"] = 1
	delete(times, "communication_s")
	older, err := json.Marshal(old)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"new": b, "old": older} {
		s, err := Read(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s.Ranks != 1 || s.Missing != 1 || s.Times.Ranks != 2 || (s.Times.Communication == nil) != (name == "old") {
			t.Errorf("%s: %d ranks, %d missing, times %+v", name, s.Ranks, s.Missing, s.Times)
		}
	}
	times["ranks"] = 3
	if older, err = json.Marshal(old); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(bytes.NewReader(older)); err == nil {
		t.Error("times of three ranks of two")
	}
}
