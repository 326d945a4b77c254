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
	if f := t.Top(); f != nil {
		parent = f.Node
	}
	f := t.Open(st.Tree.Child(parent, k), ev)
	if !IsContext(k.Construct) {
		f.Opened(t.Suspended)
	}
	return f
}
