package messages

import "slices"

// outbox holds a rank's sends to another rank that have no partner yet, in the order of their
// beginnings. Sends that have found a partner are taken out from time to time.
type outbox struct {
	list []*side
	most int // length of list at which sends with a partner are taken out
}

func (o *outbox) add(s *side) {
	const few = 64
	if len(o.list) >= o.most {
		o.list = slices.DeleteFunc(o.list, (*side).done)
		o.most = max(few, 2*len(o.list))
	}
	o.list = append(o.list, s)
}

// holds reports whether a send that still waits began before a time (ns).
func (o *outbox) holds(before uint64) bool {
	for len(o.list) > 0 && o.list[0].done() {
		o.list[0], o.list = nil, o.list[1:]
	}
	return len(o.list) > 0 && o.list[0].Start < before
}
