package analysis

import (
	"cmp"
	"maps"
	"slices"

	"ompp-attach/profile"
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
// user's code that called it, and Callee the innermost function; otherwise -1.
// Where the user's code has no lines, Frame is the innermost function itself. Of
// the C library, innermost is what was called from outside. Frame is -1
// where no code of the region is in the stack, since the runtime starts or ends
// it, or its threads wait in it: the region's own first line stands for that.
// Caller is the nearest function with a name that led from the line, or from the
// region's beginning, to the innermost one; if none has, the nearest; -1: none.
// Several: there are others.
type HotLine struct {
	Frame, Callee, Caller int // in Profile.Frames
	Several               bool
	Weight                uint64
}

// HotLines returns what was sampled, the region with most samples first.
func HotLines(p *profile.Profile) []Hot {
	kinds := newStacks(p).kinds
	same := sameFrames(p)
	by := map[int]*Hot{}
	type line struct{ frame, callee int }
	lines := map[int]map[line]map[int]uint64{} // by caller
	for i, way := range Stacks(p) {
		s := &p.Samples[i]
		r := p.Nodes[s.Node].Region
		h := by[r]
		if h == nil {
			h = &Hot{Region: r, Phases: map[string]uint64{}}
			by[r], lines[r] = h, map[line]map[int]uint64{}
		}
		h.Weight += s.Weight
		h.Phases[s.Phase] += s.Weight
		if len(s.Stack) > 0 && p.Frames[s.Stack[0]].Atomic {
			h.Atomic += s.Weight
		}
		if s.Phase == profile.PhaseProbe { // no line of the program would be any faster
			continue
		}
		found := hotLine(p, kinds, way, r)
		l := line{same(found.Frame), same(found.Callee)}
		if lines[r][l] == nil {
			lines[r][l] = map[int]uint64{}
		}
		lines[r][l][same(found.Caller)] += s.Weight
	}
	var out []Hot
	for _, r := range slices.Sorted(maps.Keys(by)) {
		h := by[r]
		for l, callers := range lines[r] {
			line := HotLine{Frame: l.frame, Callee: l.callee, Caller: -1, Several: len(callers) > 1}
			most := uint64(0)
			for _, c := range slices.Sorted(maps.Keys(callers)) {
				if line.Weight += callers[c]; callers[c] > most {
					line.Caller, most = c, callers[c]
				}
			}
			h.Lines = append(h.Lines, line)
		}
		slices.SortFunc(h.Lines, func(a, b HotLine) int {
			return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Callee, b.Callee))
		})
		out = append(out, *h)
	}
	slices.SortStableFunc(out, func(a, b Hot) int { return cmp.Compare(b.Weight, a.Weight) })
	return out
}

// hotLine finds the line of a way to a place in a region.
func hotLine(p *profile.Profile, kinds []kind, way []Step, region int) HotLine {
	line, within := -1, false // within: the whole way within the region is known
	var inner []int           // without lines, innermost first
	for _, step := range slices.Backward(way) {
		f := step.Frame
		if f < 0 {
			// A worker's callers are those that its primary thread's samples agree on,
			// which may be far out: what lies beyond the region is no line of it.
			if within = runsOutlined(p.Regions[step.Region].Construct); within {
				break
			}
			continue
		}
		if p.Frames[f].Line > 0 && (kinds[f] == user || kinds[f] == outlined) {
			line = f
			break
		}
		inner = append(inner, f)
	}
	innermost, caller := -1, -1
	if len(inner) > 0 {
		n := 0
		for kinds[inner[0]] == system && n+1 < len(inner) && kinds[inner[n+1]] == system {
			n++
		}
		innermost = inner[n]
		name := p.Frames[innermost].Function
		for _, f := range inner[n+1:] {
			if kinds[f] == system || p.Frames[f].Shown() == p.Frames[innermost].Shown() {
				continue
			}
			if g := p.Frames[f].Function; g != "" && g != name {
				caller = f
				break
			}
			if caller < 0 && name != "" && !isBody(p, f) {
				caller = f
			}
		}
	}
	if line < 0 && !(within && p.Regions[region].Location.Begin > 0) { // no line is known: the function itself
		return HotLine{Frame: innermost, Callee: -1, Caller: caller}
	}
	return HotLine{Frame: line, Callee: innermost, Caller: caller}
}

// isBody tells whether a frame's function is the body of a region, which the region
// itself stands for.
func isBody(p *profile.Profile, f int) bool {
	at := &p.Frames[f]
	return at.Entry != 0 && slices.ContainsFunc(p.Regions, func(r profile.Region) bool {
		return r.Location.Offset == at.Entry && r.Location.Object == at.Object
	})
}

// sameFrames makes one of frames that look the same.
func sameFrames(p *profile.Profile) func(int) int {
	first := map[profile.Frame]int{}
	shown := make([]int, len(p.Frames))
	for i := range p.Frames {
		f := p.Frames[i].Shown()
		j, known := first[f]
		if !known {
			j = i
			first[f] = i
		}
		shown[i] = j
	}
	return func(i int) int {
		if i < 0 {
			return i
		}
		return shown[i]
	}
}
