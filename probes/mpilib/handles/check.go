package handles

import (
	"errors"
	"fmt"

	"ompp-attach/symbols"
)

// predefined is a datatype that every library of a family has, with its size in bytes.
type predefined struct {
	name   string
	handle uint64
	biased bool // the load bias is to be added
	size   uint64
}

// predefinedTypes returns the types of Open MPI, which have names. For other libraries it returns
// the types of MPICH's ABI, which MPICH's whole family shares. In MPICH's ABI, pair types are
// objects in memory; the handles of the other types contain the size.
func predefinedTypes(o *symbols.Object) (types []predefined) {
	// Those that are not filled at run time: the program may have a copy.
	for name, size := range map[string]uint64{"ompi_mpi_char": 1, "ompi_mpi_int": 4, "ompi_mpi_double": 8} {
		if at, ok := o.DataSymbol(name); ok {
			types = append(types, predefined{name, at, true, size})
		}
	}
	if len(types) > 0 {
		return types
	}
	return []predefined{
		{"MPI_CHAR", 0x4c000101, false, 1}, {"MPI_INT", 0x4c000405, false, 4}, {"MPI_DOUBLE", 0x4c00080b, false, 8},
		{"MPI_FLOAT_INT", 0x8c000000, false, 8},
	}
}

// ErrNotInitialized says that a process has not returned from MPI_Init, or has
// called MPI_Finalize.
var ErrNotInitialized = errors.New("MPI is not initialised")

// mostRanks is more than any job has had.
const mostRanks = 1 << 26

// Check compares the formulas' answers in a process with facts: the sizes of predefined types, and
// this process's place in MPI_COMM_WORLD. The process must be between MPI_Init and MPI_Finalize, or
// the error is ErrNotInitialized. base is the library's load bias. read reads n bytes of the
// process's memory.
func (f *Formulas) Check(base uint64, read func(addr uint64, n int) (uint64, error)) error {
	if f.Initialized != nil {
		if v, ok := f.Initialized.Eval(0, base, read); ok && v == 0 {
			return ErrNotInitialized
		}
	}
	var errs []error
	if f.TypeSize != nil {
		for _, t := range f.known {
			h := t.handle
			if t.biased {
				h += base
			}
			if v, ok := f.TypeSize.Eval(h, base, read); !ok || v != t.size {
				errs = append(errs, fmt.Errorf("size of %s: %s instead of %d", t.name, said(v, ok), t.size))
			}
		}
	}
	if f.World == nil || f.CommSize == nil {
		return errors.Join(errs...)
	}
	world, ok := f.World.Eval(0, base, read)
	if !ok {
		return errors.Join(append(errs, errors.New("MPI_COMM_WORLD cannot be read"))...)
	}
	size, ok := f.CommSize.Eval(world, base, read)
	if !ok || size < 1 || size > mostRanks {
		return errors.Join(append(errs, fmt.Errorf("size of MPI_COMM_WORLD: %s", said(size, ok)))...)
	}
	if f.CommRank != nil {
		if v, ok := f.CommRank.Eval(world, base, read); !ok || v >= size {
			errs = append(errs, fmt.Errorf("rank in MPI_COMM_WORLD: %s of %d", said(v, ok), size))
		}
	}
	if f.CommIsInter != nil {
		if v, ok := f.CommIsInter.Eval(world, base, read); !ok || v != 0 {
			errs = append(errs, fmt.Errorf("MPI_COMM_WORLD is an inter-communicator: %s", said(v, ok)))
		}
	}
	return errors.Join(errs...)
}

func said(v uint64, ok bool) string {
	if !ok {
		return "nothing"
	}
	return fmt.Sprint(v)
}
