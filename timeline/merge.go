package timeline

import (
	"cmp"
	"container/heap"
	"errors"
	"iter"
)

// Thread returns the spans of a thread of the operating system, in order of their starts. Of two
// spans with one start, the longer one comes first. So each span comes behind those around it. A
// pointer is valid until the next span. Spans without a node in the profile are left out.
//
// A damaged chunk yields a *DamageError in place of its spans, and the later chunks follow. A chunk
// also counts as damaged if more spans would overlap than a recorder can have told.
func (f *File) Thread(tid uint32) iter.Seq2[*Span, error] {
	return func(yield func(*Span, error) bool) {
		for s, err := range f.All(tid) {
			if (err != nil || s.Flags&Within == 0) && !yield(s, err) {
				return
			}
		}
	}
}

// All is Thread with the spans that are a part of the region around (Within).
func (f *File) All(tid uint32) iter.Seq2[*Span, error] {
	return func(yield func(*Span, error) bool) {
		m := merge{}
		for i := range f.chunks[tid] {
			c := &f.chunks[tid][i]
			if !m.until(c.first, f.tr, yield) {
				return
			}
			spans, err := f.load(c, f.held-m.Len())
			if err != nil && !yield(nil, err) {
				return
			}
			for j := range spans {
				m.add(&spans[j])
			}
		}
		m.until(1<<64-1, f.tr, yield)
	}
}

// mostHeld bounds the spans that are held at one time. Of a recorder's chunks, some ten overlap at
// one time, because spans nest. In a file that was made to harm, all chunks could overlap.
const mostHeld = 1 << 21

// load reads a chunk of a number of spans at most.
func (f *File) load(c *place, most int) ([]Span, error) {
	damage := &DamageError{c.tid, c.lost(ByDamage)}
	if c.spans > uint64(max(most, 0)) {
		return nil, damage
	}
	data, err := f.contents(c.at, c.size) // the file may have changed since Read
	if err != nil {
		return nil, err
	}
	spans := []Span(nil)
	if err = errDamaged; sumOf(blockChunk, data) == c.sum {
		spans, err = f.unpack.unpack(data)
	}
	if errors.Is(err, errDamaged) {
		return nil, damage
	}
	return spans, err
}

// merge holds the spans of the chunks that overlap the present moment.
type merge struct {
	spans []*Span
	added int
	order []int // of spans, by which they were added
}

func (m *merge) add(s *Span) {
	m.added++
	heap.Push(m, added{s, m.added})
}

type added struct {
	*Span
	n int
}

// until yields all spans that begin before a time. Behind those that begin at this time, longer
// ones may still come.
func (m *merge) until(at uint64, tr *translator, yield func(*Span, error) bool) bool {
	for len(m.spans) > 0 && (m.spans[0].From < at || at == 1<<64-1) {
		s := heap.Pop(m).(*Span)
		if tr.translate(s) && !yield(s, nil) {
			return false
		}
	}
	return true
}

// Len implements heap.Interface.
func (m *merge) Len() int { return len(m.spans) }

// Less implements heap.Interface. Of spans with equal times the one that ended last comes first: it
// was around the others.
func (m *merge) Less(i, j int) bool {
	a, b := m.spans[i], m.spans[j]
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To), cmp.Compare(m.order[j], m.order[i])) < 0
}

// Swap implements heap.Interface.
func (m *merge) Swap(i, j int) {
	m.spans[i], m.spans[j] = m.spans[j], m.spans[i]
	m.order[i], m.order[j] = m.order[j], m.order[i]
}

// Push implements heap.Interface.
func (m *merge) Push(x any) {
	a := x.(added)
	m.spans, m.order = append(m.spans, a.Span), append(m.order, a.n)
}

// Pop implements heap.Interface.
func (m *merge) Pop() any {
	n := len(m.spans) - 1
	s := m.spans[n]
	m.spans, m.order = m.spans[:n], m.order[:n]
	return s
}
