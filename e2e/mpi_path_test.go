package e2e

import (
	"fmt"
	"maps"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// step is a call of mpi_path.c, as recorded, with the calls that it needs by what the program says.
type step struct {
	start, end uint64
	line       int
	op         string
	needs      []*step
	rank, at   int
}

// stepsOf returns the recorded calls of each rank, in their order.
func stepsOf(t *testing.T, ranks []*profile.Profile) [][]*step {
	t.Helper()
	out := make([][]*step, len(ranks))
	for rank, p := range ranks {
		if len(p.Calls.Threads) != 1 {
			t.Fatalf("%d threads of rank %d called MPI", len(p.Calls.Threads), rank)
		}
		for rd := p.Calls.Reader(0); ; {
			c, ok := rd.Next()
			if !ok {
				break
			}
			out[rank] = append(out[rank], &step{start: c.Start, end: c.End, line: lineOfCall(p, c.Site), op: c.Op.String(), rank: rank, at: len(out[rank])})
		}
	}
	return out
}

// connect says which calls of mpi_path.c need which.
func connect(t *testing.T, ranks [][]*step, rounds int) {
	t.Helper()
	at := make([]int, len(ranks))
	next := func(rank int, op string) *step {
		if at[rank] >= len(ranks[rank]) || ranks[rank][at[rank]].op != op {
			t.Fatalf("call %d of rank %d is no %s", at[rank], rank, op)
		}
		at[rank]++
		return ranks[rank][at[rank]-1]
	}
	meet := func(op string, sure bool) {
		var all []*step
		last, left := uint64(0), ^uint64(0)
		for rank := range ranks {
			s := next(rank, op)
			all, last, left = append(all, s), max(last, s.start), min(left, s.end)
		}
		for _, s := range all {
			if sure || left >= last {
				s.needs = all
			}
		}
	}
	message := func(send, receive, wait *step) {
		send.needs, wait.needs = []*step{receive}, []*step{send}
	}
	meet("MPI_Init", false)
	for r := range rounds {
		a, b, c := r%3, (r+1)%3, (r+2)%3
		send, sends := next(a, "MPI_Send"), "MPI_Send"
		if r%2 == 1 {
			receive := next(b, "MPI_Irecv")
			message(send, receive, next(b, "MPI_Wait"))
			sends = "MPI_Ssend"
		} else {
			receive := next(b, "MPI_Recv")
			message(send, receive, receive)
		}
		send, receive := next(b, sends), next(c, "MPI_Recv")
		message(send, receive, receive)
		meet("MPI_Barrier", true)
	}
	meet("MPI_Finalize", false)
}

// onPath is a part of the critical path.
type onPath struct {
	rank, line int
	in         bool
}

// pathTruth follows the path back from the end of the last call. A call needs the latest of the
// calls that it needs, but a send needs no receive that came after its end.
func pathTruth(ranks [][]*step) (path map[onPath]int64, length int64) {
	var s *step
	for _, calls := range ranks {
		if last := calls[len(calls)-1]; s == nil || last.end > s.end {
			s = last
		}
	}
	path, end := map[onPath]int64{}, s.end
	for now := s.end; ; {
		last := s
		for _, o := range s.needs {
			if o.start > last.start && (o.start < s.end || s.op != "MPI_Send" && s.op != "MPI_Ssend") {
				last = o
			}
		}
		path[onPath{s.rank, s.line, true}] += int64(now - last.start)
		s = last
		if s.at == 0 {
			return path, int64(end - s.start)
		}
		before := ranks[s.rank][s.at-1]
		path[onPath{s.rank, s.line, false}] += int64(s.start - before.end)
		s, now = before, before.end
	}
}

// TestMPIPath: the critical path over the ranks is the one that the program's structure and the
// recorded times of its calls tell. As long as the ranks work in turns, most of it is their work.
func TestMPIPath(t *testing.T) {
	atOnce(t)
	const ranks, rounds, ms = 3, 6, 20
	for _, m := range bothMPIs {
		t.Run(fmt.Sprint(m), func(t *testing.T) {
			m.Need(t)
			bin := m.BuildWith(t, "gcc", "mpi_path.c", testbin.Options{Flags: []string{"-O2", "-g"}})
			line := m.Launch(ranks, bin, fmt.Sprint(rounds), fmt.Sprint(ms))
			s := run(t, options{env: m.LaunchEnv(t), flags: []string{"--waits"}}, line[0], line[1:]...)
			if s.exit != 0 {
				t.Fatalf("exit status %d: %s", s.exit, s.stderr)
			}
			ps := s.ranks(t, ranks)
			j := readJob(t, ps)
			steps := stepsOf(t, ps)
			connect(t, steps, rounds)
			want, length := pathTruth(steps)
			maps.DeleteFunc(want, func(_ onPath, ns int64) bool { return ns == 0 })
			got, c := map[onPath]int64{}, j.Severity
			for _, x := range c.JobPathParts() {
				for _, r := range x.Ranks {
					got[onPath{c.Processes[r.Thread].Rank, c.Regions[c.Paths[x.Path].Region].Location.Begin, x.In}] += r.Time
				}
			}
			if !maps.Equal(got, want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
			if p := c.JobPath; p == nil || p.Length != length || p.Unknown != 0 || length < rounds*3*ms*1e6 {
				t.Errorf("%+v, and the program took %d ns", p, length)
			}
			if n := j.Waits.Sends; n.Calls != 2*rounds || n.Matched != n.Calls {
				t.Errorf("%+v", j.Waits.Result)
			}
		})
	}
}
