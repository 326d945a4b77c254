package when

import "slices"

// box is one execution at one depth of a thread, or several that are drawn together. Times are ns
// since the picture's begin.
type box struct {
	from, to int64
	n        uint64 // executions
	sum      int64  // of their times
	parts    []part // by name, in the order in which they came
}

// part is the time (ns) of the executions of one name in a box.
type part struct {
	name int
	sum  int64
}

func (b *box) long() int64 { return b.to - b.from }

// most returns the name that took most of a box.
func (b *box) most() int {
	at := 0
	for i := range b.parts {
		if b.parts[i].sum > b.parts[at].sum {
			at = i
		}
	}
	return b.parts[at].name
}

// take adds another box to a box.
func (b *box) take(o *box) {
	b.from, b.to = min(b.from, o.from), max(b.to, o.to)
	b.n += o.n
	b.sum += o.sum
	for _, p := range o.parts {
		i := slices.IndexFunc(b.parts, func(q part) bool { return q.name == p.name })
		if i < 0 {
			b.parts = append(b.parts, p)
			continue
		}
		b.parts[i].sum += p.sum
	}
}

// layer holds the executions of a thread at one depth, in the order of their begins.
type layer []box

// add adds a box. Neighbouring boxes shorter than a limit (ns) become one, until it is as long as
// the limit. add returns by how many the number of boxes has grown.
func (l *layer) add(b box, limit int64) (added int) {
	if n := len(*l); n > 0 && b.long() < limit {
		if last := &(*l)[n-1]; last.long() < limit && b.from-last.to < limit {
			last.take(&b)
			return 0
		}
	}
	*l = append(*l, b)
	return 1
}

// coarsen joins boxes by a higher limit (ns). It returns how many are left.
func (l *layer) coarsen(limit int64) int {
	old := *l
	*l = (*l)[:0]
	n := 0
	for _, b := range old {
		n += l.add(b, limit)
	}
	clear(old[n:])
	return n
}
