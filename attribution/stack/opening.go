package stack

import (
	"ompp-attach/attribution/place"
	"ompp-attach/event"
)

// Push opens a region under the thread's current one.
func (st *Stacks) Push(t *Thread, k place.Key, ev *event.Event) *OpenRegion {
	st.Mend(t, k.Construct, ev)
	st.Initial(t)
	parent := st.Tree.Root
	if open := t.Top(); open != nil {
		parent = open.Node
	}
	open := t.Open(st.Tree.Child(parent, k), ev)
	if !IsContext(k.Construct) {
		open.Opened(t.Suspended)
	}
	return open
}
