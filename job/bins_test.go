package job

import "testing"

// TestBins: the bins of a region add up to the region's figures. A small job has a bin for each
// rank. A large one has several ranks in each bin.
func TestBins(t *testing.T) {
	for _, ranks := range []int{6, 1000} {
		extras := make([]int64, ranks)
		for r := range extras {
			extras[r] = int64(r%7) * ms
		}
		j := read(t, sources(t, toyJob(extras...)), Options{})
		if n := (ranks-1)/j.BinWidth() + 1; n > MostBins || ranks < MostBins && n != ranks {
			t.Errorf("%d ranks: bins of %d", ranks, j.BinWidth())
		}
		for _, g := range j.Regions {
			var sums [len(BinFigures)]int64
			var least, most, members = int64(1) << 62, int64(0), 0
			for i, b := range j.Bins(g) {
				if b.First != i*j.BinWidth() {
					t.Errorf("bin %d begins with rank %d", i, b.First)
				}
				members += b.Ranks
				least, most = min(least, b.Min), max(most, b.Max)
				var parts int64
				for k := range sums {
					sums[k] += b.Sums[k]
					if k > 0 {
						parts += b.Sums[k]
					}
				}
				if parts != b.Sums[0] {
					t.Errorf("%d ranks, %s: parts of a bin add up to %d of %d", ranks, g.Construct, parts, b.Sums[0])
				}
			}
			whole := g.Stats(ExecT)
			if members != ranks || least != whole.Min || most != whole.Max {
				t.Errorf("%d ranks, %s: %d ranks from %d to %d, want %d to %d", ranks, g.Construct, members, least, most, whole.Min, whole.Max)
			}
			for k, f := range BinFigures {
				if s := g.Stats(f); float64(sums[k]) != s.Total() {
					t.Errorf("%d ranks, %s: %s of all bins is %d, want %v", ranks, g.Construct, f, sums[k], s.Total())
				}
			}
		}
	}
}

// TestBinsWithoutRanks: a rank that did not reach a region, or was not read, has no time there.
func TestBinsWithoutRanks(t *testing.T) {
	all := toyJob(0, ms, 2*ms, 3*ms)
	all[1].Nodes = all[1].Nodes[:1]
	s := sources(t, all)
	j := read(t, append(s[:2:2], s[3]), Options{})
	bins := j.Bins(j.Regions[0])
	if len(bins) != 4 || bins[1].Ranks != 1 || bins[1].Max != 0 || bins[2].Ranks != 0 || bins[3].Min == 0 {
		t.Errorf("bins %+v", bins)
	}
}
