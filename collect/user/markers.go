package user

import (
	"fmt"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes"
	"ompp-attach/probes/disasm"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// The providers of the markers that ompp.h sets.
const (
	markBegin  = "ompp_begin"
	markEnd    = "ompp_end"
	markSwitch = "ompp" // on, off
)

// findMarkers finds the probes of the markers of ompp.h, which are probed without being asked for.
func (u *Regions) findMarkers(mod *symbols.Module) (points []probes.CodePoint) {
	o := mod.Object()
	u.mu.Lock()
	defer u.mu.Unlock()
	identity := map[string]uint64{} // by region name; "" if the region gets its name at run time
	last := map[string]symbols.Marker{}
	var wanted []symbols.Marker
	for _, m := range o.Markers() {
		if m.Provider != markBegin && m.Provider != markEnd && m.Provider != markSwitch {
			continue
		}
		// The kernel would put its breakpoint at any address that a broken note has.
		i, err := disasm.Decode(o, m.VAddr)
		if err != nil || i.Control != disasm.Nop {
			u.unseen = append(u.unseen, profile.Unseen{What: "marker " + m.Name, Reason: fmt.Sprintf("its note in %s leads to %#x, where no nop is", mod.Path, m.VAddr)})
			continue
		}
		if i.Refused {
			u.unseen = append(u.unseen, profile.Unseen{What: "marker " + m.Name, Reason: i.Refusal() + "; the ompp.h of this version sets another one"})
			continue
		}
		wanted = append(wanted, m)
		if m.Provider == markBegin && identity[m.Name] == 0 {
			identity[m.Name] = m.VAddr
		}
		if m.Provider == markEnd {
			last[m.Name] = m
		}
	}
	for _, m := range wanted {
		p := probes.CodePoint{Name: "marker " + m.Name, VAddr: m.VAddr, Identity: identity[m.Name], Construct: event.UserRegion, Value: event.UserMarker}
		switch m.Provider {
		case markBegin:
			p.Edge = event.Enter
		case markEnd:
			if p.Edge = event.Release; p.Identity == 0 {
				u.unseen = append(u.unseen, profile.Unseen{What: "region " + m.Name, Reason: "its end is marked in " + mod.Path + ", its begin is not"})
				continue
			}
		default:
			if p.Identity, p.Edge = m.VAddr, switches[m.Name]; p.Edge == event.NoEdge {
				continue
			}
		}
		if m.Name == "" {
			p.A, p.B = bpf.Arg(0), bpf.Arg(1)
		}
		points = append(points, p)
	}
	for name, at := range identity {
		u.place(o, at, Place{Name: name, Lines: markedLines(o, at, last[name].VAddr)})
	}
	return points
}

var switches = map[string]event.Edge{"on": event.On, "off": event.Off}

// markedLines is the range of lines between a region's first begin marker and its last end marker.
func markedLines(o *symbols.Object, begin, end uint64) *symbols.Extent {
	x := &symbols.Extent{Function: o.SourceFunction(begin)}
	file, line, _, ok := o.Line(begin)
	if !ok {
		return x
	}
	x.File, x.Begin, x.End = file, line, line
	if f, l, _, ok := o.Line(end); ok && f == file && l > line {
		x.End = l
	}
	return x
}
