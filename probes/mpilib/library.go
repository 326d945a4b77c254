package mpilib

import (
	"bytes"
	"regexp"
	"slices"

	"ompp-attach/bpf"
	"ompp-attach/mpi"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/mpilib/handles"
	"ompp-attach/symbols"
)

// Library describes an MPI library.
type Library struct {
	Name      string // "Open MPI 4.1.4"
	Constants *mpi.Constants
	Formulas  *handles.Formulas
	Unknown   error // why volumes cannot be computed; nil if they can
	handle32  bool
}

// Is reports whether an object may be an MPI library, or a program that contains one. A wrapper
// defines MPI_X, too, but imports PMPI_X. Libraries recognises those that do not.
func Is(o *symbols.Object) bool {
	has := o.Defines("PMPI_Init", "PMPI_Comm_rank", "MPI_Init", "MPI_Comm_rank")
	return has[0] && has[1] || has[2] && has[3] && !slices.ContainsFunc(wraps, o.Imports)
}

// IsBinding reports whether an object is the Fortran or C++ binding of an MPI library, whose
// functions call the C functions.
func IsBinding(o *symbols.Object) bool {
	for _, name := range []string{"mpi_init_", "mpi_init_f08_", "MPI_INIT", "_ZN3MPI10COMM_WORLDE"} {
		if o.Exports(name) {
			return o.Imports("MPI_Init") || o.Imports("PMPI_Init") || o.Imports("MPI_Comm_rank") || o.Imports("PMPI_Comm_rank") ||
				o.Imports("MPI_Send") || o.Imports("PMPI_Send") || o.Exports("mpi_init_f08_")
		}
	}
	return false
}

// IsOpenMPI reports whether an MPI library is Open MPI.
func IsOpenMPI(o *symbols.Object) bool {
	_, ok := o.DataSymbol("ompi_mpi_comm_world")
	return ok
}

// identify finds out an MPI library's family by symbols that only this family has.
func identify(o *symbols.Object) Library {
	l := Library{Name: "MPI", Constants: &mpi.MPICHConstants, handle32: true}
	switch v := version(o); {
	case IsOpenMPI(o):
		l = Library{Name: "Open MPI", Constants: &mpi.OpenMPIConstants}
		if v != "" {
			l.Name += " " + v
		}
	case v != "": // of the remaining families all have MPICH's ABI
		l.Name = brand(o) + " " + v
	}
	l.Formulas, l.Unknown = handles.Derive(o)
	return l
}

// brand returns the name of a library of MPICH's family.
func brand(o *symbols.Object) string {
	for _, b := range []struct{ symbol, name string }{
		{"MVP_Version_string", "MVAPICH"},
		{"MV2_Version_string", "MVAPICH2"},
		{"I_MPI_Version_string", "Intel MPI"},
		{"MPIR_CRAY_Version", "Cray MPICH"},
	} {
		if _, ok := o.DataSymbol(b.symbol); ok {
			return b.name
		}
	}
	return "MPICH"
}

var versionString = regexp.MustCompile(`^v?(\d+\.\d+(?:\.\d+)?[0-9a-z]*)$`)

// version returns the library's version. It is the text that MPICH keeps under a symbol, or the
// first text that MPI_Get_library_version refers to and that reads like a version.
func version(o *symbols.Object) string {
	for _, name := range []string{"MPII_Version_string", "MPIR_Version_string"} {
		if at, ok := o.DataSymbol(name); ok {
			if v := versionAt(o, at); v != "" {
				return v
			}
		}
	}
	for _, entry := range o.Symbol("MPI_Get_library_version") {
		parts, err := disasm.Parts(o, entry)
		if err != nil {
			continue
		}
		for _, part := range parts {
			for _, i := range part {
				if v := versionAt(o, i.Ref); i.Ref != 0 && v != "" {
					return v
				}
			}
		}
	}
	return ""
}

func versionAt(o *symbols.Object, vaddr uint64) string {
	text, _, _ := bytes.Cut(o.Read(vaddr, 64), []byte{0})
	if m := versionString.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}

// kernelSide returns the library in the form that the kernel side takes.
func (l *Library) kernelSide() *bpf.MPILibrary {
	k := &bpf.MPILibrary{ProcNull: l.Constants.ProcNull, Root: l.Constants.Root, AnySource: l.Constants.AnySource,
		InPlace: l.Constants.InPlace, StatusIgnore: l.Constants.StatusIgnore, StatusSource: l.Constants.StatusSource,
		StatusSize: l.Constants.StatusSize}
	if l.handle32 {
		k.Handle32 = 1
	}
	for i, f := range map[int]mpi.Formula{
		bpf.MPITypeSize: l.Formulas.TypeSize, bpf.MPICommSize: l.Formulas.CommSize, bpf.MPICommRank: l.Formulas.CommRank,
		bpf.MPICommInter: l.Formulas.CommIsInter, bpf.MPICommRemoteSize: l.Formulas.CommRemoteSize,
		bpf.MPIWorld: l.Formulas.World,
	} {
		if len(f) > mpi.MaxCases || slices.ContainsFunc(f, func(c mpi.Case) bool { return len(c.Steps) > mpi.MaxSteps }) {
			continue // the formula is left out
		}
		to := &k.Formula[i]
		to.Cases = uint64(len(f))
		for j, c := range f {
			to.Is[j].Mask, to.Is[j].Equal, to.Is[j].Steps = c.Mask, c.Equal, uint64(len(c.Steps))
			for n, s := range c.Steps {
				to.Is[j].Step[n].Op, to.Is[j].Step[n].Value = uint64(s.Op), s.Value
			}
		}
	}
	return k
}

// World computes a process's rank in MPI_COMM_WORLD, and the communicator's size, from the
// process's memory. read reads n bytes of the memory. base is the library's load bias. ok is false
// before MPI_Init.
func (l *Library) World(base uint64, read func(addr uint64, n int) (uint64, error)) (w World, ok bool) {
	world, ok := l.Formulas.World.Eval(0, base, read)
	if !ok {
		return w, false
	}
	size, ok1 := l.Formulas.CommSize.Eval(world, base, read)
	rank, ok2 := l.Formulas.CommRank.Eval(world, base, read)
	w = World{Rank: int(int32(rank)), Size: int(int32(size)), Handle: world}
	return w, ok1 && ok2 && w.Size > 0 && w.Rank >= 0 && w.Rank < w.Size
}
