package tables

import (
	"io"
	"slices"

	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// WriteCells writes, as CSV, all figures of a profile: a line for each call path and thread. The
// lines without a path are those of the program outside of all regions. volumes is the way in which
// bytes are counted.
func WriteCells(w io.Writer, p *profile.Profile, volumes mpi.Accounting, o Options) error {
	v := newView(p, &o)
	t := &table{by: "cell", whole: v.whole, columns: slices.Concat([]column{{name: "path"}}, placeColumns,
		[]column{{name: "initial_thread", kind: count}, {name: "thread"}, {name: "exclusive_ns", kind: ns}}, partColumns(),
		[]column{{name: "task_ns", kind: ns}, {name: "tasks", kind: count}}, classColumns, []column{{name: "outside_ns", kind: ns}, {name: "idle_ns", kind: ns}},
		[]column{{name: "probes_ns", kind: ns}, {name: "without_core_ns", kind: ns}}, callColumns)}
	for _, c := range p.Meta.Counters {
		if c.Failed == "" {
			t.columns = append(t.columns, column{name: o.Clean(c.Name), kind: ns})
		}
	}
	for node := range p.Nodes {
		t.rows = append(t.rows, v.cells(node, volumes)...)
	}
	t.tell(v)
	return t.csv(w)
}

var partNames = [profile.NumParts]string{"exec", "enter", "body", "barrier", "exit"}

// partColumns are the time and the count of each part of an execution.
func partColumns() (out []column) {
	for _, n := range partNames {
		out = append(out, column{name: n + "_ns", kind: ns}, column{name: n + "_count", kind: count})
	}
	return out
}

var callColumns = []column{{name: "mpi_call_ns", kind: ns}, {name: "mpi_calls", kind: count}, {name: "sends", kind: count},
	{name: "receives", kind: count}, {name: "collectives", kind: count}, {name: "in_bytes", kind: count}, {name: "out_bytes", kind: count}}

// cells returns the lines of a node: one for each thread that executed it, or was idle meanwhile.
func (v *view) cells(node int, volumes mpi.Accounting) (rows []row) {
	n := &v.p.Nodes[node]
	at, idle, name := map[int]int{}, map[int]int64{}, ""
	for j := range n.Stats {
		at[n.Stats[j].Thread] = j
	}
	for _, w := range v.idle[node] {
		idle[w.Thread] += w.Time
	}
	if node == 0 {
		name = serialName
	}
	for thread, t := range v.p.Threads {
		j, here := at[thread]
		outside := int64(0)
		if node == 0 {
			outside = v.serial[thread]
		}
		if !here && idle[thread] == 0 && outside == 0 {
			continue
		}
		s, f := &profile.ThreadStats{}, figures{}
		if here {
			s = &n.Stats[j]
			f.add(v, node, j)
		}
		values := slices.Concat([]any{v.path(node)}, v.placeValues(n.Region, name), []any{uint64(t.Root), v.Thread(t), f.own})
		for _, part := range s.Parts() {
			values = append(values, part.T, part.C)
		}
		values = slices.Concat(append(values, s.Task, s.Tasks), classValues(f.classes), []any{outside, idle[thread]})
		values = append(values, costOf(s.Cost), costOf(s.NoCore))
		m := s.MPI
		if m == nil {
			m = &profile.MPIStats{}
		}
		values = append(values, m.T, m.Calls, m.Sends, m.Recvs, m.Colls, m.In[volumes], m.Out[volumes])
		rows = append(rows, row{f.own, append(values, v.counters(s)...), s.Estimate})
	}
	return rows
}

// costOf returns the own part of a cost.
func costOf(c *profile.Cost) any {
	if c == nil {
		return nil
	}
	return c.Exec - c.Child
}

// counters returns the inclusive counts of a thread at a node; nil for a count that is not known.
func (v *view) counters(s *profile.ThreadStats) (out []any) {
	for i, c := range v.p.Meta.Counters {
		switch {
		case c.Failed != "":
		case i >= len(s.Counters):
			out = append(out, nil)
		default:
			out = append(out, s.Counters[i])
		}
	}
	return out
}
