package timeline

import (
	"cmp"
	"math"
	"slices"
)

// keeper decides which chunks of a shelf stay, if a plan keeps the longest executions of each
// region. All threads' spans that were under way during one of these stay. An execution is known to
// be long only when it ends. So the latest chunks stay for a while, too.
type keeper struct {
	claims []stretch // when the longest executions so far were under way
	whole  uint64    // ns: of a longer execution only its own span is kept
	lost   stretches // in which dropped spans ended
}

// 1/claimedShare of a shelf's bytes is for claimed chunks, 1/latestShare for the latest ones. The
// rest is for the chunks that come until the next sweep.
const (
	claimedShare = 2
	latestShare  = 4
)

// mostLost bounds the length of keeper.lost.
const mostLost = 4096

// sweep drops the chunks that overlap no claim, except the latest ones.
func (sh *shelf) sweep() {
	k := sh.keeper
	latest, bytes := len(sh.chunks), int64(0)
	for latest > 0 && bytes < sh.most/latestShare {
		latest--
		bytes += sh.chunks[latest].cost()
	}
	cover := k.cover()
	if sh.claimed(latest, cover) > sh.most/claimedShare {
		cover = sh.lower(latest)
	}
	sh.dropBut(cover, latest)
}

// dropBut drops the chunks before the latest ones that no stretch of a cover meets.
func (sh *shelf) dropBut(cover stretches, latest int) {
	k := sh.keeper
	stay := sh.chunks[:0]
	for i := range sh.chunks {
		if c := &sh.chunks[i]; i >= latest || cover.meets(c.stretch()) {
			stay = append(stay, *c)
		} else {
			sh.discard(c)
		}
	}
	clear(sh.chunks[len(stay):])
	sh.chunks = stay
	k.lost = joined(k.lost).atMost(mostLost)
}

// discard notes that a chunk is dropped.
func (sh *shelf) discard(c *chunk) {
	sh.bytes -= c.cost()
	sh.keeper.lost = append(sh.keeper.lost, stretch{c.firstEnd, c.last})
}

// cover returns the times for which all spans are kept: the times of the claimed executions that
// are not longer than whole.
func (k *keeper) cover() stretches {
	if k.whole == math.MaxUint64 {
		return joined(k.claims)
	}
	return joined(slices.DeleteFunc(slices.Clone(k.claims), func(s stretch) bool { return s.to-s.from > k.whole }))
}

// claimed returns the bytes of the older chunks (those before latest) that overlap a cover.
func (sh *shelf) claimed(latest int, cover stretches) (bytes int64) {
	for i := range sh.chunks[:latest] {
		if c := &sh.chunks[i]; cover.meets(c.stretch()) {
			bytes += c.cost()
		}
	}
	return bytes
}

// lower lowers whole until the spans during the remaining executions fit into memory. It returns
// the new cover.
func (sh *shelf) lower(latest int) stretches {
	k := sh.keeper
	var lengths []uint64
	for _, s := range k.claims {
		if s.to-s.from <= k.whole {
			lengths = append(lengths, s.to-s.from)
		}
	}
	slices.Sort(lengths)
	lengths = append([]uint64{0}, slices.Compact(lengths)...)
	n, _ := slices.BinarySearchFunc(lengths, sh.most/claimedShare, func(length uint64, most int64) int {
		k.whole = length
		if sh.claimed(latest, k.cover()) > most {
			return 1
		}
		return -1
	})
	k.whole = lengths[max(n-1, 0)]
	return k.cover()
}

// keepOnly drops all spans but those that overlap an execution of lo. Executions that no chunk
// holds are added. all is the time of the whole recording. The result is the gaps in it.
func (sh *shelf) keepOnly(lo *longest, all stretch, zip *packing) (gaps []Gap, err error) {
	k := sh.keeper
	k.claims = lo.claims()
	cover := k.cover()
	sh.dropBut(cover, len(sh.chunks)) // these need not be unpacked
	unpack, err := newUnpacking()
	if err != nil {
		return nil, err
	}
	there := map[uint64]bool{}
	stay := make([]chunk, 0, len(sh.chunks))
	for i := range sh.chunks {
		there[sh.chunks[i].id] = true
		left, err := trim(&sh.chunks[i], cover, unpack, zip)
		if err != nil {
			return nil, err
		}
		stay = append(stay, left...)
	}
	sh.chunks = append(stay, lo.missing(there, cover, zip)...)
	return k.gaps(all), nil
}

// trim returns chunks with those spans of a chunk that overlap a cover.
func trim(c *chunk, cover stretches, unpack *unpacking, zip *packing) ([]chunk, error) {
	if cover.holds(c.stretch()) {
		return []chunk{*c}, nil
	}
	spans, err := unpack.unpack(c.data)
	if err != nil {
		return nil, err
	}
	return zip.chunks(slices.DeleteFunc(spans, func(s Span) bool { return !cover.meets(stretch{s.From, s.To}) })), nil
}

// missing returns chunks of the executions that are held, but are in no chunk that stays.
func (lo *longest) missing(there map[uint64]bool, cover stretches, zip *packing) []chunk {
	var alone []Span
	for _, w := range lo.regions {
		for i := range w {
			if x := &w[i]; !there[x.chunk] || !cover.meets(x.stretch()) {
				alone = append(alone, x.span)
			}
		}
	}
	slices.SortFunc(alone, func(a, b Span) int { return cmp.Or(cmp.Compare(a.TID, b.TID), cmp.Compare(a.To, b.To)) })
	return zip.chunks(alone)
}

// gaps returns the times without spans: no execution that is held was under way (ByLength), or
// memory did not hold all spans (ByCap).
func (k *keeper) gaps(all stretch) (out []Gap) {
	held := joined(k.claims)
	for _, s := range held.atMost(mostLost).without(all) {
		out = append(out, Gap{From: s.from, To: s.to, Why: ByLength})
	}
	lacks := append(joined(k.lost).and(held), k.without(held)...)
	for _, s := range joined(lacks).atMost(mostLost) {
		out = append(out, Gap{From: s.from, To: s.to, Why: ByCap})
	}
	return out
}

// without returns the times in which only executions longer than whole were under way.
func (k *keeper) without(held stretches) (out stretches) {
	if k.whole == math.MaxUint64 {
		return nil
	}
	cover := k.cover()
	for _, s := range held {
		out = append(out, cover.without(s)...)
	}
	return out
}

// merge adds the losses and the limit of a keeper of later chunks.
func (k *keeper) merge(o *keeper) {
	k.whole = min(k.whole, o.whole)
	k.lost = joined(append(slices.Clone(k.lost), o.lost...))
}
