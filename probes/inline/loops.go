package inline

import (
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/taint"
	"ompp-attach/symbols/directives"
)

// loops finds the static loops.
func (f *function) loops(x *Inlined) {
	shares := f.shares(nil, -1)
	shares = f.mergeUnguarded(shares)
	f.shared = make([]bool, len(f.g.Blocks))
	for _, s := range shares {
		for _, n := range slices.Concat(s.cycles...) {
			f.shared[n] = true
		}
	}
	var (
		groups [][]*share
		of     [][]directives.Directive
	)
	for i := range shares {
		s := &shares[i]
		if s.guard < 0 && f.exchanges(s.header) {
			continue
		}
		ds := f.directives(s)
		f.seen = append(f.seen, ds...)
		if len(ds) > 0 && f.fetches() && !slices.ContainsFunc(ds, func(d directives.Directive) bool { return !d.HandsOut() }) {
			// the iterations come from calls, so the thread's number decides about something else
			continue
		}
		k := slices.IndexFunc(of, func(o []directives.Directive) bool { return len(ds) > 0 && slices.Equal(o, ds) })
		if k >= 0 {
			groups[k] = append(groups[k], s)
			continue
		}
		groups, of = append(groups, []*share{s}), append(of, ds)
	}
	f.assign(groups, of)
	for k, copies := range groups {
		s, ds := copies[0], of[k]
		if f.source && len(ds) == 0 && s.flags&taint.Remainder == 0 && !f.arrays(s) {
			continue // shared out by hand
		}
		if !f.source && s.flags&taint.Remainder == 0 {
			x.Unseen = append(x.Unseen, Unseen{f.fn, f.describe(s), "the source is missing: either an OpenMP loop divides these iterations among threads, or the program does so by thread numbers"})
			continue
		}
		if f.whole(s, shares, ds) {
			x.Loops = append(x.Loops, f.fn)
			continue
		}
		if c := f.loop(copies, ds); len(c.Enter) > 0 {
			x.Constructs = append(x.Constructs, c)
		} else {
			x.Unseen = append(x.Unseen, Unseen{f.fn, f.describe(s), "no instruction was found that each thread executes, including a thread without iterations"})
		}
	}
	f.missing(x)
}

// fetches reports whether the function calls the runtime for iterations.
func (f *function) fetches() bool {
	for _, name := range f.calls {
		if strings.HasPrefix(name, "GOMP_loop_") && strings.HasSuffix(name, "_next") {
			return true
		}
	}
	return false
}

// exchanges reports whether a block repeats an atomic exchange until it succeeds, as reductions do.
func (f *function) exchanges(block int) bool {
	b := &f.g.Blocks[block]
	return slices.ContainsFunc(b.Insts, func(i disasm.Inst) bool { return i.CompareAndSwaps() && f.g.FlagsKept(i.Addr, b.Last().Addr) })
}

// whole reports whether its outlined function consists of nothing but a loop: a parallel loop.
func (f *function) whole(s *share, shares []share, ds []directives.Directive) bool {
	if f.source {
		d, ok := f.directive()
		return len(ds) == 1 && strings.HasPrefix(ds[0].Words, "parallel") || len(ds) == 0 && ok && isLoop(d)
	}
	if !f.region || len(shares) > 1 {
		return false
	}
	for n := range f.g.Blocks {
		if f.g.Blocks[n].After >= 0 {
			return false
		}
	}
	in := slices.Concat(s.cycles...)
	for n := range f.g.Blocks {
		for _, i := range f.g.Blocks[n].Insts {
			name, called := f.calls[i.Addr]
			if called && !slices.Contains(in, n) && name != "omp_get_num_threads" && name != "omp_get_thread_num" &&
				!strings.HasPrefix(name, "GOMP_atomic") && name != "__stack_chk_fail" {
				return false
			}
		}
	}
	return true
}

const (
	// In the words of the engine's note on the same barrier: reports show equal notes once.
	noteDropped = "GCC leaves out the barrier of a loop at the end of a parallel region: the wait is the region's exitBarT"
	noteArrays  = "a loop of a workshare construct: GCC makes such a loop for each array assignment"
	noteSeveral = "the source is not known. GCC may have merged several loops with the same bounds here. " +
		"Then the count is that of each of them, and the times are their sums"
)

// loop makes a construct of a loop's code, of which GCC may have made copies. It has no Enter
// points if these cannot be found for sure.
func (f *function) loop(copies []*share, ds []directives.Directive) (c Construct) {
	c = Construct{Construct: event.Loop, Fn: f.fn}
	f.place(&c, copies[0], ds)
	if len(f.ownBarrier(copies[0], copies[0].header)) > 0 {
		c.End = event.EndBarrier
		c.Enter = f.enterToBarrier(copies)
	} else {
		for _, s := range copies {
			behind := f.reach(f.g.Blocks[s.decides()].Succs)
			if slices.ContainsFunc(copies, func(o *share) bool { return o != s && behind[o.decides()] }) {
				return Construct{} // one comes after the other: they are no copies
			}
			enter := f.enterNowait(s)
			if len(enter) == 0 {
				return Construct{}
			}
			leave, end := f.leave(s.decides(), s.level.acyclic)
			c.Enter, c.Leave = append(c.Enter, enter...), append(c.Leave, leave...)
			if s == copies[0] || end == event.EndNext {
				c.End = end
			}
			if len(ds) > 0 && ds[0].Matches("for") && !ds[0].Matches("do") && !strings.Contains(ds[0].Clauses, "nowait") && f.last(s.decides()) {
				c.Notes = append(c.Notes, noteDropped)
			}
		}
	}
	if len(c.Enter) > 0 {
		c.Identity = c.Enter[0].VAddr
		c.After = f.after(c.Enter)
	}
	return c
}
