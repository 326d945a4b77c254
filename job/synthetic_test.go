package job

import (
	"bytes"
	"io"
	"testing"
	"time"

	"ompp-attach/event"
	"ompp-attach/profile"
)

const ms = int64(time.Millisecond)

// toy returns one of size ranks of the paper's toy example (Fig. 9). In a loop, the last of four
// threads works longer than the others by extra. Then thread 0 calls MPI_Alltoall, which ends at
// the same time on all ranks. most is the largest extra of all ranks.
func toy(rank, size int, extra, most int64) *profile.Profile {
	const threads = 4
	at := func(line, end int) profile.Location {
		return profile.Location{File: "/src/toy.c", Begin: line, End: end, Function: "main",
			Object: "/opt/bin/toy", Offset: uint64(0x1000 + line)}
	}
	p := &profile.Profile{Version: profile.SchemaVersion,
		Meta: profile.Meta{Target: profile.Target{Program: "toy", PID: 100 + rank},
			Machine: profile.Machine{Host: "node" + string(rune('a'+rank/2%26))}, Writer: profile.Writer{Tool: "test"},
			Life: profile.Life{Ended: "exit status 0", Start: time.Date(2026, 11, 21, 12, 0, 0, rank, time.UTC), Duration: 500*ms + most + int64(rank), UserTime: 1600*ms + extra},
			MPI:  &profile.MPIJob{Library: "Open MPI 4.1.4", Rank: rank, Size: size, Level: "MPI_THREAD_FUNNELED"}},
		Regions: []profile.Region{
			{Construct: event.Parallel, Location: at(10, 30)},
			{Construct: event.Loop, Location: at(12, 16)},
			{Construct: event.Master, Location: at(18, 22)},
			{Construct: event.MPI, Name: "MPI_Alltoall", Location: at(20, 20)},
			{Construct: event.Barrier, Location: at(24, 24)},
		},
		Nodes: []profile.Node{{Parent: -1, Region: -1}, {Parent: 0, Region: 0}, {Parent: 1, Region: 1},
			{Parent: 1, Region: 2}, {Parent: 3, Region: 3}, {Parent: 1, Region: 4}},
	}
	inMPI := 10*ms + most - extra
	sent := &profile.MPIStats{T: inMPI, Calls: 5, Colls: 5, Out: [2]uint64{5 << 20, 5 << 20}, In: [2]uint64{5 << 20, 5 << 20}}
	leaf := *sent
	leaf.Sized, leaf.Min, leaf.Max = 5, [2]uint64{1 << 20, 1 << 20}, [2]uint64{4 << 20, 4 << 20}
	for i := range threads {
		p.Threads = append(p.Threads, profile.Thread{Num: i})
		add := func(node int, s profile.ThreadStats) {
			s.Thread = i
			p.Nodes[node].Stats = append(p.Nodes[node].Stats, s)
		}
		work, wait, here := 400*ms, extra, (*profile.MPIStats)(nil)
		if i == threads-1 {
			work, wait = 400*ms+extra, 0
		}
		loop := work + wait
		span := func(t int64, c uint64) profile.Sum { return profile.Sum{T: t, C: c} }
		if i == 0 {
			here = sent
			add(0, profile.ThreadStats{MPI: sent})
			add(3, profile.ThreadStats{Exec: span(inMPI, 5), Body: span(inMPI, 5), Child: inMPI, MPI: sent})
			add(4, profile.ThreadStats{Exec: span(inMPI, 5), Body: span(inMPI, 5), MPI: &leaf})
			add(5, profile.ThreadStats{Exec: span(0, 5)})
		} else {
			add(5, profile.ThreadStats{Exec: span(inMPI, 5)})
		}
		add(2, profile.ThreadStats{Exec: span(loop, 5), Body: span(work, 5), Barrier: span(wait, 5)})
		add(1, profile.ThreadStats{Exec: span(loop+inMPI+2*ms, 5), Enter: span(ms, 5), Body: span(loop+inMPI, 5),
			Exit: span(ms, 5), Child: loop + inMPI, MPI: here})
	}
	return p
}

// toyJob returns the profiles of a job with the given extras, one per rank.
func toyJob(extras ...int64) (out []*profile.Profile) {
	var most int64
	for _, e := range extras {
		most = max(most, e)
	}
	for r, e := range extras {
		out = append(out, toy(r, len(extras), e, most))
	}
	return out
}

func encoded(t testing.TB, p *profile.Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := profile.Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func source(rank, copy int, data []byte) Source {
	return Source{Name: FileName(rank, copy), Rank: rank, Copy: copy,
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

func sources(t testing.TB, profiles []*profile.Profile) (out []Source) {
	t.Helper()
	for r, p := range profiles {
		out = append(out, source(r, 0, encoded(t, p)))
	}
	return out
}

func read(t testing.TB, s []Source, o Options) *Job {
	t.Helper()
	j, err := Read(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return j
}
