package perfetto

import (
	"cmp"
	"slices"

	"ompp-attach/timeline/flows"
)

// markedFlow is set in the numbers of flows that have a flows.Mark.ID. So they differ from the
// numbers of tasks' flows, which are made of process and task.
const markedFlow = 1 << 63

// marks are the ends of flows on a thread, span by span.
type marks struct {
	list []flows.Mark
	span int32
}

// next returns the ends that belong to the next span.
func (m *marks) next() []flows.Mark {
	n := 0
	for n < len(m.list) && m.list[n].Span == m.span {
		n++
	}
	ends := m.list[:n]
	m.list = m.list[n:]
	m.span++
	return ends
}

// expect takes the ends of flows that belong to a span which begins now. It returns the flow that
// leaves the span's begin; 0: none.
func (t *thread) expect(ends []flows.Mark) (leaves uint64) {
	for _, e := range ends {
		if e.Role == flows.Sends {
			leaves = markedFlow | e.ID
			continue
		}
		t.marks = append(t.marks, e)
	}
	slices.SortStableFunc(t.marks, func(a, b flows.Mark) int { return cmp.Compare(a.At, b.At) })
	return leaves
}

// ofRoles are the names of the moments at which flows begin or end within a slice.
var ofRoles = map[flows.Role]string{
	flows.Receives: "has received a message",
	flows.Frees:    "frees a lock that another thread waits for",
	flows.Gets:     "gets the lock",
}

// tellEnd writes a moment at which a flow begins or ends.
func (t *thread) tellEnd(e *flows.Mark) {
	m := moment{kind: instant, at: t.at(e.At), track: t.uuid, name: ofRoles[e.Role], category: "flow"}
	if e.Role == flows.Frees {
		m.flow = markedFlow | e.ID
	} else {
		m.terminates = markedFlow | e.ID
	}
	t.tell(&m)
}

// task numbers the way from a task's creation to its execution; 0: one of them is not known.
func (p *process) task(number uint64) uint64 {
	if number == 0 || !p.flows.Task(int(p.number-1), number) {
		return 0
	}
	return p.number<<48 ^ number
}
