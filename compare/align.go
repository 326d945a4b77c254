package compare

import "ompp-attach/profile"

// What speaks for and against a pair of regions. As many regions as possible are matched. Of two
// ways to do so, the better one keeps the lines that regions have, and the lines between them.
const (
	perPair    = 1000
	perLength  = 10 // per line by which the lengths differ
	perShift   = 1  // per line by which the distance to the pair before differs
	mostLength = 30 // lines
	mostShift  = 100
	// mostCells bounds the pairs for which all pairs before are tried.
	mostCells = 1600
)

// alignment matches two lists of regions in their order: a longest common subsequence by construct
// and name. It returns pairs of indices.
func alignment(known, fresh []*profile.Region) (pairs [][2]int) {
	n, m := len(known), len(fresh)
	type cell struct {
		score int
		back  [2]int // the pair before; -1: none
	}
	best := make([][]cell, n)
	end, top := [2]int{-1, -1}, 0
	for i := range n {
		best[i] = make([]cell, m)
		for j := range m {
			if !sameKind(known[i], fresh[j]) {
				continue
			}
			x, y := &known[i].Location, &fresh[j].Location
			own := perPair - perLength*min(mostLength, distance(x.End-x.Begin, y.End-y.Begin))
			shift := y.Begin - x.Begin
			c := cell{own - perShift*min(mostShift, distance(shift, 0)), [2]int{-1, -1}}
			try := func(k, l int) {
				b := &best[k][l]
				if b.score == 0 {
					return
				}
				before := fresh[l].Location.Begin - known[k].Location.Begin
				if s := b.score + own - perShift*min(mostShift, distance(shift, before)); s > c.score {
					c = cell{s, [2]int{k, l}}
				}
			}
			if n*m <= mostCells {
				for k := range i {
					for l := range j {
						try(k, l)
					}
				}
			} else { // the nearest pairs before, along the diagonal and beside it
				for d := 1; d <= nearby; d++ {
					for e := 1; e <= nearby; e++ {
						if i >= d && j >= e {
							try(i-d, j-e)
						}
					}
				}
			}
			if best[i][j] = c; c.score > top {
				top, end = c.score, [2]int{i, j}
			}
		}
	}
	for at := end; at[0] >= 0; at = best[at[0]][at[1]].back {
		pairs = append(pairs, at)
	}
	return pairs
}

// nearby is how many regions in a row may be new or gone in a function with very many.
const nearby = 8

func distance(a, b int) int { return max(a-b, b-a) }
