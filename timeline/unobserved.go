package timeline

// unobserved holds the gaps that an engine tells, in order of their ends.
type unobserved struct {
	gaps  []Gap
	apart int // number of gaps that were written to the file one by one
}

// Bounds of the gaps that are told one by one: in memory, and in the file of a plan that streams.
const (
	mostUnobserved = 1024
	mostApart      = 4096
)

// add adds a gap. If there are too many, the two closest gaps of one reason become one.
func (u *unobserved) add(g Gap) {
	if u.gaps = append(u.gaps, g); len(u.gaps) <= mostUnobserved {
		return
	}
	last, best, near := map[Gap]int{}, [2]int{}, ^uint64(0)
	for i, o := range u.gaps {
		kind := Gap{Why: o.Why, What: o.What}
		if j, ok := last[kind]; ok && best[1] == 0 || ok && o.From-min(o.From, u.gaps[j].To) < near {
			best, near = [2]int{j, i}, o.From-min(o.From, u.gaps[j].To)
		}
		last[kind] = i
	}
	if best[1] == 0 { // more kinds than gaps may be held
		u.gaps = u.gaps[1:]
		return
	}
	o := &u.gaps[best[0]]
	o.From, o.To = min(o.From, u.gaps[best[1]].From), max(o.To, u.gaps[best[1]].To)
	u.gaps = append(u.gaps[:best[1]], u.gaps[best[1]+1:]...)
}

// Gap implements Sink. A plan that streams writes a gap at once.
func (r *Recorder) Gap(g Gap) {
	if g.To < r.from || g.From > r.to || g.From >= g.To {
		return
	}
	g.From, g.To = max(g.From, r.from), min(g.To, r.to)
	if r.options.Plan.Stream && r.unobserved.apart < mostApart {
		r.unobserved.apart++
		r.packer.put(work{gap: &g})
		return
	}
	r.unobserved.add(g)
}

// since returns the gaps that end after the spans that were dropped for their age.
func (u *unobserved) since(dropped []Gap) (out []Gap) {
	from := uint64(0)
	for _, g := range dropped {
		if g.Why == ByAge {
			from = max(from, g.To)
		}
	}
	for _, g := range u.gaps {
		if g.To > from {
			out = append(out, g)
		}
	}
	return out
}
