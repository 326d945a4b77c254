package trigger

import "ompp-attach/timeline"

// Sink is a timeline.Sink that hands each span on to another sink, and looks for executions that
// fulfil conditions.
type Sink struct {
	timeline.Sink
	found []Found
	of    [][]int // by the engine's node: index in found
	tell  func(f *Found)
}

// Found counts the executions that fulfilled a condition.
type Found struct {
	*Condition
	Executions uint64        // that fulfilled the condition
	First      timeline.Span // the first of these executions
}

// NewSink returns a Sink in front of a sink. The engine's goroutine calls tell for each execution
// that fulfils a condition; tell must not wait.
func NewSink(to timeline.Sink, conditions []*Condition, tell func(f *Found)) *Sink {
	w := &Sink{Sink: to, tell: tell}
	for _, c := range conditions {
		w.found = append(w.found, Found{Condition: c})
	}
	return w
}

// Found returns the counts of all conditions, in their order.
func (w *Sink) Found() []Found { return w.found }

// Define implements timeline.Sink.
func (w *Sink) Define(d timeline.Definition) {
	for len(w.of) <= int(d.ID) {
		w.of = append(w.of, nil)
	}
	for i := range w.found {
		if w.found[i].covers(&d) {
			w.of[d.ID] = append(w.of[d.ID], i)
		}
	}
	w.Sink.Define(d)
}

// Span implements timeline.Sink.
func (w *Sink) Span(s *timeline.Span) {
	w.Sink.Span(s)
	if int(s.Node) >= len(w.of) {
		return
	}
	for _, i := range w.of[s.Node] {
		if f := &w.found[i]; f.Holds(s) {
			if f.Executions++; f.Executions == 1 {
				f.First = *s
				f.First.Counts = nil // the engine's
			}
			w.tell(f)
		}
	}
}
