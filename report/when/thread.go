package when

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"ompp-attach/event"
	"ompp-attach/report/words"
	"ompp-attach/timeline"
	"ompp-attach/timeline/flows"
)

// thread is a thread of the operating system, before it is drawn.
type thread struct {
	*maker
	file       *timeline.File
	label      string
	executions uint64
	layers     []layer // by depth
	open       []opened
	waits      []wait // waits that begin later than at, by their begins
	at         int64  // time up to which levels have been given their time, ns
}

// opened is an execution that has begun.
type opened struct {
	to    int64
	level int
}

// wait is a part of an execution in which its thread waits, or the runtime works.
type wait struct {
	name     int
	from, to int64
}

// process adds the threads of a process.
func (m *maker) process(f *timeline.File, index int, found *flows.Flows) error {
	m.gaps(f)
	type kind struct{ name, level int }
	kinds := make([]kind, len(f.Dictionary.Regions))
	for i := range f.Dictionary.Regions {
		kinds[i].name, kinds[i].level = m.describe(&f.Dictionary.Regions[i])
	}
	for _, tid := range f.TIDs() {
		if len(m.rows) == mostRows {
			m.LeftOut++
			continue
		}
		t := &thread{maker: m, file: f}
		for s, err := range f.Thread(tid) {
			var damage *timeline.DamageError
			if errors.As(err, &damage) {
				m.gap(f, &damage.Gap)
				continue
			}
			if err != nil {
				return fmt.Errorf("read the timeline of thread %d: %w", tid, err)
			}
			if t.label == "" {
				t.label = labelOf(f, s, tid)
			}
			k := kinds[f.Dictionary.Nodes[s.Node].Region]
			t.take(s, k.name, k.level)
		}
		t.until(m.Length)
		if t.label == "" {
			continue
		}
		m.rows = append(m.rows, t)
		m.receive(len(m.rows)-1, f, found.Thread(index, tid))
	}
	return nil
}

// labelOf names a thread. The first span tells the thread's number in OpenMP.
func labelOf(f *timeline.File, s *timeline.Span, tid uint32) string {
	label := fmt.Sprintf("thread %d", tid)
	if n := int(s.Thread); n >= 0 && n < len(f.Dictionary.Threads) {
		label = "thread " + words.Thread(f.Dictionary.Threads[n])
	}
	if t := f.Rank(); t >= 0 {
		label = fmt.Sprintf("rank %d, %s", t, label)
	}
	return label
}

func (t *thread) time(ns uint64) int64 {
	at := t.file.Dictionary.Monotonic(ns)
	return int64(at - min(at, t.from))
}

// take adds a span.
func (t *thread) take(s *timeline.Span, name, level int) {
	if s.Kind == timeline.Created {
		return
	}
	from, to := t.time(s.From), t.time(s.To)
	t.until(from)
	t.executions += s.Exec.C
	sum := to - from
	if s.Kind == timeline.Fold {
		sum = min(sum, s.Exec.T)
	}
	t.box(box{from: from, to: to, n: max(1, s.Exec.C), sum: sum, parts: []part{{name, sum}}})
	if s.Kind == timeline.Fold { // other executions lie between those of a fold
		return
	}
	t.open = append(t.open, opened{to, level})
	t.waiting(s, from)
}

// box adds a box at the present depth.
func (t *thread) box(b box) {
	depth := len(t.open)
	for len(t.layers) <= depth {
		t.layers = append(t.layers, nil)
	}
	t.count(t.layers[depth].add(b, t.Shortest))
}

// until moves the thread to a time (ns): executions that end by then are closed, and waits begin
// and end.
func (t *thread) until(at int64) {
	for {
		n, next := len(t.open), int64(1<<63-1)
		if len(t.waits) > 0 {
			next = t.waits[0].from
		}
		switch {
		case n > 0 && t.open[n-1].to <= at && t.open[n-1].to <= next:
			t.spent(t.open[n-1].to)
			t.open = t.open[:n-1]
		case next <= at:
			w := t.waits[0]
			t.waits = t.waits[1:]
			if n == 0 || w.to > t.open[n-1].to { // something within goes on
				continue
			}
			t.spent(w.from)
			t.box(box{from: w.from, to: w.to, n: 1, sum: w.to - w.from, parts: []part{{w.name, w.to - w.from}}})
			t.open = append(t.open, opened{w.to, t.open[n-1].level})
		default:
			t.spent(at)
			return
		}
	}
}

// spent gives the innermost level the time since the last call, up to a moment (ns).
func (t *thread) spent(at int64) {
	if n := len(t.open); n > 0 && at > t.at {
		t.spend(t.open[n-1].level, t.at, at)
	}
	t.at = max(t.at, at)
}

// waiting notes the waits of an execution. If the execution did not stand still, its parts follow
// each other, and the times of its waits are known.
func (t *thread) waiting(s *timeline.Span, from int64) {
	c := t.file.Dictionary.Regions[t.file.Dictionary.Nodes[s.Node].Region].Construct
	if s.Kind != timeline.Execution || s.Flags&timeline.Unseen != 0 || c.ExecutesTask() {
		return
	}
	sum := uint64(0)
	for _, p := range s.Parts {
		if p.T < 0 {
			return
		}
		sum += uint64(p.T)
	}
	if sum != s.To-s.From || uint64(s.Parts[timeline.Body].T) == sum {
		return
	}
	at := s.From
	for i, p := range s.Parts {
		if text, class := partOf(c, i); p.T > 0 && text != "" {
			t.waits = append(t.waits, wait{t.name(text, class), t.time(at), t.time(at + uint64(p.T))})
		}
		at += uint64(p.T)
	}
	slices.SortStableFunc(t.waits, func(a, b wait) int { return cmp.Compare(a.from, b.from) })
}

// partOf names a part of an execution (timeline.Enter and so on), and tells its class of overhead.
// Empty: the part is the construct's body.
func partOf(c event.Construct, part int) (text, class string) {
	overhead := c.Form().Overhead
	switch part {
	case timeline.Enter:
		if c.IsParallel() {
			return "startup", "mgmt"
		}
		return "waits to enter", "synch"
	case timeline.Barrier:
		switch overhead {
		case event.ShareLimpar:
			return "implicit barrier", "limpar"
		case event.TasksSynch, event.WaitSynch, event.WholeSynch:
			return "waits", "synch"
		}
		return "implicit barrier", "imbal"
	case timeline.Exit:
		if c.IsParallel() {
			return "shutdown", "mgmt"
		}
		return "leaves", "mgmt"
	}
	return "", ""
}

// finish writes the boxes.
func (t *thread) finish() Thread {
	out := Thread{Label: t.label, Executions: t.executions, Depth: len(t.layers), Boxes: []int64{}}
	for depth, l := range t.layers {
		last := int64(0)
		for i := range l {
			b := &l[i]
			out.Boxes = append(out.Boxes, int64(depth), b.from-last, b.long(), int64(b.most()), int64(b.n), b.sum)
			last = b.from
		}
	}
	return out
}
