package flows

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"ompp-attach/event"
	"ompp-attach/timeline"
)

// Role says what happens at an end of a flow.
type Role uint8

// The roles.
const (
	Sends    Role = iota // the call that a mark belongs to sends a message
	Receives             // the call has received a message
	Frees                // the execution frees a lock for which another thread waits
	Gets                 // the execution gets the lock
)

// Mark is an end of a flow.
type Mark struct {
	Span int32  // number of the span on its thread, from 0, in the order of timeline.File.Thread
	Role Role   //
	ID   uint64 // of the flow: the same at both of its ends, from 1
	At   uint64 // engine's clock of the process, ns
}

// Flows are the flows of some timelines.
type Flows struct {
	Messages, Locks int // number of flows of either kind
	// Without says in sentences which flows cannot be told, and why.
	Without []string

	marks map[threadID][]Mark
	tasks []tasks // by file
}

// threadID is a thread of a file.
type threadID struct {
	file int
	tid  uint32
}

// Thread returns the marks of a thread of the file with an index, in the order of spans and times.
func (f *Flows) Thread(file int, tid uint32) []Mark { return f.marks[threadID{file, tid}] }

// Task tells whether the creation and an execution of a task are both known. number is the task's
// number (timeline.Span.Task) in the file with an index.
func (f *Flows) Task(file int, number uint64) bool {
	return f.tasks[file].created.has(number) && f.tasks[file].executed.has(number)
}

// mostEnds bounds the calls, and the executions with locks, that are held at one time.
const mostEnds = 4 << 20

// Find finds the flows of some processes. It reads all spans. Damaged parts of a file are left out;
// other errors are those of reading.
func Find(of []*timeline.File) (*Flows, error) {
	f := &finder{Flows: &Flows{marks: map[threadID][]Mark{}, tasks: make([]tasks, len(of))}}
	for i, file := range of {
		if err := f.read(i, file); err != nil {
			return nil, err
		}
	}
	f.messages(of)
	for _, list := range f.marks {
		slices.SortStableFunc(list, func(a, b Mark) int {
			return cmp.Or(cmp.Compare(a.Span, b.Span), cmp.Compare(a.At, b.At), cmp.Compare(a.Role, b.Role))
		})
	}
	return f.Flows, nil
}

// finder finds flows.
type finder struct {
	*Flows
	flows uint64 // number of flows so far
	ranks []*rank
	calls int // number of sends and receives that are held
}

// spanID is a span of a thread.
type spanID struct {
	tid uint32
	n   int32
}

func (f *finder) mark(file int, id spanID, role Role, flow, at uint64) {
	t := threadID{file, id.tid}
	f.marks[t] = append(f.marks[t], Mark{id.n, role, flow, at})
}

// read collects the calls, locks and tasks of a process's spans.
func (f *finder) read(index int, file *timeline.File) error {
	r, l := newRank(index, file), newLocks(file)
	for _, tid := range file.TIDs() {
		n := int32(0)
		for s, err := range file.Thread(tid) {
			var damage *timeline.DamageError
			if errors.As(err, &damage) {
				r.unsure, l.unsure = damaged, damaged
				continue
			}
			if err != nil {
				return fmt.Errorf("read the timeline of thread %d: %w", tid, err)
			}
			f.tasks[index].take(s)
			l.take(spanID{tid, n}, s)
			if s.Kind == timeline.Call {
				f.calls += r.take(spanID{tid, n}, s)
			}
			n++
		}
	}
	f.ranks = append(f.ranks, r)
	f.handOver(index, l)
	return nil
}

// damaged is the reason where spans of a file cannot be read.
const damaged = "a part of the file is damaged"

// incomplete says why spans of some constructs may be missing; empty: they are missing only in the
// file's gaps.
func incomplete(file *timeline.File, of event.Constructs) string {
	m := &file.Dictionary.Meta
	switch {
	case file.Damaged() > 0:
		return damaged
	case file.Torn:
		return "the file is not complete"
	case m.LostHits > 0:
		return "events were lost"
	case m.Off.C > 0:
		return "measurement was off for some time"
	}
	for i := range m.Observations {
		if m.Observations[i].Of&of != 0 {
			return "they were not observed all of the time"
		}
	}
	return ""
}
