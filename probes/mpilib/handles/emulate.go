package handles

import (
	"slices"

	"ompp-attach/symbols"
)

// Emulate executes an accessor (MPI_Type_size, MPI_Comm_size and so on) on a process's memory, for
// one handle. It serves for a library without a formula. ok is false if the accessor reports an
// error, does more than can be followed, or its result depends on that.
//
// Emulate takes some 0.1 ms. It is meant for the first time that a handle is seen; the caller keeps
// the result. Libraries use a freed handle again for another object. So a kept result holds only
// until the handle is given to MPI_Type_free, MPI_Comm_free, MPI_Comm_disconnect, MPI_Group_free or
// MPI_Win_free. All results end with MPI_Finalize.
func Emulate(o *symbols.Object, name string, handle, base uint64, read func(addr uint64, n int) (uint64, error)) (value uint64, ok bool) {
	values, ok := emulate(o, name, 1, base, read, handle)
	if !ok {
		return 0, false
	}
	return values[0], true
}

// Degrees emulates the accessors of a communicator's topology. It returns from how many neighbours
// a neighbourhood collective receives (in), and to how many it sends (out). No formula gives that:
// Open MPI calls a component's functions, and MPICH searches the communicator's attributes. A kept
// result holds as long as one of Emulate's.
func Degrees(o *symbols.Object, comm, base uint64, read func(addr uint64, n int) (uint64, error)) (in, out uint64, ok bool) {
	if dims, ok := emulate(o, "MPI_Cartdim_get", 1, base, read, comm); ok {
		// both directions, MPI_PROC_NULL at borders included (MPI-3.1, 7.6)
		return 2 * dims[0], 2 * dims[0], true
	}
	if n, ok := emulate(o, "MPI_Dist_graph_neighbors_count", 3, base, read, comm); ok {
		return n[0], n[1], true
	}
	rank, ok := Emulate(o, "MPI_Comm_rank", comm, base, read)
	if !ok {
		return 0, 0, false
	}
	n, ok := emulate(o, "MPI_Graph_neighbors_count", 1, base, read, comm, rank)
	if !ok {
		return 0, 0, false
	}
	return n[0], n[0], true
}

// emulate executes a function whose arguments are followed by pointers to its results.
func emulate(o *symbols.Object, name string, results int, base uint64, read func(addr uint64, n int) (uint64, error), args ...uint64) (values []uint64, ok bool) {
	entry, bytes, err := accessor(o, name)
	if err != nil || o.Arch() != "amd64" {
		return nil, false
	}
	m := newExplorer(o, newCode(o))
	m.read = read
	if !o.FixedAddresses() {
		m.bias = m.konst(base)
	}
	var given []*node
	for _, a := range args {
		given = append(given, m.konst(a))
	}
	for i := range results {
		given = append(given, m.out(i))
	}
	for _, p := range m.explore(entry, given...) {
		var said []uint64
		for i := range results {
			v := m.written(p.state, i)
			if p.resisted != nil || v == nil || !m.and(v, ones(bytes)).isConst() {
				return nil, false
			}
			said = append(said, m.and(v, ones(bytes)).k)
		}
		if values != nil && !slices.Equal(values, said) {
			return nil, false
		}
		values = said
	}
	return values, values != nil
}
