package collect

import (
	"ompp-attach/attribution"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// userRegion fills in the place and the name of a user region.
func (r *resolver) userRegion(k attribution.Key) profile.Region {
	reg := profile.Region{Construct: k.Construct}
	p, ok := r.at(k.Site)
	if !ok {
		reg.Location.Offset = k.Site
		return reg
	}
	u := r.user.at(p.object, p.vaddr)
	reg.Name, reg.Notes = u.name, u.notes
	loc := &reg.Location
	if k.Fn != 0 { // the marker lies in ompp_fortran.c and says nothing of the place
		reg.Name, loc.Function = r.names[k.Fn], r.names[k.Fn]
		return reg
	}
	loc.Object, loc.Offset = p.module.Path, p.vaddr
	switch {
	case u.lines != nil:
		loc.File, loc.Begin, loc.End, loc.Function = u.lines.File, u.lines.Begin, u.lines.End, u.lines.Function
		if u.near {
			loc.Mark = profile.Approx
		}
	default:
		reg.Notes = append(reg.Notes, inlinedNote(p.object, p.vaddr)...)
		loc.Function = u.name
		if x, ok := p.object.Definition(p.vaddr); ok {
			loc.File, loc.Begin, loc.End = x.File, x.Begin, x.End
			if x.End > x.Begin {
				loc.EndMark = profile.Approx
			}
		}
	}
	return reg
}

// inlinedNote returns a note if some calls of a function are inlined, so that its own code does not
// see them.
func inlinedNote(o *symbols.Object, vaddr uint64) []string {
	symbol, _, ok := o.FuncAt(vaddr)
	if !ok {
		return nil
	}
	names := symbols.FunctionNames(symbol)
	n := o.Inlined()[names[len(names)-1]]
	if n == 0 {
		return nil
	}
	return []string{"the compiler inlined some calls of this function: those are not counted"}
}

// at returns what is known of the region with an identity (see userPlace).
func (u *UserRegions) at(o *symbols.Object, identity uint64) userPlace {
	if u == nil {
		return userPlace{}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.places[o][identity]
}
