package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ompp-attach/profile"
)

// NameCallers returns the profile with Location.From filled in, for regions without lines whose
// function has no name, or starts several regions that have different callers. From holds the names
// of the nearest functions around, according to the samples taken in the region. A profile without
// such regions is returned unchanged.
func NameCallers(p *profile.Profile) *profile.Profile {
	type function struct{ name, object string }
	of := map[function][]int{} // indices of regions without lines
	for i := range p.Regions {
		if l := &p.Regions[i].Location; l.Begin == 0 && l.From == "" {
			f := function{l.Function, l.Object}
			of[f] = append(of[f], i)
		}
	}
	if len(of) == 0 || len(p.Samples) == 0 {
		return p
	}
	callers := callersOf(p)
	named := *p
	named.Regions = slices.Clone(p.Regions)
	for f, regions := range of {
		different := f.name == ""
		for _, r := range regions {
			different = different || callers[r] != callers[regions[0]]
		}
		for _, r := range regions {
			if different {
				named.Regions[r].Location.From = callers[r]
			}
		}
	}
	return &named
}

// rarely is the share of a region's samples below which a caller is left out.
const rarely = 0.05

// callersOf returns the names of the nearest callers of each region's function.
func callersOf(p *profile.Profile) []string {
	kinds := newStacks(p).kinds
	weights := make([]map[string]uint64, len(p.Regions))
	for i, way := range Stacks(p) {
		name, last := "", ""
		for _, step := range way {
			if f := step.Frame; f >= 0 {
				if g := p.Frames[f].Function; g != "" && (kinds[f] == user || kinds[f] == outlined) {
					last, name = name, sourceFunction(g)
				}
				continue
			}
			caller := name
			if caller == p.Regions[step.Region].Location.Function {
				caller = last
			}
			if weights[step.Region] == nil {
				weights[step.Region] = map[string]uint64{}
			}
			weights[step.Region][caller] += p.Samples[i].Weight
		}
	}
	out := make([]string, len(weights))
	for r, w := range weights {
		delete(w, "")
		all := uint64(0)
		for _, n := range w {
			all += n
		}
		maps.DeleteFunc(w, func(_ string, n uint64) bool { return float64(n) < rarely*float64(all) })
		names := slices.SortedFunc(maps.Keys(w), func(a, b string) int { return cmp.Or(cmp.Compare(w[b], w[a]), strings.Compare(a, b)) })
		const few = 2
		if len(names) > few {
			names = append(names[:few], fmt.Sprintf("%d more", len(names)-few))
		}
		out[r] = strings.Join(names, ", ")
	}
	return out
}
