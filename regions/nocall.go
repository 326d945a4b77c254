package regions

import (
	"slices"

	"ompp-attach/event"
	"ompp-attach/probes/inline"
	"ompp-attach/symbols"
)

// addInline says how constructs without a call are measured: at which instructions of the file's
// own code they are entered and left.
func (t *Table) addInline(o *symbols.Object) {
	if !slices.ContainsFunc(t.Regions, func(r Region) bool { return r.Runtime == event.Gomp }) {
		return
	}
	found := inline.Of(o)
	for i := range found.Constructs {
		c := &found.Constructs[i]
		if !c.Exact {
			continue // without the source there is no line to go by
		}
		for n := range t.Regions {
			r := &t.Regions[n]
			if r.Construct != c.Construct || r.File != c.File || r.Begin != c.Begin || r.Measure == Exact && len(r.Enter) == 0 {
				continue
			}
			r.Enter, r.Leave = append(r.Enter, points(c.Enter)...), append(r.Leave, points(c.Leave)...)
			r.Found |= ByCode
			r.Measure, r.Why = Exact, ""
			if c.End == event.EndNext {
				r.Measure, r.Why = Derived, "every execution is counted, but no place was found at which every thread leaves it: its time reaches to the thread's next event"
			}
		}
	}
}

func points(ps []inline.Point) (out []Point) {
	for _, p := range ps {
		out = append(out, Point{Addr: p.VAddr})
	}
	return out
}
