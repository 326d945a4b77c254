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

// row is a thread of the operating system.
type row struct {
	*maker
	file       *timeline.File
	label      string
	executions uint64
	lanes      []lane // by depth
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
		r := &row{maker: m, file: f}
		for s, err := range f.Thread(tid) {
			var damage *timeline.DamageError
			if errors.As(err, &damage) {
				m.gap(f, &damage.Gap)
				continue
			}
			if err != nil {
				return fmt.Errorf("read the timeline of thread %d: %w", tid, err)
			}
			if r.label == "" {
				r.label = labelOf(f, s, tid)
			}
			k := kinds[f.Dictionary.Nodes[s.Node].Region]
			r.take(s, k.name, k.level)
		}
		r.until(m.Length)
		if r.label == "" {
			continue
		}
		m.rows = append(m.rows, r)
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
	if r := f.Rank(); r >= 0 {
		label = fmt.Sprintf("rank %d, %s", r, label)
	}
	return label
}

func (r *row) time(ns uint64) int64 {
	at := r.file.Dictionary.Monotonic(ns)
	return int64(at - min(at, r.from))
}

// take adds a span.
func (r *row) take(s *timeline.Span, name, level int) {
	if s.Kind == timeline.Created {
		return
	}
	from, to := r.time(s.From), r.time(s.To)
	r.until(from)
	r.executions += s.Exec.C
	sum := to - from
	if s.Kind == timeline.Fold {
		sum = min(sum, s.Exec.T)
	}
	r.box(box{from: from, to: to, n: max(1, s.Exec.C), sum: sum, parts: []part{{name, sum}}})
	if s.Kind == timeline.Fold { // other executions lie between those of a fold
		return
	}
	r.open = append(r.open, opened{to, level})
	r.waiting(s, from)
}

// box adds a box at the present depth.
func (r *row) box(b box) {
	depth := len(r.open)
	for len(r.lanes) <= depth {
		r.lanes = append(r.lanes, nil)
	}
	r.count(r.lanes[depth].add(b, r.Shortest))
}

// until moves the row to a time (ns): executions that end by then are closed, and waits begin and
// end.
func (r *row) until(at int64) {
	for {
		n, next := len(r.open), int64(1<<63-1)
		if len(r.waits) > 0 {
			next = r.waits[0].from
		}
		switch {
		case n > 0 && r.open[n-1].to <= at && r.open[n-1].to <= next:
			r.spent(r.open[n-1].to)
			r.open = r.open[:n-1]
		case next <= at:
			w := r.waits[0]
			r.waits = r.waits[1:]
			if n == 0 || w.to > r.open[n-1].to { // something within goes on
				continue
			}
			r.spent(w.from)
			r.box(box{from: w.from, to: w.to, n: 1, sum: w.to - w.from, parts: []part{{w.name, w.to - w.from}}})
			r.open = append(r.open, opened{w.to, r.open[n-1].level})
		default:
			r.spent(at)
			return
		}
	}
}

// spent gives the innermost level the time since the last call, up to a moment (ns).
func (r *row) spent(at int64) {
	if n := len(r.open); n > 0 && at > r.at {
		r.spend(r.open[n-1].level, r.at, at)
	}
	r.at = max(r.at, at)
}

// waiting notes the waits of an execution. If the execution did not stand still, its parts follow
// each other, and the times of its waits are known.
func (r *row) waiting(s *timeline.Span, from int64) {
	c := r.file.Dictionary.Regions[r.file.Dictionary.Nodes[s.Node].Region].Construct
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
			r.waits = append(r.waits, wait{r.name(text, class), r.time(at), r.time(at + uint64(p.T))})
		}
		at += uint64(p.T)
	}
	slices.SortStableFunc(r.waits, func(a, b wait) int { return cmp.Compare(a.from, b.from) })
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
func (r *row) finish() Row {
	out := Row{Label: r.label, Executions: r.executions, Depth: len(r.lanes), Boxes: []int64{}}
	for depth, l := range r.lanes {
		last := int64(0)
		for i := range l {
			b := &l[i]
			out.Boxes = append(out.Boxes, int64(depth), b.from-last, b.long(), int64(b.most()), int64(b.n), b.sum)
			last = b.from
		}
	}
	return out
}
