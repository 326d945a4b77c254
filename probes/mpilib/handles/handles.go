package handles

import (
	"errors"
	"fmt"

	"ompp-attach/mpi"
	"ompp-attach/symbols"
)

// Formulas holds the formulas for a library's handles; nil: not known.
type Formulas struct {
	TypeSize       mpi.Formula // bytes of data; all 64 bits where the library has MPI_Type_size_x
	CommSize       mpi.Formula // of the local group
	CommRank       mpi.Formula // rank in the communicator, an int
	CommRemoteSize mpi.Formula // for inter-communicators only
	CommIsInter    mpi.Formula // 1 or 0
	GroupSize      mpi.Formula
	// World gives MPI_COMM_WORLD's handle. Initialized gives 1 once MPI_Init has returned. Neither
	// depends on the handle for which it is evaluated.
	World, Initialized mpi.Formula
	// Self gives MPI_COMM_SELF's handle, NoRequest that of MPI_REQUEST_NULL.
	Self, NoRequest mpi.Formula

	known []predefined
}

// property is a formula and the accessors that can tell it, best first.
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

// Derive derives the formulas of an MPI library, or of a program that contains one. The error says
// for which accessors that failed, and why. The formulas of the others are returned all the same.
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
	f.Self = predefinedComm(o, f.CommSize, "ompi_mpi_comm_self_addr", 0x44000001)
	if f.World = predefinedComm(o, f.CommSize, "ompi_mpi_comm_world_addr", 0x44000000); f.World == nil {
		errs = append(errs, errors.New("MPI_COMM_WORLD: not known where it is"))
	}
	f.NoRequest = noRequest(o, f.World)
	f.Initialized = initialized(o, c)
	f.known = predefinedTypes(o)
	return f, errors.Join(errs...)
}

// best returns the formula of the first accessor that yields one. The error is that of the first
// accessor that the library has.
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

// predefinedComm returns the formula of a communicator that MPI makes. In MPICH's family the handle
// is a constant of the ABI; its class must be one that the size's formula knows. In Open MPI the
// handle is the address of a variable. That address is read from another variable, since the
// program may have a copy of the first one (a copy relocation).
func predefinedComm(o *symbols.Object, size mpi.Formula, openMPI string, mpich uint64) mpi.Formula {
	if at, ok := o.DataSymbol(openMPI); ok {
		return mpi.Formula{{Steps: []mpi.Step{{Op: mpi.StepBase, Value: int64(at)}, {Op: mpi.StepLoad64}}}}
	}
	for _, c := range size {
		if c.Mask != 0 && mpich&c.Mask == c.Equal {
			return mpi.Formula{{Steps: []mpi.Step{{Op: mpi.StepConst, Value: int64(mpich)}}}}
		}
	}
	return nil
}

// noRequest returns the formula of MPI_REQUEST_NULL, in a library whose MPI_COMM_WORLD is world.
func noRequest(o *symbols.Object, world mpi.Formula) mpi.Formula {
	if at, ok := o.DataSymbol("ompi_request_null_addr"); ok {
		return mpi.Formula{{Steps: []mpi.Step{{Op: mpi.StepBase, Value: int64(at)}, {Op: mpi.StepLoad64}}}}
	}
	if len(world) == 1 && world[0].Steps[0].Op == mpi.StepConst { // of MPICH's family
		return mpi.Formula{{Steps: []mpi.Step{{Op: mpi.StepConst, Value: 0x2c000000}}}}
	}
	return nil
}

// initialized derives the formula of MPI_Initialized. From Open MPI 4.0 on that function calls
// hooks, but its state variable has a name; 2 is OMPI_MPI_STATE_INIT_COMPLETED.
func initialized(o *symbols.Object, c *code) mpi.Formula {
	if at, ok := o.DataSymbol("ompi_mpi_state"); ok {
		return mpi.Formula{{Steps: []mpi.Step{{Op: mpi.StepBase, Value: int64(at)}, {Op: mpi.StepLoad32}, {Op: mpi.StepEqual, Value: 2}}}}
	}
	entry, bytes, err := accessor(o, "MPI_Initialized")
	if err != nil {
		return nil
	}
	m := newExplorer(o, c)
	f, err := m.formula(m.explore(entry, m.out(0)), bytes)
	if err != nil {
		return nil
	}
	return f
}

// errAbsent is also the error for accessors that a statically linked program does not use.
var errAbsent = errors.New("not in the file")

func derive(o *symbols.Object, c *code, name string) (mpi.Formula, error) {
	entry, bytes, err := accessor(o, name)
	if err != nil {
		return nil, err
	}
	m := newExplorer(o, c)
	return m.formula(m.explore(entry, m.leaf(opHandle), m.out(0)), bytes)
}

// accessor returns where a function begins, and how many bytes its result has. The library's own
// function is the one with the prefix PMPI; the other one may be a tool's.
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
