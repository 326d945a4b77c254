package regions

import (
	"regexp"
	"slices"

	"ompp-attach/probes/disasm"
	"ompp-attach/symbols"
)

// outlinedPart matches the names of parts and copies that compilers make of outlined functions,
// such as main._omp_fn.0.cold.
var outlinedPart = regexp.MustCompile(`^(.*(?:\._omp_fn\.[0-9]+|\.omp_outlined(?:\.?_debug__)?\.?(?:\.[0-9]+)?|\.omp_task_entry\.(?:\.[0-9]+)?))` +
	`\.(?:constprop|part|isra|cold|lto_priv|localalias)\b`)

// outlinedWhole returns the name of the outlined function of which a part or copy was made. It
// returns "" if name is not that of a part or copy.
func outlinedWhole(name string) string {
	if m := outlinedPart.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// joinParts gives the code of .cold parts and clones, and the calls in them, to the outlined
// function of which they were made.
func joinParts(o *symbols.Object, all []*function, byName map[string][]*function) []*function {
	return slices.DeleteFunc(all, func(f *function) bool {
		g := wholeOf(o, f, byName[outlinedWhole(f.name)])
		if g == nil || g == f {
			return false
		}
		for _, h := range []*function{g, f} {
			if h.body == nil {
				h.body, _ = disasm.Func(o, h.lo) // it makes no call, so it was not decoded before
			}
		}
		g.sites = append(g.sites, f.sites...)
		for _, s := range f.sites {
			s.in = g
		}
		g.body = slices.Concat(g.body, f.body)
		g.parts = append(g.parts, symbols.Range{Lo: f.lo, Hi: f.hi})
		return true
	})
}

// wholeOf picks the function of which a part was made, among functions of the right name. It picks
// the function in the part's compile unit, or else the nearest one before the part.
func wholeOf(o *symbols.Object, part *function, named []*function) (best *function) {
	unit := uint64(0)
	if len(named) > 1 {
		unit = unitOf(o, part.lo)
	}
	for _, f := range named {
		if unit != 0 && unitOf(o, f.lo) == unit {
			return f
		}
		if best == nil || f.lo <= part.lo && (best.lo > part.lo || best.lo < f.lo) {
			best = f
		}
	}
	return best
}

// unitOf identifies the compile unit of an address by the unit's lowest address. It returns 0 if
// the unit is not known.
func unitOf(o *symbols.Object, vaddr uint64) uint64 {
	if code := o.UnitCode(vaddr); len(code) > 0 {
		return code[0].Lo
	}
	return 0
}
