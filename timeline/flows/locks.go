package flows

import (
	"cmp"
	"fmt"
	"slices"

	"ompp-attach/event"
	"ompp-attach/timeline"
)

// lockID is a lock of a process. Address 0 is the lock of libgomp's criticals without a name.
type lockID struct {
	construct event.Construct
	runtime   string
	address   uint64
}

// held is an execution that had a lock: it asked at from, got the lock at got, and freed it at
// freed (engine's clock, ns).
type held struct {
	lock             lockID
	id               spanID
	from, got, freed uint64
}

// stretch is a time from one moment to another. In a stretch of locks.doubts, an execution that is
// not known by itself may have held a lock.
type stretch struct{ from, to uint64 }

// locks are the executions of a process that had locks.
type locks struct {
	file   *timeline.File
	list   []held
	doubts map[event.Construct][]stretch
	unsure string
	over   bool // there were more executions than may be held
}

var locking = event.SetOf(event.Critical) | event.SetOf(event.Lock) | event.SetOf(event.NestLock)

func newLocks(file *timeline.File) *locks {
	return &locks{file: file, doubts: map[event.Construct][]stretch{}, unsure: incomplete(file, locking)}
}

// take notes a span that has a lock.
func (l *locks) take(id spanID, s *timeline.Span) {
	r := &l.file.Dictionary.Regions[l.file.Dictionary.Nodes[s.Node].Region]
	if !locking.Has(r.Construct) || s.Kind == timeline.Created {
		return
	}
	if len(l.list) >= mostEnds {
		l.over = true
		return
	}
	h := held{lock: lockID{r.Construct, r.Runtime, s.Lock}, id: id, from: s.From}
	sum := uint64(0)
	for _, p := range s.Parts {
		sum += uint64(max(p.T, 0))
	}
	switch {
	case s.Flags&timeline.Unseen != 0: // it may have gone on for any time
		l.doubt(r.Construct, stretch{s.From, 1<<64 - 1})
	case s.Kind != timeline.Execution || s.Flags != 0 || s.Exec.C != 1 || sum != s.To-s.From || s.Lock == 0 && r.Construct != event.Critical:
		l.doubt(r.Construct, stretch{s.From, s.To})
	default:
		h.got = s.From + uint64(s.Parts[timeline.Enter].T)
		h.freed = h.got + uint64(s.Parts[timeline.Body].T)
		l.list = append(l.list, h)
	}
}

// doubt notes a stretch. A stretch that overlaps the one before becomes one with it.
func (l *locks) doubt(c event.Construct, s stretch) {
	list := l.doubts[c]
	if n := len(list); n > 0 && s.from <= list[n-1].to && s.to >= list[n-1].from {
		list[n-1] = stretch{min(s.from, list[n-1].from), max(s.to, list[n-1].to)}
		return
	}
	l.doubts[c] = append(list, s)
}

// joinOverlapping joins the stretches that overlap, so that they can be searched.
func joinOverlapping(list []stretch) (out []stretch) {
	slices.SortFunc(list, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	for _, s := range list {
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// touches tells whether a stretch of a settled list has a moment in common with another one.
func touches(list []stretch, s stretch) bool {
	i, _ := slices.BinarySearchFunc(list, s.from, func(d stretch, at uint64) int { return cmp.Compare(d.to, at) })
	return i < len(list) && list[i].from <= s.to
}

// handOver tells which execution got a lock from which. Executions with a lock follow each other.
// So a thread got the lock from the execution before its own on two conditions. That execution
// freed the lock after the thread had asked, and no other execution can have been between the two.
func (f *finder) handOver(file int, l *locks) {
	if l.over {
		f.without("locks that are handed over in "+title(l.file), fmt.Sprintf("there are more than %d executions", mostEnds))
		return
	}
	if l.unsure != "" {
		if len(l.list) > 0 {
			f.without("locks that are handed over in "+title(l.file), l.unsure)
		}
		return
	}
	for c, list := range l.doubts {
		l.doubts[c] = joinOverlapping(list)
	}
	var gaps []stretch
	for _, g := range l.file.Gaps {
		gaps = append(gaps, stretch{g.From, g.To})
	}
	gaps = joinOverlapping(gaps)
	slices.SortFunc(l.list, func(a, b held) int {
		return cmp.Or(cmp.Compare(a.lock.construct, b.lock.construct), cmp.Compare(a.lock.runtime, b.lock.runtime),
			cmp.Compare(a.lock.address, b.lock.address), cmp.Compare(a.got, b.got), cmp.Compare(b.freed, a.freed))
	})
	var last *held
	for i := range l.list {
		h := &l.list[i]
		if last == nil || last.lock != h.lock {
			last = h
			continue
		}
		if h.freed <= last.freed && h.id.tid == last.id.tid {
			continue // a nested lock, which the thread has already
		}
		before := stretch{last.got, h.got}
		if last.freed <= h.got && last.freed > h.from && last.id.tid != h.id.tid && !touches(l.doubts[h.lock.construct], before) && !touches(gaps, before) {
			f.flows++
			f.Locks++
			f.mark(file, last.id, Frees, f.flows, last.freed)
			f.mark(file, h.id, Gets, f.flows, h.got)
		}
		last = h
	}
}

// without notes flows that cannot be told.
func (f *finder) without(what, why string) {
	f.Without = append(f.Without, fmt.Sprintf("No flows show %s: %s.", what, why))
}

func title(file *timeline.File) string {
	if r := file.Rank(); r >= 0 {
		return fmt.Sprintf("rank %d", r)
	}
	return fmt.Sprintf("process %d", file.PID)
}
