package places

import (
	"ompp-attach/attribution"
	"ompp-attach/collect/user"
	"ompp-attach/profile"
)

// userRegion fills in the place and the name of a user region.
func (r *Resolver) userRegion(k attribution.Key) profile.Region {
	if f, ok := r.User.LevelFunction(k.Fn); ok {
		return r.levelRegion(k, &f)
	}
	reg := profile.Region{Construct: k.Construct}
	p, ok := r.at(k.Site)
	if !ok {
		reg.Location.Offset = k.Site
		return reg
	}
	u := r.User.At(p.object, p.vaddr)
	reg.Name, reg.Notes = u.Name, u.Notes
	loc := &reg.Location
	if k.Fn != 0 { // the marker lies in ompp_fortran.c and says nothing of the place
		reg.Name, loc.Function = r.names[k.Fn], r.names[k.Fn]
		return reg
	}
	loc.Object, loc.Offset = p.module.Path, p.vaddr
	switch {
	case u.Lines != nil:
		loc.File, loc.Begin, loc.End, loc.Function = u.Lines.File, u.Lines.Begin, u.Lines.End, u.Lines.Function
		if u.Near {
			loc.Mark = profile.Approx
		}
	default:
		reg.Notes = append(reg.Notes, user.InlinedNote(p.object, p.vaddr)...)
		loc.Function = u.Name
		if x, ok := p.object.Definition(p.vaddr); ok {
			loc.File, loc.Begin, loc.End = x.File, x.Begin, x.End
			if x.End > x.Begin {
				loc.EndMark = profile.Approx
			}
		}
	}
	return reg
}

// levelRegion places a call of a level's function at its line.
func (r *Resolver) levelRegion(k attribution.Key, f *user.LevelFunction) profile.Region {
	reg := profile.Region{Construct: k.Construct, Name: f.Name, Level: f.Level, Notes: f.Notes}
	r.atCall(&reg.Location, k.Site)
	return reg
}
