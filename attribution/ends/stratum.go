package ends

import (
	"math"
	"math/bits"
)

// Gap is the time from the moment at which a thread can go on to the thread's next event.
type Gap struct {
	Time int64 // ns
	Idle bool  // the thread waited for a core in the gap, or in the call before
}

// longGap is the number of binary digits of a long gap (ns): 65 us.
const longGap = 17

func (g Gap) digits() int { return bits.Len64(uint64(g.Time)) }

// stratum holds sums over executions with gaps of the same number of binary digits. Their threads
// all waited for a core, or none of them did.
type stratum struct {
	digits int
	idle   bool
	long   bool // the gaps are long: at least longGap digits
	// Sums over executions that chance chose, each times its weight: of times and gaps (ns), of
	// their squares and products (ns squared), of 1, and of the weight.
	sum, gaps, squaredSum, products, squaredGaps, n, squaredN float64
	// Sums of the times and gaps (ns) of the other reported executions.
	early, earlyGaps float64
	// Sums over executions whose end was derived. They are of gaps (ns) and their squares, of
	// the guessed times, and of the times that Derive has returned (ns). The last one is the
	// number of executions.
	all, squares, guessed, given, derived float64
}

// stratum returns the stratum of a gap; nil if it has no execution yet.
func (y *Mean) stratum(g Gap) *stratum {
	if y == nil {
		return nil
	}
	return y.like(&stratum{digits: g.digits(), idle: g.Idle})
}

// like returns the stratum for the gaps that a stratum of another Mean has; nil if it has no
// execution yet.
func (y *Mean) like(o *stratum) *stratum {
	if y == nil {
		return nil
	}
	for i := range y.strata {
		if s := &y.strata[i]; s.digits == o.digits && s.idle == o.idle {
			return s
		}
	}
	return nil
}

// makeStratum returns the stratum of a gap, and makes it if need be.
func (y *Mean) makeStratum(g Gap) *stratum {
	if s := y.stratum(g); s != nil {
		return s
	}
	y.strata = append(y.strata, stratum{digits: g.digits(), idle: g.Idle, long: g.digits() >= longGap})
	return &y.strata[len(y.strata)-1]
}

// learn adds an execution: its time and its gap, in ns.
func (s *stratum) learn(d, gap float64, w Weight) {
	if w == NotByChance {
		s.early, s.earlyGaps = s.early+d, s.earlyGaps+gap
		return
	}
	n := float64(w)
	s.sum, s.gaps, s.n, s.squaredN = s.sum+n*d, s.gaps+n*gap, s.n+n, s.squaredN+n*n
	s.squaredSum, s.products, s.squaredGaps = s.squaredSum+n*d*d, s.products+n*d*gap, s.squaredGaps+n*gap*gap
}

// share returns the part of its gap that an execution takes. gap is a usual gap (ns). r is a guess
// of that part. The guess counts as much as some executions (guesses).
func (s *stratum) share(gap, r float64) float64 {
	return (s.sum + guesses*gap*r) / (s.gaps + guesses*gap)
}

// shareOfAll is like share, but counts all reported executions, also those that chance did not
// choose.
func (s *stratum) shareOfAll(gap, r float64) float64 {
	return s.share(gap, (s.early+guesses*gap*r)/(s.earlyGaps+guesses*gap))
}

// part returns the part of their gaps that derived executions took, by all that is known now.
func (s *stratum) part() float64 { return s.share(s.all/s.derived, s.guessed/s.all) }

// due returns the time that derived executions took (ns), by all that is known now.
func (s *stratum) due() float64 { return s.part() * s.all }

// spread is the variance of the part of the gap that executions take (Cochran, section 6.4). If
// chance chose few executions, each counts as if it took nothing or all of the gap. No variance can
// be greater.
func (s *stratum) spread(guess float64) float64 {
	const few = 2
	if s.long {
		guess = 0.5
	}
	r, mean := s.sum/max(1, s.gaps), s.gaps/max(1, s.n)
	n := s.n * s.n / max(1, s.squaredN) // so many executions of the same weight tell as much
	p := (r*n + guess) / (n + 1)
	parts := few * p * (1 - p)
	if n > 0 {
		parts += max(0, s.squaredSum-2*r*s.products+r*r*s.squaredGaps) / (mean * mean) * n / s.n
	}
	return min(0.25, parts/(n+1))
}

// variance is the variance of due that comes from chance's choice, ns squared. others is the
// stratum of all regions with such gaps, or nil. It tells the spread, if it has more executions.
func (s *stratum) variance(others *stratum) float64 {
	from, n := s, s.n+guesses
	if others != nil && others.n > s.n {
		from = others
	}
	return from.spread(s.part()) * (s.all*s.all*s.squaredN/(n*n) + s.squares)
}

// doubt is the standard error of due that comes from the guess (ns). For short gaps it is a share
// of the guess. For long gaps it falls with known, the number of reported executions with long
// gaps.
func (s *stratum) doubt(known float64) float64 {
	const share, ofRegions = 0.3, 0.1
	off := share * s.part()
	if s.long {
		off = math.Sqrt(ofRegions*ofRegions + 0.25/(known+1))
	}
	return off * s.all * guesses / (s.n + guesses)
}
