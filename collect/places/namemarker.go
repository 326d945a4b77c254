package places

import (
	"strings"

	"ompp-attach/event"
)

// maxMarkerName bounds the length in bytes of a name that is given at run time.
const maxMarkerName = 256

// NameMarker handles the event of a marker whose name is given at run time. It replaces the address
// of the name by one address for all strings with the same contents.
func (r *Resolver) NameMarker(ev *event.Event) {
	at, n := ev.Fn, min(ev.Key, maxMarkerName)
	ev.Key = 0
	if c, ok := r.namedAt[at]; ok {
		ev.Fn = c
		return
	}
	name := "(a name that is no literal)"
	if p, ok := r.at(at); ok {
		name = strings.TrimRight(string(p.object.Read(p.vaddr, int(n))), " \x00")
	}
	for c, known := range r.names {
		if known == name {
			r.namedAt[at], ev.Fn = c, c
			return
		}
	}
	r.namedAt[at], r.names[at] = at, name
}
