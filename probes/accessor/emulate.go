package accessor

import (
	"ompp-attach/symbols"
)

// Emulate executes an accessor (MPI_Type_size, MPI_Comm_size and so on) on a
// process's memory, for one handle: the fallback for a library of which no
// formula could be derived. ok is false if it reports an error, does more than
// can be followed, or its result depends on that.
//
// It takes some 0.1 ms and is meant for the first sight of a handle, with the
// result kept. Libraries hand out the same handle again for another object,
// so a kept result holds only until the handle is given to MPI_Type_free,
// MPI_Comm_free, MPI_Comm_disconnect, MPI_Group_free or MPI_Win_free, and all
// end with MPI_Finalize.
func Emulate(o *symbols.Object, name string, handle, base uint64, read func(addr uint64, n int) (uint64, error)) (value uint64, ok bool) {
	entry, bytes, err := accessor(o, name)
	if err != nil || o.Arch() != "amd64" {
		return 0, false
	}
	m := newMachine(o, newCode(o))
	m.read = read
	if !o.FixedAddresses() {
		m.bias = m.konst(base)
	}
	for _, p := range m.explore(entry, m.konst(handle), m.leaf(opOut)) {
		if p.resisted != nil || p.result == nil {
			return 0, false
		}
		v := m.and(p.result, ones(bytes))
		if !v.isConst() || ok && v.k != value {
			return 0, false
		}
		value, ok = v.k, true
	}
	return value, ok
}
