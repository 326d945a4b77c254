// Package strip puts together what the ranks of a job did over time.
package strip

import (
	"math"
	"slices"
	"time"

	"ompp-attach/profile"
)

// The limits of a job's strip. They hold for any number of ranks, and for any length.
const (
	mostBins = 256
	mostRows = 128
)

// states are the states of a strip.
var states = [...]profile.State{profile.StateWork, profile.StateBarrier, profile.StateLock, profile.StateMPI, profile.StateRuntime}

// Job tells in which states the ranks were over time, beginning with the start of the first rank.
// Times of different nodes are compared by the nodes' clocks.
type Job struct {
	Width int64 // of a bin, ns
	Bins  int   // 256 at most
	Rows  []Row // by rank, 128 at most
}

// Row is a rank, or neighbouring ranks: the mean of their threads.
type Row struct {
	First, Last int // ranks
	// States holds, for each state, its share in each bin, in units of 1/profile.WholeBin, rounded.
	States map[profile.State][]byte
	Times  map[profile.State]int64 // of each state, ns
}

// Rank is the strip of one rank: the mean of its threads, in 256 bins at most.
type Rank struct {
	rank   int
	start  time.Time
	width  float64 // of a bin, ns
	shares [len(states)][]byte
}

// bins returns the number of bins of the rank's strip.
func (r *Rank) bins() (n int) {
	for _, s := range r.shares {
		n = max(n, len(s))
	}
	return n
}

// Of reduces the strip of a rank's profile; nil: it has none.
func Of(p *profile.Profile, rank int) *Rank {
	s := p.Strip
	if s == nil || len(s.Rows) == 0 {
		return nil
	}
	by := (s.Bins + mostBins - 1) / mostBins
	out := &Rank{rank: rank, start: p.Meta.Start, width: float64(s.Width) * float64(by)}
	for k, state := range states {
		sums := make([]float64, (s.Bins+by-1)/by)
		for i := range s.Rows {
			for bin := range s.Rows[i].States[state] {
				sums[bin/by] += s.Rows[i].Share(state, bin)
			}
		}
		if slices.Max(sums) > 0 {
			out.shares[k] = sharesOf(sums, float64(by*len(s.Rows)))
		}
	}
	return out
}

// sharesOf returns parts as shares of the whole, in units of 1/profile.WholeBin.
func sharesOf(parts []float64, whole float64) []byte {
	out := make([]byte, len(parts))
	for i, v := range parts {
		out[i] = byte(min(1, v/whole)*profile.WholeBin + 0.5)
	}
	return out
}

// Join puts the strips of ranks together; nil: there is nothing in them.
func Join(ranks []*Rank) *Job {
	if len(ranks) == 0 {
		return nil
	}
	slices.SortFunc(ranks, func(a, b *Rank) int { return a.rank - b.rank })
	first, length := ranks[0].start, 0.0
	for _, r := range ranks {
		if r.start.Before(first) {
			first = r.start
		}
	}
	for _, r := range ranks {
		length = max(length, float64(r.start.Sub(first))+float64(r.bins())*r.width)
	}
	if length <= 0 {
		return nil
	}
	out := &Job{Width: int64(math.Ceil(length / mostBins)), Bins: mostBins}
	by := (len(ranks) + mostRows - 1) / mostRows
	for some := range slices.Chunk(ranks, by) {
		out.Rows = append(out.Rows, out.row(some, first))
	}
	return out
}

// row is the mean of some ranks.
func (s *Job) row(ranks []*Rank, first time.Time) Row {
	row := Row{First: ranks[0].rank, Last: ranks[len(ranks)-1].rank, States: map[profile.State][]byte{}, Times: map[profile.State]int64{}}
	for k, state := range states {
		sums, all := make([]float64, s.Bins), 0.0
		for _, r := range ranks {
			at := float64(r.start.Sub(first))
			for bin, v := range r.shares[k] {
				if v != 0 {
					share := float64(v) / profile.WholeBin
					s.spread(sums, share, at+float64(bin)*r.width, r.width)
					all += share * r.width
				}
			}
		}
		if all > 0 {
			row.States[state] = sharesOf(sums, float64(s.Width)*float64(len(ranks)))
			row.Times[state] = int64(all / float64(len(ranks)))
		}
	}
	return row
}

// spread distributes a share of a stretch of time over the bins. The stretch begins at from, and is
// length long (ns).
func (s *Job) spread(sums []float64, share, from, length float64) {
	width := float64(s.Width)
	for bin := int(from / width); bin < len(sums) && float64(bin)*width < from+length; bin++ {
		begin, end := max(from, float64(bin)*width), min(from+length, float64(bin+1)*width)
		sums[bin] += share * max(0, end-begin)
	}
}
