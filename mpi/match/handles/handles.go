package handles

import (
	"cmp"
	"maps"
	"slices"

	"ompp-attach/mpi/match"
)

// Table says which requests, or messages, the handles of a rank name.
type Table[T any] struct {
	last    map[uint64]given[T]
	earlier map[uint64][]given[T] // by at: named before; a call may still take them
}

type given[T any] struct {
	is T
	at uint64 // time from which on the handle names is (ns)
}

// New returns a Table that names nothing yet.
func New[T any]() Table[T] {
	return Table[T]{map[uint64]given[T]{}, map[uint64][]given[T]{}}
}

// Give notes that a handle names something (is) from the time at on. now is the beginning of the
// latest call. gone are the things that the handle named before and that no call can take any more.
func (h *Table[T]) Give(handle uint64, is T, at, now uint64) (gone []T) {
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

func (h *Table[T]) keep(handle uint64, earlier []given[T]) {
	if len(earlier) == 0 {
		delete(h.earlier, handle)
		return
	}
	h.earlier[handle] = earlier
}

// Name replaces the thing that a handle names since the time at.
func (h *Table[T]) Name(handle uint64, is T, at uint64) {
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

// Take returns the thing that a handle names for the latest call, which began now. The handle is
// free then. gone is as in Give.
func (h *Table[T]) Take(handle, now uint64) (is T, ok bool, gone []T) {
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

// All returns the things that handles still name, by handle and time.
func (h *Table[T]) All() (all []T) {
	for _, handle := range slices.Sorted(maps.Keys(h.last)) {
		for _, x := range append(h.earlier[handle], h.last[handle]) {
			all = append(all, x.is)
		}
	}
	return all
}

// GivenAt returns the time from which on a handle names the thing that a call gives. With several
// threads, this is the end of the call: until then, other threads may take what the handle named
// before. With one thread, no other call comes in between, so the beginning of the call will do.
func GivenAt(log *match.RankCalls, c *match.Call) uint64 {
	if len(log.Threads) == 1 {
		return c.Start
	}
	return c.End
}
