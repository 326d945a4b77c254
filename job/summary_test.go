package job

import (
	"slices"
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// waitIn makes a rank's all-to-all longer, and so the rank, too.
func waitIn(p *profile.Profile, t int64) {
	p.Meta.Duration += t
	p.Nodes[0].Stats[0].MPI.T += t // the region has the same MPIStats
	p.Nodes[4].Stats[0].MPI.T += t
	p.Nodes[4].Stats[0].Exec.T += t
	p.Nodes[4].Stats[0].Body.T += t
}

// mostIn replaces the MPI calls by another operation. In this operation, all ranks but rank 2 take
// longer.
func mostIn(op string) func(int, *profile.Profile) {
	return func(rank int, p *profile.Profile) {
		p.Regions[3].Name = op
		if rank != 2 {
			waitIn(p, 200*ms)
		}
	}
}

// TestSummary: the summary says what holds up a job. The loop of a rank is longer by a given time,
// and the other ranks wait that long in the all-to-all.
func TestSummary(t *testing.T) {
	// serial makes a rank longer outside of regions, in a function in which samples found it.
	serial := func(extra int64) func(int, *profile.Profile) {
		return func(rank int, p *profile.Profile) {
			p.Meta.Path, p.Meta.Sampling = "/opt/bin/toy", &profile.Sampling{Unit: "ns"}
			p.Frames = []profile.Frame{{Function: "memcpy", Object: "/lib/libc.so.6"},
				{Function: "pack", Object: "/opt/bin/toy"}, {Function: "spin", Object: "/lib/libmpi.so"}}
			weight := 50 * ms
			if rank == 2 {
				weight += extra
			} else {
				waitIn(p, extra)
			}
			p.Samples = []profile.Sample{{Stack: []int{0, 1}, Weight: uint64(weight)},
				{Stack: []int{2, 1}, Phase: profile.PhaseMPI, Weight: 1 << 40}}
		}
	}
	for _, tc := range []struct {
		name   string
		extra  [4]int64 // of each rank
		change func(rank int, p *profile.Profile)
		slow   []int
		excess int64
		where  int
		fn     string
		why    Why
		waits  int
		late   int64
	}{
		{name: "alike", where: -1, waits: -1},
		{name: "one rank", extra: [4]int64{0, 200 * ms, 0, 100 * ms}, slow: []int{1}, excess: 125 * ms, where: 1, why: Uneven, waits: 3},
		{name: "two ranks", extra: [4]int64{0, 200 * ms, 0, 190 * ms}, slow: []int{1, 3}, excess: 200*ms - 390*ms/4, where: 1, why: Uneven, waits: 3},
		{name: "more to do", extra: [4]int64{0, 200 * ms, 0, 0}, slow: []int{1}, excess: 150 * ms, where: 1, why: MoreWork, waits: 3,
			change: func(rank int, p *profile.Profile) {
				if rank == 1 {
					p.Nodes[2].Stats[0].Body.C *= 2
					p.Nodes[2].Stats[0].Exec.C *= 2
				}
			}},
		{name: "outside of regions", change: serial(200 * ms), slow: []int{2}, excess: 150 * ms, where: -1, fn: "pack", waits: 3},
		// Rank 2 leaves MPI_Init later, and the others wait for it.
		{name: "late from MPI_Init", where: -1, waits: 3, late: 200 * ms, change: func(rank int, p *profile.Profile) {
			if p.Meta.MPI.Left = 1e15; rank == 2 {
				p.Meta.MPI.Left += 200 * ms
			} else {
				waitIn(p, 200*ms)
			}
			p.Meta.Host = "one"
		}},
		{name: "late from MPI_Init, and slow", extra: [4]int64{0, 200 * ms, 0, 0}, slow: []int{1}, excess: 150 * ms, where: 1, why: Uneven, waits: 3, late: 200 * ms,
			change: func(rank int, p *profile.Profile) {
				if p.Meta.MPI.Left = 1e15; rank == 2 {
					p.Meta.MPI.Left += 200 * ms
				} else {
					waitIn(p, 200*ms)
				}
				p.Meta.Host = "one"
			}},
		{name: "late from MPI_Init, by another clock", slow: []int{2}, excess: 150 * ms, where: -1, waits: 3, change: func(rank int, p *profile.Profile) {
			if p.Meta.MPI.Left = 1e15; rank == 2 {
				p.Meta.MPI.Left += 200 * ms
			} else {
				waitIn(p, 200*ms)
			}
		}},
		// Rank 2 fails, and the others wait for it until the launcher ends them.
		{name: "killed", where: -1, waits: 3, change: func(rank int, p *profile.Profile) {
			if p.Meta.Host = "one"; rank == 2 {
				p.Meta.Ended, p.Meta.Exit = "killed by signal 9 (killed)", 137
			} else {
				p.Meta.Ended, p.Meta.Exit = "killed by signal 15 (terminated)", 143
				waitIn(p, 200*ms)
			}
		}},
		{name: "asleep", slow: []int{2}, excess: 150 * ms, where: -1, why: LessProcessor, waits: 3,
			change: func(rank int, p *profile.Profile) {
				if p.Meta.UserTime = 100 * ms; rank != 2 {
					p.Meta.UserTime = 300 * ms
					waitIn(p, 200*ms)
				}
			}},
		{name: "without a core", slow: []int{2}, excess: 150 * ms, where: -1, why: Crowded, waits: 3,
			change: func(rank int, p *profile.Profile) {
				if rank != 2 {
					waitIn(p, 200*ms)
					return
				}
				p.Nodes[0].Stats[0].NoCore = &profile.Cost{Exec: 4 * 200 * ms} // of all threads
			}},
		{name: "without a core in a call that cannot wait", slow: []int{2}, excess: 150 * ms, waits: -1, where: -1, change: mostIn("MPI_Irecv")},
		{name: "without a core in a call that may wait", slow: []int{2}, excess: 150 * ms, waits: 3, where: -1, change: mostIn("MPI_Wait")},
		{name: "without a core in the region, all lack as much in sum", extra: [4]int64{0, 200 * ms, 0, 0}, slow: []int{1}, excess: 150 * ms,
			where: 1, why: Crowded, waits: 3, change: func(rank int, p *profile.Profile) {
				last := len(p.Nodes[2].Stats) - 1
				lack := &profile.Cost{Exec: 190 * ms, Body: 190 * ms}
				p.Nodes[0].Stats[0].NoCore = &profile.Cost{Exec: 190 * ms}
				if rank == 1 { // the thread that comes last
					p.Nodes[1].Stats[last].NoCore, p.Nodes[2].Stats[last].NoCore = &profile.Cost{Exec: 190 * ms, Body: 190 * ms, Child: 190 * ms}, lack
				}
			}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var ranks []*profile.Profile
			for r, extra := range tc.extra {
				p := toy(r, len(tc.extra), extra, slices.Max(tc.extra[:]))
				if tc.change != nil {
					tc.change(r, p)
				}
				ranks = append(ranks, p)
			}
			s := read(t, sources(t, ranks), Options{}).Summary(mpi.Minimal)
			if !slices.Equal(s.Slow, tc.slow) || s.Where != tc.where || s.Function != tc.fn || s.Why != tc.why || s.Waits != tc.waits {
				t.Errorf("%+v, want %+v", s, tc)
			}
			if s.Late.Max != tc.late || s.Waited != (tc.late > 0) || tc.late > 0 && s.Late.MaxRank != 2 {
				t.Errorf("late: %+v, want %d", s.Late, tc.late)
			}
			// Ranks differ by some ns.
			if d := int64(s.Excess) - tc.excess; len(tc.slow) > 0 && (d < -10 || d > 10) {
				t.Errorf("excess %.0f, want %d", s.Excess, tc.excess)
			}
		})
	}
}
