package inline

import (
	"slices"
	"strings"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/graph"
	"ompp-attach/symbols/directives"
)

// follows reports whether block b can come after block a, but not the other way round. The blocks
// may be in different segments.
func (f *function) follows(a, b int) bool { return f.ahead(a)[b] && !f.ahead(b)[a] }

// ahead returns the blocks that can come after a block, also behind calls that end the block's
// segment.
func (f *function) ahead(from int) map[int]bool {
	return f.closure([]int{from}, func(b *graph.Block) []int {
		if b.After < 0 {
			return b.Succs
		}
		return append(slices.Clip(b.Succs), b.After)
	})
}

// ownBarrier returns the blocks that call the loop's own barrier. It must be the next thing that
// all threads do which come through block from.
func (f *function) ownBarrier(s *share, from int) (barriers []int) {
	var own []int
	in := make([]bool, len(f.g.Blocks))
	for _, n := range slices.Concat(s.cycles...) {
		in[n] = true
		for _, i := range f.g.Blocks[n].Insts {
			own = append(own, f.line(i.Addr))
		}
	}
	decides := s.decides()
	behind := f.reach(f.g.Blocks[decides].Succs)
	for n := range f.reach([]int{from}) {
		b := &f.g.Blocks[n]
		for _, i := range b.Insts {
			name, called := f.calls[i.Addr]
			switch {
			case strings.HasPrefix(name, "GOMP_barrier"):
				if f.explicit(i.Addr, own) {
					return nil
				}
				barriers = append(barriers, n)
			case divides(name):
				return nil // another construct comes first
			case strings.HasPrefix(name, "GOMP_atomic"): // a reduction
			case name == "omp_get_thread_num" && behind[n]:
				return nil
			case f.shared[n] && !in[n]:
				return nil // another loop comes first
			case called && !in[n] && behind[n] && f.post.Covers(n, decides):
				return nil // code of the user
			}
		}
		if b.Leaves && !divides(f.calls[b.Last().Addr]) && !f.noReturn(b) {
			return nil
		}
	}
	return barriers
}

// reach returns the blocks that control can come to from some blocks, and these blocks.
func (f *function) reach(from []int) map[int]bool {
	return f.closure(from, func(b *graph.Block) []int { return b.Succs })
}

// leading returns the blocks from which control can come to one of some blocks, and these blocks.
func (f *function) leading(to []int) map[int]bool {
	return f.closure(to, func(b *graph.Block) []int { return b.Preds })
}

// closure returns the blocks that the relation next leads to from some blocks, in any number of
// steps, and these blocks.
func (f *function) closure(from []int, next func(*graph.Block) []int) map[int]bool {
	seen := map[int]bool{}
	for work := slices.Clone(from); len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if !seen[n] {
			seen[n] = true
			work = append(work, next(&f.g.Blocks[n])...)
		}
	}
	return seen
}

// noReturn reports whether a block ends in a call that does not return.
func (f *function) noReturn(b *graph.Block) bool {
	return b.Last().Control == disasm.Trap || b.Last().Control == disasm.Call || b.Last().Control == disasm.CallIndirect
}

// explicit reports whether a call belongs to a barrier directive.
func (f *function) explicit(call uint64, loop []int) bool {
	file, line, exact, ok := f.o.Line(call)
	if !ok {
		return false
	}
	if f.source {
		return file == f.file && slices.ContainsFunc(f.ds.all, func(d directives.Directive) bool {
			return d.Begin <= line && line <= d.Last && d.Matches("barrier")
		})
	}
	return exact && !slices.Contains(loop, line)
}
