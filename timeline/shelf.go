package timeline

import (
	"cmp"
	"slices"
)

// shelf keeps chunks in memory. They are the latest ones, up to a number of bytes and an age, or
// the chunks that a keeper wants.
type shelf struct {
	chunks []chunk // in the order in which they were closed
	bytes  int64
	most   int64
	age    uint64 // ns; 0: any
	gaps   []Gap
	keeper *keeper // of a plan that keeps the longest executions; nil: the latest chunks are kept
}

// put keeps a chunk, and drops those that are too old or too many.
func (sh *shelf) put(c chunk, now uint64) {
	c.data = slices.Clip(c.data)
	if cap(c.data) > len(c.data)+len(c.data)/4 {
		c.data = slices.Clone(c.data)
	}
	sh.chunks = append(sh.chunks, c)
	sh.bytes += c.cost()
	if sh.keeper != nil {
		if sh.bytes > sh.most {
			sh.sweep()
		}
		return
	}
	n := 0
	for ; n < len(sh.chunks); n++ {
		x := &sh.chunks[n]
		why := ByCap
		if sh.age != 0 && x.last+sh.age < now {
			why = ByAge
		} else if sh.bytes <= sh.most {
			break
		}
		sh.drop(Gap{From: x.first, To: x.last, Why: why, Spans: x.spans})
		sh.bytes -= x.cost()
		*x = chunk{}
	}
	sh.chunks = sh.chunks[n:]
}

// mostGaps bounds the gaps that are told one by one.
const mostGaps = 256

// drop notes that spans are missing. Two gaps of one reason become one if they overlap, or if the
// reason is the age or the cap. They also do so if there are too many gaps.
func (sh *shelf) drop(g Gap) {
	for i := range sh.gaps {
		if o := &sh.gaps[i]; o.Why == g.Why && (g.From <= o.To && o.From <= g.To || g.Why == ByAge || g.Why == ByCap || len(sh.gaps) >= mostGaps) {
			o.include(g)
			return
		}
	}
	sh.gaps = append(sh.gaps, g)
	slices.SortFunc(sh.gaps, func(a, b Gap) int { return cmp.Compare(a.From, b.From) })
}

// clone returns a shelf with the same chunks. Their bytes are shared, because nobody changes them.
func (sh *shelf) clone() shelf {
	c := *sh
	c.chunks, c.gaps = slices.Clone(sh.chunks), slices.Clone(sh.gaps)
	if sh.keeper != nil {
		k := *sh.keeper
		k.lost = slices.Clip(k.lost)
		c.keeper = &k
	}
	return c
}
