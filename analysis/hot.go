package analysis

import (
	"cmp"
	"maps"
	"slices"

	"ompp-attach/profile"
)

// Hot holds the samples of a region, without the regions inside it.
type Hot struct {
	Region int    // index in Profile.Regions; -1: outside all regions
	Weight uint64 // sum of the samples' weights
	Atomic uint64 // the part of Weight in operations of atomic directives that make no call
	Phases map[string]uint64
	Lines  []HotLine // the hottest first; without samples in probes
}

// HotLine is a line that was sampled in a region. Its indices are in Profile.Frames.
//
// Frame is the line. The thread may have been in code without lines, in the C library or in an
// OpenMP runtime. Then Frame is the line of the user's code that called it, and Callee is the
// innermost function. Otherwise Callee is -1. If the user's code has no lines, Frame is the
// innermost function itself. In the C library, the innermost function is the one that was called
// from outside. Frame is -1 if no code of the region is on the stack, because the runtime starts or
// ends the region, or threads wait in it. Then the region's own first line stands for the place.
//
// Caller is the nearest function with a name on the way from the line, or from the start of the
// region, to the innermost function. If none has a name, Caller is the nearest function; -1: there
// is none. Several tells that there are other callers.
type HotLine struct {
	Frame, Callee, Caller int // in Profile.Frames
	Several               bool
	Weight                uint64
}

// HotLines returns the samples by region and line, the region with the highest weight first.
func HotLines(p *profile.Profile) []Hot {
	kinds := newStacks(p).kinds
	same := sameFrames(p, profile.Frame.Shown)
	called := sameFrames(p, function) // callees and callers are shown as functions, without lines
	by := map[int]*Hot{}
	type line struct{ frame, callee int }
	lines := map[int]map[line]map[int]uint64{} // weight by line and caller
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
		// A change of that line would not make the program faster.
		if s.Phase == profile.PhaseProbe {
			continue
		}
		found := hotLine(p, kinds, way, r)
		l := line{same(found.Frame), called(found.Callee)}
		if lines[r][l] == nil {
			lines[r][l] = map[int]uint64{}
		}
		lines[r][l][called(found.Caller)] += s.Weight
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

// hotLine finds the line of a sample in a region, from the sample's call path.
func hotLine(p *profile.Profile, kinds []kind, way []Step, region int) HotLine {
	line, within := -1, false // within: the whole path inside the region is known
	var inner []int           // frames without lines, innermost first
	for _, step := range slices.Backward(way) {
		f := step.Frame
		if f < 0 {
			// A worker's callers are those that its primary thread's samples agree on,
			// which may be far out. Frames outside the region are not lines of the
			// region.
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
	// No line is known: use the function itself.
	if line < 0 && !(within && p.Regions[region].Location.Begin > 0) {
		return HotLine{Frame: innermost, Callee: -1, Caller: caller}
	}
	return HotLine{Frame: line, Callee: innermost, Caller: caller}
}

// isBody tells whether a frame's function is the body of a region. The region itself stands for
// such a function.
func isBody(p *profile.Profile, f int) bool {
	at := &p.Frames[f]
	return at.Entry != 0 && slices.ContainsFunc(p.Regions, func(r profile.Region) bool {
		return r.Location.Offset == at.Entry && r.Location.Object == at.Object
	})
}

// function returns what frames of the same function have in common.
func function(f profile.Frame) profile.Frame {
	f = f.Shown()
	if f.Function != "" {
		f.File, f.Line = "", 0
	}
	return f
}

// sameFrames returns a function that maps frames which have the same key to the first of them.
func sameFrames(p *profile.Profile, key func(profile.Frame) profile.Frame) func(int) int {
	first := map[profile.Frame]int{}
	shown := make([]int, len(p.Frames))
	for i := range p.Frames {
		f := key(p.Frames[i])
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
