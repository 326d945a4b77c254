package graph_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/disasmtest"
	"ompp-attach/probes/disasm/graph"
)

// starts returns the offsets of the blocks' first instructions.
func starts(g *graph.Graph, base uint64, blocks ...int) (at []uint64) {
	for _, n := range blocks {
		at = append(at, g.Blocks[n].Insts[0].Addr-base)
	}
	return at
}

func TestGraph(t *testing.T) {
	for _, c := range []struct {
		name, code string
		cut        uint64
		blocks     []uint64
		cycles     [][]uint64
		over       map[uint64]uint64 // nearest dominator
		under      map[uint64]uint64 // nearest post-dominator
	}{
		// 0 cmp; 2 jge 8; 4 inc; 6 jmp 0?  as a guard, a loop and its join:
		// 0 test; 2 je 8; 4 dec; 6 jne 4; 8 ret
		{"a guarded loop", "85c0 7404 ffc8 75fc c3", 0, []uint64{0, 4, 8}, [][]uint64{{4}},
			map[uint64]uint64{4: 0, 8: 0}, map[uint64]uint64{0: 8, 4: 8}},
		// the same, with padding before the loop that nothing leads to
		// 0 test; 2 je 11; 4 jmp 7; 6 nop; 7 dec; 9 jne 7; 11 ret
		{"padding is no way in", "85c0 7407 eb01 90 ffc8 75fc c3", 0, []uint64{0, 4, 6, 7, 11}, [][]uint64{{7}},
			map[uint64]uint64{4: 0, 7: 4, 11: 0}, map[uint64]uint64{0: 11, 4: 7, 7: 11}},
		// 0 push; 1 call; 6 dec; 8 jne 1; 10 ret, cut behind the call: no loop is left
		{"a cut ends a segment", "53 e800000000 ffc8 75f7 c3", 1, []uint64{0, 1, 6, 10}, nil,
			map[uint64]uint64{10: 6}, map[uint64]uint64{0: 1}},
		// 0 dec; 2 inc; 4 jne 2; 6 test; 8 jne 0; 10 ret
		{"the outer loop of two", "ffc8 ffc0 75fc 85c0 75f6 c3", 0, []uint64{0, 2, 6, 10}, [][]uint64{{0, 2, 6}},
			map[uint64]uint64{2: 0, 6: 2, 10: 6}, map[uint64]uint64{0: 2, 2: 6, 6: 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := disasmtest.Code(t, "amd64", c.code)
			g := disasmtest.Graph(t, b, c.cut)
			var all []int
			at := map[uint64]int{}
			for n := range g.Blocks {
				all = append(all, n)
				at[g.Blocks[n].Insts[0].Addr-b.At] = n
			}
			if d := cmp.Diff(c.blocks, starts(g, b.At, all...)); d != "" {
				t.Fatal(d)
			}
			var cycles [][]uint64
			for _, cy := range g.Cycles(nil, -1) {
				cycles = append(cycles, starts(g, b.At, cy...))
			}
			if d := cmp.Diff(c.cycles, cycles); d != "" {
				t.Errorf("cycles: %s", d)
			}
			dom, post := g.Dominators(), g.PostDominators()
			for k, want := range c.over {
				if n := dom.Over(at[k]); n != at[want] || !dom.Covers(at[want], at[k]) {
					t.Errorf("%d is dominated by block %d, want %d", k, n, at[want])
				}
			}
			for k, want := range c.under {
				if n := post.Over(at[k]); n != at[want] {
					t.Errorf("%d is post-dominated by block %d, want %d", k, n, at[want])
				}
			}
		})
	}
	// What a loop contains: the ways back to its header are left out.
	b := disasmtest.Code(t, "amd64", "ffc8 ffc0 75fc 85c0 75f6 c3")
	g := disasmtest.Graph(t, b, 0)
	inner := g.Cycles(g.Cycles(nil, -1)[0], 0)
	if len(inner) != 1 || len(inner[0]) != 1 || inner[0][0] != 1 {
		t.Errorf("inner loops %v, want that of block 1", inner)
	}
}

func FuzzGraph(f *testing.F) {
	disasmtest.Seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 512 {
			return
		}
		for _, arch := range disasmtest.Arches {
			c := disasmtest.Bytes{At: 0x1000, Data: b, ForArch: arch}
			if _, err := disasm.Parts(c, c.At); err != nil {
				continue
			}
			g := disasmtest.Graph(t, c, uint64(len(b)%7))
			dom, post := g.Dominators(), g.PostDominators()
			for n := range g.Blocks {
				if o := dom.Over(n); o == n || o >= 0 && !dom.Covers(o, n) {
					t.Fatalf("%s % x: block %d is over itself or not covered", arch, b, n)
				}
				if o := post.Over(n); o == n {
					t.Fatalf("%s % x: block %d is under itself", arch, b, n)
				}
			}
			for _, cy := range g.Cycles(nil, -1) {
				g.Cycles(cy, cy[0])
			}
		}
	})
}
