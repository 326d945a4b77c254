// Package accessor derives, from an MPI library's own accessors, how
// properties of handles are read from memory: a datatype's size, a
// communicator's size and rank. It executes MPI_Type_size and its like
// symbolically, over the file alone: the handle is an unknown, branches on
// unknown memory are followed both ways, ways into error handling are dropped,
// and what is left is one formula for each class of handles.
package accessor

import (
	"errors"
	"fmt"

	"ompp-attach/mpi"
	"ompp-attach/symbols"
)

// Formulas are what is known of a library's handles; one that is nil is not.
type Formulas struct {
	TypeSize       mpi.Formula // bytes of data; all 64 bits where the library has MPI_Type_size_x
	CommSize       mpi.Formula // of the local group
	CommRank       mpi.Formula // an int
	CommRemoteSize mpi.Formula // of inter-communicators only
	CommIsInter    mpi.Formula // 1 or 0
	GroupSize      mpi.Formula
	// World is MPI_COMM_WORLD's handle, and Initialized is 1 once MPI_Init has
	// returned; both do not depend on the handle that they are evaluated for.
	World, Initialized mpi.Formula

	known []predefined
}

// property is a formula and the accessors that tell of it, best first.
type property struct {
	formula   *mpi.Formula
	accessors []string
}

func (f *Formulas) properties() []property {
	return []property{
		{&f.TypeSize, []string{"MPI_Type_size_x", "MPI_Type_size_c", "MPI_Type_size"}},
		{&f.CommSize, []string{"MPI_Comm_size"}},
		{&f.CommRank, []string{"MPI_Comm_rank"}},
		{&f.CommRemoteSize, []string{"MPI_Comm_remote_size"}},
		{&f.CommIsInter, []string{"MPI_Comm_test_inter"}},
		{&f.GroupSize, []string{"MPI_Group_size"}},
	}
}

// Derive derives the formulas of an MPI library, or of a program that contains
// one. The error says which accessors resisted and why; the formulas of the
// others are returned with it.
func Derive(o *symbols.Object) (*Formulas, error) {
	f := &Formulas{}
	if o.Arch() != "amd64" {
		return f, fmt.Errorf("handles of MPI libraries for %s are not understood", o.Arch())
	}
	c := newCode(o)
	var errs []error
	for _, p := range f.properties() {
		formula, err := best(o, c, p.accessors)
		*p.formula = formula
		if err != nil {
			errs = append(errs, err)
		}
	}
	if f.World = world(o, f.CommSize); f.World == nil {
		errs = append(errs, errors.New("MPI_COMM_WORLD: not known where it is"))
	}
	f.Initialized = initialized(o, c)
	f.known = predefinedTypes(o)
	return f, errors.Join(errs...)
}

// best is the first accessor's formula that there is; the error tells of the
// first one that the library has.
func best(o *symbols.Object, c *code, accessors []string) (f mpi.Formula, first error) {
	for _, name := range accessors {
		f, err := derive(o, c, name)
		if err == nil {
			return f, nil
		}
		if first == nil || errors.Is(first, errAbsent) {
			first = fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil, first
}

// world says what MPI_COMM_WORLD is. In MPICH and its kin that is a constant of
// their ABI, which must be of a class that the size's formula knows. Open MPI
// has it as the address of a variable; it keeps that in another one, since the
// program may have a copy of the variable (a copy relocation).
func world(o *symbols.Object, size mpi.Formula) mpi.Formula {
	const mpichWorld = 0x44000000
	if at, ok := o.DataSymbol("ompi_mpi_comm_world_addr"); ok {
		return mpi.Formula{{Steps: []mpi.Step{{Op: mpi.StepBase, Value: int64(at)}, {Op: mpi.StepLoad64}}}}
	}
	for _, c := range size {
		if c.Mask != 0 && mpichWorld&c.Mask == c.Equal {
			return mpi.Formula{{Steps: []mpi.Step{{Op: mpi.StepConst, Value: mpichWorld}}}}
		}
	}
	return nil
}

// initialized derives what MPI_Initialized says. Open MPI's from 4.0 on calls
// hooks, but its state has a name; 2 is OMPI_MPI_STATE_INIT_COMPLETED.
func initialized(o *symbols.Object, c *code) mpi.Formula {
	if at, ok := o.DataSymbol("ompi_mpi_state"); ok {
		return mpi.Formula{{Steps: []mpi.Step{{Op: mpi.StepBase, Value: int64(at)}, {Op: mpi.StepLoad32}, {Op: mpi.StepEqual, Value: 2}}}}
	}
	entry, bytes, err := accessor(o, "MPI_Initialized")
	if err != nil {
		return nil
	}
	m := newMachine(o, c)
	f, err := m.formula(m.explore(entry, m.out(0)), bytes)
	if err != nil {
		return nil
	}
	return f
}

// errAbsent also is what a statically linked program says of accessors that it
// does not use.
var errAbsent = errors.New("not in the file")

func derive(o *symbols.Object, c *code, name string) (mpi.Formula, error) {
	entry, bytes, err := accessor(o, name)
	if err != nil {
		return nil, err
	}
	m := newMachine(o, c)
	return m.formula(m.explore(entry, m.leaf(opHandle), m.out(0)), bytes)
}

// accessor returns where a function begins and how many bytes it writes. The
// library's own is that with the prefix PMPI: the other one may be a tool's.
func accessor(o *symbols.Object, name string) (entry uint64, bytes int, err error) {
	bytes = 4
	if name == "MPI_Type_size_x" || name == "MPI_Type_size_c" {
		bytes = 8 // MPI_Count
	}
	for _, n := range []string{"P" + name, name} {
		if at := o.Symbol(n); len(at) > 0 {
			return at[len(at)-1], bytes, nil
		}
	}
	return 0, 0, errAbsent
}
