package reporttest

import (
	"strconv"
	"testing"

	"ompp-attach/attribution"
	"ompp-attach/attribution/stream"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// Figure9Job returns the ranks of the paper's Fig. 9. The ranks with an imbalance have more work.
func Figure9Job(t *testing.T, imbal ...uint64) (ranks []*profile.Profile) {
	t.Helper()
	for r, i := range imbal {
		p := Figure9(t, r, i)
		p.Meta.MPI.Size, p.Meta.Host = len(imbal), "node"+strconv.Itoa(r/2)
		ranks = append(ranks, p)
	}
	return ranks
}

// Figure6 is the paper's Fig. 6: ten executions of a region of four threads. Each thread sends
// 1 MiB in a critical section.
func Figure6(t *testing.T) *profile.Profile {
	r := &Tape{T: t, S: stream.Stream{PID: 1}}
	r.Place(attribution.Key{RuntimeConstruct: attribution.RuntimeConstruct{Construct: event.Parallel}, Fn: 300}, "", 50, 60)
	r.Place(attribution.Key{RuntimeConstruct: attribution.RuntimeConstruct{Construct: event.Critical}, Site: 400}, "", 53, 58)
	r.Place(attribution.Key{RuntimeConstruct: attribution.RuntimeConstruct{Construct: event.MPI}, Site: 500}, "MPI_Send", 55, 0)
	for i := range uint64(10) {
		from := 50 * i
		r.Region(from, from+42, 4, func(tid uint32) {
			mine := from + 10*uint64(tid-1)
			r.At(from, tid, event.Critical, event.Enter, event.Event{Site: 400})
			r.At(mine, tid, event.Critical, event.Acquired, event.Event{})
			r.Call(mine+1, mine+9, tid, "MPI_Send", 500, mpi.Args{Send: 1 << 20, Size: 2, Rank: 1})
			r.At(mine+10, tid, event.Critical, event.Release, event.Event{})
			r.At(mine+10, tid, event.Critical, event.Released, event.Event{})
			r.At(from+41, tid, event.Parallel, event.End, event.Event{})
		})
	}
	return r.Profile(500, 1, 2)
}

// Figure9 is a process of the paper's Fig. 9. Its threads have unequal shares of a loop. Then the
// primary thread calls MPI_Alltoall, which lasts until the last process has come. With imbal, the
// loop's slowest thread works for longer.
func Figure9(t *testing.T, rank int, imbal uint64) *profile.Profile {
	r := &Tape{T: t, S: stream.Stream{PID: 1}}
	r.Place(attribution.Key{RuntimeConstruct: attribution.RuntimeConstruct{Construct: event.Parallel}, Fn: 300}, "", 10, 30)
	r.Place(attribution.Key{RuntimeConstruct: attribution.RuntimeConstruct{Construct: event.Loop}, Site: 400}, "", 12, 20)
	r.Place(attribution.Key{RuntimeConstruct: attribution.RuntimeConstruct{Construct: event.Master}, Site: 410}, "", 21, 25)
	r.Place(attribution.Key{RuntimeConstruct: attribution.RuntimeConstruct{Construct: event.MPI}, Site: 500}, "MPI_Alltoall", 23, 0)
	r.Place(attribution.Key{RuntimeConstruct: attribution.RuntimeConstruct{Construct: event.Barrier}, Site: 420}, "", 26, 26)
	const work, slowest = 100, 400
	last := work + imbal
	r.Region(0, slowest+12, 2, func(tid uint32) {
		done := uint64(work)
		if tid == 2 {
			done = last
		}
		r.At(0, tid, event.Loop, event.Open, event.Event{Site: 400})
		r.At(done, tid, event.Loop, event.Wait, event.Event{})
		r.At(last, tid, event.Loop, event.Waited, event.Event{})
		if tid == 1 {
			r.At(last, 1, event.Master, event.Enter, event.Event{Site: 410, Flags: event.FreeAtOnce | event.NoReturn})
			r.Call(last, slowest+10, 1, "MPI_Alltoall", 500, mpi.Args{Send: 1000, Recv: 1000, Size: 4, Rank: int32(rank)})
			r.At(slowest+10, 1, event.Master, event.Release, event.Event{Flags: event.FreeAtOnce | event.NoReturn})
		}
		r.At(slowest+11, tid, event.Parallel, event.End, event.Event{})
	})
	return r.Profile(slowest+12, rank, 4)
}

// Launched is a rank that is in MPI_Init for the given time, sends for 20 ms, and is in
// MPI_Finalize for 40 ms.
func Launched(t *testing.T, rank int, init uint64) *profile.Profile {
	r := &Tape{T: t, S: stream.Stream{PID: 1}}
	for site, op := range map[uint64]string{500: "MPI_Init", 501: "MPI_Send", 502: "MPI_Finalize"} {
		r.Place(attribution.Key{RuntimeConstruct: attribution.RuntimeConstruct{Construct: event.MPI}, Site: site}, op, int(site), 0)
	}
	r.Call(0, init, 1, "MPI_Init", 500, mpi.Args{})
	r.Region(init, 820, 1, func(tid uint32) {
		r.Call(810, 820, tid, "MPI_Send", 501, mpi.Args{Send: 8, Size: 2})
		r.At(820, tid, event.Parallel, event.End, event.Event{})
	})
	r.Call(820, 830, 1, "MPI_Send", 501, mpi.Args{Send: 8, Size: 2})
	r.Call(960, 1000, 1, "MPI_Finalize", 502, mpi.Args{})
	return r.Profile(1000, rank, 4)
}
