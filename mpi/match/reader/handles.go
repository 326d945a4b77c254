package reader

import (
	"cmp"
	"slices"

	"ompp-attach/mpi/match"
)

// handles says what the handles of a rank's requests, or messages, name. A library gives a handle
// again when it is free. It is free before the call has returned that takes it. So a call of
// another thread may be given the handle that began before the taking one did. Calls come by their
// beginnings. So what a call gives counts from the call's end on, and a call that takes a handle
// takes what that named at the call's beginning.
type handles[T any] struct {
	last    map[uint64]given[T]
	earlier map[uint64][]given[T] // by at; those that a call may still take
}

type given[T any] struct {
	is T
	at uint64 // from then on the handle names it (ns)
}

func noHandles[T any]() handles[T] {
	return handles[T]{map[uint64]given[T]{}, map[uint64][]given[T]{}}
}

// givenAt returns the time from which on a handle names what a call gives. Threads that may take it
// earlier are others than the caller's.
func (k *rank) givenAt(c *match.Call) uint64 {
	if len(k.log.Threads) == 1 {
		return c.Start
	}
	return c.End
}

// give notes what a handle names from a time on. now is the beginning of the latest call. gone is
// what the handle named before, and no call can take any more.
func (h *handles[T]) give(handle uint64, is T, at, now uint64) (gone []T) {
	old, held := h.last[handle]
	if !held {
		h.last[handle] = given[T]{is, at}
		return nil
	}
	all := append(h.earlier[handle], old, given[T]{is, at})
	slices.SortStableFunc(all, func(a, b given[T]) int { return cmp.Compare(a.at, b.at) })
	for len(all) > 1 && all[1].at <= now {
		gone, all = append(gone, all[0].is), all[1:]
	}
	n := len(all) - 1
	h.last[handle] = all[n]
	h.keep(handle, all[:n])
	return gone
}

func (h *handles[T]) keep(handle uint64, earlier []given[T]) {
	if len(earlier) == 0 {
		delete(h.earlier, handle)
		return
	}
	h.earlier[handle] = earlier
}

// name says what it is that a handle names since a time.
func (h *handles[T]) name(handle uint64, is T, at uint64) {
	if x, held := h.last[handle]; held && x.at == at {
		h.last[handle] = given[T]{is, at}
		return
	}
	for i := range h.earlier[handle] {
		if x := &h.earlier[handle][i]; x.at == at {
			x.is = is
		}
	}
}

// take returns what a handle names to the latest call, which began now. The handle is free then.
// gone is as of give.
func (h *handles[T]) take(handle, now uint64) (is T, ok bool, gone []T) {
	x, held := h.last[handle]
	all := h.earlier[handle]
	switch {
	case !held:
		return is, false, nil
	case x.at <= now:
		delete(h.last, handle)
		h.keep(handle, nil)
		for i := range all {
			gone = append(gone, all[i].is)
		}
		return x.is, true, gone
	}
	for len(all) > 0 && all[0].at <= now {
		if ok {
			gone = append(gone, is)
		}
		is, ok, all = all[0].is, true, all[1:]
	}
	h.keep(handle, all)
	return is, ok, gone
}
