package mpicall

import (
	"slices"
	"testing"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
)

// maker makes groups as a program of a world of six ranks does.
type maker struct {
	cs  Comms
	now uint64
}

func op(name string) mpi.Op {
	o, ok := mpi.ParseOp("MPI_" + name)
	if !ok {
		panic(name)
	}
	return o
}

// call calls an operation that makes a group of the group of and by ints. It returns when.
func (m *maker) call(name string, of uint64, by []uint64, set ...func(*event.MPICall)) uint64 {
	m.now++
	c := &event.MPICall{Op: op(name), More: &event.MPIMore{Group: of, NewGroup: m.now, Completes: by}}
	for _, f := range set {
		f(c)
	}
	m.cs.Grouped(c)
	return m.now
}

func world(size int32) func(*event.MPICall) {
	return func(c *event.MPICall) { c.Flags, c.Size = mpi.World, size }
}
func second(made uint64) func(*event.MPICall) { return func(c *event.MPICall) { c.Made = made } }
func untold(c *event.MPICall)                 { c.More.Untold = true }
func inter(c *event.MPICall)                  { c.Flags |= mpi.Inter }

// ranks returns the members of a group, if all are of the communicator comm.
func (m *maker) ranks(t *testing.T, comm int, made uint64) (out []int32, ok bool) {
	t.Helper()
	list, ok := m.cs.Members(&event.MPICall{Op: op("Win_post"), More: &event.MPIMore{Group: made}})
	for _, x := range list {
		if int(x>>32) != comm {
			t.Errorf("%#x is of another communicator", x)
		}
		out = append(out, int32(uint32(x)))
	}
	return out, ok
}

// TestGroups: the members of groups are those that MPI's rules give.
func TestGroups(t *testing.T) {
	var m maker
	minus := func(n int32) uint64 { return uint64(uint32(n)) } // as the kernel side reads an int
	all := m.call("Comm_group", 0, nil, world(6))
	even := m.call("Group_incl", all, []uint64{4, 0, 2})
	low := m.call("Group_range_incl", all, []uint64{0, 2, 1})
	window := m.call("Win_get_group", 0, nil, func(c *event.MPICall) { c.Made = 77 })
	dup := m.call("Comm_group", 0, nil, func(c *event.MPICall) { c.Made, c.Size = 88, 2 })
	for _, c := range []struct {
		name string
		made uint64
		comm int
		want []int32 // nil: not known
	}{
		{"all", all, 0, []int32{match.Everyone}},
		{"incl", even, 0, []int32{4, 0, 2}},
		{"incl of incl", m.call("Group_incl", even, []uint64{2, 0}), 0, []int32{2, 4}},
		{"excl", m.call("Group_excl", all, []uint64{1, 5}), 0, []int32{0, 2, 3, 4}},
		{"excl of incl", m.call("Group_excl", even, []uint64{0}), 0, []int32{0, 2}},
		{"ranges", m.call("Group_range_incl", all, []uint64{5, 1, minus(-2), 0, 0, 3}), 0, []int32{5, 3, 1, 0}},
		{"ranges left out", m.call("Group_range_excl", all, []uint64{0, 5, 2}), 0, []int32{1, 3, 5}},
		{"union", m.call("Group_union", even, nil, second(low)), 0, []int32{4, 0, 2, 1}},
		{"intersection", m.call("Group_intersection", even, nil, second(low)), 0, []int32{0, 2}},
		{"difference", m.call("Group_difference", all, nil, second(low)), 0, []int32{3, 4, 5}},
		{"nobody", m.call("Group_incl", all, nil), 0, []int32{}},
		{"of a window", window, 1, []int32{match.Everyone}},
		{"some of a window", m.call("Group_incl", window, []uint64{3}), 1, []int32{3}},
		{"of another communicator", m.call("Group_excl", dup, []uint64{0}), 2, []int32{1}},
		{"all but some of a window of unknown size", m.call("Group_excl", window, []uint64{3}), 0, nil},
		{"union of two communicators", m.call("Group_union", all, nil, second(dup)), 0, nil},
		{"intercommunicator", m.call("Comm_group", 0, nil, world(6), inter), 0, nil},
		{"remote group", m.call("Comm_remote_group", 0, nil, world(6)), 0, nil},
		{"ints that were not read", m.call("Group_incl", all, []uint64{1}, untold), 0, nil},
		{"a rank outside", m.call("Group_incl", even, []uint64{3}), 0, nil},
		{"a negative rank", m.call("Group_incl", all, []uint64{minus(-1)}), 0, nil},
		{"a stride of 0", m.call("Group_range_incl", all, []uint64{0, 2, 0}), 0, nil},
		{"a range without end", m.call("Group_range_incl", all, []uint64{0, 1 << 30, 1}), 0, nil},
		{"of an unknown group", m.call("Group_incl", 12345, []uint64{0}), 0, nil},
		{"with an unknown group", m.call("Group_union", all, nil, second(12345)), 0, nil},
		{"a group that was not seen", 0, 0, nil},
	} {
		got, ok := m.ranks(t, c.comm, c.made)
		if ok != (c.want != nil) || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, not %v", c.name, got, ok, c.want)
		}
	}
}

// TestManyGroups: a program that makes groups without end needs no memory without end. Those that
// it uses stay known.
func TestManyGroups(t *testing.T) {
	var m maker
	all := m.call("Comm_group", 0, nil, world(6))
	first := m.call("Group_incl", all, []uint64{1})
	unused := m.call("Group_incl", all, []uint64{2})
	for range 10 * mostGroups {
		m.call("Group_incl", all, []uint64{3})
		if _, ok := m.ranks(t, 0, first); !ok {
			t.Fatal("a group in use was forgotten")
		}
	}
	if _, ok := m.ranks(t, 0, unused); ok || len(m.cs.groups.young)+len(m.cs.groups.old) > 2*mostGroups {
		t.Errorf("%d groups are kept", len(m.cs.groups.young)+len(m.cs.groups.old))
	}
}
