package inline

import (
	"fmt"
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/probes/disasm/taint"
	"ompp-attach/symbols/directives"
)

// assign gives directives to loops whose code was all inlined from elsewhere. Such a loop has no
// line in a directive's block. The loops get the directives of the region for which no code was
// found, if there are as many directives as loops.
func (f *function) assign(groups [][]*share, of [][]directives.Directive) {
	var open []int
	for k := range groups {
		if len(of[k]) == 0 && groups[k][0].flags&taint.Remainder != 0 && !f.arrays(groups[k][0]) {
			open = append(open, k)
		}
	}
	if len(open) == 0 {
		return
	}
	absent := f.absent()
	if len(absent) != len(open) {
		return
	}
	slices.SortFunc(open, func(a, b int) int {
		x, y := groups[a][0].header, groups[b][0].header
		switch {
		case f.follows(x, y):
			return -1
		case f.follows(y, x):
			return 1
		}
		return x - y
	})
	for i, k := range open {
		of[k] = []directives.Directive{absent[i]}
		f.seen = append(f.seen, absent[i])
	}
}

// arrays reports whether a loop belongs to a workshare construct.
func (f *function) arrays(s *share) bool {
	for _, n := range slices.Concat(s.cycles...) {
		for _, i := range f.g.Blocks[n].Insts {
			line := f.line(i.Addr)
			if slices.ContainsFunc(f.ds.all, func(d directives.Directive) bool {
				return strings.HasSuffix(d.Words, "workshare") && d.Begin <= line && line <= d.End
			}) {
				return true
			}
		}
	}
	return false
}

// describe names the loops of a share for messages.
func (f *function) describe(s *share) string {
	ds := f.directives(s)
	if len(ds) > 1 {
		return "LOOPs of lines " + lines(ds)
	}
	var c Construct
	if f.place(&c, s, ds); c.Begin > 0 {
		return fmt.Sprintf("LOOP of line %d", c.Begin)
	}
	return event.Loop.String()
}

func lines(ds []directives.Directive) string {
	var out []string
	for _, d := range ds {
		out = append(out, fmt.Sprint(d.Begin))
	}
	return strings.Join(out, ", ")
}

// absent returns the loop directives of a region of which no code was found. Loops of one region do
// not nest. So a directive that overlaps one with code stands in a branch of #if that was not
// compiled.
func (f *function) absent() (ds []directives.Directive) {
	for _, d := range f.ds.static {
		if f.within(d) && !slices.ContainsFunc(f.seen, d.Overlaps) {
			ds = append(ds, *d)
		}
	}
	return ds
}

// nameOf returns the name of a directive for users: a loop has one name in both languages.
func nameOf(d *directives.Directive) string {
	what := strings.ToUpper(d.Words)
	if isLoop(d) {
		what = event.Loop.String()
	}
	return fmt.Sprintf("%s of line %d", what, d.Begin)
}

// missing names the loop directives of a region of which no code was found.
func (f *function) missing(x *Inlined) {
	for _, d := range f.absent() {
		x.Unseen = append(x.Unseen, Unseen{f.fn, nameOf(&d),
			"no machine code of the loop was found that each thread executes"})
	}
}

// directive returns the directive that made an outlined function.
func (f *function) directive() (*directives.Directive, bool) {
	if f.made == nil {
		f.made = &directives.Directive{}
		e, ok := f.o.Outlined(f.fn)
		i := slices.IndexFunc(f.ds.regions, func(d *directives.Directive) bool { return d.Begin <= e.Begin && e.Begin <= d.Last })
		if ok && f.region && e.File == f.file && i >= 0 {
			f.made = f.ds.regions[i]
		}
	}
	return f.made, f.made.Words != ""
}

// within reports whether a directive stands in the function's region, but in no region or task
// inside that.
func (f *function) within(d *directives.Directive) bool {
	region, ok := f.directive()
	return ok && region.Begin < d.Begin && d.Begin <= region.End && !slices.ContainsFunc(f.ds.regions, func(o *directives.Directive) bool {
		return region.Begin < o.Begin && o.Begin < d.Begin && d.Begin <= o.End
	})
}

// directives returns the loop directives whose blocks contain the loops of a share, in order.
func (f *function) directives(s *share) (ds []directives.Directive) {
	for _, c := range s.cycles {
		votes := map[directives.Directive]int{}
		var best directives.Directive
		for _, n := range c {
			for _, i := range f.g.Blocks[n].Insts {
				if d, ok := f.around(f.line(i.Addr)); ok {
					votes[d]++
					if votes[d] > votes[best] {
						best = d
					}
				}
			}
		}
		if votes[best] > 0 && !slices.Contains(ds, best) {
			ds = append(ds, best)
		}
	}
	slices.SortFunc(ds, func(a, b directives.Directive) int { return a.Begin - b.Begin })
	return ds
}

// place fills in a loop's lines.
func (f *function) place(c *Construct, s *share, ds []directives.Directive) {
	c.File = f.file
	if len(ds) > 0 {
		c.Begin, c.Last, c.Exact = ds[0].Begin, ds[0].End, true
		if len(ds) > 1 {
			c.Merged = lines(ds[1:])
			c.Notes = append(c.Notes, fmt.Sprintf("GCC merged the loops of lines %s into this one: its count is that of each loop, its times are the sum of all", c.Merged))
		}
		return
	}
	if f.arrays(s) {
		c.Notes = append(c.Notes, noteArrays)
	}
	if len(s.cycles) > 1 {
		c.Notes = append(c.Notes, noteSeveral)
	}
	for _, n := range slices.Concat(s.cycles...) {
		for _, i := range f.g.Blocks[n].Insts {
			if line := f.line(i.Addr); line > 0 {
				if c.Begin == 0 || line < c.Begin {
					c.Begin = line
				}
				c.Last = max(c.Last, line)
			}
		}
	}
}
