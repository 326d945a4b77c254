package analysis

import (
	"cmp"
	"maps"
	"slices"

	"ompp-attach/attribution"
)

// Hot is what was sampled in a region, without the regions inside it.
type Hot struct {
	Region int    // in Profile.Regions; -1: outside all
	Weight uint64 // of its samples
	Atomic uint64 // of those in operations of atomic directives that make no call
	Phases map[string]uint64
	Lines  []HotLine // the hottest first; without what was sampled in probes
}

// HotLine is a line that was sampled in a region. Where the thread was in code
// without lines, in the C library or in an OpenMP runtime, it is the line of the
// user's code that called it, and Callee the function; otherwise -1. Frame is -1
// where no code of the region is in the stack, since the runtime starts or ends
// it, or its threads wait in it: the region's own first line stands for that.
type HotLine struct {
	Frame, Callee int // in Profile.Frames
	Weight        uint64
}

// HotLines returns what was sampled, the region with most samples first.
func HotLines(p *attribution.Profile) []Hot {
	type line struct{ frame, callee int }
	kinds := newStacks(p).kinds
	same := sameFrames(p)
	by := map[int]*Hot{}
	lines := map[int]map[line]uint64{}
	for i, way := range Stacks(p) {
		s := &p.Samples[i]
		r := p.Nodes[s.Node].Region
		h := by[r]
		if h == nil {
			h = &Hot{Region: r, Phases: map[string]uint64{}}
			by[r], lines[r] = h, map[line]uint64{}
		}
		h.Weight += s.Weight
		h.Phases[s.Phase] += s.Weight
		if len(s.Stack) > 0 && p.Frames[s.Stack[0]].Atomic {
			h.Atomic += s.Weight
		}
		if s.Phase == attribution.PhaseProbe { // no line of the program would be any faster
			continue
		}
		at, atRegion := line{-1, -1}, false
		for _, step := range slices.Backward(way) {
			f := step.Frame
			if f < 0 {
				// A worker's callers are those that its primary thread's samples agree on,
				// which may be far out: what lies beyond the region is no line of it.
				if atRegion = runsOutlined(p.Regions[step.Region].Construct); atRegion {
					break
				}
				continue
			}
			if p.Frames[f].Line > 0 && (kinds[f] == user || kinds[f] == outlined) {
				at.frame = f
				break
			}
			at.callee = f // the outermost of them: what the user's code called
		}
		if at.frame < 0 && !(atRegion && p.Regions[r].Location.Begin > 0) { // no line is known: the function itself
			at.frame, at.callee = at.callee, -1
		}
		lines[r][line{same(at.frame), same(at.callee)}] += s.Weight
	}
	var out []Hot
	for _, r := range slices.Sorted(maps.Keys(by)) {
		h := by[r]
		for l, w := range lines[r] {
			h.Lines = append(h.Lines, HotLine{l.frame, l.callee, w})
		}
		slices.SortFunc(h.Lines, func(a, b HotLine) int {
			return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Callee, b.Callee))
		})
		out = append(out, *h)
	}
	slices.SortStableFunc(out, func(a, b Hot) int { return cmp.Compare(b.Weight, a.Weight) })
	return out
}

// sameFrames makes one of frames that look the same: of code without symbols
// only the file is known.
func sameFrames(p *attribution.Profile) func(int) int {
	first := map[attribution.Frame]int{}
	return func(i int) int {
		if i < 0 {
			return i
		}
		f := p.Frames[i]
		f.Offset = 0
		j, known := first[f]
		if !known {
			j = i
			first[f] = i
		}
		return j
	}
}
