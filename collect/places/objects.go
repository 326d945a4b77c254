package places

import (
	"cmp"
	"slices"

	"ompp-attach/collect/target"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// Objects describes the files in which a profile's frames and regions lie.
func (r *Resolver) Objects(prof *profile.Profile) (out []profile.Object) {
	named := map[string]bool{}
	for i := range prof.Frames {
		named[prof.Frames[i].Object] = true
	}
	for i := range prof.Regions {
		named[prof.Regions[i].Location.Object] = true
	}
	for _, p := range r.bound {
		if p.module != nil && named[p.module.Path] {
			named[p.module.Path] = false
			out = append(out, describeObject(p.module.Path, r.named(p.object)))
		}
	}
	target.NameDebugPackages(out, r.mods)
	slices.SortFunc(out, func(a, b profile.Object) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

func describeObject(path string, o *symbols.Object) profile.Object {
	d := profile.Object{Path: path, BuildID: o.BuildID(), Symbols: !o.Stripped(), Lines: o.HasDWARF() && !profile.IsCLibrary(path)}
	d.Begin, d.End, d.FileOffset = o.CodeSegment()
	return d
}
