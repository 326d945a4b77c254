package efficiency

import "ompp-attach/event"

// alone notes the MPI time of single threads for which other threads of the team wait: in SINGLE,
// and in MASTER or MASKED.
func (w *walker) alone() {
	for i := 1; i < len(w.p.Nodes); i++ {
		if w.paths.Team(i) < 0 {
			continue
		}
		var t int64
		for _, c := range w.classes[i] {
			t += c.MPI
		}
		if t == 0 {
			continue
		}
		switch w.sharing(i) {
		case event.Single:
			w.SingleMPI += t
		case event.Master, event.Masked:
			w.PrimaryMPI += t
		}
	}
}

// sharing returns the innermost construct around a node, within the node's team, of which one
// thread executes the body. The node's own construct counts. NoConstruct: there is no such
// construct. A task is none, whatever construct has created the task: any thread may execute it.
func (w *walker) sharing(node int) event.Construct {
	team := w.paths.Team(node)
	for i := node; i != team && i > 0; i = w.p.Nodes[i].Parent {
		switch c := w.p.Regions[w.p.Nodes[i].Region].Construct; {
		case c.ExecutesTask():
			return event.NoConstruct
		case c == event.Single, c == event.Master, c == event.Masked:
			return c
		}
	}
	return event.NoConstruct
}
